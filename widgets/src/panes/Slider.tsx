/** A slider and a number field for one value. */

import { type ReactNode, useId } from "react";
import type { Command } from "../commands";
import { KEEPS_KEYS } from "../lab/context";
import { Icon } from "../lab/Icon";
import { type Draft, useDraft } from "./draft";
import { amount, check, type Range } from "./legal";

export interface SliderProps {
  range: Range;
  value: number;
  /** What the code says, where that is something to go back to. */
  code?: number;
  send: (value: number) => Promise<Command>;
  mark?: ReactNode;
  note?: string;
  error?: string;
}

export function Slider({ range, value, code, send, mark, note, error }: SliderProps) {
  const id = useId();
  const draft = useDraft(range, value, send);
  const wrong = draft.error || error || "";
  const held = check(range, draft.text);
  const at = "value" in held ? held.value : value;
  const words = amount(at, range.unit);
  const long = range.unit === "s" && at >= 60;
  const label = { "aria-label": range.label, "aria-describedby": `${id}note` };
  const bounds = { min: range.minimum, max: range.maximum, step: range.step };
  return (
    <div className={wrong ? "dexnb-knob dexnb-knob-wrong" : "dexnb-knob"}>
      <div className="dexnb-knob-head">
        <span className="dexnb-knob-label" title={range.label}>
          {range.label}
        </span>
        {mark}
      </div>
      <div className="dexnb-knob-hand">
        <input
          type="range"
          value={at}
          {...bounds}
          {...label}
          aria-valuetext={words}
          onChange={(event) => draft.change(event.target.value)}
          {...KEEPS_KEYS}
        />
        <NumberField draft={draft} bounds={bounds} label={label} wrong={wrong !== ""} />
        <span className="dexnb-unit">{range.unit === "s" ? "s" : ""}</span>
      </div>
      <div className="dexnb-knob-foot">
        <small id={`${id}note`} role={wrong ? "alert" : undefined}>
          {wrong || [long ? words : "", note].filter(Boolean).join(" · ") || words}
        </small>
        {code !== undefined && code !== value && (
          <Reset label={range.label} code={code} unit={range.unit} draft={draft} />
        )}
      </div>
    </div>
  );
}

function Reset(props: { label: string; code: number; unit: string; draft: Draft }) {
  const { label, code, unit, draft } = props;
  const words = amount(code, unit);
  return (
    <button
      type="button"
      className="dexnb-reset"
      title={`Changed here; the code says ${words}`}
      aria-label={`Reset ${label} to the code's ${words}`}
      onClick={() => draft.change(String(code))}
      {...KEEPS_KEYS}
    >
      <Icon name="again" size={9} /> code: {words}
    </button>
  );
}

function NumberField(props: {
  draft: Draft;
  bounds: { min: number; max: number; step: number };
  label: { "aria-label": string; "aria-describedby": string };
  wrong: boolean;
}) {
  const { draft, bounds, label, wrong } = props;
  return (
    <input
      type="number"
      value={draft.text}
      {...bounds}
      {...label}
      aria-invalid={wrong}
      onChange={(event) => draft.change(event.target.value)}
      onBlur={() => draft.error && draft.revert()}
      onKeyDown={(event) => {
        // The first Escape takes the change back; only the next one leaves the Lab.
        if (event.key !== "Escape" || !draft.open) return;
        event.stopPropagation();
        draft.revert();
      }}
      {...KEEPS_KEYS}
    />
  );
}
