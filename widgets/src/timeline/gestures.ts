/** Hands on the timeline: shift and wheel zoom, drag moves, keys do both. */

import { type KeyboardEvent, type PointerEvent, type RefObject, useEffect, useRef } from "react";
import { moved, type Sight, type Span, WHOLE, zoomed } from "./axis";

export interface Hold {
  span: Span;
  end: number;
  sight: Sight;
  setSight: (sight: Sight) => void;
  left: number;
  right: number;
}

const PER_KEY = 1.5;

export function useGestures(pane: RefObject<HTMLElement | null>, hold: Hold) {
  const latest = useRef(hold);
  latest.current = hold;
  useWheel(pane, latest);
  return { ...useDrag(latest), onKeyDown: (event: KeyboardEvent) => onKey(event, latest.current) };
}

function momentAt(clientX: number, pane: Element, { span, left, right }: Hold): number {
  const share = (clientX - pane.getBoundingClientRect().left - left) / (right - left);
  return span.from + Math.min(1, Math.max(0, share)) * (span.to - span.from);
}

/** React hears the wheel passively; to keep the page from scrolling it must not be. */
function useWheel(pane: RefObject<HTMLElement | null>, latest: RefObject<Hold>): void {
  useEffect(() => {
    const element = pane.current;
    if (!element) return;
    const onWheel = (event: WheelEvent) => {
      const hold = latest.current;
      if (!event.shiftKey || !hold) return;
      event.preventDefault();
      // With shift held, many systems turn the wheel sideways.
      const turn = event.deltaY || event.deltaX;
      const at = momentAt(event.clientX, element, hold);
      hold.setSight(zoomed(hold.span, hold.end, 2 ** (-turn / 300), at));
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, [pane, latest]);
}

function useDrag(latest: RefObject<Hold>) {
  const begin = useRef<{ x: number; from: number } | null>(null);
  return {
    onPointerDown(event: PointerEvent<HTMLElement>) {
      const hold = latest.current;
      const onControl = (event.target as Element).closest("button, input");
      if (!hold || hold.sight.zoom <= 1 || onControl || event.button !== 0) return;
      begin.current = { x: event.clientX, from: hold.span.from };
      event.currentTarget.setPointerCapture(event.pointerId);
    },
    onPointerMove(event: PointerEvent<HTMLElement>) {
      const hold = latest.current;
      if (!begin.current || !hold) return;
      const length = hold.span.to - hold.span.from;
      const way = ((event.clientX - begin.current.x) / (hold.right - hold.left)) * length;
      hold.setSight({ zoom: hold.sight.zoom, from: Math.max(0, begin.current.from - way) });
    },
    onPointerUp() {
      begin.current = null;
    },
  };
}

function onKey(event: KeyboardEvent, hold: Hold): void {
  if ((event.target as Element).closest("input, button")) return;
  const sight = sightAfter(event.key, hold);
  if (sight === null) return;
  event.preventDefault();
  hold.setSight(sight);
}

function sightAfter(key: string, { span, end, sight }: Hold): Sight | null {
  const middle = (span.from + span.to) / 2;
  if (key === "+" || key === "=") return zoomed(span, end, PER_KEY, middle);
  if (key === "-") return zoomed(span, end, 1 / PER_KEY, middle);
  if (key === "ArrowLeft") return moved(span, end, sight.zoom, -1 / 8);
  if (key === "ArrowRight") return moved(span, end, sight.zoom, 1 / 8);
  if (key === "Home") return WHOLE;
  if (key === "End") return { zoom: sight.zoom, from: null };
  return null;
}
