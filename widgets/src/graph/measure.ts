/**
 * The size of a box and the places inside it, from its texts alone: the layout is the same on
 * every machine, before anything is drawn. All in pixels of the graph.
 */

import { shownName } from "../value";
import type { Outcome, StepBox } from "./shape";

export interface Card {
  outcome: Outcome;
  x: number;
  y: number;
  width: number;
}

export interface Places {
  width: number;
  height: number;
  chips: number;
  streams: number;
  waits: number;
  /** Centre of the dispatch diamond, if there is one. */
  diamond: { x: number; y: number } | null;
  cards: Card[];
  live: number;
}

export const CARD_HEIGHT = 24;
export const PADDING = 12;
export const WAIT_ROW = 20;
const GAP = 8;
const WIDEST_ROW = 400;
const STATE_ICON = 16;
const SMALLEST = 180;
const SMALLEST_POLLING = 244;
const SMALLEST_WAITING = 290;

/** Wide enough for common fonts; a text that is wider still ends in an ellipsis. */
const wide = (text: string, perLetter: number) => Math.ceil([...text].length * perLetter);

export function nameOf(box: StepBox): string {
  return shownName(box.name, 36);
}

/** Which execution a box tells of, behind the text of its state, in as many words as there is room. */
export function executionText(text: string, execution: number, width: number): string {
  if (execution < 2) return "";
  const long = ` · execution ${execution.toLocaleString("en")}`;
  const fits = wide(text + long, 6.3) + STATE_ICON <= width - 2 * PADDING;
  return fits ? long : ` · #${execution.toLocaleString("en")}`;
}

export function measure(box: StepBox): Places {
  const widths = box.outcomes.map(cardWidth);
  const row = sum(widths) + GAP * Math.max(0, widths.length - 1);
  const stacked = row > WIDEST_ROW;
  const inner = Math.max(
    wide(nameOf(box), 8.2) + (box.start ? 58 : 0) + (box.polls ? 44 : 0),
    sum(box.chips.map((chip) => wide(chip.text, 6.4) + 32)),
    sum(box.streams.map((name) => wide(shownName(name, 24), 6.2) + 30)),
    ...box.waits.map((text) => wide(shownName(text, 40), 6.2) + 30),
    box.waitKind ? wide(box.waitKind, 6.2) + 30 : 0,
    box.waits.length > 0 ? SMALLEST_WAITING - 2 * PADDING : 0,
    stacked ? Math.max(...widths) + 28 : row,
    box.polls ? SMALLEST_POLLING - 2 * PADDING : SMALLEST - 2 * PADDING,
  );
  const width = inner + 2 * PADDING;
  let y = 40;
  const chips = y;
  if (box.chips.length > 0) y += 26;
  const streams = y;
  if (box.streams.length > 0) y += 26;
  const waits = y;
  const rows = box.waits.length + (box.waitKind ? 1 : 0);
  if (rows > 0) y += rows * WAIT_ROW + 6;
  const placed = placeCards(box.outcomes, widths, { y, width, stacked });
  const live = placed.end + 2;
  return {
    width,
    height: live + (box.polls ? 84 : 26),
    chips,
    streams,
    waits,
    diamond: placed.diamond,
    cards: placed.cards,
    live,
  };
}

function cardWidth(outcome: Outcome): number {
  return Math.max(76, wide(outcome.text, 6.7) + 33, wide(outcome.guard, 5.6) + 10);
}

interface Room {
  y: number;
  width: number;
  stacked: boolean;
}

function placeCards(outcomes: Outcome[], widths: number[], { y, width, stacked }: Room) {
  if (outcomes.length === 0) return { cards: [], diamond: null, end: y };
  const several = outcomes.length > 1;
  const diamond = several ? { x: stacked ? PADDING + 14 : width / 2, y: y + 18 } : null;
  const first = several ? y + 54 : y + 2;
  const cards: Card[] = [];
  const whole = sum(widths) + GAP * (widths.length - 1);
  let x = several && !stacked ? (width - whole) / 2 : PADDING;
  let top = stacked ? y + 52 : first;
  outcomes.forEach((outcome, index) => {
    const own = widths[index] ?? 0;
    if (stacked) {
      cards.push({ outcome, x: PADDING + 28, y: top, width: own });
      top += CARD_HEIGHT + 20;
    } else {
      const across = several ? own : width - 2 * PADDING;
      cards.push({ outcome, x, y: first, width: across });
      x += own + GAP;
    }
  });
  const bottom = stacked ? top - 20 : first + CARD_HEIGHT;
  return { cards, diamond, end: bottom + 8 };
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
