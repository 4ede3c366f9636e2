/** Messages: in order into the page, and commands until they are answered. */

import { beforeEach, describe, expect, it } from "vitest";
import { MOST_RETRIES, QUEUED_SECONDS, RETRY_SECONDS } from "../src/commands";
import type { Event, FromPython, ToPython } from "../src/documents";
import { LabStore, RUN_ON_SECONDS } from "../src/store";
import { PROBE_SECONDS, SILENT_SECONDS, Transport } from "../src/transport";
import { eventOf, FakeTimers, pageOf } from "./fakes";

let timers: FakeTimers;
let sent: ToPython[];
let store: LabStore;
let transport: Transport;
let ids: number;

beforeEach(() => {
  timers = new FakeTimers();
  sent = [];
  ids = 0;
  store = new LabStore(timers);
  const newId = () => {
    ids += 1;
    return `id-${ids}`;
  };
  transport = new Transport((message) => void sent.push(message), store, timers, newId);
});

const snapshot = (seq: number, page = pageOf()): FromPython => ({ kind: "snapshot", seq, page });
const batch = (seq: number, events: Event[] = [], now = 11): FromPython => {
  return { kind: "batch", seq, now, events, engine: [] };
};
const beat = (time: number) => eventOf("heartbeat", time, { checkpoint: '"x"', cleared: false });
const beats = () => store.page?.view.steps["A-1"]?.attempts[0]?.beat_count ?? 0;
const kinds = () => sent.map((message) => message.kind);
const reply = (id: string, change: Partial<Extract<FromPython, { kind: "reply" }>> = {}) => {
  const answer = { kind: "reply", id, ok: true, state: "done", error: "", result: null } as const;
  transport.receive({ ...answer, ...change });
};

describe("batches", () => {
  it("are folded in order", () => {
    transport.receive(snapshot(4));
    transport.receive(batch(5, [beat(1)]));
    transport.receive(batch(6, [beat(2)]));
    expect(beats()).toBe(2);
    expect(kinds()).toEqual([]);
  });

  it("behind a gap ask for a snapshot and change nothing until it comes", () => {
    transport.receive(snapshot(1));
    transport.receive(batch(2, [beat(1)]));
    transport.receive(batch(4, [beat(3)]));
    transport.receive(batch(5, [beat(4)]));
    expect(kinds()).toEqual(["resync"]);
    expect(beats()).toBe(1);
    transport.receive(snapshot(6, pageOf({ now: 20 })));
    transport.receive(batch(7, [beat(5)]));
    expect(beats()).toBe(1);
    expect(kinds()).toEqual(["resync"]);
  });

  it("that come twice are folded once", () => {
    transport.receive(snapshot(1));
    transport.receive(batch(2, [beat(1)]));
    transport.receive(batch(2, [beat(1)]));
    expect(beats()).toBe(1);
  });

  it("before any snapshot ask for one, but not more than once a second", () => {
    for (let index = 1; index < 20; index += 1) {
      transport.receive(batch(index));
      timers.move(0.05);
    }
    expect(kinds()).toEqual(["resync"]);
    timers.move(0.2);
    transport.receive(batch(20));
    expect(kinds()).toEqual(["resync", "resync"]);
  });

  it("with an event that cannot be folded end in a resync, not in an exception", () => {
    transport.receive(snapshot(1));
    transport.receive(batch(2, [{ ...beat(1), kind: "step_completed", payload: {} }]));
    expect(kinds()).toEqual(["resync"]);
    transport.receive(snapshot(3));
    transport.receive(batch(4, [beat(1)]));
    expect(beats()).toBe(1);
  });

  it("with signs packed together are folded sign by sign", () => {
    transport.receive(snapshot(1));
    const ids = { kind: "signs", step_execution_id: "A-1", attempt: 1, offset: 0 } as const;
    const signs = { ...ids, signs: "hhh", from: 1, after: [1000, 1000], checkpoint: '"y"' };
    transport.receive({ kind: "batch", seq: 2, now: 11, events: [signs, beat(2)], engine: [] });
    expect(beats()).toBe(4);
    expect(store.page?.view.steps["A-1"]?.attempts[0]?.beats).toEqual([1, 1.001, 1.002, 2]);
  });

  it("of no known kind are left alone", () => {
    for (const odd of [null, undefined, 7, "x", {}, { kind: "other" }, []]) transport.receive(odd);
    expect(store.page).toBeNull();
  });
});

describe("a view", () => {
  it("says ready when it is mounted, and leaves no timer behind", () => {
    const first = transport.mounted();
    const second = transport.mounted();
    expect(kinds()).toEqual(["ready", "ready"]);
    first();
    first();
    expect(timers.pending).toBe(1);
    second();
    expect(timers.pending).toBe(0);
  });

  it("asks again while a resync stays without answer", () => {
    transport.mounted();
    transport.receive(snapshot(1));
    transport.receive(batch(3));
    timers.move(PROBE_SECONDS * 2 + 0.1);
    expect(kinds()).toEqual(["ready", "resync", "resync", "resync"]);
  });

  it("asks a running run that has fallen silent, and leaves an ended one in peace", () => {
    transport.mounted();
    transport.receive(snapshot(1));
    timers.move(2 * PROBE_SECONDS + 0.1);
    expect(kinds().filter((kind) => kind === "resync").length).toBeGreaterThan(0);
    const ended = pageOf();
    ended.view.status = "COMPLETED";
    transport.receive(snapshot(2, ended));
    sent.length = 0;
    timers.move(20);
    expect(sent).toEqual([]);
    expect(store.silence()).toBeNull();
  });

  it("lives on when the comm is closed", () => {
    const closed = new Transport(
      () => {
        throw new Error("closed");
      },
      store,
      timers,
      () => "id",
    );
    closed.mounted();
    void closed.command("run");
    timers.move(20);
    expect(closed.commands.shown.get("run")?.state).toBe("unanswered");
    closed.dispose();
    expect(timers.pending).toBe(0);
  });
});

describe("the page's time", () => {
  it("runs on at the run's speed while messages keep coming, then stands still", () => {
    const page = pageOf({ now: 50 });
    page.actions.speed = 10;
    transport.receive(snapshot(1, page));
    timers.move(2);
    expect(store.now()).toBeCloseTo(70);
    timers.move(60);
    expect(store.now()).toBeCloseTo(50 + 10 * RUN_ON_SECONDS);
    expect(store.silence()).toBeGreaterThan(SILENT_SECONDS);
  });

  it("stands still in virtual time and after the end", () => {
    transport.receive(
      snapshot(1, pageOf({ now: 50, runtime: { name: "", clock: "virtual", state: "open" } })),
    );
    timers.move(2);
    expect(store.now()).toBe(50);
    const ended = pageOf({ now: 60 });
    ended.view.status = "FAILED";
    transport.receive(snapshot(2, ended));
    timers.move(2);
    expect(store.now()).toBe(60);
  });

  it("tells views once a frame, however many messages came", () => {
    let told = 0;
    const leave = store.subscribe(() => {
      told += 1;
    });
    transport.receive(snapshot(1));
    for (let seq = 2; seq < 30; seq += 1) transport.receive(batch(seq));
    expect(told).toBe(0);
    timers.move(0.002);
    expect(told).toBe(1);
    leave();
    expect(timers.pending).toBe(0);
  });
});

describe("a command", () => {
  it("is pending, then done when it is answered", async () => {
    const settled = transport.command("stop");
    expect(sent).toEqual([{ kind: "command", id: "id-1", name: "stop", args: {} }]);
    expect(transport.commands.shown.get("stop")?.state).toBe("pending");
    reply("id-1");
    expect((await settled).state).toBe("done");
    expect(transport.commands.shown.size).toBe(0);
    expect(timers.pending).toBe(0);
  });

  it("is shown as queued after 400 ms and sent again with the same id", () => {
    void transport.command("stop");
    timers.move(QUEUED_SECONDS + 0.01);
    expect(transport.commands.shown.get("stop")?.state).toBe("queued");
    timers.move(RETRY_SECONDS * 2);
    expect(sent.map((message) => "id" in message && message.id)).toEqual(["id-1", "id-1", "id-1"]);
  });

  it("is given up after five retries, and a late answer still counts", async () => {
    const settled = transport.command("stop");
    timers.move(RETRY_SECONDS * (MOST_RETRIES + 1) + 0.1);
    expect(sent.length).toBe(1 + MOST_RETRIES);
    expect(transport.commands.shown.get("stop")?.state).toBe("unanswered");
    expect(timers.pending).toBe(0);
    reply("id-1");
    expect((await settled).state).toBe("done");
  });

  it("is sent again by hand under the same id", () => {
    void transport.command("stop");
    timers.move(30);
    transport.commands.retry("stop");
    expect(transport.commands.shown.get("stop")?.state).toBe("pending");
    expect(sent.at(-1)).toEqual({ kind: "command", id: "id-1", name: "stop", args: {} });
    reply("id-1");
    expect(transport.commands.shown.size).toBe(0);
  });

  it("that the kernel has put off is shown as queued and not sent again", async () => {
    const settled = transport.command("run");
    reply("id-1", { state: "queued" });
    timers.move(60);
    expect(sent.length).toBe(1);
    expect(transport.commands.shown.get("run")?.state).toBe("queued");
    reply("id-1");
    expect((await settled).state).toBe("done");
  });

  it("that is refused is shown with its reason until it is dismissed", async () => {
    const settled = transport.command("set_knob", { name: "P", value: 99, live: true }, "knob P");
    reply("id-1", { ok: false, error: "P is 99 s: at most 40 s" });
    expect((await settled).error).toBe("P is 99 s: at most 40 s");
    expect(transport.commands.shown.get("knob P")?.state).toBe("refused");
    transport.commands.dismiss("knob P");
    expect(transport.commands.shown.size).toBe(0);
  });

  it("takes the place of an older one of its topic, whose retries end", async () => {
    const older = transport.command("set_knob", { name: "P", value: 1, live: true }, "knob P");
    timers.move(0.2);
    void transport.command("set_knob", { name: "P", value: 2, live: true }, "knob P");
    expect((await older).state).toBe("dropped");
    timers.move(RETRY_SECONDS * 3);
    const values = sent.map((message) => ("args" in message ? message.args.value : null));
    expect(values.slice(1).every((value) => value === 2)).toBe(true);
  });

  it("is not settled by an answer to another", () => {
    void transport.command("run");
    reply("someone-else");
    expect(transport.commands.shown.get("run")?.state).toBe("pending");
  });
});
