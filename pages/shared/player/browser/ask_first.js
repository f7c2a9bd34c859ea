// Before a page without a player is painted: nothing of it is to be seen until it has been guessed.
// The same as `mustAsk` in guessing.js, which is not there yet.
(() => {
  const { plain } = document.querySelector("[data-plain]").dataset;
  if (window.explorablePlain === plain) return;
  window.explorablePlain = plain;
  let asked = false;
  try {
    asked = sessionStorage.getItem("guess") === "first" && !sessionStorage.getItem(`guess:${plain}`);
  } catch {
    // storage is forbidden: nothing is remembered
  }
  const linked = new URLSearchParams(location.search).get("guess")?.startsWith(`${plain}.`);
  if (asked && !linked) document.documentElement.dataset.guess = "asking";
})();
