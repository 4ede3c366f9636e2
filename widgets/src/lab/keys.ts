/** Keys stay in the Lab: nothing that is pressed here is a shortcut of the notebook. */

import type { FocusEvent, KeyboardEvent } from "react";

const HOST = ".jp-Cell, .jp-Notebook, [data-cell-id]";
const SUPPRESS = "data-lm-suppress-shortcuts";

/** JupyterLab and Notebook look at the focused element itself, so each one carries the mark. */
export function markFocused(event: FocusEvent<HTMLElement>): void {
  const { target } = event;
  if (!target.hasAttribute(SUPPRESS)) target.setAttribute(SUPPRESS, "true");
}

export function keepKeys(event: KeyboardEvent<HTMLElement>): void {
  if (event.key === "Escape" && event.type === "keydown") {
    giveFocusBack(event.currentTarget);
    event.preventDefault();
  }
  // Chords are the host's. It looks at none that begins inside of the mark, so that of saving,
  // which would save the page's HTML instead, is given to it once more, outside.
  if (!event.ctrlKey && !event.metaKey) event.stopPropagation();
  else if (event.type === "keydown" && saves(event)) handOn(event);
}

function saves({ key, altKey, shiftKey }: KeyboardEvent<HTMLElement>): boolean {
  return key.toLowerCase() === "s" && !altKey && !shiftKey;
}

function handOn(event: KeyboardEvent<HTMLElement>): void {
  const host = event.currentTarget.closest<HTMLElement>(HOST);
  if (host === null) return;
  event.preventDefault();
  event.stopPropagation();
  const { key, code, keyCode, ctrlKey, metaKey } = event.nativeEvent;
  const same = { key, code, keyCode, ctrlKey, metaKey, bubbles: true, cancelable: true };
  host.dispatchEvent(new window.KeyboardEvent("keydown", same));
}

function giveFocusBack(root: HTMLElement): void {
  const host = root.closest<HTMLElement>(HOST);
  (document.activeElement as HTMLElement | null)?.blur?.();
  host?.focus({ preventScroll: true });
}
