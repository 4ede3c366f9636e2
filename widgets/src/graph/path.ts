/** Curves between boxes, as the text of an SVG path. */

export interface Point {
  x: number;
  y: number;
}

export interface Box extends Point {
  width: number;
  height: number;
}

const at = (x: number, y: number) => `${round(x)} ${round(y)}`;
const round = (value: number) => Math.round(value * 10) / 10;

/** A curve through all points that leaves and arrives level. */
export function smoothPath(points: Point[]): string {
  const [first, ...rest] = points;
  if (!first) return "";
  let path = `M${at(first.x, first.y)}`;
  let from = first;
  for (const to of rest) {
    const middle = (from.x + to.x) / 2;
    path += `C${at(middle, from.y)} ${at(middle, to.y)} ${at(to.x, to.y)}`;
    from = to;
  }
  return path;
}

/** Neighbours are joined by one sweep; farther ones go round what is between, as dagre found. */
export function bendsOf(start: Point, end: Point, inner: Point[]): Point[] {
  const forward = end.x >= start.x;
  const between = inner.filter((point) => {
    return forward
      ? point.x > start.x + 8 && point.x < end.x - 8
      : point.x < start.x - 8 && point.x > end.x + 8;
  });
  return between.length > 1 ? between : [];
}

/** A curve that leaves and arrives upright. */
export function droopPath(start: Point, end: Point): string {
  const middle = (start.y + end.y) / 2;
  return `M${at(start.x, start.y)}C${at(start.x, middle)} ${at(end.x, middle)} ${at(end.x, end.y)}`;
}

/**
 * A link from a box to itself: out of its right side, over its upper right corner and down onto
 * its top, nowhere inside the box.
 */
export function loopPath(box: Box, out: number): { path: string; label: Point } {
  const right = box.x + box.width;
  const [leave, enter] = [box.y + 20, right - 36];
  const [far, high] = [right + out, box.y - out];
  const bend = 8;
  const path =
    `M${at(right, leave)}L${at(far - bend, leave)}Q${at(far, leave)} ${at(far, leave - bend)}` +
    `L${at(far, high + bend)}Q${at(far, high)} ${at(far - bend, high)}` +
    `L${at(enter + bend, high)}Q${at(enter, high)} ${at(enter, high + bend)}L${at(enter, box.y)}`;
  return { path, label: { x: (far + enter) / 2, y: high } };
}
