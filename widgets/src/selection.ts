/** What the reader looks at, kept when a host mounts the view anew; all views of a Lab agree. */

import type { Severity } from "./findingDocuments";

export class Selection {
  /** The name of the pane beside the graph. */
  pane = "";
  /** Only findings of this box of the graph are listed, and of this severity; empty for all. */
  only = "";
  severity: Severity | "" = "";
  /** The finding that is open, by its key, and the box that it is about. */
  finding = "";
  box = "";
  /** Grows with every change. */
  revision = 0;
  /** Where the focus is to go into the list of findings. */
  private wanted: Element | null = null;
  private readonly listeners = new Set<() => void>();

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  open(pane: string): void {
    this.change({ pane });
  }

  /** List the findings of a box, or all; `from` is where that was asked for. */
  show(only: string, from: Element | null = null): void {
    this.wanted = from?.closest("section.dexnb") ?? null;
    this.change({ pane: "Findings", only, severity: "" });
  }

  filter(severity: Severity | ""): void {
    this.change({ severity });
  }

  /** Open a finding, or close it when it is open. */
  choose(finding: string, box: string): void {
    const same = finding === this.finding;
    this.change(same ? { finding: "", box: "" } : { finding, box });
  }

  /** Whether the focus is to go in here; true once. */
  takesFocus(element: Element): boolean {
    const takes = this.wanted?.contains(element) ?? false;
    if (takes) this.wanted = null;
    return takes;
  }

  private change(to: Partial<Pick<Selection, "pane" | "only" | "severity" | "finding" | "box">>) {
    Object.assign(this, to);
    this.revision += 1;
    for (const listener of [...this.listeners]) listener();
  }
}
