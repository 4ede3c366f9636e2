/** Keys stay in the Lab: nothing that is pressed here is a shortcut of the notebook. */

import type { FocusEvent, KeyboardEvent } from "react";

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
  // Chords such as Ctrl+S are the host's.
  if (!event.ctrlKey && !event.metaKey) event.stopPropagation();
}

function giveFocusBack(root: HTMLElement): void {
  const host = root.closest<HTMLElement>(".jp-Cell, .jp-Notebook, [data-cell-id]");
  (document.activeElement as HTMLElement | null)?.blur?.();
  host?.focus({ preventScroll: true });
}
