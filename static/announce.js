// One announcement for each change of the plan, once its own verdict stands: what else a choice changed, and the verdict. What stands
// on the page is not live itself, or every step of an answer would be read out. A plan that cannot be estimated says so by an alert.
const QUIET = 400;
const root = document.documentElement;
const text = (element) => element.textContent.replace(/\s+/g, " ").trim();
let last;
let timer;

const say = () => {
  const verdict = document.querySelector("section.verdict");
  if (!verdict || root.hasAttribute("data-pending")) return;
  const { basis } = verdict.dataset;
  if (basis && basis !== "replayed" && root.hasAttribute("data-computing")) return later();
  const besides = [...document.querySelectorAll(".field-adjusted, .applied h2")].filter((element) => element !== document.activeElement);
  const parts = [...besides, ...verdict.querySelectorAll("[role=status] > *")];
  const said = parts.map(text).filter(Boolean).join(". ");
  if (last !== undefined && said !== last) document.getElementById("announcer").textContent = said;
  last = said;
};
const later = () => {
  clearTimeout(timer);
  timer = setTimeout(say, QUIET);
};
new MutationObserver(later).observe(root, { attributeFilter: ["data-pending", "data-computing"] });
later();
