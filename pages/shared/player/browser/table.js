// Looks things up in a table, and fetches tables. Nothing is computed here.

/** The value of a column at a stop. */
export function valueAt(column, index) {
  if (column.counts) return column.values.slice(0, column.counts[index]);
  return column.rows.length === 1 ? column.rows[0] : column.rows[index];
}

/** Whether a column is the same at every stop of its slider. */
export function isConstant(column) {
  return column.rows?.length === 1;
}

/**
 * A slider's rows, sorted by what they are for:
 * traces {figure, trace, attribute, column}, layout {figure, path, column}, texts {slot, column}.
 */
export function sortChannels(rows) {
  const sorted = { traces: [], layout: [], texts: [] };
  for (const [channel, column] of Object.entries(rows)) {
    const [kind, name, ...rest] = channel.split("/");
    if (kind === "f") {
      sorted.traces.push({ figure: name, trace: Number(rest[0]), attribute: rest[1], column });
    } else if (kind === "l") {
      sorted.layout.push({ figure: name, path: rest.join("/"), column });
    } else {
      sorted.texts.push({ slot: name, column });
    }
  }
  return sorted;
}

/** Fetches tables of one page; only the newest request counts. */
export class TableClient {
  constructor(root, page) {
    this.url = `${root}table/${page}`;
    this.recent = new Map(); // so that going back costs nothing
    this.request = null;
  }

  /** The table of a query, or null when a newer request has taken over. */
  async fetch(query, play) {
    this.request?.abort();
    const request = (this.request = new AbortController());
    const search = new URLSearchParams(query);
    if (play) search.set("play", play);
    const address = `${this.url}?${search}`;
    const known = this.recent.get(address);
    if (known) return known;
    let table;
    try {
      const response = await fetch(address, { signal: request.signal });
      if (!response.ok) {
        const refused = response.status < 500; // asking again would not help
        throw Object.assign(new Error(`${address}: ${response.status}`), { refused });
      }
      table = await response.json();
    } catch (error) {
      if (request.signal.aborted) return null;
      throw error;
    }
    if (request.signal.aborted) return null;
    table.sorted = {};
    for (const [slider, rows] of Object.entries(table.rows)) {
      table.sorted[slider] = sortChannels(rows);
    }
    this.remember(address, table);
    return table;
  }

  /** Let no request that is under way count any more. */
  cancel() {
    this.request?.abort();
  }

  remember(address, table) {
    this.recent.set(address, table);
    if (this.recent.size > 12) this.recent.delete(this.recent.keys().next().value);
  }
}
