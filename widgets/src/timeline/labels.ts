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

/** Cut a text to a width, or give nothing if hardly a word would stay. */
export function fitted(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  const letters = Math.floor((width - 4) / PER_LETTER) - 1;
  return letters < 6 ? "" : `${[...text].slice(0, letters).join("")}…`;
}
