// Terms of the glossary in a page's text: underlined, explained on hover, focus and touch, and
// linked to their entry.

const GAP = 6; // pixels between a term and its explanation
const LINGER_MS = 200; // for the pointer's way from the term to its explanation

export class Terms {
  /**
   * @param home the element in which everything stands
   * @param terms {page, more, list: [{slug, name, text, forms}]}
   */
  constructor(home, { page, more, list }) {
    this.page = page;
    this.known = new Map(); // a form in lower case -> {form, term}
    for (const term of list) {
      for (const form of term.forms) this.known.set(form.toLowerCase(), { form, term });
    }
    const longestFirst = [...this.known.keys()].sort((a, b) => b.length - a.length);
    const escaped = longestFirst.map((form) => form.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
    // Neither within a word nor within a unit such as FLOP/s.
    this.pattern = new RegExp(
      `(?<![\\p{L}\\p{N}_/-])(?:${escaped.join("|")})(?![\\p{L}\\p{N}_/-])`, "giu",
    );

    // What a screen reader says of a term stands here for good; the tip is for the eyes.
    this.meanings = document.createElement("div");
    this.meanings.hidden = true;
    this.tip = document.createElement("div");
    this.tip.className = "term-tip";
    this.tip.setAttribute("role", "tooltip");
    this.tip.popover = "manual"; // above everything, whatever it stands in
    this.name = this.tip.appendChild(document.createElement("strong"));
    this.text = this.tip.appendChild(document.createElement("span"));
    this.link = this.tip.appendChild(document.createElement("a"));
    this.link.textContent = more;
    this.link.tabIndex = -1; // the term itself is the link for the keyboard
    this.link.dataset.pageLink = page;
    home.append(this.meanings, this.tip);

    this.shown = null; // the term explained now
    this.listening = new AbortController();
    if (list.length) this.listen(home);
  }

  // -------------------------------------------------------------- marking

  /** Make the first place of each term in an element a link to its meaning. */
  mark(element) {
    if (!this.known.size) return;
    const seen = new Set();
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const texts = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (!node.parentElement.closest("a, button, sub, sup, [data-slot] [data-slot]")) texts.push(node);
    }
    for (const node of texts) this.markText(node, seen);
  }

  markText(node, seen) {
    const { data } = node;
    let from = 0;
    const pieces = [];
    for (const { 0: text, index } of data.matchAll(this.pattern)) {
      const { form, term } = this.known.get(text.toLowerCase());
      // An abbreviation stands in its own capitals only.
      const abbreviation = /^.+\p{Lu}/u.test(form);
      if (seen.has(term.slug) || (abbreviation && text !== form)) continue;
      seen.add(term.slug);
      pieces.push(data.slice(from, index), this.anchor(term, text));
      from = index + text.length;
    }
    if (pieces.length) node.replaceWith(...pieces, data.slice(from));
  }

  anchor(term, text) {
    const anchor = document.createElement("a");
    anchor.className = "term";
    anchor.textContent = text;
    anchor.href = this.address(term);
    anchor.dataset.pageLink = this.page;
    anchor.setAttribute("aria-describedby", this.meaning(term));
    anchor.explorableTerm = term;
    return anchor;
  }

  address({ slug }) {
    return `${this.page}${location.search}#${slug}`;
  }

  /** The id of the element that says what a term means. */
  meaning({ slug, text }) {
    const id = `meaning-${slug}`;
    if (!this.meanings.querySelector(`#${id}`)) {
      const meaning = document.createElement("span");
      meaning.id = id;
      meaning.textContent = text;
      this.meanings.append(meaning);
    }
    return id;
  }

  // -------------------------------------------------------------- explaining

  listen(home) {
    const { signal } = this.listening;
    const termOf = ({ target }) => target.closest?.(".term");
    const within = (target) => target && (this.shown?.contains(target) || this.tip.contains(target));
    home.addEventListener("focusin", (event) => {
      const term = termOf(event);
      if (term) this.show(term);
    }, { signal });
    home.addEventListener("focusout", ({ relatedTarget }) => {
      if (!within(relatedTarget)) this.hide();
    }, { signal });
    home.addEventListener("pointerover", (event) => {
      const term = termOf(event);
      if (within(event.target)) clearTimeout(this.leaving);
      if (term && event.pointerType !== "touch") this.show(term);
    }, { signal });
    home.addEventListener("pointerout", ({ target, relatedTarget, pointerType }) => {
      if (pointerType === "touch" || !within(target) || within(relatedTarget)) return;
      if (this.shown === document.activeElement) return; // the keyboard holds it open
      clearTimeout(this.leaving);
      this.leaving = setTimeout(() => this.hide(), LINGER_MS);
    }, { signal });
    // A finger cannot hover: its first tap explains, its second follows. Before all other
    // listeners, one of which would follow at once.
    let tapped; // what was explained when a finger came; undefined without a finger
    window.addEventListener("pointerdown", (event) => {
      tapped = event.pointerType === "touch" ? this.shown : undefined;
      if (!termOf(event) && !this.tip.contains(event.target)) this.hide();
    }, { signal, capture: true });
    window.addEventListener("click", (event) => {
      const term = termOf(event);
      if (!term || !home.contains(term) || tapped === undefined || tapped === term) return;
      event.preventDefault();
      event.stopPropagation();
      this.show(term);
    }, { signal, capture: true });
    window.addEventListener("keydown", ({ key }) => {
      tapped = undefined;
      if (key === "Escape") this.hide();
    }, { signal, capture: true });
    for (const kind of ["scroll", "resize"]) {
      window.addEventListener(kind, () => this.place(), { signal, capture: true, passive: true });
    }
  }

  show(anchor) {
    clearTimeout(this.leaving);
    if (this.shown === anchor) return;
    this.shown = anchor;
    const term = anchor.explorableTerm;
    this.name.textContent = term.name;
    this.text.textContent = term.text;
    this.link.href = this.address(term);
    this.tip.showPopover();
    this.place();
  }

  /** Stand below the term, or above it where there is no room; go when the term has gone. */
  place() {
    if (!this.shown) return;
    const term = this.shown.getClientRects()[0];
    if (!this.shown.isConnected || !term || term.bottom < 0 || term.top > innerHeight) {
      this.hide();
      return;
    }
    const { width, height } = this.tip.getBoundingClientRect();
    const left = Math.max(GAP, Math.min(term.left, document.documentElement.clientWidth - width - GAP));
    const below = term.bottom + GAP + height <= innerHeight;
    this.tip.style.left = `${left}px`;
    this.tip.style.top = `${below ? term.bottom + GAP : term.top - GAP - height}px`;
  }

  hide() {
    clearTimeout(this.leaving);
    this.shown = null;
    this.tip.hidePopover();
  }

  remove() {
    clearTimeout(this.leaving);
    this.listening.abort();
  }
}
