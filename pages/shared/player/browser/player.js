// The player: sliders, play and tables on one side, figures and texts on the other.
//
// While a slider moves, each frame looks up the row of its stop and draws it. On release a new
// table is fetched, the URL is rewritten, and a moment later Python is told the values.

import { Figure, readTheme } from "./figure.js";
import { Page } from "./page.js";
import { TableClient, isConstant, valueAt } from "./table.js";

const REST_MS = 140; // without movement this long, things are at rest
const KEY_RELEASE_MS = 90; // a key held down releases the slider again and again
const REPORT_MS = 800; // Python is told this long after the last release
const WAITING_MS = 500; // a table later than this is spoken of
const RETRY_MS = [1000, 3000, 10000];
const DENSE_STOPS_PER_SECOND = 60; // at speed 1: a new one in each frame
const CALM_STEP_MS = 500; // with reduced motion

// Parameters of the URL that the extras set. Streamlit knows only what Python writes to the URL.
const KEPT = ["pin", "guess"];

const players = new WeakMap(); // the element given by Streamlit -> Player

/** Called by Streamlit at first and whenever the data or the theme change. */
export function mount(component, root) {
  const { parentElement, data } = component;
  const present = players.get(parentElement);
  if (present?.fits(data)) {
    present.update(component);
  } else {
    present?.remove();
    players.set(parentElement, new Player(component, root));
  }
  return () => {
    players.get(parentElement)?.remove();
    players.delete(parentElement);
  };
}

class Player {
  constructor(component, root) {
    const { data, parentElement } = component;
    this.component = component;
    this.description = data;
    this.shape = shapeOf(data);
    this.given = JSON.stringify(data.query);
    this.root = root;
    this.client = new TableClient(root, data.page);
    this.query = { ...data.query };
    this.reports = data.heard;
    this.unreported = false;
    this.table = null;
    this.at = {}; // slider -> index of its stop
    this.moving = null; // the slider under the user's hand
    this.active = null; // the slider whose rows are drawn
    this.released = null; // the slider let go since the table was made, or "several"
    this.waitingFor = null;
    this.playing = null;
    this.timers = {};
    this.listening = new AbortController();

    this.page = new Page(parentElement, data);
    this.theme = readTheme(parentElement);
    this.page.theme(this.theme);
    this.figures = new Map();
    for (const { name, spec } of data.figures) {
      this.figures.set(name, new Figure(this.page.figures.get(name), spec, this.theme));
    }
    this.selected = data.play.selected ?? data.play.clock;
    this.listen();
    this.start();
    this.goTo(this.query);
    document.dispatchEvent(new Event("explorable:mounted"));
  }

  async start() {
    try {
      const Plotly = await window.explorablePlotly;
      for (const figure of this.figures.values()) {
        if (this.listening.signal.aborted) return;
        await figure.start(Plotly);
      }
      this.page.root.dataset.ready = "true";
      this.restLater();
      this.loadExtras();
    } catch {
      this.page.say(this.description.words.failed);
    }
  }

  /** What the first figure does not need comes after it. */
  async loadExtras() {
    await new Promise((idle) => (window.requestIdleCallback ?? setTimeout)(idle));
    try {
      const { attach } = await import("./extras.js");
      if (!this.listening.signal.aborted) attach(this);
    } catch (error) {
      console.warn("extras", error); // the page does without
      delete this.page.root.dataset.guess;
    }
  }

  /** Tell the extras what happened: "table", after a new one has been drawn. */
  tell(what) {
    this.page.root.dispatchEvent(new CustomEvent(`player-${what}`));
  }

  // -------------------------------------------------------------- what Streamlit says

  /** Whether new data are for the same figures, sliders and words. */
  fits(data) {
    return this.shape === shapeOf(data);
  }

  update(component) {
    this.component = component;
    this.retheme();
    const { data } = component;
    this.description = data;
    const given = JSON.stringify(data.query);
    if (given === this.given) return;
    this.given = given;
    this.adopt(data);
  }

  /**
   * Go where Python says: something was picked beside the player. Sliders that were moved since
   * the report that Python knew of keep their place.
   */
  adopt(data) {
    const query = { ...data.query };
    const follow = this.follow;
    this.follow = false;
    if (follow) this.reports = data.heard;
    else if (this.unreported || data.heard < this.reports) {
      Object.assign(query, this.values());
      dropEmpty(query);
      this.unreported = true;
      this.reportLater();
    }
    if (JSON.stringify(query) === JSON.stringify(this.query)) return;
    this.pause({ release: false });
    this.released = "several";
    this.query = query;
    this.goTo(query);
  }

  retheme() {
    const theme = readTheme(this.component.parentElement);
    if (JSON.stringify(theme) === JSON.stringify(this.theme)) return;
    const enlarged = theme.scale !== this.theme.scale;
    this.theme = theme;
    this.page.theme(theme);
    for (const figure of this.figures.values()) {
      if (enlarged) figure.rebuild(theme);
      else figure.retheme(theme);
    }
    if (!enlarged) return;
    this.fresh = true;
    this.draw(this.drawnTable, this.last?.at);
  }

  /**
   * The address is about to lead elsewhere: what was moved here and not yet told does not count.
   * Where only this page's sliders stand otherwise there, Python need not be waited for.
   */
  leave(query) {
    this.pause({ release: false });
    for (const name of ["key", "report"]) clearTimeout(this.timers[name]);
    this.held = this.moving = this.given = null;
    this.unreported = false;
    this.follow = true;
    const names = new Set([...Object.keys(query ?? {}), ...Object.keys(this.query)]);
    const moved = [...names].filter((name) => query?.[name] !== this.query[name]);
    if (!query || !moved.every((name) => this.page.sliders.has(name))) return;
    this.released = "several";
    this.goTo(query);
  }

  // -------------------------------------------------------------- tables

  /** Fetch the table of a query and stand where it says. */
  async goTo(query, { attempt = 0 } = {}) {
    const { words } = this.description;
    const ticket = (this.waitingFor = {});
    clearTimeout(this.timers.retry);
    clearTimeout(this.timers.waiting);
    this.timers.waiting = setTimeout(() => this.page.say(words.waiting), WAITING_MS);
    let table;
    try {
      table = await this.client.fetch(query);
    } catch (error) {
      if (this.waitingFor !== ticket) return;
      clearTimeout(this.timers.waiting);
      this.page.say(words.failed);
      this.waitingFor = null;
      this.restLater();
      if (!error.refused && attempt < RETRY_MS.length) {
        const again = () => this.goTo(query, { attempt: attempt + 1 });
        this.timers.retry = setTimeout(again, RETRY_MS[attempt]);
      }
      return;
    }
    if (!table || this.waitingFor !== ticket) return; // a newer request counts
    clearTimeout(this.timers.waiting);
    this.waitingFor = null;
    this.page.say("");
    this.take(table);
  }

  take(table) {
    const moving = this.moving;
    const before = this.table;
    this.table = table;
    this.query = { ...table.query };
    for (const [name, slider] of Object.entries(table.sliders)) {
      const kept = name === moving && before ? sameStop(before.sliders[name], this.at[name], slider) : null;
      this.at[name] = kept ?? slider.index;
      const field = this.page.sliders.get(name); // the clock may have none
      field?.take(slider);
      if (name !== this.playing?.slider || this.playing.clock) {
        field?.stand(this.at[name], slider.texts[this.at[name]]);
      }
    }
    this.released = null;
    if (this.playing && !this.playing.clock) return; // the dense table is drawn
    if (!moving) this.active = null;
    this.fresh = true;
    this.draw();
    if (this.tables) this.rewriteUrl();
    this.tables = (this.tables ?? 0) + 1;
    this.page.root.dataset.tables = this.tables; // for tests and benchmarks to wait on
    this.tell("table");
  }

  /** The sliders' values as they stand in the URL; empty for the default. */
  values() {
    const sliders = Object.entries(this.table?.sliders ?? {}).filter(([, { urls }]) => urls.length);
    return Object.fromEntries(sliders.map(([name]) => [name, this.query[name] ?? ""]));
  }

  // -------------------------------------------------------------- drawing

  /** Draw at the next frame. */
  drawSoon() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.draw();
    });
  }

  /** Draw the row of the active slider's stop, now. */
  draw(table = this.table, index = null) {
    if (!table) return;
    const name = this.active ?? Object.keys(table.sliders)[0];
    const rows = table.sorted[name];
    if (!rows) return;
    const at = index ?? this.at[name];
    // What is the same at every stop was drawn with the first row of this slider.
    const all = this.fresh || this.drawnFrom !== rows;
    const moved = ({ column }) => all || !isConstant(column);
    const traces = new Map();
    const layouts = new Map();
    for (const channel of rows.traces) {
      if (!moved(channel)) continue;
      const { figure, trace, attribute, column } = channel;
      if (!traces.has(figure)) traces.set(figure, []);
      traces.get(figure).push({ trace, attribute, value: valueAt(column, at) });
    }
    for (const channel of rows.layout) {
      if (!moved(channel)) continue;
      const { figure, path, column } = channel;
      if (!layouts.has(figure)) layouts.set(figure, []);
      layouts.get(figure).push({ path, value: valueAt(column, at) });
    }
    for (const [figure, drawing] of this.figures) {
      drawing.show(traces.get(figure) ?? [], layouts.get(figure) ?? []);
    }
    for (const channel of rows.texts) {
      if (moved(channel)) this.page.text(channel.slot, textAt(channel.column, at), false);
    }
    this.page.state("moving");
    this.drawnFrom = rows;
    this.drawnTable = table;
    this.fresh = false;
    this.last = { rows, at };
    this.restLater();
  }

  drawAtRest() {
    this.draw();
    this.rest();
  }

  restLater() {
    clearTimeout(this.timers.rest);
    clearTimeout(this.timers.settle);
    this.timers.rest = setTimeout(() => this.rest(), REST_MS);
  }

  /** Nothing moves: Plotly has the last word, and screen readers are told. */
  rest() {
    clearTimeout(this.timers.rest);
    if (this.playing && !this.playing.calm) return;
    if (this.waitingFor && this.tables) return; // its table will be drawn, and rest, soon
    for (const { slot, column } of this.last?.rows.texts ?? []) {
      this.page.text(slot, textAt(column, this.last.at), true);
    }
    this.settleOne();
  }

  /** One figure at a time, so that a slider moved again is not kept waiting for all of them. */
  settleOne() {
    clearTimeout(this.timers.settle);
    const next = [...this.figures.values()].find((figure) => figure.unsettled);
    if (!next) {
      this.page.state("rest");
      return;
    }
    if (!next.drawn) return; // it settles when it starts
    next.settle();
    this.timers.settle = setTimeout(() => this.settleOne(), 20);
  }

  // -------------------------------------------------------------- sliders

  slide(name) {
    const slider = this.table?.sliders[name];
    if (!slider) return;
    // Where play stopped is the scenario, unless it is the played slider that is taken over.
    if (this.playing) this.pause({ release: this.playing.slider !== name });
    const field = this.page.sliders.get(name);
    field.input.step = 1;
    this.at[name] = Math.round(Number(field.input.value));
    field.word(slider.texts[this.at[name]]);
    this.moving = name;
    this.active = name;
    this.follow = false;
    if (name !== this.clock) this.endClock();
    // The released slider's own rows are still right; others wait for a table that knows its value.
    if (this.released && this.released !== name) return;
    this.drawSoon();
  }

  /** The clock stands at its end whenever something else moves. */
  endClock() {
    const { clock } = this;
    const slider = this.table?.sliders[clock];
    if (!slider) return;
    this.at[clock] = slider.index;
    this.page.sliders.get(clock)?.stand(slider.index, slider.texts[slider.index]);
  }

  get clock() {
    return this.description.play.clock;
  }

  /** A slider has been let go: what it shows is the scenario now. */
  release(name, url = this.table?.sliders[name].urls[this.at[name]]) {
    this.moving = null;
    if (!this.table || name === this.clock) return;
    this.released = this.released && this.released !== name ? "several" : name;
    this.query = dropEmpty({ ...this.query, [name]: url });
    this.rewriteUrl();
    this.goTo(this.query);
    this.unreported = true;
    this.reportLater();
  }

  /** Release a slider that keys have moved, without waiting for more of them. */
  letGo() {
    clearTimeout(this.timers.key);
    const { held } = this;
    this.held = null;
    if (held) this.release(held);
  }

  rewriteUrl() {
    const search = new URLSearchParams(location.search);
    const names = [...Object.keys(this.description.query), ...Object.keys(this.table.sliders)];
    for (const name of names) if (!(name in this.query)) search.delete(name);
    for (const [name, value] of Object.entries(this.query)) search.set(name, value);
    const text = search.toString();
    const address = `${location.pathname}${text ? `?${text}` : ""}${location.hash}`;
    history.replaceState(history.state, "", address);
  }

  reportLater() {
    clearTimeout(this.timers.report);
    this.timers.report = setTimeout(() => this.report(), REPORT_MS);
  }

  /** The extras have written to the URL: Python is told soon. */
  kept() {
    this.unreported = true;
    this.reportLater();
  }

  /** Tell Python the sliders' values. */
  report() {
    clearTimeout(this.timers.report);
    if (!this.unreported || !this.table) return;
    this.unreported = false;
    this.reports += 1;
    const search = new URLSearchParams(location.search);
    const kept = Object.fromEntries(KEPT.map((name) => [name, search.get(name) ?? ""]));
    this.component.setStateValue("values", { ...this.values(), ...kept, report: this.reports });
  }

  // -------------------------------------------------------------- play

  async play() {
    if (this.playing || !this.table) return;
    const slider = this.selected;
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const clock = slider === this.clock;
    const playing = (this.playing = { slider, calm, clock });
    this.page.play.textContent = this.description.words.pause;
    this.page.play.setAttribute("aria-pressed", "true");
    this.active = slider;
    if (!clock) this.endClock();
    if (calm || clock) {
      const { index, stops } = this.table.sliders[slider];
      const last = clock ? index : stops.length - 1;
      if (this.at[slider] >= last) this.at[slider] = 0;
      if (calm) this.playCalmly(playing, last);
      else this.playClock(playing);
    } else {
      await this.playSweep(playing);
    }
  }

  /** One stop after another, with time to look. */
  playCalmly(playing, last) {
    const stride = playing.clock ? Math.max(1, Math.ceil(last / 24)) : 1;
    const show = () => {
      this.stand(playing.slider, this.at[playing.slider]);
      this.drawAtRest();
    };
    show();
    this.timers.calm = setInterval(() => {
      const next = Math.min(last, this.at[playing.slider] + stride);
      this.at[playing.slider] = next;
      show();
      if (next === last) this.pause();
    }, CALM_STEP_MS);
  }

  /** Each frame shows the last stop that the clock has reached. */
  playClock(playing) {
    const { stops, texts } = this.table.sliders[playing.slider];
    let elapsed = stops[this.at[playing.slider]];
    let index = -1;
    this.animate(playing, (seconds) => {
      elapsed += seconds * this.speed;
      let reached = Math.max(index, 0);
      while (reached + 1 < stops.length && stops[reached + 1] <= elapsed) reached += 1;
      if (reached !== index) {
        index = this.at[playing.slider] = reached;
        this.page.sliders.get(playing.slider)?.stand(reached, texts[reached]);
        this.draw();
      }
      return reached < stops.length - 1;
    });
  }

  /** Each frame shows a stop of a denser table, computed in Python like every other. */
  async playSweep(playing) {
    const { words } = this.description;
    const { slider } = playing;
    let dense;
    this.page.say(words.waiting);
    try {
      dense = await this.client.fetch(this.query, slider);
      this.page.say("");
    } catch {
      this.page.say(words.failed);
    }
    if (this.playing !== playing) return;
    if (!dense) {
      this.pause({ release: false });
      return;
    }
    // A table asked for by a slider just released was let go in favour of this one.
    this.waitingFor = null;
    clearTimeout(this.timers.waiting);
    const { index, stops, texts, urls } = dense.sliders[slider];
    const curated = this.table.sliders[slider].stops;
    const last = stops.length - 1;
    let place = index >= last ? 0 : index;
    let shown = -1;
    this.fresh = true;
    this.animate(playing, (seconds) => {
      place = Math.min(last, place + seconds * DENSE_STOPS_PER_SECOND * this.speed);
      const now = Math.floor(place);
      if (now !== shown) {
        shown = now;
        playing.url = urls[now];
        const position = positionAmong(curated, stops[now]);
        this.at[slider] = Math.floor(position); // from where Step goes on
        this.page.sliders.get(slider)?.stand(position, texts[now]);
        this.draw(dense, now);
      }
      return now < last;
    });
  }

  /** Call `frame(seconds since the last one)` until it returns false. */
  animate(playing, frame) {
    let before = null;
    const next = (time) => {
      if (this.playing !== playing) return;
      const seconds = before === null ? 0 : Math.min(0.1, (time - before) / 1000);
      before = time;
      if (frame(seconds)) requestAnimationFrame(next);
      else this.pause();
    };
    requestAnimationFrame(next);
  }

  get speed() {
    return Number(this.page.speed?.value ?? 1);
  }

  /** Stop playing; what is shown becomes the scenario, unless something else is moving. */
  pause({ release = true } = {}) {
    const { playing } = this;
    if (!playing) return;
    this.playing = null;
    clearInterval(this.timers.calm);
    this.page.play.textContent = this.description.words.play;
    this.page.play.setAttribute("aria-pressed", "false");
    this.restLater();
    if (!playing.clock && release) this.release(playing.slider, playing.url);
  }

  stepOnce() {
    if (!this.table) return;
    if (this.playing) this.pause({ release: false });
    const slider = this.selected;
    const last = this.table.sliders[slider].stops.length - 1;
    // The clock rests at its end, where everything has happened: stepping begins anew.
    const rewound = slider === this.clock && this.at[slider] >= last;
    const next = rewound ? 0 : Math.min(last, this.at[slider] + 1);
    this.at[slider] = next;
    this.active = slider;
    if (slider !== this.clock) this.endClock();
    this.stand(slider, next);
    this.drawAtRest();
    this.release(slider);
  }

  stand(name, index) {
    this.page.sliders.get(name)?.stand(index, this.table.sliders[name].texts[index]);
  }

  resetAll() {
    this.goElsewhere(this.description.reset_query);
    this.unreported = true;
    this.reportLater();
  }

  /** Stand at another scenario; its table is fetched. */
  goElsewhere(query) {
    this.pause({ release: false });
    this.moving = null;
    this.released = "several";
    this.query = { ...query };
    this.goTo(this.query);
  }

  // -------------------------------------------------------------- events

  listen() {
    const { signal } = this.listening;
    const { page } = this;
    for (const [name, { input }] of page.sliders) {
      let byKey = false;
      input.addEventListener("keydown", () => (byKey = true), { signal });
      input.addEventListener("pointerdown", () => (byKey = false), { signal });
      input.addEventListener("input", () => this.slide(name), { signal });
      input.addEventListener(
        "change",
        () => {
          clearTimeout(this.timers.key);
          this.held = byKey ? name : null;
          if (byKey) this.timers.key = setTimeout(() => this.letGo(), KEY_RELEASE_MS);
          else this.release(name);
        },
        { signal },
      );
    }
    page.play.addEventListener("click", () => this.toggle(), { signal });
    page.step.addEventListener("click", () => this.stepOnce(), { signal });
    page.reset.addEventListener("click", () => this.resetAll(), { signal });
    page.sweep?.addEventListener(
      "change",
      () => {
        this.pause();
        this.selected = page.sweep.value;
      },
      { signal },
    );
    document.addEventListener("keydown", (event) => this.key(event), { signal });
    for (const [name, menu] of page.menus) {
      menu.addEventListener("click", () => this.takeAway(menu, this.figures.get(name)), { signal });
    }
    const settled = ({ detail }) => {
      this.hold();
      detail.player = this;
    };
    document.addEventListener("explorable:settle", settled, { signal });
    document.addEventListener("explorable:look", () => this.retheme(), { signal });
    document.addEventListener("explorable:leave", ({ detail }) => this.leave(detail), { signal });
    // Whatever is clicked beside the player may start a run in Python: it should know the values.
    for (const kind of ["pointerdown", "keydown"]) {
      const tell = ({ target }) => {
        if (!target.closest?.("a[href]") && page.root.contains(target)) return;
        this.letGo();
        this.report();
      };
      document.addEventListener(kind, tell, { signal, capture: true });
    }
    const observer = new ResizeObserver(() => {
      clearTimeout(this.timers.resize);
      const resize = () => this.figures.forEach((figure) => figure.resize());
      this.timers.resize = setTimeout(resize, 60);
    });
    for (const node of page.figures.values()) observer.observe(node);
    signal.addEventListener("abort", () => observer.disconnect());
  }

  /** Let go of what moves: the URL then says what is shown. */
  hold() {
    this.letGo();
    if (this.moving) this.release(this.moving);
    this.pause();
  }

  /** Open a figure's menu. Its script is fetched when one is opened for the first time. */
  async takeAway(menu, figure) {
    const { openMenu } = await import("./take_away.js");
    openMenu(menu, figure, this);
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  key(event) {
    if (event.key !== " " || event.ctrlKey || event.altKey || event.metaKey) return;
    const { target } = event;
    const used = "input:not([type=range]), textarea, select, button, a[href], summary, [role=button], [contenteditable]";
    if (target.closest?.(used)) return;
    event.preventDefault();
    if (!event.repeat) this.toggle();
  }

  remove() {
    this.playing = null;
    this.listening.abort();
    this.client.cancel();
    cancelAnimationFrame(this.frame);
    for (const timer of Object.values(this.timers)) clearTimeout(timer);
    for (const figure of this.figures.values()) figure.remove();
    this.page.remove();
  }
}

/** All that decides whether figures and controls must be built anew. */
function shapeOf({ page, figures, readouts, sliders, play, sections, words, version }) {
  return JSON.stringify([page, figures, readouts, sliders, play, sections, words, version]);
}

function textAt(column, index) {
  const value = valueAt(column, index);
  return Array.isArray(value) ? value.join("") : String(value ?? "");
}

/** The query without options that stand at their default. */
function dropEmpty(query) {
  for (const [name, value] of Object.entries(query)) if (value === "") delete query[name];
  return query;
}

/** Where the same stop is in another table, or null. */
function sameStop(before, index, after) {
  const at = before.urls.length ? after.urls.indexOf(before.urls[index]) : index;
  return at >= 0 && at < after.stops.length ? at : null;
}

/** Between which of the ascending stops a value is, as a fractional index. */
function positionAmong(stops, value) {
  let above = stops.findIndex((stop) => stop >= value);
  if (above < 0) above = stops.length - 1;
  if (above === 0 || stops[above] === value) return above;
  return above - (stops[above] - value) / (stops[above] - stops[above - 1]);
}
