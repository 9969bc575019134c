// The value of a chart's mark in a panel beside it, under the pointer, by touch and by focus: fetched at the first of these. Arrow keys
// lead from a mark to the next one in their direction. Screen readers have the mark's own label.
const panel = Object.assign(document.createElement("div"), { className: "value-panel", hidden: true });
panel.setAttribute("aria-hidden", "true");
document.body.append(panel);
const MARGIN = 8;
let shown;

const hide = () => {
  panel.hidden = true;
  shown = undefined;
};
const within = (at, least, most) => Math.max(least, Math.min(at, most));

export const show = (mark) => {
  if (!mark?.isConnected) return hide();
  shown = mark;
  panel.textContent = mark.dataset.value ?? mark.getAttribute("aria-label");
  panel.hidden = false;
  const { left, top, bottom, width } = mark.getBoundingClientRect();
  const own = panel.getBoundingClientRect();
  const above = top - own.height - MARGIN;
  const room = document.documentElement.clientWidth;
  panel.style.left = `${within(left + width / 2 - own.width / 2, MARGIN, room - own.width - MARGIN)}px`;
  panel.style.top = `${within(above < MARGIN ? bottom + MARGIN : above, MARGIN, innerHeight - own.height - MARGIN)}px`;
};

const markOf = ({ target }) => target.closest?.(".mark");
// A finger that is lifted leaves the value where it is, until it touches something else.
addEventListener("pointerout", (event) => event.pointerType === "mouse" && markOf(event) === shown && hide());
addEventListener("pointerdown", (event) => !markOf(event) && hide());
addEventListener("focusout", hide);
// What is drawn anew above moves the page without anybody scrolling: the value goes with its mark while that is in sight.
const follow = () => {
  if (!shown) return;
  const { top, bottom } = shown.getBoundingClientRect();
  if (bottom < 0 || top > innerHeight) hide();
  else show(shown);
};
addEventListener("scroll", follow, { capture: true, passive: true });

const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const middle = (mark) => {
  const { left, top, width, height } = mark.getBoundingClientRect();
  return [left + width / 2, top + height / 2];
};
addEventListener("keydown", (event) => {
  if (event.key === "Escape") return hide();
  const [way, mark] = [WAYS[event.key], markOf(event)];
  if (!way || !mark) return;
  event.preventDefault();
  const [x, y] = middle(mark);
  // The nearest in that direction; what lies aside counts as further.
  const far = (other) => {
    const [right, down] = middle(other);
    const along = (right - x) * way[0] + (down - y) * way[1];
    return along < 0.5 ? Infinity : along + 4 * Math.abs((right - x) * way[1] + (down - y) * way[0]);
  };
  const others = [...(mark.closest("[data-marks]") ?? mark.parentNode).querySelectorAll(".mark")].map((other) => [far(other), other]);
  const [distance, next] = others.reduce((least, other) => (other[0] < least[0] ? other : least));
  if (distance < Infinity) next.focus({ focusVisible: true });
});
