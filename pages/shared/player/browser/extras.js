// What a page does without until its figures stand: what changed and why, comparing, guessing.

import { changed } from "./changed.js";
import { guessing } from "./guess.js";
import { comparing } from "./pinned.js";

/** Called once the figures of a player have been drawn. */
export function attach(player) {
  const ask = asker(player);
  changed(player, ask);
  comparing(player, ask);
  guessing(player, ask);
  player.page.root.dataset.extras = "true"; // for tests to wait on
}

/** A function that asks Python, with the page's language; null where there is no answer. */
function asker(player) {
  const server = player.client.url.replace(/table\/[^/]*$/, "");
  return async (name, asked) => {
    const search = new URLSearchParams({ ...asked, lang: player.query.lang });
    try {
      const answer = await fetch(`${server}answer/${name}?${search}`);
      return answer.ok ? await answer.json() : null;
    } catch {
      return null; // no server: the page says so elsewhere
    }
  };
}
