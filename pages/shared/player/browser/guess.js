// Predict, then reveal: a question over the figures, which appear with the answer. What is asked,
// what is right and why comes from Python, for the scenario that the page stands at.

import { asText, setParameter } from "./address.js";
import { answerInLink, answered, isOn, remember, turn } from "./guessing.js";
import { button, make } from "./page.js";

const SHOWN = "shown"; // no guess was made, but the answer was asked for

export function guessing(player, ask) {
  new Guess(player, ask).begin();
}

class Guess {
  constructor(player, ask) {
    this.player = player;
    this.ask = ask;
    this.name = player.description.page;
    this.words = player.description.words;
    const { page } = player;
    this.stage = page.stage; // its data-guess says what may be seen
    this.start = button(page.tools, this.words.guess_first, "player-quiet");
    this.start.title = this.words.guess_first_help;

    this.card = make("section", "player-guess");
    make("p", "player-guess-label", this.card).textContent = this.words.guess_label;
    this.question = make("h2", "", this.card);
    this.question.id = `guess-${this.name}`;
    this.choices = make("div", "player-guess-choices", this.card);
    this.choices.setAttribute("role", "group");
    this.choices.setAttribute("aria-labelledby", this.question.id);
    const row = make("div", "player-guess-row", this.card);
    this.show = button(row, this.words.guess_show, "player-quiet");
    this.stop = button(row, this.words.guess_stop, "player-quiet");

    this.verdict = make("div", "player-verdict");
    this.said = make("p", "", this.verdict);
    this.said.tabIndex = -1;
    const after = make("div", "player-guess-row", this.verdict);
    this.link = button(after, this.words.guess_link, "player-quiet");
    this.close = button(after, this.words.guess_close, "player-quiet");

    const { signal } = player.listening;
    const on = (element, act) => element.addEventListener("click", act, { signal });
    on(this.start, () => this.begin({ wanted: true }));
    on(this.show, () => this.reveal(SHOWN));
    on(this.stop, () => this.leave());
    on(this.link, () => this.intoLink());
    on(this.close, () => this.dismiss());
    page.root.addEventListener("player-table", () => this.follow(), { signal });
  }

  /** Ask, or show the answer that the link carries. */
  async begin({ wanted = false } = {}) {
    const linked = answerInLink(this.name);
    if (wanted) {
      turn(true);
      remember(this.name, null);
      if (linked) this.intoLink(null);
    } else if (!linked && !(isOn() && !answered(this.name))) {
      return;
    }
    this.dismiss();
    if (wanted || !linked) this.stage.dataset.guess = "asking";
    await this.fetch();
    if (!wanted && linked) {
      if (this.asked?.choices.some(({ name }) => name === linked)) this.reveal(linked, false);
      return;
    }
    this.lay(wanted);
  }

  /** Get the question about the present scenario. */
  async fetch() {
    const ticket = (this.waitingFor = {});
    this.of = asText(this.player.query);
    const asked = await this.ask("guess", { page: this.name, now: this.of });
    if (asked?.place) this.Placing ??= (await import("./place.js")).Placing;
    if (this.waitingFor === ticket) this.asked = asked;
  }

  /** Put the question over the figures; where there is none the figures are shown. */
  lay(focus) {
    if (this.stage.dataset.guess !== "asking") return;
    const { question, choices } = this.asked ?? {};
    if (!question) {
      delete this.stage.dataset.guess;
      this.card.remove();
      this.placing?.remove();
      this.placing = null;
      if (this.asked) this.tell(this.words.guess_none, { linkable: false });
      return;
    }
    this.question.textContent = question;
    this.choices.replaceChildren();
    const before = this.placing?.input?.value;
    this.placing?.remove();
    this.placing = null;
    if (!this.card.isConnected) this.player.page.card.append(this.card);
    if (this.asked.place) {
      this.placing = new this.Placing(this.player, this.asked, this.card, this.choices);
      this.placing.onTake = (name) => this.reveal(name);
      if (before) this.placing.standAt(before);
    } else {
      for (const { name, text } of choices) {
        const choice = button(this.choices, text);
        choice.addEventListener("click", () => this.reveal(name));
      }
    }
    if (focus) this.choices.querySelector("input, button").focus();
  }

  /** Show the figures, and say what is right and why. */
  reveal(name, byHand = true) {
    const { choices, shown, why } = this.asked;
    const picked = choices.find((choice) => choice.name === name);
    this.answer = picked ? name : null;
    if (byHand) remember(this.name, name);
    this.card.remove();
    this.stage.dataset.guess = "answered";
    if (this.asked.place) {
      this.placing ??= new this.Placing(this.player, this.asked);
      this.placing.show(picked);
    }
    this.tell(`<strong></strong> ${why}`, { linkable: Boolean(picked) });
    this.said.firstElementChild.textContent = picked ? picked.verdict : shown;
    if (byHand) this.said.focus({ preventScroll: true });
  }

  tell(html, { linkable }) {
    this.said.innerHTML = html;
    this.link.hidden = !linkable;
    this.link.textContent = this.words.guess_link;
    this.player.page.verdicts.append(this.verdict);
  }

  /** The scenario has moved: the question is about another one, and a verdict is over. */
  async follow() {
    if (asText(this.player.query) === this.of) {
      this.placing?.follow();
      return;
    }
    if (this.stage.dataset.guess === "asking") {
      await this.fetch();
      this.lay(false);
    } else {
      this.dismiss();
    }
  }

  dismiss() {
    const had = this.verdict.contains(document.activeElement);
    this.verdict.remove();
    this.card.remove();
    this.placing?.remove();
    this.placing = null;
    delete this.stage.dataset.guess;
    if (had) this.start.focus();
  }

  /** No questions any more, here and on other pages. */
  leave() {
    turn(false);
    this.dismiss();
    this.start.focus();
  }

  /** Only on request does the URL say what was answered. */
  intoLink(answer = this.answer) {
    setParameter("guess", answer && `${this.name}.${answer}`);
    this.player.kept();
    this.link.textContent = this.words.guess_linked;
  }
}
