// A page on one sheet of paper: claim, settings, figures, numbers, formula, and the way back.
// Fetched when a handout is asked for.

import { answered, claim, contents, labelOf, make, settings, settle } from "./state.js";
import { svg } from "./take_away.js";

// A4 with margins of 12 mm, in CSS pixels; see @page in share.css.
const WIDTH = 703;
const HEIGHT = 1031;
const SMALLEST = 0.55; // a smaller type than this is no handout: the text then takes a second page
const MANY = 5; // figures that stand three in a row, not two
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
  fit(sheet);
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
  const figures = make("div", "handout-figures", page);
  const many = player.figures.size >= MANY;
  const width = many ? 400 : 480; // drawn as wide as on a small screen, so that type stays large
  for (const figure of player.figures.values()) {
    const drawn = figure.snapshot(PAPER);
    const height = figure.node.clientHeight;
    Object.assign(drawn.layout, { width, height, autosize: false });
    const box = make("div", "", figures);
    box.setAttribute("role", "img");
    box.setAttribute("aria-label", labelOf(figure));
    box.innerHTML = await svg(figure, { ...drawn, width, height });
    const drawing = box.querySelector("svg");
    drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    drawing.removeAttribute("width");
    drawing.removeAttribute("height");
    drawing.style.background = "none";
  }
  figures.dataset.columns = Math.min(figures.childElementCount, many ? 3 : 2);
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

/** Make the type as large as one sheet allows. */
function fit(sheet) {
  const page = sheet.firstElementChild;
  let [low, high] = [SMALLEST, 1];
  for (let i = 0; i < 7; i += 1) {
    const scale = i ? (low + high) / 2 : 1;
    page.style.zoom = scale;
    page.style.width = `${WIDTH / scale}px`;
    if (page.offsetHeight * scale <= HEIGHT) low = scale;
    else high = scale;
    if (low === 1) break;
  }
  page.style.zoom = low;
  page.style.width = `${WIDTH / low}px`;
}
