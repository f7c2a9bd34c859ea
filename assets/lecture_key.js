// Lecture mode and stories are loaded when they are asked for: by the address, a link or a key.
// `window.explorableLecture` holds the words and where the script is; see frame.py.
(() => {
  const load = () => {
    const script = document.querySelector('script[type="module"][src*="static/js/"]');
    const root = script.src.slice(0, script.src.lastIndexOf("static/js/"));
    const { version } = window.explorableLecture;
    window.explorableLectureModule ??= import(`${root}player/${version}/lecture.js`);
    return window.explorableLectureModule;
  };
  if (window.explorableLectureKeys) {
    window.explorableLectureModule?.then(({ refresh }) => refresh());
    return;
  }
  window.explorableLectureKeys = true;
  const query = new URLSearchParams(location.search);
  if (["lecture", "story", "notes"].some((name) => query.has(name))) load();

  // From here on the module listens itself.
  const first = (handle) => (event) => {
    if (!window.explorableLectureModule) handle(event);
  };
  const onKey = first((event) => {
    const arrow = /^Arrow(Left|Right)$/.test(event.key) && document.querySelector(".story");
    if (/^[ln?]$/i.test(event.key) || arrow) load().then(({ key }) => key(event));
  });
  const onClick = first((event) => {
    if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const target = event.target.closest?.("a[data-step], a[data-lecture]");
    if (!target) return;
    event.preventDefault();
    load().then(({ follow }) => follow(target));
  });
  document.addEventListener("keydown", onKey, true);
  document.addEventListener("click", onClick, true);
})();
