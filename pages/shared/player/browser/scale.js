// A figure in larger type, for the last row of a lecture hall: all that has a size on the screen
// grows alike, so that what fitted side by side still does.

const LEAST_TYPE = 20; // pixels
const MOST_TICKS = 6; // where Plotly would otherwise choose by the room alone

// What is measured in pixels, by the name of what holds it; "*" is any.
const IN_PIXELS = {
  "*": new Set(["ticklen", "tickwidth", "linewidth", "gridwidth", "zerolinewidth", "standoff", "xshift", "yshift", "borderpad", "borderwidth", "ax", "ay"]),
  margin: new Set(["l", "r", "t", "b", "pad"]),
  line: new Set(["width"]),
  marker: new Set(["size"]),
  pattern: new Set(["size"]),
};

/** Enlarge a figure's data and layout in place. */
export function enlarge(data, layout, scale) {
  for (const [name, axis] of Object.entries(layout)) {
    if (!/^[xy]axis\d*$/.test(name)) continue;
    Object.assign(axis, { ticklen: axis.ticklen ?? 5, tickwidth: axis.tickwidth ?? 1, linewidth: axis.linewidth ?? 1, gridwidth: axis.gridwidth ?? 1 });
    if (axis.dtick === undefined && axis.tickvals === undefined) axis.nticks ??= MOST_TICKS;
    axis.automargin = false;
  }
  for (const trace of data) {
    // What is faint on a desk is gone in the last row.
    if (trace.mode === "lines" && trace.opacity) trace.opacity = Math.min(1, 1.6 * trace.opacity);
    if (trace.mode?.includes("lines")) trace.line = { width: 2, ...trace.line };
    if (trace.mode?.includes("markers")) trace.marker = { size: 6, ...trace.marker };
  }
  layout.hoverlabel = { ...layout.hoverlabel, font: { size: 13, ...layout.hoverlabel?.font } };
  walk(data, "", scale);
  walk(layout, "", scale);
}

/** A value of a table, in the figure's size. */
export function enlarged(attribute, value, scale) {
  if (scale === 1) return value;
  const way = attribute.split(".");
  const [holder, name] = [way.at(-2) ?? "", way.at(-1)];
  return sized(holder, name, value, scale);
}

function walk(object, holder, scale) {
  for (const [name, value] of Object.entries(object)) {
    const grown = sized(holder, name, value, scale);
    if (grown !== value) object[name] = grown;
    else if (value && typeof value === "object") {
      walk(value, Array.isArray(object) ? holder : name, scale);
    }
  }
}

function sized(holder, name, value, scale) {
  const type = /font$/i.test(holder) && name === "size";
  const minimum = holder === "uniformtext" && name === "minsize";
  if (!type && !minimum && !IN_PIXELS["*"].has(name) && !IN_PIXELS[holder]?.has(name)) return value;
  const grow = (number) => {
    if (typeof number !== "number") return number;
    return type || minimum ? Math.max(LEAST_TYPE, number * scale) : number * scale;
  };
  return Array.isArray(value) ? value.map(grow) : grow(value);
}
