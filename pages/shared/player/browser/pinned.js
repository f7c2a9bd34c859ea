// A pinned scenario: its curves stay on every figure as a dotted ghost while sliders move, a table
// sets it beside the present one, and the URL carries it.

import { addressWith, asText, parameter, setParameter } from "./address.js";
import { ghosts, markGhosts } from "./ghost.js";
import { button, make } from "./page.js";
import { TableClient } from "./table.js";

const PIN = "pin";
const ALL_DEFAULTS = "default"; // as Python writes a query without parameters

export function comparing(player, ask) {
  const pinned = new Pinned(player, ask);
  pinned.follow();
}

class Pinned {
  constructor(player, ask) {
    this.player = player;
    this.ask = ask;
    this.client = new TableClient("", player.description.page);
    this.client.url = player.client.url;
    this.table = null; // of the pinned scenario
    this.marked = new Set(); // figures whose ghosts are marked whenever Plotly has drawn
    this.text = null; // the pinned scenario, as the URL has it
    const { words } = player.description;
    const { page } = player;
    this.words = words;
    this.pinButton = button(page.tools, words.compare_pin, "player-quiet");
    this.pinButton.title = words.compare_pin_help;

    this.legend = make("div", "player-legend");
    const said = make("p", "", this.legend);
    make("span", "player-ghost-line", said).setAttribute("aria-hidden", "true");
    make("strong", "", said).textContent = words.compare_legend;
    this.what = make("span", "", said);
    this.swapButton = button(this.legend, words.compare_swap, "player-quiet");
    this.unpinButton = button(this.legend, words.compare_unpin, "player-quiet");

    this.section = make("section", "player-section player-compared");
    make("h2", "", this.section).textContent = words.compare_title;
    this.body = make("div", "", this.section);
    this.body.tabIndex = 0; // wide tables scroll
    this.body.setAttribute("role", "region");
    this.body.setAttribute("aria-label", words.compare_title);

    const { signal } = player.listening;
    this.pinButton.addEventListener("click", () => this.pin(), { signal });
    this.swapButton.addEventListener("click", () => this.swap(), { signal });
    this.unpinButton.addEventListener("click", () => this.unpin(), { signal });
    page.root.addEventListener("player-table", () => this.follow(), { signal });
  }

  /** Show what the URL says is pinned, beside what the player shows now. */
  async follow() {
    const text = parameter(PIN);
    if (!text) {
      this.clear();
      return;
    }
    const ticket = (this.waitingFor = {});
    const answer = await this.ask("compare", { pin: text, now: asText(this.player.query) });
    if (this.waitingFor !== ticket) return;
    if (!answer) {
      this.clear();
      return;
    }
    if (text !== this.text) {
      const table = await this.tableOf({ ...answer.query, lang: this.player.query.lang });
      if (!table || this.waitingFor !== ticket) return;
      this.table = table;
      this.text = text;
    }
    this.show(answer);
  }

  async tableOf(query) {
    try {
      return await this.client.fetch(query);
    } catch {
      return null; // the server is gone: the page says so elsewhere
    }
  }

  show({ legend, table, query }) {
    const { page, figures } = this.player;
    this.query = query;
    this.what.textContent = legend;
    this.body.innerHTML = table;
    this.pinButton.textContent = this.words.compare_pin_again;
    if (!this.legend.isConnected) {
      page.root.querySelector(".player-figures").append(this.legend);
      page.root.querySelector(".player-sections").prepend(this.section);
    }
    const row = ghosts(this.table, this.player.table, figures, this.words.compare_legend);
    for (const [name, figure] of figures) {
      this.markAfterPlotly(figure.node);
      figure.overlay(row.get(name) ?? []);
    }
    page.root.dataset.pinned = this.text;
  }

  markAfterPlotly(node) {
    if (this.marked.has(node)) return;
    this.marked.add(node);
    node.on("plotly_afterplot", () => markGhosts(node));
  }

  clear() {
    this.waitingFor = null;
    this.text = null;
    if (!this.legend.isConnected) return;
    const { page, figures } = this.player;
    this.legend.remove();
    this.section.remove();
    this.pinButton.textContent = this.words.compare_pin;
    for (const figure of figures.values()) figure.overlay([]);
    delete page.root.dataset.pinned;
  }

  pin() {
    if (this.player.playing) this.player.pause();
    setParameter(PIN, asText(this.player.query) || ALL_DEFAULTS);
    this.player.kept();
    this.follow();
  }

  unpin() {
    setParameter(PIN, null);
    this.player.kept();
    this.clear();
    this.pinButton.focus();
  }

  /** Go to the pinned scenario, and pin this one. */
  swap() {
    const { player } = this;
    if (player.playing) player.pause();
    const { lang } = player.query;
    const search = new URLSearchParams({
      ...otherParameters(player),
      ...this.query,
      lang,
      [PIN]: asText(player.query) || ALL_DEFAULTS,
    });
    // Python reads the address as after the browser's Back, for the model and the chip beside
    // the player; the figures need not wait for it. And Back undoes the swap.
    history.pushState({}, "", addressWith(search));
    player.goElsewhere({ ...this.query, lang });
    dispatchEvent(new PopStateEvent("popstate", { state: {} }));
  }
}

/** What the URL has besides a scenario: lecture mode and the like. */
function otherParameters(player) {
  const present = Object.fromEntries(new URLSearchParams(location.search));
  const known = [...Object.keys(player.query), ...Object.keys(player.values())];
  for (const name of known) delete present[name];
  return present;
}
