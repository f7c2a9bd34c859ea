// Turns the row of a pinned table into traces that can stand on a figure without being taken for
// the present ones: dotted lines, open markers, outlines of bars. Texts are left out.

import { isConstant, valueAt } from "./table.js";

export const GHOST = "player-ghost";
const SAME = "player-ghost-same";
const OPACITY = 0.6;
const WIDTH = 1.75;

/**
 * The traces of a pinned table, by figure; `word` goes before their names.
 * What no slider moves, and is the same in both tables, needs no ghost.
 */
export function ghosts(pinned, present, figures, word) {
  const name = Object.keys(pinned.sliders)[0];
  const { index } = pinned.sliders[name];
  const row = traces(pinned.sorted[name].traces, index);
  const first = Object.keys(present.sliders)[0];
  const now = traces(present.sorted[first].traces, present.sliders[first].index);
  const moving = movingTraces(present);
  const found = new Map();
  for (const [figure, drawing] of figures) {
    const { data = [], layout = {} } = drawing.skeleton;
    const starts = new Map(); // where the next bar of a stack starts
    const made = [];
    for (const [number, skeleton] of data.entries()) {
      const key = `${figure}/${number}`;
      const values = row.get(key);
      if (!values) continue;
      const bars = skeleton.type === "bar";
      const trace = filled(skeleton, values);
      if (bars && layout.barmode === "stack") trace.base = stacked(trace, starts);
      const same = JSON.stringify(values) === JSON.stringify(now.get(key));
      if (same && !moving.has(key)) continue;
      const ghost = bars ? outline(trace) : dotted(trace);
      const name = `${word}: ${skeleton.name ?? ""}`;
      if (ghost) made.push({ ...ghost, name, meta: same ? SAME : GHOST });
    }
    found.set(figure, made);
  }
  return found;
}

/** The values of each trace at a stop: "figure/trace" -> {attribute: value}. */
function traces(channels, index) {
  const found = new Map();
  for (const { figure, trace, attribute, column } of channels) {
    const key = `${figure}/${trace}`;
    if (!found.has(key)) found.set(key, {});
    found.get(key)[attribute] = valueAt(column, index);
  }
  return found;
}

/** The traces that some slider moves. */
function movingTraces(table) {
  const moving = new Set();
  for (const { traces: channels } of Object.values(table.sorted)) {
    for (const { figure, trace, column } of channels) {
      if (!isConstant(column)) moving.add(`${figure}/${trace}`);
    }
  }
  return moving;
}

/**
 * Give the SVG of a figure's ghosts a class; those that are where the present traces are get one
 * more, by which the style hides them at rest.
 */
export function markGhosts(node) {
  for (const group of node.querySelectorAll(":is(.scatterlayer, .barlayer) > .trace")) {
    const meta = group.__data__?.[0]?.trace?.meta;
    group.classList.toggle(GHOST, meta === GHOST || meta === SAME);
    group.classList.toggle(SAME, meta === SAME);
  }
}

function filled(skeleton, values) {
  const trace = structuredClone(skeleton);
  for (const [attribute, value] of Object.entries(values)) {
    const way = attribute.split(".");
    const last = way.pop();
    way.reduce((inner, step) => (inner[step] ??= {}), trace)[last] = value;
  }
  return trace;
}

/** Where each bar of a stack starts. */
function stacked(trace, starts) {
  const [places, lengths] = trace.orientation === "h" ? [trace.y, trace.x] : [trace.x, trace.y];
  return places.map((place, i) => {
    const start = starts.get(place) ?? 0;
    starts.set(place, start + (lengths[i] ?? 0));
    return start;
  });
}

const QUIET = { showlegend: false, hoverinfo: "skip", hovertemplate: null };

function outline({ type, orientation, x, y, base, width, offset, xaxis, yaxis }) {
  const place = { type, orientation, x, y, base, width, offset, xaxis, yaxis };
  const marker = { color: "rgba(0,0,0,0)", line: { color: "ink", width: WIDTH } };
  return { ...defined(place), ...QUIET, marker, opacity: OPACITY };
}

function dotted(trace) {
  const kinds = (trace.mode ?? "lines").split("+");
  const lines = kinds.includes("lines");
  const markers = kinds.includes("markers") && !isTick(trace.marker?.symbol);
  if (!lines && !markers) return null;
  const { x, y, xaxis, yaxis, line = {}, marker = {}, fill, fillcolor, cliponaxis } = trace;
  const ghost = { type: "scatter", x, y, xaxis, yaxis, cliponaxis, connectgaps: trace.connectgaps };
  ghost.mode = [lines && "lines", markers && "markers"].filter(Boolean).join("+");
  if (lines) {
    // An area without an outline shows where it ends.
    const colour = (line.width === 0 || !line.color) && fill ? solid(fillcolor) : line.color;
    const width = Math.min(line.width || WIDTH, 2.25);
    ghost.line = { ...line, color: colour ?? "ink", dash: "dot", width, simplify: false };
  }
  if (markers) ghost.marker = open(marker);
  return { ...defined(ghost), ...QUIET, opacity: OPACITY };
}

function open(marker) {
  const symbol = each(marker.symbol ?? "circle", (name) =>
    /-(open|thin)/.test(name) ? name : `${name}-open`,
  );
  const colour = marker.color === "rgba(0,0,0,0)" ? marker.line?.color : marker.color;
  return { ...marker, symbol, color: colour, line: { width: WIDTH } };
}

/** Rows of ticks would only tangle with the present ones. */
function isTick(symbol) {
  return typeof symbol === "string" && symbol.startsWith("line-");
}

function each(value, change) {
  return Array.isArray(value) ? value.map(change) : change(value);
}

/** The colour of an area as a line has it: not transparent. */
function solid(colour) {
  const numbers = /^rgba\(([^,]+),([^,]+),([^,]+),/.exec(colour ?? "");
  return numbers ? `rgb(${numbers.slice(1).join(",")})` : colour;
}

function defined(object) {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}
