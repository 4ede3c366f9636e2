/** What is known against a Flow, as documents: the same names as in Python. */

/** A stretch of source. Twin of `dexnb.model.finding.Place`. */
export interface Place {
  path: string;
  /** A cell's id in a notebook, or its label in a kernel: `In [3]`. */
  cell: string;
  /** From 1; 0 where it is not known. */
  line: number;
  column: number;
  end_line: number;
  end_column: number;
}

export interface Edit {
  place: Place;
  text: string;
}

export interface Fix {
  title: string;
  edits: Edit[];
}

export type Severity = "error" | "warning" | "note";

/** What a rule says about one place. Twin of `dexnb.model.finding.Finding`. */
export interface Finding {
  code: string;
  name: string;
  severity: Severity;
  message: string;
  hint: string;
  place: Place;
  flow: string;
  /** Id of the node that carries its badge; empty for the Flow itself. */
  node: string;
  verdict: "found" | "cannot tell";
  fix: Fix | null;
}

/** How far the linter is with the Flow of a page. */
export interface Lint {
  state: "pending" | "done" | "failed";
  reason: string;
  flow: string;
  steps: number;
  rules: number;
  /** Wall time. */
  at: number | null;
}

/** A few lines around the place of a finding: the answer to `source_of`. */
export interface Excerpt {
  first: number;
  lines: string[];
  /** The lines to mark. */
  line: number;
  end_line: number;
}

/** The answer to `explain`. */
export interface RulePage {
  title: string;
  page: string;
}
