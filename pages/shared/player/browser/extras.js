// What a page does without until its figures stand: what changed and why, comparing, guessing.

import { asker } from "./ask.js";
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
