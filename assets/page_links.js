// Links between pages carry the address bar's query, which the player keeps up to date.
//
// Streamlit's own links carry the query that they were drawn with, and a slider moved since would
// be forgotten: on a click, and in a tab opened from the link. Everything is delegated from the
// document, so that this runs once whatever Streamlit draws anew.
(() => {
  if (window.pageLinksFollowTheUrl) return;
  window.pageLinksFollowTheUrl = true;

  const linkOf = (event) => event.target.closest?.('a[data-testid="stPageLink-NavLink"]');

  // All pages stand beside one another: what differs is the last part of the path.
  const pathOf = (link) => {
    const folder = location.pathname.slice(0, location.pathname.lastIndexOf("/") + 1);
    return folder + link.getAttribute("href").split("?")[0].split("/").pop();
  };

  const carryQuery = (event) => {
    const link = linkOf(event);
    if (link) link.href = pathOf(link) + location.search;
  };
  for (const kind of ["pointerdown", "focusin", "contextmenu"]) {
    document.addEventListener(kind, carryQuery, true);
  }

  document.addEventListener(
    "click",
    (event) => {
      const link = linkOf(event);
      const newTab = event.button || event.ctrlKey || event.metaKey || event.shiftKey;
      if (!link || newTab || event.altKey) return;
      event.preventDefault();
      event.stopPropagation();
      const path = pathOf(link);
      if (path === location.pathname) return;
      // Streamlit takes this for the browser's Forward: page and scenario come from the address.
      history.pushState({}, "", path + location.search);
      window.dispatchEvent(new PopStateEvent("popstate"));
      window.scrollTo(0, 0);
    },
    true,
  );
})();
