// <headroom-plan>: a plan embedded in any page (docs/embedding.md). A classic script, so that it can come from another host than the
// page without that host's consent to cross-origin modules.
(() => {
  const VERSION = 1;
  const site = new URL(".", document.currentScript.src);
  const page = new URL("embed.html", site).href;
  if (customElements.get("headroom-plan")) return;

  // Attributes that are no keys of a plan.
  const OWN = ["plan", "load", "height", "theme", "lang", "id", "class", "style", "title", "slot", "hidden", "dir", "role", "tabindex"];
  const STYLE = `
    :host { display: block; position: relative; margin-block: 1em; }
    :host([hidden]) { display: none; }
    iframe { display: block; width: 100%; border: 0; color-scheme: normal; }
    /* Not hidden: browsers let a hidden frame of another site wait for its first picture. */
    .early { position: absolute; inset: 0; height: 100%; opacity: 0; pointer-events: none; }
    button { position: absolute; inset-block-end: 12px; inset-inline-end: 12px; padding: 8px 14px; border: 1px solid #1a44c2;
      border-radius: 8px; background: #1a44c2; color: #fff; font: 600 14px/1.2 system-ui, sans-serif; cursor: pointer; }
    button:focus-visible { outline: 3px solid #9db8ff; outline-offset: 2px; }
    ::slotted(img), ::slotted(a) { max-width: 100%; }`;
  const WORDS = { en: "Change the plan", zh: "修改配置" };

  // The ground that the element stands on decides, however the page has come by it.
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const ink = canvas.getContext("2d", { willReadFrequently: true });
  const isDark = (element) => {
    for (let at = element; at; at = at.parentElement ?? at.getRootNode().host) {
      ink.clearRect(0, 0, 1, 1);
      ink.fillStyle = getComputedStyle(at).backgroundColor;
      ink.fillRect(0, 0, 1, 1);
      const [red, green, blue, alpha] = ink.getImageData(0, 0, 1, 1).data;
      if (alpha > 127) return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 128;
    }
    const scheme = getComputedStyle(element).colorScheme;
    return scheme === "dark" || (scheme.includes("dark") && matchMedia("(prefers-color-scheme: dark)").matches);
  };

  const plans = new Set();
  // A page that changes its colours does so on its root or body, at once or over a while.
  const follow = () => plans.forEach((plan) => plan.follow());
  const later = () => {
    requestAnimationFrame(follow);
    setTimeout(follow, 400);
  };
  const colours = new MutationObserver(later);
  for (const element of [document.documentElement, document.body]) if (element) colours.observe(element, { attributes: true });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", later);
  addEventListener("transitionend", ({ target }) => (target === document.body || target === document.documentElement) && follow());

  // Every frame says that it is there; only it gets the port, and only its own site hears the answer.
  const connect = (frame, message, hear) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => data?.headroom === VERSION && hear(data);
    frame.contentWindow.postMessage({ headroom: VERSION, type: "connect", ...message }, site.origin, [port2]);
    return port1;
  };
  addEventListener("message", ({ source, origin, data }) => {
    if (origin !== site.origin || data?.headroom !== VERSION || data.type !== "ready") return;
    for (const plan of plans) if (plan.frame?.contentWindow === source) return plan.connect();
    // A frame that the page's author wrote gets its height.
    for (const frame of document.querySelectorAll("iframe")) {
      if (frame.contentWindow !== source || !frame.src.startsWith(page)) continue;
      connect(frame, {}, ({ type, height }) => type === "size" && (frame.style.height = `${height}px`));
    }
  });

  const seen = new IntersectionObserver(
    (entries) => entries.forEach(({ isIntersecting, target, boundingClientRect }) => isIntersecting && target.use(boundingClientRect.height)),
    { rootMargin: "200px" },
  );

  customElements.define("headroom-plan", class extends HTMLElement {
    #shadow = this.attachShadow({ mode: "open" });
    #port;
    #changes = new MutationObserver(() => this.#port?.postMessage({ headroom: VERSION, type: "plan", link: this.link }));

    connectedCallback() {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(STYLE);
      this.#shadow.adoptedStyleSheets = [sheet];
      this.#shadow.innerHTML = "<slot></slot>";
      if (this.room) this.style.minHeight = `${this.room}px`;
      plans.add(this);
      this.follow();
      this.#changes.observe(this, { attributes: true });
      if (this.getAttribute("load") !== "use") return seen.observe(this);
      const button = document.createElement("button");
      button.textContent = WORDS[this.tongue.slice(0, 2)] ?? WORDS.en;
      button.onclick = () => this.use(this.offsetHeight);
      this.#shadow.append(button);
    }

    disconnectedCallback() {
      plans.delete(this);
      seen.unobserve(this);
      this.#changes.disconnect();
      this.#port?.close();
      this.frame = this.#port = undefined;
    }

    // What is kept free until the plan is there, pixels; 0: nothing.
    get room() {
      return parseFloat(this.getAttribute("height")) || 0;
    }

    // The least height of the plan: that, or the picture's in whose place it comes.
    #least = 0;

    get tongue() {
      return this.closest("[lang]")?.lang || navigator.language;
    }

    // The plan as a link: the attributes, behind what `plan` says.
    get link() {
      const pairs = [...this.attributes].filter(({ name }) => !OWN.includes(name) && !/^on|-/.test(name));
      const written = pairs.map(({ name, value }) => `${name}=${encodeURIComponent(value)}`);
      const plan = this.getAttribute("plan")?.replace(/^.*#/, "") || "v=1";
      return [plan, ...written, `lang=${encodeURIComponent(this.tongue)}`].join("&");
    }

    get theme() {
      const chosen = this.getAttribute("theme");
      return chosen === "light" || chosen === "dark" ? chosen : isDark(this) ? "dark" : "light";
    }

    follow() {
      const { theme } = this;
      if (theme === this.shown) return;
      this.shown = theme;
      this.#port?.postMessage({ headroom: VERSION, type: "theme", theme });
      // Pictures that Headroom draws have both sets of colours.
      for (const picture of this.querySelectorAll("img[src*='.svg']")) {
        picture.src = picture.src.replace(/#.*$/, "") + (theme === "dark" ? "#dark" : "");
      }
    }

    // Puts the live plan in the place of the picture, which is `height` pixels high.
    use(height) {
      if (this.frame) return;
      seen.unobserve(this);
      this.#shadow.querySelector("button")?.remove();
      this.#least = Math.max(this.room, height);
      this.frame = document.createElement("iframe");
      this.frame.className = "early";
      this.frame.allow = "clipboard-write";
      this.frame.title = this.title || this.textContent.trim() || "Headroom";
      this.frame.src = `${page}?theme=${this.theme}#${this.link}`;
      this.#shadow.append(this.frame);
    }

    connect() {
      this.#port?.close();
      this.#port = connect(this.frame, { theme: this.theme, height: this.#least }, ({ type, height, link, title }) => {
        if (type === "size" && height > 40) {
          this.frame.style.height = `${height}px`;
          this.frame.className = "";
          this.#shadow.querySelector("slot")?.remove();
        }
        if (type === "change") {
          const detail = { link, title };
          this.dispatchEvent(new CustomEvent("headroom-change", { bubbles: true, composed: true, detail }));
        }
      });
    }
  });
})();
