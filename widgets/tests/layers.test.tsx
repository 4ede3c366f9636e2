// @vitest-environment jsdom
/** What stands beside the Steps: layers, the lines to them, and the reader's choice. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { act } from "react";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { FlowGraph, GraphEdge, GraphNode } from "../src/documents";
import { newView } from "../src/fold";
import { chosenLayers, countsOf, forgetLayers, type Layer, toggleLayer } from "../src/graph/layers";
import { layout } from "../src/graph/layout";
import { shapeOf } from "../src/graph/shape";
import { buttonOf, closeAll, mount, prepare } from "./dom";
import { pageOf } from "./fakes";

const file = join(__dirname, "../demo/logs/shop.graph.json");
const shop = JSON.parse(readFileSync(file, "utf8")) as FlowGraph;
const ALL: ReadonlySet<Layer> = new Set(["rpc", "subflow", "channel", "attribute", "stream"]);
const NONE: ReadonlySet<string> = new Set();
const EVIL = '<img src=x onerror="window.hit=1">';

const shapeWith = (...layers: Layer[]) => shapeOf(shop, NONE, new Set(layers));

function nodeOf(id: string): GraphNode {
  const found = shop.nodes.find((node) => node.id === id);
  if (!found) throw new Error(`no node ${id}`);
  return found;
}

beforeAll(prepare);
beforeEach(() => {
  window.localStorage.clear();
  forgetLayers();
});
afterEach(closeAll);

describe("the layers of a shape", () => {
  it("hold nothing unless they are asked for, and leave Steps and ways as they are", () => {
    const bare = shapeOf(shop, NONE);
    const whole = shapeOf(shop, NONE, ALL);
    expect([bare.things, bare.ties]).toEqual([[], []]);
    expect(whole.boxes).toEqual(bare.boxes);
    expect(whole.links).toEqual(bare.links);
    expect(countsOf(shop)).toEqual([
      ["rpc", 1],
      ["subflow", 1],
      ["channel", 2],
      ["attribute", 3],
    ]);
  });

  it("say what each thing is", () => {
    const { things } = shapeOf(shop, NONE, ALL);
    expect(things.map(({ name, about }) => [name, about])).toEqual([
      ["restock", "RPC"],
      ["notes", "AttributeMap of str"],
      ["state", "Attribute of str"],
      ["stock", "Attribute of int"],
      ["orders", "Channel of dict"],
      ["payments", "Channel of float"],
      ["Parcel", "SubFlow"],
    ]);
  });

  it("make one line of all that a Step does with a thing, with its direction", () => {
    const { ties } = shapeWith("attribute", "channel", "subflow", "rpc");
    const said = ties.map(({ from, to, label, into, outOf }) => [from, to, label, into, outOf]);
    expect(said).toContainEqual([
      "step:Collect",
      "resource:channel:orders",
      "waits, reads",
      false,
      true,
    ]);
    expect(said).toContainEqual([
      "rpc:restock",
      "resource:attribute:stock",
      "writes, reads, locks",
      true,
      true,
    ]);
    expect(said).toContainEqual(["step:Ship", "subflow:Parcel", "starts", true, true]);
    const only = shapeWith("rpc").ties;
    expect(only).toEqual([]);
  });

  it("draw the Steps that an RPC starts, and a lock alone without arrows", () => {
    const edges: GraphEdge[] = [
      ["transition", "rpc:restock", "step:Ship"],
      ["resource_lock", "step:Ship", "resource:attribute:stock"],
    ].map(([kind, from, to]) => ({
      id: `${kind}`,
      kind: kind as GraphEdge["kind"],
      from: from ?? "",
      to: to ?? "",
      label: "",
      condition: "",
    }));
    const { links, ties } = shapeOf({ ...shop, edges }, NONE, ALL);
    expect(links).toEqual([]);
    expect(ties.map(({ label, into, outOf }) => [label, into, outOf])).toEqual([
      ["starts", true, false],
      ["locks", false, false],
    ]);
  });
});

describe("the cards of a Step", () => {
  it("tell how several conditions belong together, and that there are several waits", () => {
    const { boxes } = shapeOf(shop, NONE);
    expect(boxes.map(({ name, waitKind }) => [name, waitKind])).toEqual([
      ["Collect", "any of"],
      ["Reserve", ""],
      ["Bill", "any of"],
      ["Ship", "any of"],
    ]);
    const wait = shop.nodes.find(({ kind }) => kind === "wait");
    if (!wait) throw new Error("no wait");
    const again = { ...wait, id: `${wait.id}0`, condition: "late" };
    const more = shapeOf({ ...shop, nodes: [...shop.nodes, again] }, NONE).boxes;
    const twice = more.find(({ id }) => id === wait.parentId);
    expect(twice?.waitKind).toBe("? one of 2 waits");
    expect(twice?.waitTitle).toContain("any of orders at least 2, timer 4 min if late");
  });

  it("tell what a decision cancels and which Channels it looks into", () => {
    const card = shop.nodes.find(({ kind }) => kind === "decision");
    if (!card?.decision) throw new Error("no decision");
    const decision = {
      ...card.decision,
      checkedChannels: ["resource:channel:orders"],
      cancellations: [
        { stepId: "step:Bill", scope: "all" as const },
        { stepId: "step:Ship", scope: "siblings" as const },
      ],
    };
    const nodes = shop.nodes.map((node) => (node === card ? { ...card, decision } : node));
    const box = shapeOf({ ...shop, nodes }, NONE).boxes.find(({ id }) => id === card.parentId);
    expect(box?.outcomes[0]?.more).toBe("cancels Bill, Ship (siblings); if orders is empty");
  });
});

describe("the layout with all layers", () => {
  it("is the same every time, lets no boxes overlap and draws every line", () => {
    const picture = layout(shapeOf(shop, NONE, ALL));
    expect(layout(shapeOf(structuredClone(shop), NONE, ALL))).toEqual(picture);
    const boxes = [...picture.boxes, ...picture.things];
    for (const [index, one] of boxes.entries()) {
      for (const other of boxes.slice(index + 1)) {
        const apart =
          one.x + one.width <= other.x ||
          other.x + other.width <= one.x ||
          one.y + one.height <= other.y ||
          other.y + other.height <= one.y;
        expect(apart).toBe(true);
      }
      expect(one.x + one.width).toBeLessThanOrEqual(picture.width);
      expect(one.y + one.height).toBeLessThanOrEqual(picture.height);
    }
    expect(picture.ties.length).toBe(shapeOf(shop, NONE, ALL).ties.length);
    expect(picture.ties.every(({ path }) => path.startsWith("M") && !path.includes("NaN"))).toBe(
      true,
    );
  });

  it("puts what nothing is tied to below the rest, in rows", () => {
    const rpc = nodeOf("rpc:restock");
    const lone = Array.from({ length: 12 }, (_, index) => ({ ...rpc, id: `rpc:r${index}` }));
    const picture = layout(shapeOf({ ...shop, nodes: [...shop.nodes, ...lone] }, NONE, ALL));
    const bottom = Math.max(...picture.boxes.map(({ y, height }) => y + height));
    const rows = picture.things.filter(({ thing }) => lone.some(({ id }) => id === thing.id));
    expect(rows.every(({ y }) => y > bottom)).toBe(true);
    expect(new Set(rows.map(({ x, y }) => `${x} ${y}`)).size).toBe(12);
    expect(layout(shapeOf({ ...shop, nodes: lone, edges: [] }, NONE, ALL)).things.length).toBe(12);
  });
});

describe("the choice of layers", () => {
  it("leaves out Attributes and Streams at first, and is remembered", () => {
    expect([...chosenLayers()]).toEqual(["rpc", "subflow", "channel"]);
    toggleLayer("attribute");
    toggleLayer("rpc");
    forgetLayers();
    expect(new Set(chosenLayers())).toEqual(new Set(["attribute", "channel", "subflow"]));
  });

  it("survives a page whose storage holds something else", () => {
    for (const kept of ["{", "7", '[null, "toString"]']) {
      window.localStorage.setItem("dexnb.graph.layers", kept);
      forgetLayers();
      expect([...chosenLayers()].every((layer) => ALL.has(layer))).toBe(true);
    }
  });

  it("shows and hides what a button says, whose names stay text", async () => {
    const nodes = shop.nodes.map((node) =>
      node.kind === "attribute" ? { ...node, name: `${EVIL}${node.name}` } : node,
    );
    const { el } = await mount(pageOf({ graph: { ...shop, nodes }, view: newView() }));
    const named = () => [...el.querySelectorAll(".dexnb-thing b")].map((one) => one.textContent);
    expect(named()).not.toContain("notes");
    const button = buttonOf(el, "3 Attributes");
    expect(button.getAttribute("aria-pressed")).toBe("false");
    await act(async () => button.click());
    expect(button.getAttribute("aria-pressed")).toBe("true");
    expect(named().filter((name) => name?.startsWith("<img")).length).toBe(3);
    expect(el.querySelector("img")).toBeNull();
    await act(async () => buttonOf(el, "2 Channels").click());
    expect(named()).not.toContain("orders");
  });
});
