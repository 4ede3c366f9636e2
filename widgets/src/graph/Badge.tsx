/** How many findings there are about a box of the graph; pressed, it lists them. */

import type { Page } from "../documents";
import type { Finding, Severity } from "../findingDocuments";
import { boxOf, flowFindings, worstOf } from "../findings";
import { KEEPS_KEYS, useOfPage, useSession } from "../lab/context";
import { shownName } from "../value";

const MOST_TOLD = 8;

export function Badge({ box, name }: { box: string; name: string }) {
  const { selection } = useSession();
  const told = useOfPage((page) => badgeText(page, box), "");
  if (told === "") return null;
  const { count, worst, codes } = JSON.parse(told) as Told;
  const title = `${count} ${count === 1 ? "finding" : "findings"}: ${codes.join(", ")}`;
  return (
    <button
      type="button"
      // React Flow takes neither its clicks nor its keys for the box around it.
      className={`dexnb-badge dexnb-badge-${worst} nodrag nopan nokey`}
      title={title}
      aria-label={`${shownName(name)}: ${title}`}
      onClick={(event) => selection.show(box, event.currentTarget)}
      {...KEEPS_KEYS}
    >
      {count > 99 ? "99+" : count}
    </button>
  );
}

interface Told {
  count: number;
  worst: Severity;
  codes: string[];
}

function badgeText(page: Page, box: string): string {
  const found = byBox(page).get(box);
  if (!found) return "";
  const codes = [...new Set(found.map(({ code, name }) => `${code} ${name}`))];
  const more = codes.length - MOST_TOLD;
  const shown = more > 0 ? [...codes.slice(0, MOST_TOLD), `${more} more`] : codes;
  return JSON.stringify({
    count: found.length,
    worst: worstOf(found),
    codes: shown.map((each) => shownName(each, 60)),
  } satisfies Told);
}

const sorted = new WeakMap<Finding[], Map<string, Finding[]>>();

/** Every box asks in every frame, and the answer changes with a whole page only. */
function byBox(page: Page): Map<string, Finding[]> {
  const { findings } = page;
  if (findings === undefined) return new Map();
  const known = sorted.get(findings);
  if (known) return known;
  const boxes = new Map<string, Finding[]>();
  for (const one of flowFindings(page)) {
    const box = boxOf(one, page.graph);
    boxes.set(box, [...(boxes.get(box) ?? []), one]);
  }
  sorted.set(findings, boxes);
  return boxes;
}
