// After a move, one sentence: what changed, and why. Python computes it and puts it in words.

import { make } from "./page.js";

export function changed(player, ask) {
  const line = make("p", "player-change", player.page.tools);
  line.setAttribute("aria-live", "polite");
  let before = asText(player.query);
  player.page.root.addEventListener(
    "player-table",
    async () => {
      const after = asText(player.query);
      if (after === before) return;
      const asked = { before, after };
      before = after;
      const answer = await ask("change", asked);
      if (answer && before === after) line.textContent = answer.text;
    },
    { signal: player.listening.signal },
  );
}

/** A scenario as the query of a link, without the language. */
export function asText({ lang, ...scenario }) {
  return new URLSearchParams(scenario).toString();
}
