// Builds the player's part of the page, and sets its texts. Knows nothing of tables or Plotly.

import { mustAsk } from "./guessing.js";
import { Terms } from "./terms.js";

export class Page {
  constructor(parent, description) {
    const { figures, readouts, sliders, words, sections, sentence, stream, play, terms } = description;
    this.slots = new Map(); // slot name -> elements that show it
    this.inView = new Set(); // sections that can be seen
    this.frame = make("div", "player-frame", parent); // narrow or wide by its own width
    this.root = make("div", "player", this.frame);
    if (mustAsk(description.page)) this.root.dataset.guess = "asking";
    this.figures = new Map();
    this.sliders = new Map();
    this.terms = new Terms(this.frame, terms);

    const top = make("div", "player-figures", this.root);
    this.stage = this.card = this.root; // where a question stands, and what knows of it
    this.verdicts = top;
    const more = figures.some(({ below }) => below) ? make("div", "player-more") : null;
    this.menus = new Map(); // figure name -> the button of its menu
    for (const [i, figure] of figures.entries()) {
      const cell = make("div", "player-cell", figure.below ? more : top);
      cell.style.setProperty("--share", figure.share);
      cell.style.setProperty("--height", `${figure.height}px`);
      const node = make("div", "player-figure", cell);
      const menu = button(cell, "⋯", "player-menu");
      menu.setAttribute("aria-label", words.menu.replace("{number}", i + 1));
      menu.setAttribute("aria-haspopup", "menu");
      menu.setAttribute("aria-expanded", "false");
      this.menus.set(figure.name, menu);
      node.setAttribute("role", "img");
      node.setAttribute("aria-label", figure.name);
      node.dataset.figure = figure.name;
      this.figures.set(figure.name, node);
    }

    const side = make("dl", "player-readouts", this.root);
    for (const readout of readouts) {
      const item = make("div", "player-readout", side);
      if (readout.colour) item.style.setProperty("--quantity", this.colour(readout.colour));
      const label = make("dt", "", item);
      label.textContent = readout.label;
      this.terms.mark(label);
      this.slot(readout.slot, make("dd", "", item));
    }

    const bar = make("div", "player-bar", this.root);
    const buttons = make("div", "player-buttons", bar);
    this.play = button(buttons, words.play, "player-play");
    this.step = button(buttons, words.step);
    this.reset = button(buttons, words.reset);
    this.sweep = null;
    if ((play.sliders?.length ?? 0) > 1) {
      const label = (name) => sliders.find((slider) => slider.name === name)?.label ?? name;
      const options = play.sliders.map((name) => [name, label(name)]);
      this.sweep = choice(buttons, "sweep", words.sweep, options, play.selected);
    }
    this.speed = null;
    if ((play.speeds?.length ?? 0) > 1) {
      const whole = play.speeds.find(([factor]) => factor === 1) ?? play.speeds[0];
      this.speed = choice(buttons, "speed", words.speed, play.speeds, whole[0]);
    }

    const grid = make("div", "player-sliders", bar);
    grid.dataset.count = sliders.length;
    for (const slider of sliders) this.sliders.set(slider.name, new SliderField(grid, slider));

    if (stream) {
      const running = make("p", "player-stream", this.root);
      running.setAttribute("aria-hidden", "true");
      this.slot(stream, running);
    }

    // The sentence changes with each frame; the one that is read aloud waits until things rest.
    const visible = make("p", "player-sentence", this.root);
    visible.setAttribute("aria-hidden", "true");
    this.slot(sentence, visible);
    this.sentence = sentence;
    this.spoken = make("p", "player-unseen", this.root);
    this.spoken.setAttribute("aria-live", "polite");
    this.status = make("p", "player-status", this.root);
    this.status.setAttribute("role", "status");
    this.tools = make("div", "player-tools", this.root); // its place is kept; extras fill it
    if (more) this.root.append(more);

    const watch = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) this.inView.add(target);
        else this.inView.delete(target);
      }
    });
    this.watch = watch;
    const below = make("div", "player-sections", this.root);
    for (const section of sections ?? []) {
      const block = make("section", "player-section", below);
      make("h2", "", block).textContent = section.title;
      const body = make("div", "", block);
      if (section.html) {
        body.innerHTML = section.html;
        this.terms.mark(body);
      }
      const live = section.html ? body.querySelectorAll("[data-slot]") : [body];
      for (const element of live) {
        element.explorableBelow = body;
        this.slot(element.dataset.slot ?? section.slot, element);
      }
      watch.observe(body);
    }
  }

  colour(name) {
    return name === "ink" ? "var(--st-text-color)" : name;
  }

  slot(name, element) {
    if (!this.slots.has(name)) this.slots.set(name, []);
    this.slots.get(name).push(element);
    element.dataset.slot = name;
  }

  /** Show a text. What nobody sees is left until things rest. */
  text(slot, html, atRest) {
    if (slot.startsWith("alt_")) {
      if (atRest) this.figures.get(slot.slice(4))?.setAttribute("aria-label", plain(html));
      return;
    }
    for (const element of this.slots.get(slot) ?? []) {
      if (element.explorableHtml === html) continue;
      const block = element.explorableBelow;
      if (block && !atRest && !this.inView.has(block)) continue;
      element.explorableHtml = html;
      element.innerHTML = html;
      if (block === element) this.terms.mark(element);
    }
    if (atRest && slot === this.sentence && this.spoken.explorableHtml !== html) {
      this.spoken.explorableHtml = html;
      this.spoken.textContent = plain(html);
    }
  }

  /** Have the browser draw native sliders and lists for a dark or a light page. */
  theme({ dark }) {
    this.root.style.colorScheme = dark ? "dark" : "light";
  }

  /** Say "moving" or "rest", for tests to wait on. */
  state(name) {
    if (this.root.dataset.state !== name) this.root.dataset.state = name;
  }

  say(text) {
    if (this.status.textContent !== text) this.status.textContent = text;
  }

  remove() {
    this.terms.remove();
    this.watch.disconnect();
    this.frame.remove();
  }
}

/** A native slider with its label, its value in words, and its marks. */
class SliderField {
  constructor(parent, { name, label, help }) {
    this.name = name;
    const field = make("div", "player-slider", parent);
    const head = make("div", "player-slider-head", field);
    const caption = make("label", "", head);
    caption.textContent = label;
    this.value = make("output", "", head);
    this.input = make("input", "", field);
    Object.assign(this.input, { type: "range", min: 0, max: 0, step: 1, value: 0, id: `slide-${name}` });
    this.input.name = name;
    this.input.disabled = true;
    this.input.setAttribute("aria-label", label);
    caption.htmlFor = this.input.id;
    this.value.htmlFor = this.input.id;
    this.value.setAttribute("aria-live", "off");
    if (help) {
      field.title = help;
      const note = make("span", "player-unseen", field);
      note.id = `${this.input.id}-help`;
      note.textContent = help;
      this.input.setAttribute("aria-describedby", note.id);
    }
    this.marks = make("div", "player-marks", field);
    this.marks.setAttribute("aria-hidden", "true");
  }

  /** Take the stops of a table. */
  take({ stops, marks }) {
    const last = stops.length - 1;
    this.input.max = last;
    this.input.disabled = false;
    const key = `${last}:${marks}`;
    if (this.marksKey === key) return;
    this.marksKey = key;
    this.marks.replaceChildren(
      ...marks.map((mark) => {
        const tick = make("span", "");
        tick.style.setProperty("--at", last ? mark / last : 0);
        return tick;
      }),
    );
  }

  /** Stand at a stop; between two stops while playing. */
  stand(position, text) {
    this.input.step = Number.isInteger(position) ? 1 : "any";
    this.input.value = position;
    this.word(text);
  }

  word(text) {
    if (this.value.textContent === text) return;
    this.value.textContent = text;
    this.input.setAttribute("aria-valuetext", text);
  }
}

export function make(tag, className, parent) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  parent?.append(element);
  return element;
}

export function button(parent, text, className) {
  const element = make("button", className, parent);
  element.type = "button";
  element.textContent = text;
  return element;
}

function choice(parent, name, label, options, selected) {
  const field = make("label", "player-choice", parent);
  make("span", "", field).textContent = label;
  const select = make("select", "", field);
  select.name = name;
  for (const [value, text] of options) {
    select.append(new Option(text, value, value === selected, value === selected));
  }
  return select;
}

const parser = document.createElement("template");
function plain(html) {
  parser.innerHTML = html.replace(/<br\s*\/?>/g, " ");
  return parser.content.textContent;
}
