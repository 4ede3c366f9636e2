/** Below the timeline: how much of it is seen, and whether it follows the run. */

import { clock } from "../duration";
import { KEEPS_KEYS } from "../lab/context";
import { Icon } from "../lab/Icon";
import { MOST_ZOOM, type Sight, type Span, tickText, WHOLE, zoomed } from "./axis";

function position(time: number, { from, to }: Span): string {
  return tickText(time, to - from < 20 ? 0.1 : 1);
}

export function Controls(props: {
  sight: Sight;
  setSight: (sight: Sight) => void;
  span: Span;
  end: number;
  live: boolean;
  /** What is under the pointer. */
  words: string;
}) {
  const { sight, setSight, span, end, live } = props;
  const zoomTo = (zoom: number) => {
    if (sight.from === null) return setSight(zoom <= 1 ? WHOLE : { zoom, from: null });
    const middle = (span.from + span.to) / 2;
    return setSight(zoomed(span, end, zoom / sight.zoom, middle));
  };
  const most = Math.log2(Math.min(MOST_ZOOM, Math.max(2, end * 10)));
  return (
    <div className="dexnb-controls">
      <label>
        <span>zoom</span>
        <input
          type="range"
          min={0}
          max={most}
          step={0.25}
          value={Math.min(most, Math.log2(sight.zoom))}
          aria-valuetext={`${clock(span.to - span.from, 1)} seen`}
          onChange={(event) => zoomTo(2 ** Number(event.target.value))}
          {...KEEPS_KEYS}
        />
      </label>
      <button
        type="button"
        aria-pressed={sight.zoom <= 1}
        onClick={() => setSight(WHOLE)}
        {...KEEPS_KEYS}
      >
        <Icon name="fit" /> Whole run
      </button>
      {live && sight.zoom > 1 && (
        <button
          type="button"
          aria-pressed={sight.from === null}
          onClick={() =>
            setSight({ zoom: sight.zoom, from: sight.from === null ? span.from : null })
          }
          {...KEEPS_KEYS}
        >
          <Icon name="play" size={10} /> Follow
        </button>
      )}
      <span className="dexnb-space" />
      <span className="dexnb-hint">
        {props.words ||
          `${position(span.from, span)} to ${position(span.to, span)} · Shift and wheel zoom`}
      </span>
    </div>
  );
}
