// Travels through Streamlit to pages without a player, and loads what they share with the others.

export default async function (component) {
  try {
    // Streamlit's own script says where the server's root is, under any base path or proxy.
    const script = document.querySelector('script[type="module"][src*="static/js/"]');
    const root = script.src.slice(0, script.src.lastIndexOf("static/js/"));
    const { mount } = await import(`${root}player/${component.data.version}/plain.js`);
    return await mount(component, root);
  } catch (error) {
    console.warn("plain", error); // the page does without
    delete document.documentElement.dataset.guess;
  }
}
