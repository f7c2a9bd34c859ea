// A figure's menu: the figure as an image, a drawing, a page of its own, and its data.
// Fetched when a menu is first opened. Everything is made in the browser from what is shown.

import { claim, contents, currentLink, download, labelOf, make, settings, settle } from "./state.js";

const FONT = "Arial, Helvetica, sans-serif"; // measured here and drawn elsewhere: one that all have
const IMAGE_WIDTH = 720; // at least: a figure drawn for a telephone is taken away wider
const IMAGE_SCALE = 3;
const LINE = 15; // pixels of a line of the caption

/** Open the menu of a figure below its button, or close it. */
export function openMenu(button, figure, player) {
  const open = button.parentElement.querySelector(".player-menu-items");
  if (open) return open.explorableClose();
  const { words } = player.description;
  const menu = make("div", "player-menu-items", button.parentElement);
  menu.setAttribute("role", "menu");
  menu.setAttribute("aria-label", button.getAttribute("aria-label"));
  const kinds = { png: savePng, svg: saveSvg, html: saveHtml, csv: saveCsv };
  const items = Object.entries(kinds).map(([kind, save]) => {
    const item = make("button", "", menu, { type: "button", textContent: words[kind] });
    item.setAttribute("role", "menuitem");
    item.tabIndex = -1;
    item.dataset.kind = kind;
    item.addEventListener("click", async () => {
      close();
      button.focus();
      try {
        await save(figure, player);
      } catch {
        player.page.say(words.failed);
      }
    });
    return item;
  });

  const listening = new AbortController();
  const { signal } = listening;
  function close() {
    listening.abort();
    menu.remove();
    button.setAttribute("aria-expanded", "false");
  }
  menu.explorableClose = close;
  menu.addEventListener("keydown", (event) => {
    const at = items.indexOf(document.activeElement);
    const to = {
      ArrowDown: (at + 1) % items.length,
      ArrowUp: (at + items.length - 1) % items.length,
      Home: 0,
      End: items.length - 1,
    }[event.key];
    if (to !== undefined) items[to].focus();
    else if (event.key === "Escape" || event.key === "Tab") {
      close();
      button.focus();
    }
    if (to !== undefined || event.key === "Escape") event.preventDefault();
    event.stopPropagation(); // these keys are nobody else's
  });
  const beside = ({ target }) => {
    if (!menu.contains(target) && target !== button) close();
  };
  document.addEventListener("pointerdown", beside, { signal, capture: true });
  button.setAttribute("aria-expanded", "true");
  items[0].focus({ preventScroll: true });
}

/** The parts of the page that say what a figure shows. */
function context(figure, player) {
  settle();
  const name = [...player.figures].find(([, one]) => one === figure)[0];
  return {
    name: `${player.description.page}-${name}`,
    title: claim(),
    alt: labelOf(figure),
    settings: settings(player),
    link: currentLink(),
  };
}

/** A figure as it is taken away, with its claim above it and its settings and link below. */
export function captioned(figure, { title, settings, link }, theme) {
  const { data, layout } = figure.snapshot({ ...theme, font: FONT });
  const width = Math.max(figure.node.clientWidth, IMAGE_WIDTH);
  const above = wrapped(title, width / 8.4);
  const below = [...wrapped(settings, width / 5.6), ...wrapped(link, width / 5.6)];
  const given = { l: 60, r: 16, t: 16, b: 48, ...layout.margin };
  const margin = { ...given, l: given.l + 10 }; // Arial is wider than the page's own type
  const more = { t: above.length * 20 + 8, b: below.length * LINE + 10 };
  const height = figure.node.clientHeight + more.t + more.b;
  const words = { xref: "paper", yref: "paper", x: 0, xanchor: "left", align: "left" };
  const left = { ...words, xshift: 10 - margin.l, showarrow: false };
  layout.annotations = [
    ...(layout.annotations ?? []),
    {
      ...left,
      y: 1,
      yanchor: "top",
      yshift: margin.t + more.t - 8,
      text: `<b>${above.map(escaped).join("<br>")}</b>`,
      font: { size: 15, color: theme.ink },
    },
    {
      ...left,
      y: 0,
      yanchor: "bottom",
      yshift: 4 - margin.b - more.b,
      text: below.map(escaped).join("<br>"),
      font: { size: 10.5, color: theme.ink },
    },
  ];
  Object.assign(layout, { width, height, autosize: false });
  layout.margin = { ...margin, t: margin.t + more.t, b: margin.b + more.b };
  return { data, layout, width, height };
}

async function savePng(figure, player) {
  const about = context(figure, player);
  const image = captioned(figure, about, figure.theme);
  const Plotly = await figure.Plotly;
  const address = await Plotly.toImage(image, {
    format: "png",
    width: image.width,
    height: image.height,
    scale: IMAGE_SCALE,
  });
  download(`${about.name}.png`, await (await fetch(address)).blob());
}

async function saveSvg(figure, player) {
  const about = context(figure, player);
  const drawing = await svg(figure, captioned(figure, about, figure.theme));
  download(`${about.name}.svg`, new Blob([drawing], { type: "image/svg+xml" }));
}

/** The text of a figure's drawing. */
export async function svg(figure, { data, layout, width, height }) {
  const how = { format: "svg", width, height, imageDataOnly: true };
  return (await figure.Plotly).toImage({ data, layout }, how);
}

async function saveHtml(figure, player) {
  const about = context(figure, player);
  const answer = await fetch(`${player.root}vendor/${player.description.plotly}`);
  if (!answer.ok) throw new Error(answer.status);
  const page = pageOf(figure, about, player, await answer.text());
  download(`${about.name}.html`, new Blob([page], { type: "text/html" }));
}

/** A page that holds everything it needs, and may fetch nothing. */
function pageOf(figure, about, player, plotly) {
  const { theme, node } = figure;
  const { data, layout } = figure.snapshot({ ...theme, font: FONT });
  delete layout.width;
  Object.assign(layout, { autosize: true, dragmode: "zoom" });
  const json = (value) => JSON.stringify(value).replace(/</g, "\\u003c");
  const { groups, sentences } = contents(player);
  const said = sentences.map((one) => `<p>${escaped(one.textContent)}</p>`).join("\n");
  const readouts = groups
    .map(({ title, pairs }) => {
      const rows = pairs.map(([name, value]) => `<div><dt>${escaped(name.innerText)}</dt><dd>${escaped(value.innerText)}</dd></div>`);
      return `${title && `<p>${escaped(title)}</p>`}<dl>${rows.join("")}</dl>`;
    })
    .join("\n");
  const link = escaped(about.link);
  return `<!doctype html>
<html lang="${document.documentElement.lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:">
<link rel="icon" href="data:,">
<title>${escaped(about.title)}</title>
<style>
body { margin: 0 auto; padding: 1rem 1.5rem; max-width: 75rem; font: 16px/1.5 ${FONT}; color: ${theme.ink}; background: ${theme.paper}; color-scheme: ${theme.dark ? "dark" : "light"}; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 0.5rem; }
#figure { height: ${Math.max(node.clientHeight, 320)}px; }
dl { display: flex; flex-wrap: wrap; gap: 0.5rem 2rem; margin: 0.75rem 0; }
dt { font-size: 0.9rem; } dd { margin: 0; font-size: 1.4rem; white-space: pre-line; }
footer { font-size: 0.9rem; } a { color: inherit; overflow-wrap: anywhere; }
</style>
</head>
<body>
<main>
<h1>${escaped(about.title)}</h1>
<div id="figure" role="img" aria-label="${escaped(about.alt)}"></div>
${said}
${readouts}
</main>
<footer><p>${escaped(about.settings)}</p><p><a href="${link}">${link}</a></p></footer>
<script>${plotly.replace(/<\/script/gi, "<\\/script")}</script>
<script>Plotly.newPlot("figure", ${json(data)}, ${json(layout)}, {"responsive": true, "displaylogo": false, "displayModeBar": false});</script>
</body>
</html>
`;
}

async function saveCsv(figure, player) {
  const { name } = context(figure, player);
  download(`${name}.csv`, new Blob([csv(figure)], { type: "text/csv" }));
}

/** The numbers of a figure, a point a row; labels that only name something are left out. */
export function csv(figure) {
  const { data, layout } = figure.snapshot();
  const rows = [["series", "x_axis", "x", "y_axis", "y", "label"]];
  for (const [i, trace] of data.entries()) {
    if (trace.visible === false || trace.mode === "text") continue;
    const name = plain(trace.name ?? "") || `${i + 1}`;
    const axes = ["x", "y"].map((letter) => {
      const axisOf = (name) => layout[`${letter}axis${name.slice(1)}`] ?? {};
      const own = axisOf(trace[`${letter}axis`] ?? letter);
      const title = own.title ?? (own.matches ? axisOf(own.matches).title : ""); // one for several
      return plain(title?.text ?? title ?? "");
    });
    if (Array.isArray(trace.z?.[0])) {
      rows.push(...cells(trace, name, axes));
      continue;
    }
    const count = Math.max(trace.x?.length ?? 0, trace.y?.length ?? 0);
    for (let k = 0; k < count; k += 1) {
      const [x, y] = [trace.x?.[k] ?? "", trace.y?.[k] ?? ""];
      if (x === "" || y === "") continue; // a gap, or what does not fit
      rows.push([name, axes[0], x, axes[1], y, plain(wordOf(trace, k))]);
    }
  }
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

/** A map's cells, a row each. */
function cells({ x, y, z, text }, name, axes) {
  return z.flatMap((line, i) =>
    line.map((value, j) => {
      const said = plain(text?.[i]?.[j] ?? "");
      return [name, axes[0], x[j], axes[1], y[i], said || (value ?? "")];
    }),
  );
}

function wordOf(trace, k) {
  for (const given of [trace.customdata, trace.text, trace.hovertext]) {
    const one = Array.isArray(given) ? given[k] : undefined;
    if (typeof one === "string" && one) return one;
  }
  return "";
}

function cell(value) {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

const parser = document.createElement("template");
function plain(html) {
  parser.innerHTML = String(html).replace(/<br\s*\/?>/g, " ");
  return parser.content.textContent.replace(/\s+/g, " ").trim();
}

function escaped(text) {
  const signs = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return String(text ?? "").replace(/[&<>"]/g, (sign) => signs[sign]);
}

/** A text as lines of at most so many characters; a link breaks where it must. */
function wrapped(text, most) {
  const longest = Math.floor(most);
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    if (line && line.length + 1 + word.length > longest) lines.push("");
    lines[lines.length - 1] += `${lines.at(-1) ? " " : ""}${word}`;
    while (lines.at(-1).length > longest) {
      const whole = lines.pop();
      lines.push(whole.slice(0, longest), whole.slice(longest));
    }
  }
  return lines.filter(Boolean);
}
