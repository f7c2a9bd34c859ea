// Parameters of the URL that the browser's part keeps; Python reads them when it next runs.

/** A scenario as the query of a link, without the language. */
export function asText({ lang, ...scenario }) {
  return new URLSearchParams(scenario).toString();
}

export function parameter(name) {
  return new URLSearchParams(location.search).get(name);
}

/** Set a parameter, or take it away with null. */
export function setParameter(name, value) {
  const search = new URLSearchParams(location.search);
  if (value === null) search.delete(name);
  else search.set(name, value);
  history.replaceState(history.state, "", addressWith(search));
}

export function addressWith(search) {
  const text = search.toString();
  return `${location.pathname}${text ? `?${text}` : ""}${location.hash}`;
}
