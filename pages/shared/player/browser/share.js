// The dialog that shares a page: its link as it is now, as a QR code, as an embed; the handout and
// the page's numbers in Python. Fetched when it is first opened.

import { answered, claim, copyText, currentLink, download, loadStyle, make, paperAndInk, settle } from "./state.js";

const EMBED_HEIGHT = 900;

export function qrSource(root, link) {
  return `${root}share/qr.svg?link=${encodeURIComponent(link)}`;
}

/** Open the dialog; `given` is what the button carries. */
export async function openShare(button, given, root) {
  document.querySelector("dialog.share")?.remove();
  settle();
  await answered();
  await loadStyle(`${root}player/${given.version}/share.css`);
  const { words } = given;
  const link = currentLink();
  const dialog = newDialog("share", words.title);
  make("h2", "", dialog, { textContent: words.title });
  make("p", "share-quiet", dialog, { textContent: words.state });

  const top = make("div", "share-top", dialog);
  const fields = make("div", "share-fields", top);
  const says = make("p", "share-says", null);
  says.setAttribute("role", "status");
  copyField(fields, words.link, words.copy_link, link, words, says);
  const embed = currentLink({ embed: "true" });
  copyField(fields, words.embed, words.copy_embed, embedCode(embed, claim()), words, says);

  const large = make("button", "share-qr", top, { type: "button", title: words.qr_large });
  large.setAttribute("aria-label", words.qr_large);
  const code = make("img", "", large, { src: qrSource(root, link), alt: "" });
  code.onerror = () => (says.textContent = words.failed);
  large.addEventListener("click", () => showLarge(link, root, words));

  make("h3", "", dialog, { textContent: words.take_away });
  const printing = make("div", "share-line", dialog);
  const print = make("button", "share-print", printing, { type: "button", textContent: words.print });
  make("span", "share-quiet", printing, { textContent: words.print_help });
  print.addEventListener("click", async () => {
    print.disabled = true;
    dialog.close();
    const { printHandout } = await import("./handout.js");
    await printHandout(given, root, link);
  });
  if (given.python) await python(dialog, given, root, link, says);
  dialog.append(says);

  const close = make("button", "share-close", dialog, { type: "button", textContent: words.close });
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => {
    dialog.remove();
    (document.contains(button) ? button : document.querySelector("[data-share]"))?.focus();
  });
  dialog.showModal();
}

async function python(dialog, given, root, link, says) {
  const { words } = given;
  const line = make("div", "share-line", dialog);
  const copy = make("button", "", line, { type: "button", textContent: words.copy_python });
  const save = make("button", "", line, { type: "button", textContent: words.download_python });
  const block = make("details", "share-python", dialog);
  make("summary", "", block, { textContent: words.python });
  make("p", "share-quiet", block, { textContent: words.python_help });
  const frame = make("pre", "", block, { tabIndex: 0 });
  frame.setAttribute("role", "region");
  frame.setAttribute("aria-label", words.python);
  const shown = make("code", "", frame);
  let code = "";
  try {
    const answer = await fetch(`${root}share/snippet/${given.page}${new URL(link).search}`);
    if (!answer.ok) throw new Error(answer.status);
    code = `# ${claim()}\n# ${link}\n${await answer.text()}`;
  } catch {
    says.textContent = words.failed;
  }
  shown.textContent = code;
  copy.disabled = save.disabled = !code;
  copy.addEventListener("click", async () => {
    const done = await copyText(code);
    if (!done) block.open = true;
    if (!done) getSelection().selectAllChildren(shown);
    says.textContent = done ? words.copied : words.not_copied;
  });
  save.addEventListener("click", () => {
    download(`${given.page}.py`, new Blob([code], { type: "text/x-python" }));
  });
}

function embedCode(link, title) {
  const safe = (text) =>
    text.replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/</g, "&lt;");
  return (
    `<iframe src="${safe(link)}" title="${safe(title)}" width="100%" height="${EMBED_HEIGHT}"` +
    ' style="border: 0" loading="lazy" allow="clipboard-write; fullscreen"></iframe>'
  );
}

/** A text that cannot be changed, with a button that copies it. */
function copyField(parent, label, copyLabel, text, words, says) {
  const field = make("div", "share-field", parent);
  const id = `share-${parent.childElementCount}`;
  make("label", "", field, { textContent: label, htmlFor: id });
  const input = make("input", "", field, { id, type: "text", readOnly: true, value: text });
  const copy = make("button", "", field, { type: "button", textContent: words.copy });
  copy.setAttribute("aria-label", copyLabel);
  input.addEventListener("focus", () => input.select());
  copy.addEventListener("click", async () => {
    says.textContent = "";
    const done = await copyText(text);
    if (!done) input.focus();
    says.textContent = done ? words.copied : words.not_copied;
  });
}

/** The code as large as the screen, black on white whatever the theme. */
function showLarge(link, root, words) {
  const dialog = newDialog("share-hall", words.qr);
  make("img", "", dialog, { src: qrSource(root, link), alt: words.qr });
  const address = make("p", "", dialog, { textContent: link });
  address.dataset.long = link.length > 90;
  const close = make("button", "", dialog, { type: "button", textContent: words.close });
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  dialog.showModal();
}

function newDialog(name, label) {
  const dialog = make("dialog", name, document.body);
  dialog.setAttribute("aria-label", label);
  const { dark, ...look } = paperAndInk();
  dialog.style.colorScheme = dark ? "dark" : "light";
  for (const [part, value] of Object.entries(look)) dialog.style.setProperty(`--${part}`, value);
  // Keys in here are nobody else's: space would start the player.
  for (const kind of ["keydown", "keyup", "keypress"]) {
    dialog.addEventListener(kind, (event) => event.stopPropagation());
  }
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog && name === "share") dialog.close(); // beside it
  });
  return dialog;
}
