/** An open finding: what to do instead, the source at its place, and the page of its rule. */

import { useEffect, useId, useState } from "react";
import type { Command } from "../commands";
import type { Json, JsonObject } from "../documents";
import type { Excerpt, Finding, RulePage } from "../findingDocuments";
import { placeText } from "../findings";
import { KEEPS_KEYS, useSession } from "../lab/context";
import { Icon } from "../lab/Icon";
import { shown } from "../value";
import { sectionsOf } from "./rulePage";

const RULE = /^DX\d+$/;

export function FindingDetails({ finding, at }: { finding: Finding; at: number | null }) {
  const [explained, setExplained] = useState(false);
  const { hint, place, fix, code } = finding;
  return (
    <div className="dexnb-finding-details">
      {hint && <p>{shown(hint, 1000)}</p>}
      {fix && (
        <p>
          <code>dexnb lint --fix</code> can {shown(fix.title, 200)}.
        </p>
      )}
      {place.line > 0 && <Source finding={finding} at={at} />}
      {RULE.test(code) && (
        <button
          type="button"
          className="dexnb-why"
          aria-expanded={explained}
          onClick={() => setExplained(!explained)}
          {...KEEPS_KEYS}
        >
          <Icon name={explained ? "down" : "right"} size={9} /> What {code} means
        </button>
      )}
      {explained && <Rule code={code} />}
    </div>
  );
}

/** What a command answers; anew when what it is about changes. */
function useAnswer(name: "source_of" | "explain", args: JsonObject, about: string) {
  const { transport } = useSession();
  const topic = `${name} ${useId()}`;
  const [answer, setAnswer] = useState<Command | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `about` stands for the arguments
  useEffect(() => {
    let gone = false;
    setAnswer(null);
    void transport.command(name, args, topic).then((command) => {
      if (gone || command.state === "dropped") return;
      setAnswer({ ...command });
      // It is told here, and not once more in the status line.
      transport.commands.dismiss(topic);
    });
    return () => {
      gone = true;
      transport.commands.dismiss(topic);
    };
  }, [transport, about]);
  return answer;
}

function resultOf<T>(answer: Command | null): T | null {
  const done = answer?.state === "done" && answer.result !== null;
  return done ? (answer.result as Json as unknown as T) : null;
}

function Refused({ answer, waiting }: { answer: Command | null; waiting: string }) {
  return <p className="dexnb-hint">{answer === null ? waiting : shown(answer.error, 300)}</p>;
}

function Source({ finding, at }: { finding: Finding; at: number | null }) {
  const { place } = finding;
  const args = { place: { ...place } as unknown as JsonObject };
  const answer = useAnswer("source_of", args, `${JSON.stringify(place)} ${at}`);
  const excerpt = resultOf<Excerpt>(answer);
  if (excerpt === null) return <Refused answer={answer} waiting="Reading the source…" />;
  const indent = indentOf(excerpt.lines);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields
    <div
      className="dexnb-source-lines"
      role="group"
      aria-label={`Source of ${placeText(place)}`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reached by keys
      tabIndex={0}
      {...KEEPS_KEYS}
    >
      {excerpt.lines.map((text, index) => {
        const line = excerpt.first + index;
        const marked = line >= excerpt.line && line <= excerpt.end_line;
        return (
          <div key={line} className={marked ? "dexnb-marked" : undefined} aria-current={marked}>
            <i aria-hidden="true">{line}</i>
            <code>{shown(text.slice(indent), 240) || " "}</code>
          </div>
        );
      })}
    </div>
  );
}

/** What all lines begin with: there is little room beside the graph. */
function indentOf(lines: string[]): number {
  const indents = lines.filter((line) => line.trim()).map((line) => line.search(/\S/));
  return Math.min(...indents, 80);
}

function Rule({ code }: { code: string }) {
  const answer = useAnswer("explain", { code }, code);
  const rule = resultOf<RulePage>(answer);
  if (rule === null) return <Refused answer={answer} waiting="Asking for the rule…" />;
  return (
    <div className="dexnb-rule">
      {sectionsOf(rule.page).map(({ title, blocks }) => (
        <section key={title} aria-label={title || "Summary"}>
          {title && <h4>{title}</h4>}
          {blocks.map(({ code: isCode, text }) =>
            isCode ? <pre key={text}>{shown(text)}</pre> : <p key={text}>{shown(text)}</p>,
          )}
        </section>
      ))}
    </div>
  );
}
