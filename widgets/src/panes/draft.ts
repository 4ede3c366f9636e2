/** A value under the reader's hand: shown at once, sent a moment after the last change. */

import { useEffect, useRef, useState } from "react";
import type { Command } from "../commands";
import { useSession } from "../lab/context";
import { amount, check, type Range } from "./legal";

export const DEBOUNCE_SECONDS = 0.15;

export interface Draft {
  text: string;
  error: string;
  /** Whether what is shown has not been accepted yet. */
  open: boolean;
  change(text: string): void;
  revert(): void;
}

/**
 * A refused value springs back to `current`, with the reason; so does one that no legal number
 * was made of when the field is left.
 */
export function useDraft(
  range: Range,
  current: number,
  send: (value: number) => Promise<Command>,
): Draft {
  const { timers } = useSession();
  const [text, setText] = useState<string | null>(null);
  const [error, setError] = useState("");
  const stop = useRef<() => void>(() => {});
  useEffect(() => () => stop.current(), []);
  const stays = () => `${amount(current, range.unit)} stays in force`;
  const change = (typed: string) => {
    stop.current();
    setText(typed);
    const checked = check(range, typed);
    setError("error" in checked ? `${checked.error}; ${stays()}` : "");
    if ("error" in checked) return;
    stop.current = timers.after(DEBOUNCE_SECONDS, async () => {
      const command = await send(checked.value);
      setText((now) => (now === typed ? null : now));
      if (command.state === "refused") setError(`${command.error || "refused"}; ${stays()}`);
    });
  };
  const revert = () => {
    stop.current();
    setText(null);
    setError("");
  };
  return { text: text ?? String(current), error, open: text !== null, change, revert };
}
