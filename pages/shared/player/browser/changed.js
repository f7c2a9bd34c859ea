// After a move, one sentence: what changed, and why. Python computes it and puts it in words.

import { asText } from "./address.js";
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
