// A wasm module's parts: functions that a first view does not call, in modules of their own. The first module asks for a
// part the moment one of its functions is called, and waits; what was fetched early only has to be put in place.
export class Parts {
  #urls;
  #modules = new Map();
  #first;
  #early;
  #staged;

  // The first `early` parts are those that most readers will need; `staged`: how many of them have what is called up to each of the stages
  // of crates/xtask/src/first_view.mjs.
  constructor(urls, early, staged) {
    this.#urls = urls;
    this.#early = early;
    this.#staged = staged;
  }

  // What the first module imports.
  imports = { load: (part) => this.#load(part) };

  // The loader of the first module hands over its exports before any of its code runs.
  attach(first) {
    this.#first = first;
  }

  // Fetches and compiles what most readers will need, and runs none of it. `whole`: everything; where there is no worker that
  // comes before the start, as a page must not wait in the middle of a call, and may not compile there.
  async all(whole = false) {
    const urls = whole ? this.#urls : this.#urls.slice(0, this.#early);
    await Promise.all(urls.map((_, at) => this.#fetch(at + 1)));
  }

  // The same for what is called in the first `stages` stages.
  async upTo(stages) {
    await Promise.all(this.#urls.slice(0, this.#staged[stages - 1]).map((_, at) => this.#fetch(at + 1)));
  }

  async #fetch(part) {
    if (this.#modules.has(part)) return;
    const response = await fetch(this.#urls[part - 1]);
    if (!response.ok) throw new Error(`${response.status} for ${response.url}`);
    const module = await WebAssembly.compile(await response.arrayBuffer());
    this.#modules.set(part, module);
  }

  #load(part) {
    if (!this.#first) throw new Error(`Part ${part} was called before the module had started.`);
    if (!this.#modules.has(part)) this.#modules.set(part, this.#compile(part));
    new WebAssembly.Instance(this.#modules.get(part), { first: this.#first, parts: this.imports });
  }

  // Only workers may wait for a file in the middle of a call.
  #compile(part) {
    if (typeof WorkerGlobalScope === "undefined") throw new Error(`Part ${part} was not fetched before the start.`);
    const request = new XMLHttpRequest();
    request.open("GET", this.#urls[part - 1], false);
    request.responseType = "arraybuffer";
    request.send();
    if (request.status < 200 || request.status > 299) throw new Error(`${request.status} for ${this.#urls[part - 1]}`);
    return new WebAssembly.Module(request.response);
  }
}
