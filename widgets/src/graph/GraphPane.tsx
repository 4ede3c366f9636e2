/** The Flow's shape with the run on it. Only to look at: nothing can be moved or deleted. */

import { ReactFlow, type ReactFlowInstance } from "@xyflow/react";
import { type RefObject, useCallback, useEffect, useId, useMemo, useRef, useState } from "react";
import type { FlowGraph, Page } from "../documents";
import { KEEPS_KEYS, useOfPage, useSelection } from "../lab/context";
import { Icon, type IconName } from "../lab/Icon";
import { shownName } from "../value";
import { MANY } from "./columns";
import { Legend } from "./Legend";
import { ArrowHeads, LinkEdge, type LinkEdgeType } from "./LinkEdge";
import { LAYERS, type Layer, useLayers } from "./layers";
import { layout, type Picture } from "./layout";
import { StepNode, type StepNodeType } from "./StepNode";
import { type Shape, shapeOf, shapeOfRun } from "./shape";
import { ThingNode, type ThingNodeType } from "./ThingNode";
import { TieEdge, type TieEdgeType } from "./TieEdge";

type GraphBox = StepNodeType | ThingNodeType;
type GraphLine = LinkEdgeType | TieEdgeType;

const nodeTypes = { step: StepNode, thing: ThingNode };
const edgeTypes = { link: LinkEdge, tie: TieEdge };
const FIT = { padding: 0.04, maxZoom: 1 };
const WORDS = {
  "node.a11yDescription.default": "A part of the Flow. Arrow keys and Tab go on.",
  "node.a11yDescription.keyboardDisabled": "A part of the Flow.",
  "edge.a11yDescription.default": "A way between two parts.",
};

/** Nothing can be moved, tied, cut or deleted, and the page scrolls on under the wheel. */
const TO_LOOK_AT = {
  fitView: true,
  fitViewOptions: FIT,
  minZoom: 0.15,
  maxZoom: 2,
  nodesDraggable: false,
  nodesConnectable: false,
  edgesFocusable: false,
  deleteKeyCode: null,
  selectionKeyCode: null,
  multiSelectionKeyCode: null,
  panActivationKeyCode: null,
  zoomActivationKeyCode: ["Control", "Meta"],
  zoomOnScroll: false,
  zoomOnDoubleClick: false,
  preventScrolling: false,
  autoPanOnNodeFocus: true,
  ariaLabelConfig: WORDS,
};

type Instance = ReactFlowInstance<GraphBox, GraphLine>;

export function GraphPane({ dark }: { dark: boolean }) {
  const { graph, picture } = usePicture();
  const marks = useId().replaceAll(":", "");
  const nodes = useMemo(() => nodesOf(picture), [picture]);
  const edges = useMemo(() => edgesOf(picture, marks), [picture, marks]);
  const [instance, setInstance] = useState<Instance | null>(null);
  const { box, refit, onMoveStart } = useFit(instance, picture);
  useChosenInView(instance, picture, box);
  return (
    <section
      className="dexnb-graph"
      ref={box}
      aria-label="Definition graph"
      style={{ height: heightOf(picture) }}
    >
      <ArrowHeads id={marks} />
      {graph && <Legend graph={graph} />}
      <ReactFlow<GraphBox, GraphLine>
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        colorMode={dark ? "dark" : "light"}
        onInit={setInstance}
        onMoveStart={onMoveStart}
        onlyRenderVisibleElements={nodes.length > MANY}
        {...TO_LOOK_AT}
      >
        <Zoom instance={instance} refit={refit} />
      </ReactFlow>
    </section>
  );
}

function Zoom({ instance, refit }: { instance: Instance | null; refit: () => void }) {
  const button = (label: string, icon: IconName, act: () => void) => (
    <button type="button" title={label} aria-label={label} onClick={act} {...KEEPS_KEYS}>
      <Icon name={icon} />
    </button>
  );
  return (
    <div className="dexnb-zoom" role="toolbar" aria-label="Zoom of the graph">
      {button("Zoom in (Ctrl and wheel)", "plus", () => void instance?.zoomIn())}
      {button("Zoom out", "minus", () => void instance?.zoomOut())}
      {button("Fit the graph", "fit", refit)}
    </div>
  );
}

/**
 * The pane is drawn, and the layout made, anew only when the graph, or what is known to poll,
 * changes.
 */
function usePicture(): { graph: FlowGraph | null; picture: Picture } {
  const layers = useLayers();
  const polling = useOfPage(pollingOf, "[]");
  const known = useOfPage(({ graph }) => (graph ? textOf(graph) : ""), "");
  const run = useOfPage(runOf, "null");
  const graph = useMemo(() => (known ? (JSON.parse(known) as FlowGraph) : null), [known]);
  const picture = useMemo(() => {
    const names = new Set(JSON.parse(polling) as string[]);
    return layout(graph ? shapeOf(graph, names, layers) : shapeFrom(run, names));
  }, [graph, run, polling, layers]);
  return { graph, picture };
}

function shapeFrom(text: string, polling: ReadonlySet<string>): Shape {
  const shape = JSON.parse(text) as Shape | null;
  if (shape === null) return { boxes: [], links: [], things: [], ties: [] };
  return { ...shape, boxes: shape.boxes.map((box) => ({ ...box, polls: polling.has(box.name) })) };
}

/** Every snapshot brings a copy of the graph: only another text is another graph. */
const texts = new WeakMap<FlowGraph, string>();

function textOf(graph: FlowGraph): string {
  const text = texts.get(graph) ?? JSON.stringify(graph);
  texts.set(graph, text);
  return text;
}

/** What is drawn where no graph is known. */
function runOf({ graph, view }: Page): string {
  return graph ? "" : JSON.stringify(shapeOfRun(view, new Set()));
}

function pollingOf({ view }: Page): string {
  const names = new Set<string>();
  for (const step of Object.values(view.steps)) {
    if (step.attempts.some((attempt) => attempt.rounds > 1)) names.add(step.step_type);
  }
  return JSON.stringify([...names].sort());
}

function nodesOf(picture: Picture): GraphBox[] {
  const steps = picture.boxes.map(
    (placed): StepNodeType => ({
      id: placed.box.id,
      type: "step",
      position: { x: placed.x, y: placed.y },
      width: placed.width,
      height: placed.height,
      data: { placed },
      ariaLabel: ariaOf(placed.box.name, placed.box.id, picture),
      domAttributes: { ...KEEPS_KEYS } as StepNodeType["domAttributes"],
    }),
  );
  const things = picture.things.map(
    (placed): ThingNodeType => ({
      id: placed.thing.id,
      type: "thing",
      position: { x: placed.x, y: placed.y },
      width: placed.width,
      height: placed.height,
      data: { placed },
      ariaLabel: thingAria(placed.thing.id, placed.thing.layer, picture),
      domAttributes: { ...KEEPS_KEYS } as ThingNodeType["domAttributes"],
    }),
  );
  return [...steps, ...things];
}

function thingAria(id: string, layer: Layer, picture: Picture): string {
  const names = namesOf(picture);
  const ties = picture.ties
    .filter(({ tie }) => tie.from === id || tie.to === id)
    .map(({ tie }) => `${names.get(tie.from)} ${tie.label} ${names.get(tie.to)}`);
  return [`${LAYERS[layer].word} ${names.get(id)}`, ...ties].join(", ");
}

function namesOf({ boxes, things }: Picture): Map<string, string> {
  return new Map([
    ...boxes.map(({ box }): [string, string] => [box.id, shownName(box.name)]),
    ...things.map(({ thing }): [string, string] => [thing.id, shownName(thing.name)]),
  ]);
}

function ariaOf(name: string, id: string, picture: Picture): string {
  const next = picture.links
    .filter(({ link }) => link.from === id)
    .map(({ link }) => picture.boxes.find(({ box }) => box.id === link.to)?.box.name ?? "");
  const ways =
    next.length > 0 ? `, leads to ${[...new Set(next)].map((n) => shownName(n)).join(", ")}` : "";
  return `Step ${shownName(name)}${ways}`;
}

function edgesOf(picture: Picture, marks: string): GraphLine[] {
  const names = new Map(picture.boxes.map(({ box }) => [box.id, box.name]));
  const ties = picture.ties.map(
    (placed): TieEdgeType => ({
      id: placed.tie.id,
      type: "tie",
      source: placed.tie.from,
      target: placed.tie.to,
      focusable: false,
      data: { placed, marks },
    }),
  );
  const links = picture.links.map(
    (placed): LinkEdgeType => ({
      id: placed.link.id,
      type: "link",
      source: placed.link.from,
      target: placed.link.to,
      focusable: false,
      data: {
        placed,
        marks,
        names: [names.get(placed.link.from) ?? "", names.get(placed.link.to) ?? ""],
      },
    }),
  );
  return [...ties, ...links];
}

function heightOf({ height, things }: Picture): number {
  const most = things.length > 0 ? 560 : 440;
  return Math.round(Math.min(most, Math.max(250, height + 24)));
}

const READABLE = 0.5;

/** Bring the box that a chosen finding is about into view, as large as it can be read. */
function useChosenInView(
  instance: Instance | null,
  picture: Picture,
  pane: RefObject<HTMLElement | null>,
): void {
  const { box: id } = useSelection();
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another choice moves the picture
  useEffect(() => {
    const placed = [
      ...picture.boxes.map((one) => ({ ...one, id: one.box.id })),
      ...picture.things.map((one) => ({ ...one, id: one.thing.id })),
    ].find((one) => one.id === id);
    if (!placed || !instance || !pane.current) return;
    const { x, y, zoom } = instance.getViewport();
    const { clientWidth, clientHeight } = pane.current;
    const left = placed.x * zoom + x;
    const top = placed.y * zoom + y;
    const inside =
      left >= 0 &&
      top >= 0 &&
      left + placed.width * zoom <= clientWidth &&
      top + placed.height * zoom <= clientHeight;
    if (inside && zoom >= READABLE) return;
    const middle = [placed.x + placed.width / 2, placed.y + placed.height / 2] as const;
    void instance.setCenter(...middle, { zoom: Math.max(zoom, READABLE) });
  }, [id, instance]);
}

/**
 * Fit the picture when it is another one, and when the pane gets another size, unless the reader
 * has moved it.
 */
function useFit(instance: Instance | null, picture: Picture) {
  const box = useRef<HTMLElement>(null);
  const moved = useRef(false);
  const refit = useCallback(() => {
    moved.current = false;
    void instance?.fitView(FIT);
  }, [instance]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another picture is a reason to fit
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    moved.current = false;
    const observer = new ResizeObserver(() => {
      if (!moved.current) refit();
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [refit, picture]);
  // Moves that no hand made come without an event.
  const onMoveStart = useCallback((event: unknown) => {
    if (event) moved.current = true;
  }, []);
  return { box, refit, onMoveStart };
}
