// Has the engine answer its readers' events, a few milliseconds at a time, so that the next event never waits. Used by the
// worker, and by the page itself where there are no workers.
import * as engine from "./headroom-worker.js";

// The stages of crates/xtask/src/first_view.mjs with which the parts begin that most links need, and that end with embedded plans.
const LINKS = 1;
const EMBEDDED = 6;
// Half a frame.
const TURN = 8;
// How long what is further down waits for the advice on the first plan; on the largest models that takes seconds.
const PATIENCE = 700;
// How long the page may take to show an answer before the work goes on all the same: a page in the background shows nothing.
const SHOWING = 100;

const inWorker = typeof WorkerGlobalScope !== "undefined";

// Several pages may share a worker: the module is loaded once.
let loaded;
const load = async () => {
  // Beside the page nothing can be waited for in the middle of a call.
  if (!inWorker) await engine.parts?.all(true);
  await engine.default({ module_or_path: new URL("headroom-worker_bg.wasm", import.meta.url) });
};

// What is to be there before a message is taken, and comes beside the engine's first part: of the plan of a link or of an embedded one the
// parts that most of them need, at once instead of one after the other when they are called; of the default plan its model's program. What
// did not come is asked for when it is wanted.
export const prepare = async ({ open }) => {
  if (!inWorker || !open) return;
  try {
    if (open.fragment) return await engine.parts?.upTo(open.embedded ? EMBEDDED : LINKS);
    const response = await fetch(new URL("programs/qwen3.json", import.meta.url));
    if (response.ok) open.program = await response.text();
  } catch {
    // As said.
  }
};

export const start = async (post) => {
  const views = new Map();
  const busy = new Set();
  // A message to oneself comes behind what the page has sent in the meantime; a timer would wait for milliseconds.
  const channel = new MessageChannel();
  const go = (id) => {
    const view = views.get(id);
    if (view?.showing) view.waits = true;
    else if (!busy.has(id)) {
      busy.add(id);
      channel.port2.postMessage(id);
    }
  };
  // While something is dragged the work rests as long as the page draws: what computes beside it takes the cores that it draws with, and
  // frames that come late are what the reader would notice. A single change is answered without a rest.
  const show = (id, view, more) => {
    post({ id, answer: view.answering.answer(more) });
    if (!view.isDragged) return;
    clearTimeout(view.showing);
    view.showing = setTimeout(shown, SHOWING, id, view);
  };
  const shown = (id, view) => {
    if (!view?.showing) return;
    clearTimeout(view.showing);
    view.showing = undefined;
    if (view.waits) go(id);
    view.waits = false;
  };
  // The first view stands: the code of what is further down comes now, in parts that the release build makes.
  let rest;
  const goOn = async (id, view) => {
    view.isOpen = true;
    try {
      rest ??= engine.parts?.all();
      await rest;
      if (views.get(id) !== view) return;
      view.answering.go_on();
      go(id);
    } catch (error) {
      post({ failure: String(error) });
    }
  };
  channel.port1.onmessage = ({ data: id }) => {
    busy.delete(id);
    const view = views.get(id);
    if (!view) return;
    const { answering } = view;
    const began = performance.now();
    let turn;
    do turn = answering.work();
    while (turn === 1 && performance.now() - began < TURN);
    if (turn !== 1) show(id, view, turn === 2 || turn === 3);
    if (!view.isOpen && (turn === 3 || view.isLate)) goOn(id, view);
    if (turn === 1 || turn === 2 || turn === 4) go(id);
  };
  loaded ??= load();
  await loaded;
  return ({ id, open, events, isDragged, files = [], shown: isShown, close }) => {
    if (open) {
      const made = [open.page, open.fragment, open.languages];
      const answering = open.embedded ? engine.Answering.embedded(...made) : new engine.Answering(...made);
      if (open.program) answering.give(open.program);
      const view = { answering, isLate: false, isOpen: false };
      views.set(id, view);
      setTimeout(() => {
        view.isLate = true;
        if (!view.isOpen && views.get(id) === view) go(id);
      }, PATIENCE);
    }
    if (events && views.has(id)) {
      const view = views.get(id);
      view.isDragged = isDragged;
      view.answering.take(events);
    }
    files.forEach(({ name, bytes, size }, at) => {
      views.get(id)?.answering.bring(name, bytes, size, at === files.length - 1);
    });
    if (close) {
      views.get(id)?.answering.free();
      views.delete(id);
    }
    // That an answer is shown is no work: an answer to it would be shown in turn, and so on for ever.
    if (isShown) shown(id, views.get(id));
    else go(id);
  };
};
