// Starts the page. A file of its own because the Content-Security-Policy allows no inline script; the names of the
// loader that wasm-bindgen wrote and of the wasm module carry hashes, so Trunk hands them over as data attributes.
const { js, wasm } = document.querySelector("script[data-js][data-wasm]").dataset;

try {
  const loader = await import(new URL(js, document.baseURI));
  await loader.default({ module_or_path: new URL(wasm, document.baseURI) });
} catch (error) {
  const failure = document.getElementById("boot-failure");
  failure.querySelector("[data-reason]").textContent = String(error);
  failure.hidden = false;
  throw error;
}
