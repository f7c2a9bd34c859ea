// One figure that Streamlit draws: its menu, and what it shows as data of its own.

import { withOpacity } from "./figure.js";
import { button, make } from "./page.js";
import { loadPlotly } from "./state.js";

export const CHART = '[data-testid="stPlotlyChart"]';
export const HOLDER = '[data-testid="stElementContainer"]';

/** One figure of Streamlit's; it is looked up whenever it is asked for, since Streamlit replaces it. */
export class Chart {
  constructor(holder, host) {
    this.holder = holder;
    this.host = host;
  }

  get node() {
    return this.holder.querySelector(".js-plotly-plot");
  }

  get label() {
    return this.holder.querySelector(CHART).getAttribute("aria-label") ?? "";
  }

  get theme() {
    return this.host.theme;
  }

  /** Plotly: as Streamlit brought it, or else this server's, fetched when it is first needed. */
  get Plotly() {
    return loadPlotly(`${this.host.root}vendor/${this.host.description.plotly}`);
  }

  addMenu(number, look) {
    if (this.menu?.parentElement !== this.holder) {
      this.menu ??= this.makeMenu();
      this.holder.append(this.menu);
    }
    for (const [name, value] of Object.entries(look)) {
      if (this.menu.style.getPropertyValue(name) !== value) this.menu.style.setProperty(name, value);
    }
    const label = this.host.description.words.menu.replace("{number}", number);
    const own = this.menu.firstElementChild;
    if (own.getAttribute("aria-label") !== label) own.setAttribute("aria-label", label);
  }

  makeMenu() {
    const menu = make("div", "plain-menu");
    const open = button(menu, "⋯", "player-menu");
    open.setAttribute("aria-haspopup", "menu");
    open.setAttribute("aria-expanded", "false");
    open.addEventListener("click", async () => {
      const { openMenu } = await import("./take_away.js");
      openMenu(open, this, this.host);
    });
    return menu;
  }

  /** What is shown, zoom included, as data and layout of their own, in this or another theme. */
  snapshot(theme = this.theme) {
    const { data, layout } = plainly({ data: this.node.data, layout: this.node.layout });
    const template = layout.template ?? {};
    for (const name of ["width", "height"]) delete layout[name];
    for (const [name, axis] of Object.entries(layout)) {
      if (/^[xy]axis\d*$/.test(name)) axis.automargin = false;
    }
    const { l, r, t, b } = this.node._fullLayout._size; // the margins that were made
    return {
      data,
      layout: {
        ...layout,
        template: { data: template.data, layout: templateFor(theme, template.layout) },
        margin: { l, r, t, b },
        paper_bgcolor: theme.paper,
        plot_bgcolor: "rgba(0,0,0,0)",
        autosize: true,
      },
    };
  }
}

/** What Streamlit's theme gives its figures, in this ink on this paper. */
function templateFor({ ink, paper, font }, given = {}) {
  const [soft, faint] = [withOpacity(ink, 0.5), withOpacity(ink, 0.13)];
  const axis = {
    gridcolor: faint,
    zerolinecolor: faint,
    linecolor: soft,
    tickcolor: soft,
    ticklabelposition: "outside",
    tickfont: { size: 12 },
  };
  const title = (name) => ({ ...given[name]?.title, font: { size: 14, color: ink } });
  return {
    colorway: given.colorway,
    font: { family: font, size: 12, color: ink },
    hoverlabel: { bgcolor: paper, bordercolor: ink, font: { color: ink } },
    legend: { font: { size: 12, color: ink }, bgcolor: "rgba(0,0,0,0)", borderwidth: 0 },
    xaxis: { ...axis, title: title("xaxis"), showgrid: false, zeroline: false },
    yaxis: { ...axis, title: title("yaxis") },
  };
}

const ARRAYS = {
  f8: Float64Array, f4: Float32Array, i4: Int32Array, u4: Uint32Array,
  i2: Int16Array, u2: Uint16Array, i1: Int8Array, u1: Uint8Array, u1c: Uint8ClampedArray,
}; // prettier-ignore

/** A copy as plain JSON: arrays that travelled as bytes are lists of numbers. */
export function plainly(value) {
  if (ArrayBuffer.isView(value)) return Array.from(value, finite);
  if (Array.isArray(value)) return value.map(plainly);
  if (typeof value === "number") return finite(value);
  if (!value || typeof value !== "object") return typeof value === "function" ? undefined : value;
  if (value.dtype && value.bdata) return fromBytes(value);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plainly(inner)]));
}

const finite = (number) => (Number.isFinite(number) ? number : null);

function fromBytes({ dtype, bdata, shape }) {
  const bytes = typeof bdata === "string" ? Uint8Array.from(atob(bdata), (c) => c.charCodeAt(0)) : new Uint8Array(bdata);
  const flat = Array.from(new ARRAYS[dtype.replace(/^[<|=]/, "")](bytes.buffer), finite);
  const [rows, columns] = String(shape ?? "").split(",").map(Number);
  if (!columns) return flat;
  return Array.from({ length: rows }, (_, i) => flat.slice(i * columns, (i + 1) * columns));
}
