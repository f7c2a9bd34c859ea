// Lecture mode, the steps of a story by keys, and the speaker's second window. All texts come
// from Python; what is shown of a step too. Here is only what keys do and how large things are.

import * as plain from "./lecture_plain.js";
import { loadStyle } from "./state.js";

const STYLE = new URL("lecture.css", import.meta.url).href;
const BASE_WIDTH = 1920; // a projector, in CSS pixels: larger ones get larger type
const BASE_HEIGHT = 1080;
const SCALE = 1.7; // figures' smallest labels, 12 pixels, become 20
const LEAST_SCALE = 1.67;
const RELEASE_MS = 250; // a slider moved by keys is let go after a pause
const REST_MS = 120;
const SETTLE_MS = [30, 300, 900, 2000];
const BY_HAND_MS = 500;
const REDRAWN_MS = [60, 600];
const MIN_FIGURE = 240; // pixels
const CHANNEL = "explorable-lecture";

const html = document.documentElement;
const channel = "BroadcastChannel" in window ? new BroadcastChannel(CHANNEL) : null;
const notes = new URLSearchParams(location.search).get("notes") === "1";
const words = () => window.explorableLecture.words;
const all = (selector) => [...document.querySelectorAll(selector)];
const one = (selector) => document.querySelector(selector);
const asked = () => new URLSearchParams(location.search);
const isOn = () => "lecture" in html.dataset;
const timers = {};
const chosen = {}; // which of Streamlit's controls is the large one, and since which step
let byHand = -Infinity; // when the pointer or the Tab key was last used
let styled = null;
let told = "";

// -------------------------------------------------------------- entering and leaving

/** Be in the mode that the address says. */
async function obey() {
  if (notes) return;
  const wanted = asked().get("lecture") === "1";
  if (wanted && !isOn()) await enter();
  else if (!wanted && isOn()) leave();
}

async function enter() {
  styled ??= loadStyle(STYLE);
  await styled;
  html.dataset.lecture = "light";
  look();
  settle();
}

function leave() {
  delete html.dataset.lecture;
  html.style.removeProperty("--explorable-scale");
  one(".lecture-help")?.remove();
  for (const field of all("[data-active]")) delete field.dataset.active;
  plain.removeCharts();
  document.dispatchEvent(new Event("explorable:look"));
}

/** Follow the theme and the size of the screen. */
function look() {
  if (!isOn()) return;
  const app = one(".stApp");
  const theme = isDark(app) ? "dark" : "light";
  if (html.dataset.lecture !== theme) html.dataset.lecture = theme;
  const room = Math.min(innerWidth / BASE_WIDTH, innerHeight / BASE_HEIGHT);
  const scale = Math.max(LEAST_SCALE, SCALE * room).toFixed(3);
  html.style.setProperty("--explorable-scale", scale);
  document.dispatchEvent(new Event("explorable:look"));
}

/** Whether the page would be dark without lecture mode's own black and white. */
function isDark(app) {
  const scheme = getComputedStyle(app).colorScheme;
  if (/dark|light/.test(scheme)) return scheme.includes("dark");
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

/** Write the mode into the address, and enter or leave at once; Python learns of it later. */
function toggle() {
  const query = asked();
  if (isOn()) query.delete("lecture");
  else query.set("lecture", "1");
  const text = query.toString();
  history.replaceState(history.state, "", location.pathname + (text ? `?${text}` : ""));
  obey();
  tell();
}

// -------------------------------------------------------------- one control, and room for figures

/**
 * A page, a step or a window of another size: put everything in its place, and look again when
 * Streamlit has drawn what it still had to draw.
 */
function settle(waits = SETTLE_MS) {
  timers.settle?.forEach(clearTimeout);
  timers.settle = waits.map((wait) => setTimeout(arrange, wait));
}

function arrange() {
  if (!isOn()) return;
  help();
  plain.mark(one("h1")?.closest('[data-testid="stHeading"]'), "claim");
  html.toggleAttribute("data-lecture-story", Boolean(one(".story")));
  if (!one(".player")) {
    plain.watchPage(drawn);
    plain.order();
    choosePlain();
    plain.drawCharts();
    return;
  }
  choose();
  if (one(".player").dataset.state !== "moving") fit();
}

/** The sliders of a player, or Streamlit's own controls. */
function controls() {
  return one(".player") ? all(".player-slider") : plain.controls();
}

/** As `choose`; Streamlit may have put another element in a control's place meanwhile. */
function choosePlain() {
  const story = one(".story");
  const subject = `${location.pathname} ${story?.dataset.story ?? ""}`;
  const fields = plain.controls();
  const named = (name) => name && fields.find((field) => plain.nameOf(field) === name);
  const moved = story?.dataset.slider && named(`slide_${story.dataset.slider}`);
  if (subject !== chosen.subject) Object.assign(chosen, { subject, name: "" });
  // Until somebody chooses it is the first one, which Streamlit may not have drawn first.
  activate((chosen.name && named(chosen.name)) || moved || fields[0]);
}

/** Which slider is the large one at first: the one the step is about, else the one that Play moves. */
function choose() {
  const player = one(".player");
  if (!player) return;
  const story = one(".story");
  const subject = `${location.pathname} ${story?.dataset.story ?? ""}`;
  const fields = all(".player-slider");
  const chosen = fields.some((field) => "active" in field.dataset);
  if (chosen && player.dataset.subject === subject) return;
  player.dataset.subject = subject;
  const named = (name) => fields.find((field) => field.querySelector("input").name === name);
  const sweep = player.querySelector("select[name=sweep]")?.value;
  activate(named(story?.dataset.slider) ?? (chosen ? null : (named(sweep) ?? fields[0])));
}

/** Make one slider the large one; Play sweeps it where it can. */
function activate(field) {
  if (!field || !isOn()) return;
  for (const other of all("[data-active]")) {
    if (other !== field) delete other.dataset.active;
  }
  if (!("active" in field.dataset)) field.dataset.active = "";
  if (!field.matches(".player-slider")) return;
  const { name } = field.querySelector("input");
  const sweep = one(".player select[name=sweep]");
  if (sweep && sweep.value !== name && [...sweep.options].some(({ value }) => value === name)) {
    sweep.value = name;
    sweep.dispatchEvent(new Event("change", { bubbles: true }));
  }
  fit();
}

function change(by) {
  const fields = controls();
  if (!fields.length) return;
  const at = fields.findIndex((field) => "active" in field.dataset);
  const next = fields[(at + by + fields.length) % fields.length];
  if (!one(".player")) chosen.name = plain.nameOf(next);
  activate(next);
  const handle = one(".player") ? next.querySelector("input") : plain.handle(next);
  handle?.focus({ preventScroll: true });
  if (!one(".player")) settle();
}

/** Move the large slider by a stop; it is let go a moment after the last one. */
function move(by) {
  if (!one(".player")) {
    const field = plain.controls().find(({ dataset }) => "active" in dataset);
    if (field) plain.move(field, by);
    return;
  }
  const input = one(".player-slider[data-active] input") ?? one(".player-slider input");
  if (!input || input.disabled) return;
  const at = Math.round(Number(input.value)) + by;
  const next = Math.min(Number(input.max), Math.max(0, at));
  if (next === Number(input.value)) return;
  input.step = 1;
  input.value = next;
  input.dispatchEvent(new Event("input", { bubbles: true }));
  clearTimeout(timers.release);
  timers.moved = input;
  timers.release = setTimeout(letGo, RELEASE_MS);
}

function letGo() {
  clearTimeout(timers.release);
  const { moved } = timers;
  timers.moved = null;
  if (moved?.isConnected) moved.dispatchEvent(new Event("change", { bubbles: true }));
}

/** Give the figures what the words and the slider leave of the screen. */
function fit() {
  const player = one(".player");
  if (!player || !isOn()) return;
  const figures = player.querySelector(".player-figures");
  const above = figures.getBoundingClientRect().top + (one('[data-testid="stMain"]')?.scrollTop ?? 0);
  const parts = [".player-bar", ".player-stream", ".player-sentence"];
  const below = parts
    .map((part) => player.querySelector(part)?.offsetHeight ?? 0)
    .filter(Boolean)
    .reduce((sum, height) => sum + height + gap(player), 0);
  const named = [...figures.querySelectorAll(":scope > :is(.player-legend, .player-verdict)")]
    .filter(({ offsetHeight }) => offsetHeight)
    .reduce((sum, { offsetHeight }) => sum + offsetHeight + gap(figures), 0);
  const height = Math.max(MIN_FIGURE, Math.floor(innerHeight - above - below - named - 10));
  const text = `${height}px`;
  if (html.style.getPropertyValue("--lecture-figure") === text) return;
  html.style.setProperty("--lecture-figure", text);
}

const gap = (element) => parseFloat(getComputedStyle(element).rowGap) || 0;

// -------------------------------------------------------------- stories

/** Go where a link leads, without loading the page anew, in the mode that is on. */
export function follow(link) {
  const url = new URL(link.getAttribute("href"), location.href);
  if ("lecture" in link.dataset) url.searchParams.set("lecture", "1");
  else if (isOn()) url.searchParams.set("lecture", "1");
  else url.searchParams.delete("lecture");
  if (url.pathname === location.pathname && url.search === location.search) return;
  leavePlayer(url);
  go(url);
}

/** Have the player forget what it has not told yet, and go ahead where it stays. */
function leavePlayer(url) {
  clearTimeout(timers.release);
  timers.moved = null;
  const here = url.pathname === location.pathname;
  const query = Object.fromEntries(url.searchParams);
  for (const name of ["story", "step", "lecture"]) delete query[name];
  document.dispatchEvent(new CustomEvent("explorable:leave", { detail: here ? query : null }));
}

/** Streamlit takes this for the browser's Forward: page and scenario come from the address. */
function go(url, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"]({}, "", url.pathname + url.search);
  window.dispatchEvent(new PopStateEvent("popstate"));
  one('[data-testid="stMain"]')?.scrollTo(0, 0);
}

function step(way) {
  const link = one(`.story a[data-step="${way}"]`);
  if (link) follow(link);
}

// -------------------------------------------------------------- keys

const TYPING = "input:not([type=range]), textarea, select, [contenteditable], [role=combobox]";
const OWN_KEYS = "input, [role=radio], [role=tab], [role=slider], [role=listbox], [role=option]";

/** Do what a key says; true when it said anything. */
function act(name, shift) {
  const story = Boolean(one(".story"));
  switch (name) {
    case "ArrowRight":
    case "PageDown":
      return story && !shift ? step("next") : move(1);
    case "ArrowLeft":
    case "PageUp":
      return story && !shift ? step("previous") : move(-1);
    case "+":
      return move(1);
    case "-":
      return move(-1);
    case "ArrowUp":
      return change(-1);
    case "ArrowDown":
      return change(1);
    case " ":
      return one(".player-play")?.click();
    case "r":
      return reset();
    case "l":
      return toggle();
  }
}

const KNOWN = new Set(["ArrowRight", "ArrowLeft", "PageDown", "PageUp", "+", "-", "ArrowUp", "ArrowDown", "r", "l"]);

/** Everything as the step says; without a story, as a bare address says. */
function reset() {
  const own = one('.story a[data-step="again"]');
  if (own) {
    const url = new URL(own.getAttribute("href"), location.href);
    if (isOn()) url.searchParams.set("lecture", "1");
    leavePlayer(url);
    go(url, { replace: true });
  } else if (!one(".player")) {
    chosen.name = "";
    document.activeElement?.blur();
    go(bareAddress(), { replace: true });
  } else {
    all(".player-buttons button").at(-1)?.click();
  }
}

const isTyping = (target) => Boolean(target.closest?.(TYPING));

/** In a hall a list of choices that is not open leaves the keys to the lecture. */
function isClosedList(target) {
  if (!isOn() || one(".player")) return false;
  return target.matches("[role=combobox]") && target.getAttribute("aria-expanded") !== "true";
}

function bareAddress() {
  const url = new URL(location.pathname, location.href);
  for (const name of ["lang", "lecture"]) {
    const value = asked().get(name);
    if (value) url.searchParams.set(name, value);
  }
  return url;
}

export function key(event) {
  if (plain.isOwn()) return;
  if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
  const { target } = event;
  if ((isTyping(target) && !isClosedList(target)) || one("dialog[open]")) return;
  const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (notes) {
    if (!KNOWN.has(name) && name !== " ") return;
    take(event);
    channel?.postMessage({ key: name, shift: event.shiftKey });
    return;
  }
  if (name === "?") {
    take(event);
    list();
  } else if (name === "n") {
    take(event);
    openNotes();
  } else if (name === "l") {
    take(event);
    toggle();
  } else if (isOn() && KNOWN.has(name)) {
    take(event);
    act(name, event.shiftKey);
  } else if (/^Arrow(Left|Right)$/.test(name) && one(".story") && !event.shiftKey) {
    if (target.closest?.(OWN_KEYS)) return;
    take(event);
    act(name, false);
  }
}

/** Neither the browser nor Streamlit, which has a use of its own for R, sees the key. */
function take(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

/** A dialog that lists the keys. */
function list() {
  const { keys, close, title } = words();
  const dialog = make("dialog", document.body, "lecture-keys");
  const heading = make("h2", dialog);
  heading.id = "lecture-keys-title";
  heading.textContent = title;
  dialog.setAttribute("aria-labelledby", heading.id);
  const table = make("dl", dialog);
  for (const [names, what] of keys) {
    const row = make("div", table);
    const term = make("dt", row);
    names.split(" ").forEach((name, i) => {
      if (i) term.append(" ");
      make("kbd", term).textContent = name;
    });
    make("dd", row).textContent = what;
  }
  const buttons = make("p", dialog);
  const mode = make("button", buttons);
  mode.textContent = isOn() ? words().leave : words().enter;
  mode.onclick = () => {
    dialog.close();
    toggle();
  };
  const done = make("button", buttons);
  done.textContent = close;
  done.autofocus = true;
  done.onclick = () => dialog.close();
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "?") dialog.close();
    if (event.key !== "Tab" && event.key !== "Escape") event.stopPropagation();
  });
  styled ??= loadStyle(STYLE);
  styled.then(() => dialog.showModal());
}

/** The one thing left of the chrome: where the keys are listed. */
function help() {
  const text = words().help;
  const button = one(".lecture-help") ?? make("button", document.body, "lecture-help");
  if (button.textContent !== "?") button.textContent = "?";
  button.setAttribute("aria-label", text);
  button.title = text;
  button.onclick = list;
}

function make(tag, parent, className) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (tag === "button") element.type = "button";
  parent.append(element);
  return element;
}

// -------------------------------------------------------------- the speaker's window

function openNotes() {
  const url = new URL(location.href);
  url.searchParams.delete("lecture");
  url.searchParams.set("notes", "1");
  window.open(url, "explorable-notes", "popup,width=900,height=760");
}

/** Tell the speaker's window where this one is, and what it says. */
function tell({ again = false } = {}) {
  if (notes || !channel) return;
  const spoken = one(".player [aria-live=polite]") ?? plain.sentence();
  const sentence = spoken?.textContent ?? "";
  const message = { path: location.pathname, search: location.search, sentence };
  const text = JSON.stringify(message);
  if (!again && text === told) return;
  told = text;
  channel.postMessage(message);
}

function tellLater() {
  clearTimeout(timers.tell);
  timers.tell = setTimeout(tell, REST_MS);
}

function hear({ data }) {
  if (!notes) {
    if (data.hello) tell({ again: true });
    else if (data.key) act(data.key, data.shift);
    return;
  }
  if (!data.path) return;
  const url = new URL(data.path + data.search, location.href);
  url.searchParams.delete("lecture");
  url.searchParams.set("notes", "1");
  const live = one("[data-notes-live]");
  if (live) live.textContent = data.sentence;
  if (sameAddress(url)) return;
  go(url, { replace: true });
}

function sameAddress(url) {
  const sorted = (search) => [...new URLSearchParams(search)].sort().join("&");
  return url.pathname === location.pathname && sorted(url.search) === sorted(location.search);
}

/** How long the speaker has been speaking. */
function clock() {
  const start = Date.now();
  setInterval(() => {
    const place = one("[data-notes-clock]");
    const seconds = Math.floor((Date.now() - start) / 1000);
    const text = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    if (place && place.textContent !== text) place.textContent = text;
  }, 500);
}

// -------------------------------------------------------------- what happens elsewhere

/** The language has changed. */
export function refresh() {
  if (isOn()) help();
}

/** Streamlit has drawn something of a page without a player. */
function drawn() {
  if (one(".player")) return;
  plain.watchPage(drawn);
  tellLater();
  if (isOn()) settle(REDRAWN_MS);
}

/** What is pressed or focused becomes the large control. */
function choosing({ target }) {
  if (!isOn() || !target.closest) return;
  const slider = target.closest(".player-slider:not([data-active])");
  if (slider || one(".player")) return activate(slider);
  // Streamlit puts the focus back when it has drawn anew; nobody has chosen then.
  if (performance.now() - byHand > BY_HAND_MS) return;
  const field = plain.controls().find((control) => control.contains(target));
  if (!field || "active" in field.dataset) return;
  chosen.name = plain.nameOf(field);
  activate(field);
  settle();
}

function watch() {
  // Before everybody else, Streamlit's own keys among them.
  window.addEventListener("keydown", key, true);
  if (channel) channel.onmessage = hear;
  if (notes) {
    clock();
    channel?.postMessage({ hello: true });
    return;
  }
  document.addEventListener(
    "click",
    (event) => {
      if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      const link = event.target.closest?.("a[data-step], a[data-lecture]");
      if (link) {
        event.preventDefault();
        follow(link);
        return;
      }
      choosing(event);
    },
    true,
  );
  const touched = ({ key: pressed }) => {
    if (!pressed || pressed === "Tab") byHand = performance.now();
  };
  for (const kind of ["pointerdown", "keydown"]) window.addEventListener(kind, touched, true);
  document.addEventListener("focusin", choosing);
  window.addEventListener("popstate", () => {
    obey();
    settle();
    tellLater();
    timers.observe = setTimeout(observe, SETTLE_MS.at(-1)); // a page without a player does not say when
  });
  window.addEventListener("resize", () => {
    look();
    settle();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    setTimeout(look, 300); // Streamlit takes its new theme first
  });
  const spoken = new MutationObserver(tellLater);
  const content = new ResizeObserver(() => isOn() && settle());
  const observe = () => {
    spoken.disconnect();
    content.disconnect();
    const live = one(".player [aria-live=polite]");
    if (live) spoken.observe(live, { childList: true, characterData: true, subtree: true });
    const block = one('[data-testid="stMainBlockContainer"]');
    if (block) content.observe(block);
    const sentence = one(".player-sentence");
    if (sentence) content.observe(sentence);
    if (one(".player")) plain.unwatchPage();
    else plain.watchPage(drawn);
    settle();
    tellLater();
  };
  document.addEventListener("explorable:mounted", () => setTimeout(observe, 0));
  observe();
}

watch();
obey();
