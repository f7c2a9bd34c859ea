// One Plotly figure. While something moves, traces that `trace.js` knows are moved directly in
// Plotly's SVG; once it rests, Plotly itself draws the same data again and has the last word.

import { enlarge, enlarged } from "./scale.js";
import { drawTrace, forgetTraces, showHidden } from "./trace.js";

const CONFIG = { displayModeBar: false, responsive: false, doubleClick: "reset" };

const UNSEEN = "rgba(0,0,0,0)"; // what a figure has no room for
const NARROW = 640; // pixels for the whole player: as in player.css

export class Figure {
  constructor(node, spec, theme) {
    this.node = node;
    this.skeleton = spec;
    this.layers = new Map(); // what is drawn on top, by who asked for it
    this.build(theme);
    this.zoomed = new Set(); // names of axes that the user has zoomed
    this.drawn = false;
    this.unsettled = false;
    this.moved = new Map(); // what changed since Plotly drew: trace index -> set of attributes
    this.rescaling = 0; // changes of range under way that are not the user's
  }

  /** Make data and layout from the skeleton, without the table's numbers. */
  build(theme) {
    this.theme = theme;
    this.data = themed(structuredClone(this.skeleton.data ?? []), theme);
    this.layout = layoutFor(this.skeleton, theme);
    const room = this.node.closest(".player-frame")?.clientWidth;
    if (room && room < NARROW * theme.scale) makeCompact(this.data, this.layout);
    if (theme.scale !== 1) enlarge(this.data, this.layout, theme.scale);
    const isShort = ({ meta }) => this.node.clientHeight / theme.scale < meta?.room;
    for (const trace of this.data.filter(isShort)) trace.textfont.color = UNSEEN;
    if (isShort(this.layout)) for (const axis of this.layout.meta.titles) delete this.layout[axis].title;
  }

  /** Begin again in another size; the numbers are shown anew at once. */
  rebuild(theme) {
    this.build(theme);
    this.moved.clear();
    this.stale = true;
  }

  /** Draw for the first time. */
  async start(Plotly) {
    this.Plotly = Plotly;
    await Plotly.newPlot(this.node, this.data, this.layout, { ...CONFIG, ...this.skeleton.config });
    this.drawn = true;
    [this.width, this.height] = [this.node.clientWidth, this.node.clientHeight];
    this.node.on("plotly_relayout", (change) => this.noteZoom(change));
    if (this.unsettled) this.settle();
  }

  /**
   * Show new values at once.
   * @param traces list of {trace, attribute, value}
   * @param layout list of {path, value}
   */
  show(traces, layout) {
    const touched = new Map(); // trace index -> set of attributes
    for (const { trace, attribute, value } of traces) {
      const container = this.data[trace];
      if (!container) continue;
      const shown = enlarged(attribute, inTheme(value, this.theme), this.theme.scale);
      if (same(read(container, attribute), shown)) continue;
      write(container, attribute, shown);
      if (!touched.has(trace)) touched.set(trace, new Set());
      touched.get(trace).add(attribute);
    }
    const ranges = {};
    let more = false; // whether the layout moves by more than ranges
    for (const { path, value } of layout) {
      const range = path.match(/^([xy]axis\d*)\.range$/);
      if (range && this.zoomed.has(range[1])) continue;
      const shown = inTheme(value, this.theme);
      if (same(read(this.layout, path), shown)) continue;
      if (range && this.drawn) {
        ranges[path] = [...shown];
      } else {
        write(this.layout, path, shown);
        more = true;
      }
    }
    const rescaled = Object.keys(ranges).length > 0;
    if (!touched.size && !rescaled && !more) return;
    this.unsettled = true;
    for (const [trace, attributes] of touched) {
      const before = this.moved.get(trace);
      this.moved.set(trace, new Set([...(before ?? []), ...attributes]));
    }
    if (!this.drawn) return;
    if (more || this.stale || !this.drawDirectly(touched)) {
      Object.entries(ranges).forEach(([path, range]) => write(this.layout, path, range));
      this.redraw();
    } else if (rescaled) {
      this.rescale(ranges);
    }
  }

  drawDirectly(traces) {
    for (const [trace, attributes] of traces) {
      if (!drawTrace(this.node, trace, attributes)) return false;
    }
    return true;
  }

  /** Give axes other ranges: Plotly's quickest way, then whatever it could not know. */
  rescale(ranges) {
    showHidden(this.node);
    this.rescaling += 1;
    const done = () => (this.rescaling -= 1);
    this.Plotly.relayout(this.node, ranges).then(done, done);
    forgetTraces(this.node);
    if (!this.drawDirectly(this.moved)) this.redraw();
  }

  /** Have Plotly draw what is shown: exact hover, crisp edges, ready for zoom and resize. */
  settle() {
    if (!this.unsettled || !this.drawn) return;
    this.redraw();
  }

  redraw() {
    this.unsettled = false;
    this.stale = false;
    this.moved.clear();
    showHidden(this.node);
    // Arrays were swapped behind Plotly's back: tell it to look at all of them.
    this.layout.datarevision = (this.layout.datarevision ?? 0) + 1;
    this.Plotly.react(this.node, this.data, this.layout);
    forgetTraces(this.node);
  }

  /** Draw these traces on top, in place of those this layer had before; no channel moves them. */
  overlay(traces, layer = "ghosts") {
    const own = this.skeleton.data?.length ?? 0;
    this.layers.set(layer, traces);
    const all = [...this.layers.values()].flat();
    if (this.data.length === own && !all.length) return;
    this.data.splice(own, this.data.length, ...themed(structuredClone(all), this.theme));
    if (this.drawn) this.redraw();
    else this.unsettled = true;
  }

  /** Follow the size of the page. */
  resize() {
    const { clientWidth, clientHeight } = this.node;
    if (!this.drawn || !clientWidth) return;
    if (clientWidth === this.width && clientHeight === this.height) return;
    [this.width, this.height] = [clientWidth, clientHeight];
    this.Plotly.Plots.resize(this.node);
    forgetTraces(this.node);
  }

  /** Take new ink and paper, and keep the numbers and the zoom. */
  retheme(theme) {
    const before = this.theme;
    this.theme = theme;
    this.data = exchange(this.data, before, theme);
    this.layout = exchange(this.layout, before, theme);
    if (this.drawn) this.redraw();
  }

  /** What is shown, zoom included, as data and layout of their own, in this or another theme. */
  snapshot(theme = this.theme) {
    this.settle();
    const { data, layout } = JSON.parse(
      JSON.stringify({ data: this.node.data, layout: this.node.layout }),
    );
    return {
      data: exchange(data, this.theme, theme),
      layout: { ...exchange(layout, this.theme, theme), paper_bgcolor: theme.paper },
    };
  }

  noteZoom(change) {
    if (this.rescaling) return;
    for (const key of Object.keys(change)) {
      const axis = key.match(/^([xy]axis\d*)\.(range|autorange)/)?.[1];
      if (!axis) continue;
      const initial = this.node._fullLayout[axis]._rangeInitial0;
      const [low] = this.node._fullLayout[axis].range;
      const back = change[`${axis}.autorange`] || low === initial;
      if (back) this.zoomed.delete(axis);
      else this.zoomed.add(axis);
    }
    forgetTraces(this.node);
  }

  remove() {
    if (this.drawn) this.Plotly.purge(this.node);
  }
}

/** What the page's style says about ink, paper and type. */
export function readTheme(element) {
  const style = getComputedStyle(element);
  const of = (name) => style.getPropertyValue(name).trim();
  const ink = of("--st-text-color") || style.color;
  const paper = of("--st-background-color") || "#ffffff";
  return {
    ink,
    paper,
    font: of("--st-font") || style.fontFamily,
    dark: lightness(paper) < 128,
    scale: Number(of("--explorable-scale")) || 1, // of type and lines, for a lecture hall
  };
}

function layoutFor(spec, theme) {
  const given = structuredClone(spec.layout ?? {});
  const layout = {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    margin: { l: 60, r: 16, t: 16, b: 48 },
    showlegend: false,
    hovermode: "closest",
    uirevision: "page",
    // A finger on the figure scrolls the page.
    dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom",
    ...given,
    autosize: true,
    font: { family: theme.font, size: 13, color: "ink", ...given.font },
    hoverlabel: { bgcolor: "paper", bordercolor: "ink", font: { color: "ink" }, ...given.hoverlabel },
  };
  for (const key of new Set(["xaxis", "yaxis", ...Object.keys(given)])) {
    if (/^[xy]axis\d*$/.test(key)) layout[key] = { ...AXIS, ...given[key] };
  }
  return themed(layout, theme);
}

const AXIS = {
  gridcolor: "ink-faint",
  zerolinecolor: "ink-faint",
  linecolor: "ink-soft",
  tickcolor: "ink-soft",
  automargin: false,
};

/** The theme's colour for a colour name of ours, or undefined. */
function namedColour(name, theme) {
  switch (name) {
    case "ink":
      return theme.ink;
    case "paper":
      return theme.paper;
    case "ink-soft":
      return withOpacity(theme.ink, theme.scale === 1 ? 0.5 : 0.8);
    case "ink-faint":
      return withOpacity(theme.ink, theme.scale === 1 ? 0.13 : 0.25);
    default:
      return undefined;
  }
}

export function withOpacity(colour, opacity) {
  return `rgba(${redGreenBlue(colour).join(",")},${opacity})`;
}

function lightness(colour) {
  return Math.max(...redGreenBlue(colour));
}

/** Any CSS colour as three numbers, as the browser would paint it. */
function redGreenBlue(colour) {
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
}

/** The value with our colour names replaced, anywhere inside it; objects are changed in place. */
function themed(value, theme) {
  if (typeof value === "string") return namedColour(value, theme) ?? value;
  if (value && typeof value === "object") {
    for (const key of Object.keys(value)) value[key] = themed(value[key], theme);
  }
  return value;
}

/** As `themed`, but never changes the table's own arrays. */
function inTheme(value, theme) {
  if (typeof value === "string") return namedColour(value, theme) ?? value;
  if (Array.isArray(value) && value.some((item) => typeof item === "string")) {
    return value.map((item) => namedColour(item, theme) ?? item);
  }
  return value;
}

function exchange(value, before, after) {
  const names = ["ink", "paper", "ink-soft", "ink-faint"];
  const colours = new Map(names.map((n) => [namedColour(n, before), namedColour(n, after)]));
  colours.set(before.font, after.font);
  const walk = (item) => {
    if (typeof item === "string") return colours.get(item) ?? item;
    if (Array.isArray(item)) return item.map(walk);
    if (item && typeof item === "object") {
      return Object.fromEntries(Object.entries(item).map(([key, inner]) => [key, walk(inner)]));
    }
    return item;
  };
  return walk(value);
}

/** Split "annotations[0].x" into its steps. */
const steps = (path) => path.replace(/\[(\d+)\]/g, ".$1").split(".");

function read(container, path) {
  return steps(path).reduce((inner, step) => inner?.[step], container);
}

function write(container, path, value) {
  const way = steps(path);
  const last = way.pop();
  let inner = container;
  for (const step of way) inner = inner[step] ??= {};
  inner[last] = value;
}

function same(left, right) {
  if (left === right) return true;
  if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
  return left.every((item, i) => item === right[i] || (Array.isArray(item) && same(item, right[i])));
}

/** Smaller type and margins, so that a figure on a phone keeps room for its lines. */
function makeCompact(data, layout) {
  const { margin = {} } = layout;
  layout.font = { ...layout.font, size: 11 };
  layout.margin = { ...margin, l: Math.min(margin.l ?? 50, 50), r: Math.round(0.85 * (margin.r ?? 0)) };
  for (const [name, axis] of Object.entries(layout)) {
    if (/^[xy]axis\d*$/.test(name)) axis.tickangle = 0;
  }
  for (const trace of data) if (trace.textfont) trace.textfont.size = 10;
}
