// Lecture mode on pages that Streamlit draws: one of its controls at a time, moved by the same keys
// as a player's sliders, and its charts drawn once more in the type and the room of the hall.

import { readTheme } from "./figure.js";
import { enlarge } from "./scale.js";

const WIDGETS = ["stSlider", "stSelectbox", "stMultiSelect", "stButtonGroup"];
// What a page names its controls' container: they come first; then those of its sides.
const PANELS = ['[class*="_sliders"]', '[class*="_filters"]', '[class*="_sides"]'];
const SENTENCE = '[data-testid="stMain"] :is(p.sentence[role="status"], .st-key-evidence_chosen)';
const CHART = '[data-testid="stPlotlyChart"]';
const LEAST_CHART = 150; // pixels, before they are enlarged
const TOLERANCE = 3;
const TYPE = { tick: 12, legend: 12, title: 13 };

const mirrors = new Map(); // Streamlit's element of a chart -> what is drawn in its place
let sending = false;
let watching = null;

const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const main = () => document.querySelector('[data-testid="stMain"]');

// -------------------------------------------------------------- controls

/** The controls on the page's first screen. */
export function controls() {
  const widgets = WIDGETS.map((kind) => `[data-testid="${kind}"]`).join();
  return PANELS.flatMap((panel) => all(`[data-testid="stVerticalBlock"]${panel}`, main() ?? document))
    .flatMap((panel) => all(widgets, panel))
    .map((widget) => widget.closest('[data-testid="stElementContainer"]'));
}

/** What a control is called in Python: its key. */
export const nameOf = (field) => field.className.match(/st-key-(\S+)/)?.[1] ?? "";

/** The part of a control that takes the focus and leaves the letters to lecture mode. */
export function handle(field) {
  const parts = ['input[type="range"]', '[role="radio"][aria-checked="true"]', "[role=radio]"];
  const found = parts.map((part) => field.querySelector(part)).find(Boolean);
  return found ?? field.querySelector("button[aria-haspopup], button[aria-pressed]");
}

/** Whether a key comes from `move` and not from the keyboard. */
export const isOwn = () => sending;

/** Move a control by a stop, or to the next of its choices. */
export function move(field, by) {
  const range = field.querySelector('input[type="range"]');
  if (range) return press(range, by > 0 ? "ArrowRight" : "ArrowLeft");
  for (const attribute of ["aria-checked", "aria-pressed"]) {
    const choices = all(`button[${attribute}]`, field);
    if (choices.length) return another(choices, attribute, by)?.click();
  }
  return pick(field, by);
}

function press(element, key) {
  sending = true;
  for (const type of ["keydown", "keyup"]) {
    element.dispatchEvent(new KeyboardEvent(type, { key, code: key, bubbles: true, cancelable: true }));
  }
  sending = false;
}

/** The choice before or after the one that counts; none at either end. */
function another(choices, attribute, by) {
  const at = choices.findIndex((choice) => choice.getAttribute(attribute) === "true");
  return choices[at + by];
}

/** Choose from a list as a hand does: open it, and press what follows. */
async function pick(field, by) {
  const input = field.querySelector("[role=combobox]");
  const isOpen = () => input.getAttribute("aria-expanded") === "true";
  if (!input || input.disabled || isOpen()) return;
  field.querySelector("button[aria-haspopup]")?.click();
  const list = () => document.getElementById(input.getAttribute("aria-controls"));
  for (let i = 0; i < 20 && !list(); i += 1) await frame();
  const options = all("[role=option]", list() ?? document.createElement("div"));
  const several = field.querySelector('[data-testid="stMultiSelect"]');
  if (several || !options.length) return; // the list stays open: its own keys choose
  const next = another(options, "aria-selected", by);
  if (next) next.click();
  else press(input, "Escape");
  await frame();
  input.blur();
}

const frame = () => new Promise((next) => requestAnimationFrame(next));

// -------------------------------------------------------------- words

/** The element that says what is seen. */
export const sentence = () => document.querySelector(SENTENCE);

/** Call back when Streamlit has drawn something anew. */
export function watchPage(changed) {
  const page = main() ?? document.body; // until Streamlit has begun
  if (watching?.page === page) return;
  watching?.observer.disconnect();
  const observer = new MutationObserver((records) => {
    const own = ({ target }) => (target.closest ? target : target.parentElement)?.closest(".lecture-chart");
    if (!records.every(own)) changed();
  });
  observer.observe(page, { childList: true, characterData: true, subtree: true });
  watching = { page, observer };
}

export function unwatchPage() {
  watching?.observer.disconnect();
  watching = null;
}

/** Say in the page, for the style, which part of the lesson an element is. */
export function mark(element, part) {
  if (element && element.dataset.lecturePart !== part) element.dataset.lecturePart = part;
}

/**
 * Figures before the controls, then the sentence; further words below: where a page has its own
 * order, that is where the panel of controls stands above the figures.
 */
export function order() {
  const panel = main()?.querySelector('[data-testid="stVerticalBlock"][class*="_filters"]');
  const above = panel?.parentElement;
  const said = sentence();
  if (!said || !above) return;
  for (const part of above.parentElement.children) {
    const place = part.contains(panel) ? 2 : part.contains(said) ? 3 : placeOf(part);
    if (part.dataset.lectureOrder !== `${place}`) part.dataset.lectureOrder = place;
    const words = all('[data-testid="stColumn"] [data-testid="stMarkdown"]', part);
    if (place !== 1) continue;
    // One paragraph beside the figures is enough.
    for (const more of words.slice(1)) mark(more.closest('[data-testid="stElementContainer"]'), "aside");
  }
}

function placeOf(part) {
  if (part.querySelector("h1, .story, [data-testid=stMetric]")) return 0;
  return part.querySelector(CHART) ? 1 : 4;
}

// -------------------------------------------------------------- charts

/** Draw every chart in large type, and give those of the first screen the room that is left. */
export async function drawCharts() {
  const { Plotly } = window; // Streamlit's own: it is there once a chart is
  for (const [chart, mirror] of mirrors) {
    if (!chart.isConnected) discard(chart, mirror);
  }
  if (!Plotly) return;
  const theme = readTheme(document.querySelector(".stApp"));
  for (const chart of all(CHART)) reflect(chart, theme, Plotly);
  fit(theme.scale);
  for (const mirror of mirrors.values()) draw(mirror, Plotly);
}

/** Leave the charts as Streamlit drew them. */
export function removeCharts() {
  for (const [chart, mirror] of mirrors) discard(chart, mirror);
}

function discard(chart, mirror) {
  window.Plotly?.purge(mirror.node);
  mirror.node.remove();
  mirrors.delete(chart);
}

function reflect(chart, theme, Plotly) {
  const source = chart.querySelector(".js-plotly-plot");
  const place = chart.closest('[data-testid="stElementContainer"]');
  if (!source?.data || !place) return;
  let mirror = mirrors.get(chart);
  if (!mirror) {
    const node = document.createElement("div");
    node.className = "lecture-chart";
    node.setAttribute("role", "img");
    mirror = { node };
    mirrors.set(chart, mirror);
  }
  if (place.nextElementSibling !== mirror.node) place.after(mirror.node);
  mark(place, "drawn");
  mark(place.parentElement, "charts");
  mirror.node.setAttribute("aria-label", chart.getAttribute("aria-label") ?? "");
  const kind = JSON.stringify(theme);
  if (mirror.data === source.data && mirror.layout === source.layout && mirror.kind === kind) return;
  Object.assign(mirror, { data: source.data, layout: source.layout, kind, figure: null });
  mirror.figure = enlargedCopy(source, theme);
  mirror.height ??= mirror.figure.layout.height;
  mirror.drawn = "";
}

function enlargedCopy(source, theme) {
  const data = structuredClone(source.data);
  const layout = structuredClone(source.layout);
  const ink = { color: theme.ink };
  // Streamlit's theme has sizes in pixels of a page whose type is as large as it is now.
  layout.font = { family: theme.font, size: TYPE.title, ...layout.font, ...ink };
  layout.legend = { ...layout.legend, font: { size: TYPE.legend, ...ink } };
  const growing = [];
  for (const [name, axis] of Object.entries(layout)) {
    if (!/^[xy]axis\d*$/.test(name)) continue;
    axis.tickfont = { size: TYPE.tick, ...ink };
    axis.title = { ...axis.title, font: { size: TYPE.title, ...ink } };
    axis.showline ??= false;
    axis.ticks ??= "";
    Object.assign(axis, { linecolor: theme.ink, tickcolor: theme.ink, gridcolor: faint(theme) });
    if (axis.automargin !== false) growing.push(axis);
  }
  for (const note of layout.annotations ?? []) note.font = { size: TYPE.title, ...note.font, ...ink };
  layout.paper_bgcolor = layout.plot_bgcolor = "rgba(0,0,0,0)";
  layout.height ??= 300;
  layout.autosize = false;
  enlarge(data, layout, theme.scale);
  layout.height *= theme.scale;
  for (const axis of growing) axis.automargin = true;
  return { data, layout };
}

const faint = ({ dark }) => (dark ? "rgba(255,255,255,0.25)" : "rgba(0,0,0,0.25)");

/** What the words and the control leave goes to the charts of the first screen. */
function fit(scale) {
  const words = sentence();
  const shown = [...mirrors].filter(([, mirror]) => mirror.figure);
  const row = shown[0]?.[0].closest('[data-testid="stHorizontalBlock"]');
  if (!words || !row) return;
  const first = shown.filter(([chart]) => row.contains(chart)).map(([, mirror]) => mirror);
  for (const mirror of first) mirror.node.style.height = `${mirror.height}px`;
  const end = Math.max(words.getBoundingClientRect().bottom, row.getBoundingClientRect().bottom);
  const spare = innerHeight - end - main().scrollTop - 8;
  const columns = first.map(({ node }) => node.closest('[data-testid="stColumn"]'));
  const tallest = Math.max(...columns.map(contentHeight));
  for (const [i, mirror] of first.entries()) {
    const height = Math.floor(mirror.height + tallest - contentHeight(columns[i]) + spare);
    const moves = Math.abs(height - mirror.height) > TOLERANCE;
    mirror.next = moves ? Math.max(LEAST_CHART * scale, height) : mirror.height;
  }
  for (const mirror of first) mirror.height = mirror.next;
}

function contentHeight(column) {
  const boxes = all(':scope > * > :not([data-lecture-part="drawn"])', column)
    .map((child) => child.getBoundingClientRect())
    .filter(({ height }) => height);
  return Math.max(...boxes.map(({ bottom }) => bottom)) - Math.min(...boxes.map(({ top }) => top));
}

function draw(mirror, Plotly) {
  if (!mirror.figure) return;
  const { node, height, figure } = mirror;
  node.style.height = `${height}px`;
  const width = node.clientWidth;
  const size = `${width} ${height}`;
  if (!width || mirror.drawn === size) return;
  mirror.drawn = size;
  Object.assign(figure.layout, { width, height });
  const config = { displayModeBar: false, responsive: false };
  Plotly.react(node, figure.data, figure.layout, config);
}
