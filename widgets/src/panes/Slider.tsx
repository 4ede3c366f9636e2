/** A slider and a number field for one value. */

import { type ReactNode, useId } from "react";
import type { Command } from "../commands";
import { KEEPS_KEYS } from "../lab/context";
import { useDraft } from "./draft";
import { amount, check, type Range } from "./legal";

export interface SliderProps {
  range: Range;
  value: number;
  send: (value: number) => Promise<Command>;
  mark?: ReactNode;
  note?: string;
  error?: string;
}

export function Slider({ range, value, send, mark, note, error }: SliderProps) {
  const id = useId();
  const draft = useDraft(range, value, send);
  const wrong = draft.error || error || "";
  const held = check(range, draft.text);
  const at = "value" in held ? held.value : value;
  const words = amount(at, range.unit);
  const label = { "aria-label": range.label, "aria-describedby": `${id}note` };
  const bounds = { min: range.minimum, max: range.maximum, step: range.step };
  return (
    <div className={wrong ? "dexnb-knob dexnb-knob-wrong" : "dexnb-knob"}>
      <div className="dexnb-knob-head">
        <span className="dexnb-knob-label" title={range.label}>
          {range.label}
        </span>
        {range.unit === "s" && at >= 60 && <span className="dexnb-unit">{words} =</span>}
        <input
          type="number"
          value={draft.text}
          {...bounds}
          {...label}
          aria-invalid={wrong !== ""}
          onChange={(event) => draft.change(event.target.value)}
          onBlur={() => "error" in held && draft.revert()}
          onKeyDown={(event) => {
            // The first Escape takes the change back; only the next one leaves the Lab.
            if (event.key !== "Escape" || !draft.open) return;
            event.stopPropagation();
            draft.revert();
          }}
          {...KEEPS_KEYS}
        />
        <span className="dexnb-unit">{range.unit === "s" ? "s" : ""}</span>
      </div>
      <input
        type="range"
        value={at}
        {...bounds}
        {...label}
        aria-valuetext={words}
        onChange={(event) => draft.change(event.target.value)}
        {...KEEPS_KEYS}
      />
      <div className="dexnb-knob-foot">
        <small id={`${id}note`} role={wrong ? "alert" : undefined}>
          {wrong || note || words}
        </small>
        {mark}
      </div>
    </div>
  );
}
