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
    const element = Object.assign(document.createElement("script"), { src, async: true });
    element.onload = () => resolve(window.Plotly);
    element.onerror = () => {
      window.explorablePlotly = undefined; // so that the next mount tries again
      reject(new Error(`could not load ${src}`));
    };
    document.head.append(element);
  });
  window.explorablePlotly.catch(() => {}); // reported where it is used
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
