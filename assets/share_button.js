// The Share button: what it opens is fetched when it is pressed for the first time.
//
// Delegated from the document, so that this runs once whatever Streamlit draws anew.
(() => {
  if (window.shareButtonListens) return;
  window.shareButtonListens = true;

  document.addEventListener("click", async (event) => {
    const button = event.target.closest?.("[data-share]");
    if (!button) return;
    const given = JSON.parse(button.dataset.share);
    // Streamlit's own script says where the server's root is, under any base path or proxy.
    const script = document.querySelector('script[type="module"][src*="static/js/"]');
    const root = script.src.slice(0, script.src.lastIndexOf("static/js/"));
    const { openShare } = await import(`${root}player/${given.version}/share.js`);
    openShare(button, given, root);
  });

  // Out of an embedded page, with the state that the address bar would have.
  const carryState = (event) => {
    const link = event.target.closest?.("a.share-whole");
    if (!link) return;
    const address = new URL(location.href);
    for (const name of ["embed", "embed_options"]) address.searchParams.delete(name);
    link.href = address.href;
  };
  for (const kind of ["pointerdown", "focusin", "contextmenu"]) {
    document.addEventListener(kind, carryState, true);
  }
})();
