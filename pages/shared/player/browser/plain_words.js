// What a page that Streamlit draws says, and how its controls stand, read from the page itself.

const all = (root, selector) => [...(root?.querySelectorAll(selector) ?? [])];
const shown = (element) => element.checkVisibility();
const text = (element) => element?.textContent.trim() ?? "";

/** Each slider and picker with its value, in words. */
export function controlsOf(body) {
  const found = [];
  for (const input of all(body, '[data-testid="stSlider"] input')) {
    const name = input.getAttribute("aria-label");
    found.push([input, `${name} ${input.getAttribute("aria-valuetext") ?? input.value}`]);
  }
  for (const input of all(body, '[data-testid="stSelectbox"] input')) {
    found.push([input, `${input.getAttribute("aria-label")}: ${input.value}`]);
  }
  return inOrder(found);
}

/** What stands beside the figures; see `contents` in state.js. */
export function wordsOf(body) {
  const groups = all(body, "dl.side-readouts").map((list) => ({
    title: list.closest('[data-testid="stColumn"]')?.querySelector("input[role=combobox]")?.value ?? "",
    pairs: all(list, "dt").map((name) => [name, name.nextElementSibling]),
  }));
  const metrics = all(body, '[data-testid="stMetric"]').map((one) => [
    printed(one.querySelector('[data-testid="stMetricLabel"]')),
    printed(one.querySelector('[data-testid="stMetricValue"]')),
  ]);
  if (metrics.length) groups.push({ title: "", pairs: metrics });

  const sections = [];
  const sentences = [];
  const parts = all(body, 'h2, p.sentence, [data-testid="stMarkdown"]').filter(shown);
  for (const part of parts) {
    if (part.matches("h2") && !part.closest('[data-testid="stHtml"]')) {
      sections.push({ title: text(part), parts: [] });
    } else if (part.matches('[data-testid="stMarkdown"], p.sentence')) {
      if (part.querySelector("h2")) continue;
      if (sections.length) sections.at(-1).parts.push(printed(part));
      else sentences.push(printed(part));
    }
  }
  return { groups, sentences, sections, rest: all(body, ".glossary-here, .stories, dl.glossary").map(printed) };
}

/** A copy of a part of the page for paper, without what Streamlit says of its looks. */
function printed(element) {
  const copy = element.cloneNode(true);
  for (const pressed of copy.querySelectorAll(".story-start, summary, button")) pressed.remove();
  for (const closed of copy.querySelectorAll("details")) closed.replaceWith(...closed.childNodes);
  for (const one of copy.querySelectorAll("*")) {
    for (const name of ["id", "tabindex", "data-testid"]) one.removeAttribute(name);
    if (/\bst-/.test(one.className)) one.removeAttribute("class");
  }
  return copy;
}

function inOrder(found) {
  const before = ([left], [right]) =>
    left.compareDocumentPosition(right) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1;
  return found.sort(before).map(([, words]) => words);
}
