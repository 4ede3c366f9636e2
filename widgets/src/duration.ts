/** Durations and positions in time as short text. All take seconds. */

const PART = [
  [86400, "d"],
  [3600, "h"],
  [60, "min"],
] as const;

/** A length as a setting is written: `2 h`, `1 min 30 s`, `250 ms`, `12.5 s`. */
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return "no limit";
  if (seconds < 0) return `−${duration(-seconds)}`;
  if (seconds > 0 && seconds < 0.9995) return `${short(seconds * 1000)} ms`;
  let left = Math.round(seconds * 1000) / 1000;
  const words: string[] = [];
  for (const [size, unit] of PART) {
    if (left < size || words.length === 2) continue;
    words.push(`${Math.floor(left / size)} ${unit}`);
    left = Math.round((left % size) * 1000) / 1000;
  }
  if (words.length === 0) return `${short(left)} s`;
  if (words.length === 1 && left > 0 && seconds < 3600) words.push(`${short(left)} s`);
  return words.join(" ");
}

/** A measured length, as precise as one can read it: `4.2 ms`, `250 ms`, `1.9 s`, `12 s`, `4:07`. */
export function measured(seconds: number): string {
  if (seconds < 0.00995) return `${short(seconds * 1000, 2)} ms`;
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (seconds < 99.5) return `${seconds.toFixed(0)} s`;
  return clock(seconds);
}

/** A measured length in the few letters that a small place has: `0.3 s`, `12 s`, `4:07`, `2 h`. */
export function brief(seconds: number): string {
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (seconds < 99.5) return `${seconds.toFixed(0)} s`;
  return seconds < 3600 ? clock(seconds) : `${Math.floor(seconds / 3600)} h`;
}

/** A position: `4:12`, `1:04:12`; with `digits`, fractions of a second too. */
export function clock(seconds: number, digits = 0): string {
  if (seconds < 0) return `−${clock(-seconds, digits)}`;
  const scale = 10 ** digits;
  const total = Math.floor(seconds * scale + 1e-6) / scale;
  const hours = Math.floor(total / 3600);
  const minutes = Math.floor((total % 3600) / 60);
  const rest = (total % 60).toFixed(digits).padStart(digits ? 3 + digits : 2, "0");
  if (hours === 0) return `${minutes}:${rest}`;
  return `${hours}:${String(minutes).padStart(2, "0")}:${rest}`;
}

/** The time of day in UTC of a wall-clock stamp. */
export function timeOfDay(wall: number): string {
  const date = new Date(wall * 1000);
  return Number.isNaN(date.getTime()) ? "" : `${date.toISOString().slice(11, 19)} UTC`;
}

/** A number without needless digits: whole from `10 ** digits` on. */
export function short(value: number, digits = 3): string {
  const whole = value >= 10 ** (digits - 1);
  return String(whole ? Math.round(value) : Number(value.toPrecision(digits)));
}
