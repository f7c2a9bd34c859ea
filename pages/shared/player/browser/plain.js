// A page without a player, as far as the extras are concerned: the figures that Streamlit draws,
// with the same menus; the question before they are seen; what a handout prints.

import { readTheme } from "./figure.js";
import { make } from "./page.js";
import { CHART, Chart, HOLDER } from "./plain_figure.js";
import { controlsOf, wordsOf } from "./plain_words.js";
import { loadStyle, paperAndInk } from "./state.js";

const BODY = ".st-key-plain_body";
const KEPT = ["pin", "guess"]; // what Python is told of the URL, as in player.js
// Parameters of the URL that belong to no scenario.
const OTHERS = ["lang", "v", "pin", "guess", "lecture", "notes", "story", "step", "time", "embed", "embed_options"];

const pages = new WeakMap(); // the element given by Streamlit -> Plain

/** Called by Streamlit at first and whenever the data or the theme change. */
export async function mount(component, root) {
  const { parentElement, data } = component;
  await loadStyle(`${root}player/${data.version}/player.css`);
  const present = pages.get(parentElement);
  if (present?.fits(data)) {
    present.update(component);
  } else {
    present?.remove();
    pages.set(parentElement, new Plain(component, root));
  }
  return () => {
    pages.get(parentElement)?.remove();
    pages.delete(parentElement);
  };
}

class Plain {
  constructor(component, root) {
    const { data, parentElement } = component;
    this.component = component;
    this.description = data;
    this.root = root;
    this.listening = new AbortController();
    this.charts = new WeakMap(); // the element that holds a chart, whatever is drawn in it -> Chart

    const own = make("div", "plain", parentElement);
    const status = make("p", "player-status", own);
    status.setAttribute("role", "status");
    this.page = {
      root: own,
      stage: document.documentElement, // its data-guess says what may be seen
      card: own,
      verdicts: own,
      tools: make("div", "plain-tools"),
      say: (text) => (status.textContent = text),
    };
    this.theme = readTheme(parentElement);
    this.scenario = this.asked();

    const { signal } = this.listening;
    const settled = ({ detail }) => (detail.player = this);
    document.addEventListener("explorable:settle", settled, { signal });
    const watch = new MutationObserver(() => this.arrangeSoon());
    watch.observe(document.querySelector('[data-testid="stMain"]'), { childList: true, subtree: true });
    signal.addEventListener("abort", () => watch.disconnect());
    this.arrange();
    this.loadExtras();
  }

  async loadExtras() {
    const waits = document.documentElement.dataset.guess !== "asking";
    if (waits) await new Promise((idle) => (window.requestIdleCallback ?? setTimeout)(idle));
    try {
      const [{ asker }, { guessing }] = await Promise.all([import("./ask.js"), import("./guess.js")]);
      if (this.listening.signal.aborted) return;
      guessing(this, asker(this));
      this.page.root.dataset.extras = "true"; // for tests to wait on
    } catch (error) {
      console.warn("extras", error); // the page does without
      delete document.documentElement.dataset.guess;
    }
  }

  fits(data) {
    return JSON.stringify(data) === JSON.stringify(this.description);
  }

  update(component) {
    this.component = component;
    this.theme = readTheme(component.parentElement);
    this.arrange();
  }

  /** The scenario that the page stands at, as its URL has it. */
  get query() {
    const all = new URLSearchParams(location.search);
    for (const name of OTHERS) all.delete(name);
    return { ...Object.fromEntries(all), lang: document.documentElement.lang };
  }

  asked() {
    return JSON.stringify(this.query);
  }

  /** The figures that are drawn now, by name. */
  get figures() {
    const found = new Map();
    for (const chart of document.querySelectorAll(`${BODY} ${CHART}`)) {
      if (!chart.querySelector(".js-plotly-plot")) continue;
      const holder = chart.closest(HOLDER);
      if (!this.charts.has(holder)) this.charts.set(holder, new Chart(holder, this));
      found.set(this.nameOf(holder) ?? `${found.size + 1}`, this.charts.get(holder));
    }
    return found;
  }

  nameOf(holder) {
    const key = holder.className.match(/\bst-key-([\w-]+)/)?.[1];
    return key?.replace(new RegExp(`^${this.description.page}_`), "").replace(/_/g, "-");
  }

  arrangeSoon() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.arrange();
    });
  }

  /** Streamlit has drawn something: whatever it took away of ours is put back. */
  arrange() {
    const { tools, root } = this.page;
    const row = document.querySelector(".do-row");
    if (row && tools.parentElement !== row) row.querySelector(".share-open").before(tools);
    const look = this.look();
    [...this.figures.values()].forEach((figure, i) => figure.addMenu(i + 1, look));
    const now = this.asked();
    if (now === this.scenario) return;
    this.scenario = now;
    root.dispatchEvent(new CustomEvent("player-table"));
  }

  look() {
    const { ink, paper, accent, font } = paperAndInk();
    return {
      "--st-text-color": ink,
      "--st-background-color": paper,
      "--st-primary-color": accent,
      "--st-font": font,
    };
  }

  /** The extras have written to the URL: Python is told. */
  kept() {
    const search = new URLSearchParams(location.search);
    const values = Object.fromEntries(KEPT.map((name) => [name, search.get(name) ?? ""]));
    this.component.setStateValue("values", values);
  }

  /** The controls of the page in words, for captions. */
  get controls() {
    return controlsOf(document.querySelector(BODY));
  }

  /** What the page says beside its figures, for what is taken away. */
  contents() {
    return wordsOf(document.querySelector(BODY));
  }

  remove() {
    this.listening.abort();
    cancelAnimationFrame(this.frame);
    this.page.tools.remove();
    for (const menu of document.querySelectorAll(".plain-menu")) menu.remove();
    this.page.root.remove();
    if (window.explorablePlain !== this.description.page) return; // the next page asks already
    delete document.documentElement.dataset.guess;
    delete window.explorablePlain;
  }
}
