/** Small pictures drawn as paths, so that they look the same with every font. */

const PATHS = {
  play: "M4 2.5v11l9-5.5z",
  stop: "M3.5 3.5h9v9h-9z",
  again: "M12.9 6.2A5.2 5.2 0 1 0 13.2 9M13.2 2.6v3.8H9.4",
  check: "M2.8 8.6l3.3 3.3 7-7.6",
  cross: "M3.5 3.5l9 9M12.5 3.5l-9 9",
  circle: "M8 2.8a5.2 5.2 0 1 0 0 10.4A5.2 5.2 0 0 0 8 2.8z",
  clock: "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM8 5v3.2l2.2 1.6",
  heart: "M8 13.2C3.4 9.9 2 7.8 2 5.7A3 3 0 0 1 8 4.6a3 3 0 0 1 6 1.1c0 2.1-1.4 4.2-6 7.5z",
  diamond: "M8 2l6 6-6 6-6-6z",
  mail: "M2.5 4h11v8h-11zM2.5 4.4L8 8.8l5.5-4.4",
  tag: "M2.8 2.8h5l5.6 5.6-5 5-5.6-5.6zM5.4 5.4v.1",
  call: "M5 2.8h6l3 5.2-3 5.2H5L2 8z",
  nested: "M2.5 2.5h11v11h-11zM5.5 5.5h5v5h-5z",
  no: "M8 2.6a5.4 5.4 0 1 0 0 10.8A5.4 5.4 0 0 0 8 2.6zM4.2 4.2l7.6 7.6",
  fit: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  right: "M6 3l5 5-5 5",
  down: "M3 6l5 5 5-5",
  warn: "M8 2.4l6 11H2zM8 6.4v3.4M8 11.4v.6",
  save: "M3 13h10M8 2.8v7.4M4.8 7.2L8 10.4l3.2-3.2",
} as const;

export type IconName = keyof typeof PATHS;

const SOLID: ReadonlySet<IconName> = new Set(["play", "stop", "heart", "diamond"]);

export function Icon({ name, size = 12 }: { name: IconName; size?: number }) {
  return (
    <svg
      className={SOLID.has(name) ? "dexnb-icon dexnb-icon-solid" : "dexnb-icon"}
      width={size}
      height={size}
      viewBox="0 0 16 16"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
