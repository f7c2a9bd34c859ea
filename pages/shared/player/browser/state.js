// What sharing and taking away have in common: the page's state as it is now, and small helpers.

const NOT_SHARED = ["embed", "embed_options", "lecture", "v"];

/**
 * Ask whatever has state of its own in the browser to write it into the URL.
 * @returns what answered: `player` is the page's player, where it has one
 */
export function settle() {
  const detail = {};
  document.dispatchEvent(new CustomEvent("explorable:settle", { detail }));
  return detail;
}

/** Wait, not long, until Python has answered what was picked last: it writes the URL then. */
export async function answered() {
  const running = () => document.querySelector('.stApp[data-test-script-state="running"]');
  for (let i = 0; i < 60 && running(); i += 1) await new Promise((go) => setTimeout(go, 50));
}

/** What Python gave the Share button: words, versions, the settings in words. */
export function given() {
  return JSON.parse(document.querySelector("[data-share]").dataset.share);
}

/** The address of the page as it is now; `more` are parameters to add. */
export function currentLink(more = {}) {
  const address = new URL(location.href);
  for (const name of NOT_SHARED) address.searchParams.delete(name);
  const always = { lang: document.documentElement.lang, v: given().link_version };
  for (const [name, value] of Object.entries({ ...always, ...more })) {
    address.searchParams.set(name, value);
  }
  address.hash = "";
  return address.href;
}

export const claim = () => document.querySelector("h1")?.textContent.trim() ?? document.title;

/** The settings in words: what is picked, then the controls of the page as they stand. */
export function settings(player) {
  const { settings: picked, all } = given();
  return (all ? picked : [...picked, ...(player.controls ?? slidersOf(player))]).join(" · ");
}

function slidersOf({ page, clock }) {
  return [...page.sliders.values()]
    .filter(({ name }) => name !== clock)
    .map(({ input, value }) => `${input.getAttribute("aria-label")} ${value.textContent}`);
}

/**
 * What a page says beside its figures, as elements: `groups` of read-outs, each with a title and
 * pairs of name and value; `sentences`; `sections`, each with a title and its contents; `rest`.
 */
export function contents(player) {
  if (player.contents) return player.contents();
  const own = player.page.root;
  const readouts = [...own.querySelectorAll(".player-readout")];
  const pairs = readouts.map((one) => [one.querySelector("dt"), one.querySelector("dd")]);
  const sections = [...own.querySelectorAll(".player-section")].map((section) => ({
    title: section.querySelector("h2").textContent,
    parts: [section.querySelector(":scope > div")],
  }));
  const sentences = [...own.querySelectorAll(".player-sentence")];
  return { groups: [{ title: "", pairs }], sentences, sections, rest: [] };
}

/** What stands in words for a figure. */
export const labelOf = (figure) => figure.label ?? figure.node.getAttribute("aria-label");

/** The page's own colours and type, for what stands outside of Streamlit's elements. */
export function paperAndInk() {
  const app = document.querySelector(".stApp") ?? document.body;
  const { color, backgroundColor, fontFamily } = getComputedStyle(app);
  const light = (backgroundColor.match(/[\d.]+/g) ?? [255]).slice(0, 3).some((part) => part > 127);
  return {
    ink: color,
    paper: backgroundColor,
    font: fontFamily,
    accent: light ? "#5b4b9a" : "#b8abe8",
    dark: !light,
  };
}

export function make(tag, className, parent, properties = {}) {
  const element = Object.assign(document.createElement(tag), properties);
  if (className) element.className = className;
  parent?.append(element);
  return element;
}

/** Copy a text; false where the browser does not allow it. */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** The older way, which also works where the page was not fetched by https. */
function copyBySelection(text) {
  const around = document.querySelector("dialog[open]") ?? document.body;
  const focused = document.activeElement;
  const area = make("textarea", "", around, { value: text });
  Object.assign(area.style, { position: "fixed", opacity: 0 });
  area.select();
  let done = false;
  try {
    done = document.execCommand("copy");
  } catch {
    // Then it is selected by hand.
  }
  area.remove();
  focused?.focus();
  return done;
}

export function download(name, blob) {
  const address = URL.createObjectURL(blob);
  make("a", "", null, { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Plotly, where it is not there already: its script from this server, once. */
export function loadPlotly(src) {
  window.explorablePlotly ??= new Promise((resolve, reject) => {
    if (window.Plotly) return resolve(window.Plotly);
    const element = Object.assign(document.createElement("script"), { src, async: true });
    element.onload = () => resolve(window.Plotly);
    element.onerror = () => {
      element.remove();
      window.explorablePlotly = undefined; // so that the next one tries again
      reject(new Error(`could not load ${src}`));
    };
    document.head.append(element);
  });
  return window.explorablePlotly;
}

export function loadStyle(href) {
  const present = document.querySelector(`link[href="${href}"]`);
  if (present) return present.explorableReady;
  const element = Object.assign(document.createElement("link"), { rel: "stylesheet", href });
  element.explorableReady = new Promise((resolve) => {
    element.onload = element.onerror = resolve;
  });
  document.head.append(element);
  return element.explorableReady;
}
