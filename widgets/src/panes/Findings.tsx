/** What is known against the Flow: by severity, with its place, its source and its rule. */

import { useEffect, useRef } from "react";
import type { Page } from "../documents";
import { timeOfDay } from "../duration";
import type { Finding, Severity } from "../findingDocuments";
import { boxOf, flowFindings, keyOf, placeText, SEVERITIES } from "../findings";
import { KEEPS_KEYS, usePage, useSelection } from "../lab/context";
import { Icon } from "../lab/Icon";
import { shown, shownName } from "../value";
import { FindingDetails } from "./FindingDetails";

export function FindingsPane() {
  const selection = useSelection();
  const page = usePage();
  const list = useRef<HTMLOListElement>(null);
  const { revision } = selection;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change may ask for the focus
  useEffect(() => {
    if (!list.current || !selection.takesFocus(list.current)) return;
    list.current.querySelector("button")?.focus();
  }, [revision, selection]);
  if (page === null) return null;
  const all = flowFindings(page);
  const ofBox = selection.only
    ? all.filter((one) => boxOf(one, page.graph) === selection.only)
    : all;
  const found = ofBox.filter(
    ({ severity }) => selection.severity === "" || severity === selection.severity,
  );
  return (
    <div className="dexnb-findings">
      <Checked page={page} count={all.length} />
      {all.length > 0 && <Filters page={page} found={ofBox} />}
      <ol ref={list} aria-label="Findings">
        {found.map((one) => (
          <Row key={keyOf(one)} finding={one} page={page} />
        ))}
      </ol>
      {all.length > 0 && found.length === 0 && <p className="dexnb-hint">None of these.</p>}
    </div>
  );
}

/** What was looked at and when; silence would look like an all-clear. */
function Checked({ page, count }: { page: Page; count: number }) {
  const { lint } = page;
  if (lint === undefined) return null;
  if (lint.state === "failed") {
    return (
      <p className="dexnb-warning">
        <b>Not linted</b> {shown(lint.reason, 300)}
      </p>
    );
  }
  if (lint.state === "pending") return <p className="dexnb-hint">The Flow is being linted…</p>;
  const steps = `${lint.steps} ${lint.steps === 1 ? "Step" : "Steps"}`;
  return (
    <p className="dexnb-hint">
      {count === 0 && <b>No findings. </b>}
      {lint.rules} rules were asked about {shownName(lint.flow, 40)} and its {steps}
      {lint.at !== null && ` at ${timeOfDay(lint.at)}`}.
    </p>
  );
}

function Filters({ page, found }: { page: Page; found: Finding[] }) {
  const selection = useSelection();
  const name = page.graph?.nodes.find(({ id }) => id === selection.only)?.name;
  const filters: (Severity | "")[] = ["", ...SEVERITIES];
  return (
    <div className="dexnb-filters">
      <fieldset className="dexnb-segments" aria-label="Severity">
        {filters.map((severity) => (
          <Filter key={severity} severity={severity} found={found} />
        ))}
      </fieldset>
      {selection.only && (
        <button
          type="button"
          className="dexnb-only"
          title="Show the findings of the whole Flow"
          onClick={() => selection.show("")}
          {...KEEPS_KEYS}
        >
          only {shownName(name ?? selection.only, 30)} <Icon name="cross" size={9} />
        </button>
      )}
    </div>
  );
}

function Filter({ severity, found }: { severity: Severity | ""; found: Finding[] }) {
  const selection = useSelection();
  const count = severity ? found.filter((one) => one.severity === severity).length : found.length;
  if (severity && count === 0 && selection.severity !== severity) return null;
  return (
    <button
      type="button"
      aria-pressed={selection.severity === severity}
      onClick={() => selection.filter(severity)}
      {...KEEPS_KEYS}
    >
      {severity ? `${severity}s` : "all"} {count}
    </button>
  );
}

function Row({ finding, page }: { finding: Finding; page: Page }) {
  const selection = useSelection();
  const key = keyOf(finding);
  const open = selection.finding === key;
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (open && row.current) toTop(row.current);
  }, [open]);
  const place = placeText(finding.place);
  return (
    <li ref={row} className={`dexnb-finding dexnb-finding-${finding.severity}`}>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => selection.choose(key, boxOf(finding, page.graph))}
        {...KEEPS_KEYS}
      >
        <span className="dexnb-finding-head">
          <SeverityMark severity={finding.severity} />
          <b>{shownName(finding.code, 12)}</b> {shownName(finding.name, 40)}
          {finding.verdict === "cannot tell" && <em className="dexnb-unsure">cannot tell</em>}
          {place && <code>{shownName(place, 60)}</code>}
        </span>
        <span className="dexnb-finding-text">{shown(finding.message, 1000)}</span>
      </button>
      {open && <FindingDetails finding={finding} at={page.lint?.at ?? null} />}
    </li>
  );
}

/** Scroll the pane, and nothing around it, so that there is room for what an open finding shows. */
function toTop(row: HTMLElement): void {
  const pane = row.closest('[role="tabpanel"]');
  if (pane) pane.scrollTop += row.getBoundingClientRect().top - pane.getBoundingClientRect().top;
}

function SeverityMark({ severity }: { severity: Severity }) {
  const icon = severity === "error" ? "cross" : severity === "warning" ? "warn" : "circle";
  return (
    <span className="dexnb-severity" title={severity}>
      <Icon name={icon} size={11} />
      <span className="dexnb-unseen">{severity} </span>
    </span>
  );
}
