// Moves what Plotly has drawn, without asking Plotly: lines, markers and texts of scatter traces,
// and bars. Places come from the axes' own scales. Anything not known here returns false, and
// Plotly draws the figure in full. Plotly's computed points are kept in step, so that hovering
// over a moving figure tells the truth.

const SCATTER = new Set([
  "x", "y", "text", "customdata", "hovertext", "textposition",
  "marker.size", "marker.color",
]);
const BAR = new Set(["x", "y", "base", "text", "customdata", "hovertext", "marker.color"]);

/** Draw one trace of `graph.data` as it is now; false when only Plotly can. */
export function drawTrace(graph, index, attributes) {
  const trace = graph._fullData[index];
  if (!trace || trace.visible !== true || trace.index !== index) return false;
  const known = trace.type === "scatter" ? SCATTER : trace.type === "bar" ? BAR : null;
  if (!known || ![...attributes].every((name) => known.has(name))) return false;
  const parts = (graph.explorableParts ??= new Map());
  if (!parts.has(index)) parts.set(index, findParts(graph, index, trace));
  const found = parts.get(index);
  if (!found) return false;
  return trace.type === "scatter"
    ? drawScatter(graph, index, trace, found)
    : drawBars(graph, trace);
}

/** Plotly has drawn: its elements may be others now. */
export function forgetTraces(graph) {
  graph.explorableParts = undefined;
}

/** Before Plotly draws: it expects every element of its own to be visible. */
export function showHidden(graph) {
  // Where a label was empty Plotly took its text away, and would not put it back.
  for (const element of graph.querySelectorAll(".textpoint:empty")) element.remove();
  for (const element of graph.querySelectorAll("[data-explorable-hidden]")) show(element);
}

function findParts(graph, index, trace) {
  const subplot = graph._fullLayout._plots[(trace.xaxis ?? "x") + (trace.yaxis ?? "y")];
  const layer = trace.type === "scatter" ? ".scatterlayer" : ".barlayer";
  const group = [...(subplot?.plot.node().querySelectorAll(`${layer} > .trace`) ?? [])].find(
    (node) => node.__data__?.[0]?.trace?.index === index,
  );
  if (!group) return null;
  return {
    x: subplot.xaxis,
    y: subplot.yaxis,
    fill: group.querySelector(":scope > .fills .js-fill"),
    lines: group.querySelector(":scope > .lines"),
    points: group.querySelector(":scope > .points"),
    texts: group.querySelector(":scope > .text"),
    sizes: new WeakMap(), // of markers that were given another size here
  };
}

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
const item = (value, i) => (Array.isArray(value) ? value[i] : value);
const pixels = (axis, values) => Array.from(values, (value) => axis.c2p(axis.d2c(value)));
const LINE_SPACING = 1.3; // Plotly's
const short = (pixel) => Math.round(pixel * 100) / 100;

// ---------------------------------------------------------------- scatter

function drawScatter(graph, index, trace, { x, y, fill, lines, points, texts, sizes }) {
  const data = graph.data[index];
  if (trace.stackgroup || trace.error_x?.visible || trace.error_y?.visible) return false;
  if (!data.x || !data.y || data.texttemplate) return false;
  const left = pixels(x, data.x);
  const top = pixels(y, data.y);
  const modes = trace.mode.split("+");
  if (trace.fill !== "none" || modes.includes("lines")) {
    const pieces = unbroken(left, top, trace.connectgaps);
    if (modes.includes("lines") && !drawLine(lines, trace, pieces)) return false;
    if (trace.fill !== "none" && !drawFill(fill, trace, pieces, x, y)) return false;
  }
  if (modes.includes("markers") && !drawMarkers(points, trace, data, left, top, sizes)) {
    return false;
  }
  if (modes.includes("text") && !drawTexts(texts, trace, data, left, top)) return false;
  updateScatterPoints(graph.calcdata[index], data, x, y);
  return true;
}

/** The line's pieces between gaps, as lists of points in pixels. */
function unbroken(left, top, connectgaps) {
  const pieces = [[]];
  for (let i = 0; i < left.length; i += 1) {
    if (isNumber(left[i]) && isNumber(top[i])) pieces.at(-1).push([short(left[i]), short(top[i])]);
    else if (!connectgaps && pieces.at(-1).length) pieces.push([]);
  }
  return pieces.filter((piece) => piece.length);
}

function drawLine(group, trace, pieces) {
  const join = JOINS[trace.line.shape];
  if (!group || !join) return false;
  const elements = enough(group, ".js-line", pieces.length);
  if (!elements) return false;
  elements.forEach((element, i) => {
    if (i < pieces.length) {
      element.setAttribute("d", join(pieces[i]));
      show(element);
    } else {
      hide(element);
    }
  });
  return true;
}

/** Fill a closed outline, or down to zero; areas between two traces are Plotly's business. */
function drawFill(element, trace, pieces, x, y) {
  const join = JOINS[trace.line.shape];
  // A later trace may lean on this one's outline.
  if (!element || !join || trace._nexttrace) return false;
  if (!pieces.length) {
    element.setAttribute("d", "M0,0Z");
    return true;
  }
  if (trace.fill === "toself") {
    element.setAttribute("d", `${pieces.map(join).join("Z")}Z`);
    return true;
  }
  if (trace.fill !== "tozeroy" && trace.fill !== "tozerox") return false;
  const first = pieces[0][0];
  const last = pieces.at(-1).at(-1);
  const ends =
    trace.fill === "tozeroy"
      ? [[last[0], short(y.c2p(0, true))], [first[0], short(y.c2p(0, true))]]
      : [[short(x.c2p(0, true)), last[1]], [short(x.c2p(0, true)), first[1]]];
  const outline = pieces.map((piece) => join(piece).slice(1)).join("L");
  element.setAttribute("d", `M${ends.join("L")}L${outline}`);
  return true;
}

const JOINS = {
  linear: (points) => `M${points.join("L")}`,
  hv: (points) =>
    points.reduce((path, [x, y]) => (path ? `${path}H${x}V${y}` : `M${x},${y}`), ""),
  vh: (points) =>
    points.reduce((path, [x, y]) => (path ? `${path}V${y}H${x}` : `M${x},${y}`), ""),
};

function drawMarkers(group, trace, data, left, top, sizes) {
  const { marker } = data;
  if (trace.marker.colorscale && Array.isArray(marker?.color) && isNumber(marker.color[0])) return false;
  const elements = enough(group, "path.point", drawable(left, top), placeInData);
  if (!elements) return false;
  const sized = Array.isArray(marker?.size) || isNumber(marker?.size);
  const coloured = typeof marker?.color === "string" || Array.isArray(marker?.color);
  // A copy has the outline, and so the size, that its model had when it was made.
  for (const element of elements) {
    const model = element.explorableModel;
    if (!model || sizes.has(element)) continue;
    sizes.set(element, sizes.get(model) ?? 2 * (model.__data__?.mrc ?? NaN));
  }
  for (const [i, element] of elements.entries()) {
    if (!isNumber(left[i]) || !isNumber(top[i]) || (sized && item(marker.size, i) === null)) {
      hide(element);
      continue;
    }
    if (sized && !resize(element, trace, i, item(marker.size, i), sizes)) return false;
    element.setAttribute("transform", `translate(${short(left[i])},${short(top[i])})`);
    if (coloured) paint(element, trace, i, item(marker.color, i));
    show(element);
  }
  return true;
}

/** How many points there are up to the last one that can be drawn. */
function drawable(left, top) {
  let count = left.length;
  while (count && !(isNumber(left[count - 1]) && isNumber(top[count - 1]))) count -= 1;
  return count;
}

/** Give a marker another size, by the same outline as Plotly's. */
function resize(element, trace, i, size, sizes) {
  if (trace.marker.sizemode === "area" && trace.marker.sizeref !== 1) return false;
  if (sizes.get(element) === size) return true;
  const radius = size / 2;
  const symbol = String(item(trace.marker.symbol, i) ?? "circle");
  if (trace.marker.sizemode === "diameter" && /^circle(-open)?$/.test(symbol)) {
    const r = short(radius);
    element.setAttribute("d", `M${r},0A${r},${r} 0 1,1 0,-${r}A${r},${r} 0 0,1 ${r},0Z`);
    sizes.set(element, size);
    return true;
  }
  // Other outlines keep their shape: scale the numbers, which works where there are no arcs.
  const drawnRadius = element.__data__?.mrc;
  const outline = element.getAttribute("d");
  if (!isNumber(drawnRadius) || drawnRadius === 0 || /A/i.test(outline)) {
    return isNumber(drawnRadius) && Math.abs(drawnRadius - radius) < 0.01;
  }
  const ratio = radius / ((sizes.get(element) ?? drawnRadius * 2) / 2);
  if (!Number.isFinite(ratio) || ratio === 0) return false;
  element.setAttribute("d", outline.replace(/-?\d*\.?\d+/g, (n) => short(Number(n) * ratio)));
  sizes.set(element, size);
  return true;
}

function paint(element, trace, i, colour) {
  const open = String(item(trace.marker.symbol, i) ?? "").includes("-open");
  element.style[open ? "stroke" : "fill"] = colour;
}

function drawTexts(group, trace, data, left, top) {
  const wanted = left.map((_, i) => plainLines(item(data.text, i) ?? ""));
  if (wanted.includes(null)) return false;
  const elements = enough(group, "g.textpoint", drawable(left, top), placeInData);
  if (!elements) return false;
  for (const [i, element] of elements.entries()) {
    const lines = wanted[i];
    if (!isNumber(left[i]) || !isNumber(top[i]) || lines.join("") === "") {
      hide(element);
      continue;
    }
    // Plotly leaves out the text element of an empty label.
    if (!element.firstElementChild) {
      const model = group.querySelector("text");
      if (!model) return false;
      element.append(model.cloneNode(true));
    }
    const text = element.firstElementChild;
    if (!setText(text, lines)) return false;
    const position = String(item(data.textposition ?? trace.textposition, i));
    const size = item(trace.textfont.size, i);
    const hasMarker = trace.mode.includes("markers");
    const markerSize = item(data.marker?.size ?? trace.marker?.size, i);
    placeLabel(element, text, position, size, lines.length, hasMarker ? markerSize / 2 : 0);
    for (const part of [text, ...text.querySelectorAll("tspan.line")]) {
      part.setAttribute("x", short(left[i]));
      part.setAttribute("y", short(top[i]));
    }
    show(element);
  }
  return true;
}

/** A text's lines, or null where it holds markup that only Plotly can set. */
function plainLines(text) {
  const lines = String(text).split(/<br\s*\/?>/);
  return lines.some((line) => /[<&$]/.test(line)) ? null : lines;
}

/** Stand a label beside its point, where Plotly would. */
function placeLabel(group, text, position, fontSize, lineCount, markerRadius) {
  const across = position.includes("left") ? -1 : position.includes("right") ? 1 : 0;
  const down = position.includes("top") ? -1 : position.includes("bottom") ? 1 : 0;
  const away = markerRadius ? markerRadius / 0.8 + 1 : 0;
  const height = ((lineCount - 1) * LINE_SPACING + 1) * fontSize;
  const dy = fontSize * 0.75 + down * away + ((down - 1) * height) / 2;
  const anchor = ["end", "middle", "start"][across + 1];
  if (text.getAttribute("text-anchor") !== anchor) text.setAttribute("text-anchor", anchor);
  group.setAttribute("transform", `translate(${short(across * away)},${short(dy)})`);
}

/** Change a text's words; false when it has not as many lines already. */
function setText(element, lines) {
  const whole = lines.join("<br>");
  const spans = [...element.querySelectorAll("tspan.line")];
  if (lines.length === 1 && !element.childElementCount) {
    if (element.textContent !== whole) element.textContent = whole;
  } else if (spans.length === lines.length && spans.every((span) => !span.childElementCount)) {
    spans.forEach((span, i) => {
      if (span.textContent !== lines[i]) span.textContent = lines[i];
    });
  } else {
    return false;
  }
  element.setAttribute("data-unformatted", whole);
  return true;
}

function updateScatterPoints(points, data, x, y) {
  if (points.length !== data.x.length || !isNumber(points[0].i ?? 0)) return; // settled later
  for (let i = 0; i < points.length; i += 1) {
    points[i].x = x.d2c(data.x[i]);
    points[i].y = y.d2c(data.y[i]);
    if (Array.isArray(data.text)) points[i].tx = data.text[i];
    if (Array.isArray(data.hovertext)) points[i].htx = data.hovertext[i];
    if (Array.isArray(data.customdata)) points[i].data = data.customdata[i];
    if (Array.isArray(data.marker?.color)) points[i].mc = data.marker.color[i];
    if (Array.isArray(data.marker?.size)) points[i].ms = data.marker.size[i];
    if (Array.isArray(data.textposition)) points[i].tp = data.textposition[i];
  }
}

// ---------------------------------------------------------------- bars

/** Stacked bars lean on each other, so all of a figure's bars move together. */
/** A ghost stays where Plotly has drawn it. */
const isGhost = ({ meta }) => typeof meta === "string" && meta.startsWith("player-ghost");

function drawBars(graph, changed) {
  const { barmode, barnorm } = graph._fullLayout;
  if (barnorm) return false;
  const stacked = barmode === "stack" || barmode === "relative";
  const tops = new Map(); // place in the stack -> where the next bar starts
  for (const trace of graph._fullData) {
    if (trace.type !== "bar" || trace.visible !== true || isGhost(trace)) continue;
    if (trace.xaxis !== changed.xaxis || trace.yaxis !== changed.yaxis) continue;
    const parts = graph.explorableParts;
    if (!parts.has(trace.index)) parts.set(trace.index, findParts(graph, trace.index, trace));
    const found = parts.get(trace.index);
    if (!found || !drawBarTrace(graph, trace, found, stacked ? tops : null)) return false;
  }
  return true;
}

function drawBarTrace(graph, trace, { x, y, points }, tops) {
  const data = graph.data[trace.index];
  const bars = graph.calcdata[trace.index];
  const flat = trace.orientation === "h";
  const [along, across] = flat ? [x, y] : [y, x];
  const lengths = flat ? data.x : data.y;
  const elements = points ? [...points.querySelectorAll(":scope > g.point")] : [];
  if (bars.length !== lengths.length || elements.length !== lengths.length) return false;
  if (bars[0]?.t?.cornerradiusvalue) return false;
  for (const [i, element] of elements.entries()) {
    const bar = bars[i];
    const length = along.d2c(lengths[i]) || 0;
    const key = `${bar.p}${length < 0 ? "-" : "+"}`;
    const start = tops && data.base === undefined ? (tops.get(key) ?? 0) : (item(data.base, i) ?? 0);
    const end = start + length;
    tops?.set(key, end);
    const p0 = short(across.c2p(bar.p0, true));
    const p1 = short(across.c2p(bar.p1, true));
    const s0 = short(along.c2p(start, true));
    const s1 = short(along.c2p(end, true));
    const outline = flat ? `M${s0},${p0}V${p1}H${s1}V${p0}Z` : `M${p0},${s0}V${s1}H${p1}V${s0}Z`;
    const path = element.querySelector("path");
    path.setAttribute("d", outline);
    const colour = data.marker?.color;
    if (Array.isArray(colour)) path.style.fill = colour[i];
    const text = element.querySelector("text");
    if (text && !drawBarText(text, data, trace, i, { flat, s0, s1, p0, p1 })) return false;
    Object.assign(bar, { s: length, b: start, s0: start, s1: end });
    bar[flat ? "x" : "y"] = end;
    if (Array.isArray(data.text)) bar.tx = data.text[i];
    if (Array.isArray(data.hovertext)) bar.htx = data.hovertext[i];
    if (Array.isArray(data.customdata)) bar.data = data.customdata[i];
  }
  return true;
}

/** Keep a bar's text in its middle, and away when it would not fit. */
function drawBarText(text, data, trace, i, { flat, s0, s1, p0, p1 }) {
  const lines = plainLines(item(data.text, i) ?? "");
  if (lines?.length !== 1 || !setText(text, lines)) return false;
  const font = trace.insidetextfont ?? trace.textfont;
  const size = item(font.size, i);
  const room = Math.abs(flat ? s1 - s0 : p1 - p0);
  if (textWidth(lines[0], size, item(font.family, i)) + 6 > room) {
    hide(text);
    return true;
  }
  const middle = { x: (flat ? s0 + s1 : p0 + p1) / 2, y: (flat ? p0 + p1 : s0 + s1) / 2 };
  text.setAttribute("transform", `translate(${short(middle.x)},${short(middle.y + size * 0.35)})`);
  show(text);
  return true;
}

let ruler;
function textWidth(text, size, family) {
  ruler ??= document.createElement("canvas").getContext("2d");
  ruler.font = `${size}px ${family}`;
  return ruler.measureText(text).width;
}

// ---------------------------------------------------------------- elements

/** Which point an element of Plotly's stands for. */
const placeInData = (element) => element.__data__?.i ?? element.explorablePlace;

/**
 * The group's elements for the places 0 to count - 1, cloned from the first where some are
 * missing; the ones left over are hidden. Null when there is nothing to clone.
 */
function enough(group, selector, count, place) {
  if (!group) return count ? null : [];
  const present = [...group.querySelectorAll(`:scope > ${selector}`)];
  if (!present.length && count) return null;
  const placed = [];
  present.forEach((element, i) => {
    const at = place ? place(element) : i;
    if (isNumber(at) && at < count && !placed[at]) placed[at] = element;
    else hide(element);
  });
  for (let i = 0; i < count; i += 1) {
    if (placed[i]) continue;
    const copy = present[0].cloneNode(true);
    copy.explorablePlace = i;
    copy.explorableModel = present[0];
    group.append(copy);
    placed[i] = copy;
  }
  return place ? placed : [...placed, ...present.slice(count)];
}

// Hidden by style rather than by Plotly's own "display" attribute, which says something else.
function hide(element) {
  if (element.dataset.explorableHidden) return;
  element.dataset.explorableHidden = "1";
  element.style.display = "none";
}

function show(element) {
  if (!element.dataset.explorableHidden) return;
  delete element.dataset.explorableHidden;
  element.style.display = "";
}
