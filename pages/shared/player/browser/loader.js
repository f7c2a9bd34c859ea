// The only script that travels through Streamlit. It loads the player's modules, its style and
// Plotly from this server's own routes, where they are cached.

export default async function (component) {
  const { version, plotly } = component.data;
  // Streamlit's own script says where the server's root is, under any base path or proxy.
  const script = document.querySelector('script[type="module"][src*="static/js/"]');
  const root = script.src.slice(0, script.src.lastIndexOf("static/js/"));
  const own = `${root}player/${version}/`;
  loadScript(`${root}vendor/${plotly}`);
  const [{ mount }] = await Promise.all([import(`${own}player.js`), loadStyle(`${own}player.css`)]);
  return mount(component, root);
}

function loadScript(src) {
  window.explorablePlotly ??= new Promise((resolve, reject) => {
    if (window.Plotly) return resolve(window.Plotly);
    // The server has usually put the script into the page's head already.
    let element = document.querySelector("script[data-explorable]");
    if (!element || element.src !== src) {
      element = Object.assign(document.createElement("script"), { src, async: true });
      document.head.append(element);
    }
    element.addEventListener("load", () => resolve(window.Plotly));
    element.addEventListener("error", () => {
      element.remove();
      window.explorablePlotly = undefined; // so that the next mount tries again
      reject(new Error(`could not load ${src}`));
    });
  });
  window.explorablePlotly?.catch(() => {}); // reported where it is used
}

function loadStyle(href) {
  const present = document.querySelector(`link[href="${href}"]`);
  if (present) return present.explorableReady;
  const element = Object.assign(document.createElement("link"), { rel: "stylesheet", href });
  element.explorableReady = new Promise((resolve) => {
    element.onload = element.onerror = resolve;
  });
  document.head.append(element);
  return element.explorableReady;
}
