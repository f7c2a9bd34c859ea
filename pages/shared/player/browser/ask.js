// Questions to Python, beside the tables.

/** A function that asks, with the page's language; null where there is no answer. */
export function asker(player) {
  return async (name, asked) => {
    const search = new URLSearchParams({ ...asked, lang: player.query.lang });
    try {
      const answer = await fetch(`${player.root}answer/${name}?${search}`);
      return answer.ok ? await answer.json() : null;
    } catch {
      return null; // no server: the page says so elsewhere
    }
  };
}
