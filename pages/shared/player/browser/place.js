// A guess that is a point on the axis of an empty figure: placed by mouse, finger or keys, and
// drawn beside the right one when the curve comes. What each stop is called comes from Python.

import { button, make } from "./page.js";

const LETTER = 7.2; // pixels of one, on average, in the type of a mark's name
const ROOM = 220; // pixels beside the figure that suffice for the question

export class Placing {
  /** With a card: ask on the empty figure; without: only marks will be shown. */
  constructor(player, asked, card, parent) {
    this.player = player;
    this.asked = asked;
    this.figure = player.figures.get(asked.place.figure);
    this.node = this.figure.node;
    this.cell = this.node.parentElement;
    if (card) this.ask(card, parent);
  }

  ask(card, parent) {
    const { choices, place } = this.asked;
    this.card = card;
    this.cell.dataset.asked = "";
    this.node.setAttribute("aria-hidden", "true"); // its text alternative says the answer

    const field = make("div", "player-place", parent);
    const head = make("div", "player-slider-head", field);
    const label = make("label", "", head);
    label.textContent = place.label;
    this.output = make("output", "", head);
    this.output.setAttribute("aria-live", "off"); // the slider says it
    this.input = make("input", "player-place-input", field);
    Object.assign(this.input, { type: "range", min: 0, max: choices.length - 1, step: 1, value: place.start });
    this.input.id = label.htmlFor = this.output.htmlFor = "place";
    this.input.setAttribute("aria-label", place.label);
    const hint = make("p", "player-guess-label", field);
    hint.textContent = place.hint;
    hint.id = "place-hint";
    this.input.setAttribute("aria-describedby", hint.id);
    const take = button(field, place.take, "player-place-take");
    this.field = field;

    // Over the figure's axes: what is pressed there is the guess, and its mark.
    this.area = make("div", "player-place-area", this.cell);
    this.area.setAttribute("aria-hidden", "true");
    this.mark = make("div", "player-place-mark", this.area);
    this.word = make("span", "", this.mark);

    this.listening = new AbortController();
    const { signal } = this.listening;
    this.input.addEventListener("input", () => this.stand(), { signal });
    take.addEventListener("click", () => this.onTake(this.stop.name), { signal });
    // Keys in here are nobody else's: space would start the player.
    field.addEventListener("keydown", (event) => event.key !== "Escape" && event.stopPropagation(), { signal });
    for (const kind of ["pointerdown", "pointermove"]) {
      this.area.addEventListener(kind, (event) => this.point(event), { signal });
    }
    const watch = new ResizeObserver(() => this.layOut());
    watch.observe(this.cell);
    this.node.on?.("plotly_afterplot", () => this.layOut());
    signal.addEventListener("abort", () => watch.disconnect());
    this.layOut();
  }

  get stop() {
    return this.asked.choices[Number(this.input.value)];
  }

  /** Lie over the axes, wherever they are now; the question where the figure leaves room. */
  layOut() {
    const { _size: size } = this.node._fullLayout ?? {};
    if (!size || !this.listening || this.listening.signal.aborted) return;
    const { style } = this.area;
    style.left = `${this.node.offsetLeft + size.l}px`;
    style.top = `${this.node.offsetTop + size.t}px`;
    style.width = `${size.w}px`;
    style.height = `${size.h}px`;
    const row = this.cell.parentElement;
    const before = this.cell.offsetLeft - row.offsetLeft;
    const after = row.offsetWidth - before - this.cell.offsetWidth;
    const narrow = Math.max(before, after) < ROOM;
    this.card.dataset.side = narrow ? "above" : after >= before ? "after" : "before";
    this.card.style.setProperty("--free", `${Math.max(before, after)}px`);
    this.stand();
  }

  /** Where a stop is, in pixels from the axis' left end; what is beyond it is at its right end. */
  pixels({ x }) {
    const { xaxis, _size } = this.node._fullLayout;
    return x === null ? _size.w : Math.min(_size.w, Math.max(0, xaxis.d2p(x)));
  }

  standAt(index) {
    this.input.value = index;
    this.stand();
  }

  /** Show the stop at which the slider stands. */
  stand() {
    const { stop } = this;
    this.output.textContent = stop.text;
    this.input.setAttribute("aria-valuetext", stop.text);
    if (!this.node._fullLayout) return;
    const at = this.pixels(stop);
    this.mark.style.left = `${at}px`;
    this.mark.dataset.left = at > this.area.offsetWidth / 2;
    this.word.textContent = stop.text;
  }

  /** The stop that is nearest to where the pointer is. */
  point(event) {
    if (event.type === "pointermove" && !event.buttons) return;
    if (event.type === "pointerdown") {
      if (event.button) return;
      this.area.setPointerCapture(event.pointerId);
      event.preventDefault();
      this.input.focus({ preventScroll: true });
    }
    const at = event.clientX - this.area.getBoundingClientRect().left;
    const far = this.asked.choices.map((stop) => Math.abs(this.pixels(stop) - at));
    // Beyond the axis only what is pressed there, not what is nearest to its last stop.
    const last = far.length - 1;
    if (at <= this.area.offsetWidth) far[last] = Infinity;
    this.standAt(far.indexOf(Math.min(...far)));
  }

  /** The curve is there: mark what was placed, if anything was, and what is right. */
  show(picked) {
    this.endAsking();
    this.picked = picked;
    this.cell.dataset.placed = "";
    this.follow();
  }

  /** Draw the marks anew: the axes may have come with a new table. */
  follow() {
    if (this.listening) return; // still asking
    const { place } = this.asked;
    const { picked } = this;
    const [upper, lower] = place.rows; // where names stand, as shares of the figure's height
    const placed = picked && picked.x !== null;
    // Each name on the far side of its mark from the other one.
    const first = placed && place.x !== null ? Math.min(picked.x, place.x) : undefined;
    const mine = placed ? [this.line(picked.x, upper, place.mine, "dot", first)] : [];
    const answer = lower ? place.answer : "";
    const right = place.x === null ? [] : [this.line(place.x, lower ?? 0.5, answer, "solid", first), ring(place)];
    this.figure.overlay([...mine, ...right], "guess");
  }

  line(x, share, text, dash, first) {
    const { xaxis, yaxis } = this.figure.layout;
    const at = (axis, part) => {
      const value = axis.range[0] + part * (axis.range[1] - axis.range[0]);
      return axis.type === "log" ? 10 ** value : value;
    };
    const { scale } = this.figure.theme; // in a lecture hall all is larger
    const { xaxis: drawn, _size: size } = this.node._fullLayout;
    const part = drawn.d2p(x) / size.w;
    const wide = (LETTER * scale * (text.length + 2)) / size.w;
    const wanted = first === undefined ? part > 0.5 : x === first;
    const left = wanted ? part >= wide || part > 0.5 : part > 1 - wide && part > 0.5;
    return {
      type: "scatter",
      mode: "lines+text",
      name: text,
      x: [x, x, x],
      y: [at(yaxis, 0), at(yaxis, share), at(yaxis, 1)],
      text: ["", text && `\u2002<b>${text}</b>\u2002`, ""],
      textposition: left ? "middle left" : "middle right",
      textfont: { color: "ink", size: 13 * scale },
      line: { color: "ink", width: 1.75 * scale, dash },
      hoverinfo: "skip",
      showlegend: false,
    };
  }

  endAsking() {
    this.listening?.abort();
    this.listening = null;
    delete this.cell.dataset.asked;
    this.node.removeAttribute("aria-hidden");
    this.area?.remove();
    this.field?.remove();
    if (this.card) delete this.card.dataset.side;
  }

  remove() {
    this.endAsking();
    delete this.cell.dataset.placed;
    this.figure.overlay([], "guess");
  }
}

/** The point of the curve that was asked for. */
function ring({ x, y }) {
  return {
    type: "scatter",
    mode: "markers",
    name: "",
    x: [x],
    y: [y],
    marker: { symbol: "circle-open", size: 18, color: "ink", line: { width: 2.5 } },
    hoverinfo: "skip",
    showlegend: false,
  };
}
