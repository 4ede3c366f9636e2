/** What the demo can play: recorded runs, and a crowd of Steps that is made up as it goes. */

import type { Event, FlowGraph } from "../src/documents";
import type { Source } from "./kernel";
import { KNOBS } from "./knobs";
import briefEngine from "./logs/brief.engine.jsonl";
import brief from "./logs/brief.jsonl";
import failingEngine from "./logs/failing.engine.jsonl";
import failing from "./logs/failing.jsonl";
import healthyEngine from "./logs/healthy.engine.jsonl";
import healthy from "./logs/healthy.jsonl";
import graph from "./logs/polling.graph.json";
import recoveryEngine from "./logs/recovery.engine.jsonl";
import recovery from "./logs/recovery.jsonl";
import retryEngine from "./logs/retry.engine.jsonl";
import retry from "./logs/retry.jsonl";
import shopEngine from "./logs/shop.engine.jsonl";
import shopGraph from "./logs/shop.graph.json";
import shop from "./logs/shop.jsonl";

const LOGS: Record<string, [run: string, engine: string]> = {
  healthy: [healthy, healthyEngine],
  retry: [retry, retryEngine],
  recovery: [recovery, recoveryEngine],
  failing: [failing, failingEngine],
  brief: [brief, briefEngine],
  shop: [shop, shopEngine],
};

function eventsOf(text: string): Event[] {
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Event);
}

export function recorded(name: string): Source {
  const [run, engine] = (LOGS[name] ?? [retry, retryEngine]).map(eventsOf) as [Event[], Event[]];
  const events = [...run, ...engine].sort((a, b) => a.time - b.time);
  let next = 0;
  const ofShop = name === "shop";
  return {
    title: ofShop ? "Shop" : "PollingFlow",
    graph: (ofShop ? shopGraph : graph) as unknown as FlowGraph,
    knobs: ofShop ? [] : KNOBS,
    begin: run[0]?.time ?? 0,
    end: (run.at(-1)?.time ?? 0) + 5,
    upTo(time) {
      const first = next;
      while (next < events.length && (events[next]?.time ?? 0) <= time) next += 1;
      return events.slice(first, next);
    },
    rewind() {
      next = 0;
    },
  };
}
