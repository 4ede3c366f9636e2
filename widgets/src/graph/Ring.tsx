/** How long an attempt has been silent, against its limit: a ring that fills towards it. */

import { brief, duration, measured } from "../duration";

const RADIUS = 17;
const TURN = 2 * Math.PI * RADIUS;
const MIDDLE = 19;

export type RingTone = "done" | "warn" | "fail";

/** Green with room to spare, orange inside the margin, vermilion at the limit. */
export function ringTone(age: number, limit: number, margin: number): RingTone {
  if (age >= limit) return "fail";
  return age > limit - margin ? "warn" : "done";
}

export function Ring({ age, limit, margin }: { age: number; limit: number; margin: number }) {
  const share = limit > 0 ? Math.min(1, Math.max(0, age / limit)) : 0;
  const safe = limit > 0 ? Math.max(0, 1 - margin / limit) : 1;
  const tone = ringTone(age, limit, margin);
  const text = `silent for ${measured(age)} of ${duration(limit)}`;
  const turned = `rotate(-90 ${MIDDLE} ${MIDDLE})`;
  return (
    <svg
      className="dexnb-ring"
      width={38}
      height={38}
      viewBox="0 0 38 38"
      role="img"
      aria-label={text}
    >
      <title>{`Heartbeat: ${text}; keep ${duration(margin)} to spare`}</title>
      <circle className="dexnb-ring-bg" cx={MIDDLE} cy={MIDDLE} r={RADIUS} />
      <circle
        className="dexnb-ring-margin"
        cx={MIDDLE}
        cy={MIDDLE}
        r={RADIUS}
        strokeDasharray={`${TURN * (1 - safe)} ${TURN}`}
        strokeDashoffset={-TURN * safe}
        transform={turned}
      />
      <circle
        className={`dexnb-ring-age dexnb-stroke-${tone}`}
        cx={MIDDLE}
        cy={MIDDLE}
        r={RADIUS}
        strokeDasharray={`${TURN * share} ${TURN}`}
        transform={turned}
      />
      <text x={MIDDLE} y={MIDDLE + 3.5}>
        {brief(age)}
      </text>
    </svg>
  );
}
