/** Texts on one line: each is placed only where it meets no other. */

export interface Label {
  text: string;
  x: number;
  /** Where the text ends rather than begins at `x`. */
  end?: boolean;
  kind: string;
}

const PER_LETTER = 5.7;

export function widthOf(text: string): number {
  return [...text].length * PER_LETTER + 4;
}

export type Taken = readonly [from: number, to: number];

const APART = 5;

/** Keep the labels that fit between `left` and `right` beside what is `there`, in their order. */
export function placed(
  labels: Label[],
  left: number,
  right: number,
  there: readonly Taken[] = [],
): Label[] {
  const taken = [...there];
  return labels.filter((label) => {
    const width = widthOf(label.text);
    const from = label.end ? label.x - width : label.x;
    const to = from + width;
    if (from < left || to > right) return false;
    if (taken.some(([begin, end]) => from < end && to > begin)) return false;
    taken.push([from - APART, to + APART]);
    return true;
  });
}

/** An attempt as far as it is in sight, in pixels; `room` reaches to the begin of the next one. */
export interface Stretch {
  number: number;
  /** What stands there instead of the number. */
  name?: string | undefined;
  from: number;
  to: number;
  room: number;
  resumed: string;
  failure: string;
  brief: string;
}

const LEAST_WORDS = 70;

/**
 * What stands under the attempts of a lane, each within its own room: all are named in one way,
 * and what failed stands at the end of its bar, or behind the name where the bar is short.
 */
export function attemptLabels(stretches: Stretch[]): Label[] {
  const whole = ({ name, number }: Stretch) => name ?? `attempt ${number}`;
  // A method of its own has its own name; where there is no room for that, none.
  const numbered = stretches.filter(({ name }) => name === undefined);
  const long = numbered.every((stretch) => widthOf(whole(stretch)) <= stretch.room);
  return stretches.flatMap((stretch) => {
    const name = long || stretch.name !== undefined ? whole(stretch) : `#${stretch.number}`;
    return atTheEnd(stretch, name) ?? behind(stretch, name);
  });
}

function atTheEnd({ from, to, failure, brief }: Stretch, name: string): Label[] | null {
  const inside = to - from - widthOf(name) - 12;
  if (!failure || inside < LEAST_WORDS) return null;
  const words = [failure, brief].find((one) => widthOf(one) <= inside) ?? fitted(failure, inside);
  if (!words) return null;
  return [
    { kind: "attempt", x: from + 3, text: name },
    { kind: "fail", x: to - 4, end: true, text: words },
  ];
}

function behind({ from, room, resumed, failure, brief }: Stretch, name: string): Label[] {
  const more = failure ? brief : resumed;
  const texts = more ? [`${name} · ${more}`, name] : [name];
  const text = texts.find((one) => widthOf(one) <= room);
  return text ? [{ kind: failure ? "fail" : "attempt", x: from + 3, text }] : [];
}

/** Cut a text to a width, or give nothing if hardly a word would stay. */
export function fitted(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  const letters = Math.floor((width - 4) / PER_LETTER) - 1;
  return letters < 6 ? "" : `${[...text].slice(0, letters).join("")}…`;
}
