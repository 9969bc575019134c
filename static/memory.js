// What the page remembers for its reader, in this browser alone: language and theme (static/boot.js brings them back), and the plans that
// were looked at last. A browser that keeps nothing (private windows, storage forbidden) loses nothing else.
const READER = "headroom-reader";
const RECENT = "headroom-recent";
const MOST = 8;

const read = (key, otherwise) => {
  try {
    return JSON.parse(localStorage.getItem(key)) ?? otherwise;
  } catch {
    return otherwise;
  }
};
const write = (key, value) => {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // Nothing is kept.
  }
};

// Without what is open beside the plan.
const plan = () => location.hash.slice(1).replace(/&(tab|view)=[^&]*/g, "");
const title = () => document.title.replace(/ · Headroom$/, "");
const recent = () => read(RECENT, []).filter((one) => typeof one?.link === "string" && typeof one?.title === "string");

const note = () => {
  if (!plan()) return;
  const kept = recent().filter(({ link }) => link !== plan());
  write(RECENT, [{ link: plan(), title: title() }, ...kept].slice(0, MOST));
};

const fill = (details) => {
  const links = recent().map(({ link, title }) => {
    const anchor = Object.assign(document.createElement("a"), { href: `#${link}`, textContent: title });
    const item = document.createElement("li");
    item.append(anchor);
    return item;
  });
  details.querySelector("[data-recent]").replaceChildren(...links);
  details.toggleAttribute("data-empty", links.length === 0);
};

document.addEventListener("change", ({ target }) => {
  const key = target.dataset?.page === "lang" ? "lang" : target.dataset?.set === "@theme" ? "theme" : null;
  if (key) write(READER, { ...read(READER, {}), [key]: target.value || undefined });
});
// A plan that somebody stayed with; not every stop of a slider.
let quiet;
const later = () => {
  clearTimeout(quiet);
  quiet = setTimeout(note, 4000);
};
addEventListener("headroom-plan", later);
addEventListener("hashchange", later);
addEventListener("pagehide", note);
later();
document.addEventListener("toggle", ({ target }) => target.matches?.("details.recent[open]") && fill(target), true);
document.addEventListener("click", ({ target }) => {
  const open = document.querySelector("details.recent[open]");
  if (!open) return;
  if (target.closest("[data-forget]")) {
    write(RECENT, []);
    fill(open);
  } else if (!open.contains(target) || target.closest("[data-recent] a")) {
    open.open = false;
  }
});
document.addEventListener("keydown", ({ key }) => {
  const open = document.querySelector("details.recent[open]");
  if (key !== "Escape" || !open) return;
  open.open = false;
  open.querySelector("summary").focus();
});
