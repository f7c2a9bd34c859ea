// Whether a page asks before it shows: remembered by the browser tab, and off until wanted.

const MODE = "guess";
const FIRST = "first";

export const isOn = () => read(MODE) === FIRST;
export const answered = (page) => read(`${MODE}:${page}`);

export function turn(on) {
  write(MODE, on ? FIRST : null);
}

/** Remember what was answered on a page; null asks anew. */
export function remember(page, answer) {
  write(`${MODE}:${page}`, answer);
}

/** Nothing is to be seen of the page yet, not even for a moment. */
export function mustAsk(page) {
  return isOn() && !answered(page) && !answerInLink(page);
}

/** The answer that a link carries for this page: "<page>.<choice>". */
export function answerInLink(page) {
  const [of, choice] = (new URLSearchParams(location.search).get(MODE) ?? "").split(".");
  return of === page ? choice : null;
}

function read(key) {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null; // storage is forbidden: nothing is remembered
  }
}

function write(key, value) {
  try {
    if (value === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, value);
  } catch {
    // as above
  }
}
