// A page on paper, on one sheet where that can be read: claim, settings, figures, numbers, formula, and the way back.
// Fetched when a handout is asked for.

import { answered, claim, contents, labelOf, make, settings, settle } from "./state.js";
import { svg } from "./take_away.js";

// A4 with margins of 12 mm, in CSS pixels; see @page in share.css.
const WIDTH = 703;
const HEIGHT = 1031;
const GAP = 8;
// From the most comfortable to the tightest that can still be read on paper: the page's type, the
// scale of a figure's (of 12 pixels at least), and its height as a share of that on the screen.
// What does not fit one sheet even so takes a second one, at its ease.
const ONE_SHEET = [
  { type: 15, scale: 1, height: 0.85 },
  { type: 14, scale: 0.92, height: 0.75 },
  { type: 13, scale: 0.87, height: 0.66 },
  { type: 12.7, scale: 0.85, height: 0.6 },
];
const MORE_SHEETS = { type: 14, scale: 0.86, height: 0.8 };
const LEAST_TYPE = 10; // pixels of a figure's labels on paper: 7.5 points
const NARROWEST = 0.45; // of a row
const WIDE = 3; // the share of a figure whose rows are long
const LOWEST = 190; // pixels of a figure as it is drawn
const PAPER = { ink: "#1b1b1f", paper: "#ffffff", font: "Arial, Helvetica, sans-serif", dark: false };

/** Print the page on one sheet. */
export async function printHandout(given, root, link) {
  const { player } = settle();
  if (!player) {
    window.print(); // its part has not come
    return;
  }
  await (player.contents ? answered() : atRest(player));
  document.querySelector(".handout")?.remove();
  const sheet = await handout(player, given, root, link);
  await fit(sheet, [...player.figures.values()], { mainFirst: !player.contents });
  const clear = () => {
    document.documentElement.classList.remove("printing-handout");
    sheet.remove();
  };
  window.addEventListener("afterprint", clear, { once: true });
  document.documentElement.classList.add("printing-handout");
  window.print();
}

/** Wait until the table of what was let go is drawn. */
async function atRest(player) {
  for (let i = 0; i < 60 && player.page.root.dataset.state !== "rest"; i += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function handout(player, given, root, link) {
  const sheet = make("div", "handout", document.body, { lang: document.documentElement.lang });
  const page = make("div", "handout-page", sheet);
  const head = make("header", "", page);
  const left = make("div", "", head);
  make("h1", "", left, { textContent: claim() });
  make("p", "handout-settings", left, { textContent: settings(player) });
  make("p", "handout-link", left, { textContent: link });
  const code = make("img", "", head, { src: `${root}share/qr.svg?link=${encodeURIComponent(link)}` });
  code.alt = given.words.qr;

  const { groups, sentences, sections, rest } = contents(player);
  for (const { title, pairs } of groups) {
    if (title) make("p", "handout-group", page, { textContent: title });
    const readouts = make("dl", "handout-readouts", page);
    for (const [name, value] of pairs) {
      const item = make("div", "", readouts);
      make("dt", "", item).innerHTML = name.innerHTML;
      make("dd", "", item).innerHTML = value.innerHTML;
    }
  }
  make("div", "handout-figures", page);
  for (const sentence of sentences) {
    make("div", "handout-sentence", page).innerHTML = sentence.innerHTML;
  }
  for (const { title, parts } of sections) {
    if (!given.handout.includes(title)) continue;
    const block = make("section", "", page);
    make("h2", "", block, { textContent: title });
    for (const part of parts) make("div", "", block).innerHTML = part.innerHTML;
  }
  for (const part of rest) page.append(part);
  if (!code.complete) await new Promise((resolve) => (code.onload = code.onerror = resolve));
  return sheet;
}

/** Draw the figures as large as one sheet allows; if it allows too little, on as many as needed. */
async function fit(sheet, figures, order) {
  const page = sheet.firstElementChild;
  for (const way of [...ONE_SHEET, MORE_SHEETS]) {
    page.style.fontSize = `${way.type}px`;
    await drawFigures(page.querySelector(".handout-figures"), figures, { ...way, ...order });
    if (page.offsetHeight <= HEIGHT) return;
  }
  sheet.classList.add("handout-long");
}

/**
 * Figures two in a row, by the shares that they have on the screen; an odd one has a row of its own:
 * a wide one, else the main figure, else the last of figures that stand in pairs.
 */
async function drawFigures(place, figures, { scale, height, mainFirst }) {
  place.replaceChildren();
  const share = ({ node }) => Number(node.parentElement.style.getPropertyValue("--share")) || 1;
  const rest = [...figures];
  const wide = rest.findLastIndex((figure) => share(figure) >= WIDE);
  const lone = wide < 0 && !mainFirst ? rest.length - 1 : Math.max(0, wide);
  const odd = rest.length % 2 ? rest.splice(lone, 1) : [];
  const rows = [];
  while (rest.length) rows.push(rest.splice(0, 2));
  if (odd.length) rows.splice(lone ? rows.length : 0, 0, odd);
  for (const row of rows) {
    const whole = row.reduce((sum, figure) => sum + share(figure), 0);
    // As high as the higher of the two: they stand beside one another.
    const shown = Math.max(...row.map(({ node }) => node.clientHeight)) * height;
    for (const figure of row) {
      const part = row.length > 1 ? Math.min(1 - NARROWEST, Math.max(NARROWEST, share(figure) / whole)) : 1;
      const width = part * (WIDTH - GAP * (row.length - 1));
      const drawn = { width: Math.round(width / scale), height: Math.round(Math.max(LOWEST, shown)) };
      const box = make("div", "", place);
      box.style.width = `${width}px`;
      box.setAttribute("role", "img");
      box.setAttribute("aria-label", labelOf(figure));
      box.innerHTML = await drawing(figure, drawn, LEAST_TYPE / scale);
      const image = box.querySelector("svg");
      image.setAttribute("viewBox", `0 0 ${drawn.width} ${drawn.height}`);
      image.removeAttribute("width");
      image.removeAttribute("height");
      image.style.background = "none";
    }
  }
}

async function drawing(figure, size, least) {
  const shown = figure.snapshot(PAPER);
  enlargeFonts(shown, least);
  Object.assign(shown.layout, { ...size, autosize: false });
  return svg(figure, { ...shown, ...size });
}

/** No label smaller than this, wherever a font stands. */
function enlargeFonts(part, least) {
  for (const [name, value] of Object.entries(part)) {
    if (!value || typeof value !== "object") continue;
    if (/font$/i.test(name) && value.size !== undefined) {
      const larger = (size) => Math.max(size, least);
      value.size = Array.isArray(value.size) ? value.size.map(larger) : larger(value.size);
    }
    enlargeFonts(value, least);
  }
}
