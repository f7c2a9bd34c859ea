// Links between pages carry the address bar's query, which the player keeps up to date.
//
// Streamlit's own links carry the query that they were drawn with, and a slider moved since would
// be forgotten: on a click, and in a tab opened from the link. Links of ours in a text, which have
// `data-page-link`, do the same, and may name an entry of the page (#ttft). Everything is delegated
// from the document, so that this runs once whatever Streamlit draws anew.
(() => {
  if (window.pageLinksFollowTheUrl) return;
  window.pageLinksFollowTheUrl = true;

  const LINKS = 'a[data-testid="stPageLink-NavLink"], a[data-page-link]';
  const ENTRY_WAIT_MS = 10000; // a page is drawn by then, or not at all

  const linkOf = (event) => event.target.closest?.(LINKS);
  const entryOf = (link) => link.getAttribute("href").split("#")[1] ?? "";

  // All pages stand beside one another: what differs is the last part of the path.
  const pathOf = (link) => {
    const folder = location.pathname.slice(0, location.pathname.lastIndexOf("/") + 1);
    return folder + link.getAttribute("href").split(/[?#]/)[0].split("/").pop();
  };

  const addressOf = (link) => {
    const entry = entryOf(link);
    return pathOf(link) + location.search + (entry ? `#${entry}` : "");
  };

  const carryQuery = (event) => {
    const link = linkOf(event);
    if (link) link.href = addressOf(link);
  };
  for (const kind of ["pointerdown", "focusin", "contextmenu"]) {
    document.addEventListener(kind, carryQuery, true);
  }

  // Streamlit draws a page some time after its address: go to the entry as soon as it is there.
  let waiting = null;
  const goToEntry = (entry) => {
    waiting?.disconnect();
    waiting = null;
    const go = () => {
      const element = document.getElementById(entry);
      if (!element?.matches("[data-entry]")) return false;
      element.scrollIntoView({ block: "start" });
      element.focus({ preventScroll: true });
      return true;
    };
    if (go()) return;
    const observer = (waiting = new MutationObserver(() => go() && observer.disconnect()));
    observer.observe(document.body, { childList: true, subtree: true });
    setTimeout(() => observer.disconnect(), ENTRY_WAIT_MS);
  };
  const entryOfAddress = () => decodeURIComponent(location.hash.slice(1));
  if (entryOfAddress()) goToEntry(entryOfAddress());

  document.addEventListener(
    "click",
    (event) => {
      const link = linkOf(event);
      const newTab = event.button || event.ctrlKey || event.metaKey || event.shiftKey;
      if (!link || newTab || event.altKey) return;
      event.preventDefault();
      event.stopPropagation();
      const entry = entryOf(link);
      const address = addressOf(link);
      if (pathOf(link) === location.pathname) {
        if (entry) {
          history.replaceState(history.state, "", address);
          goToEntry(entry);
        }
        return;
      }
      // Streamlit takes this for the browser's Forward: page and scenario come from the address.
      history.pushState({}, "", address);
      window.dispatchEvent(new PopStateEvent("popstate"));
      window.scrollTo(0, 0);
      if (entry) goToEntry(entry);
    },
    true,
  );
})();
