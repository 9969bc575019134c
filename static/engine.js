// The engine as the page sees it: messages to it and answers from it, through a worker where there are any. One worker
// answers all views of a page.
const here = (name) => new URL(name, import.meta.url);
const listeners = new Map();
const early = new Map();
let views = 0;
let send;

const hear = (message) => {
  if (message.failure) {
    fail(message.failure);
  } else if (listeners.has(message.id)) {
    listeners.get(message.id)(message.answer);
  } else {
    early.set(message.id, [...(early.get(message.id) ?? []), message.answer]);
  }
};

export let fail = (reason) => {
  throw new Error(reason);
};
export const onFailure = (say) => {
  fail = say;
};

const besideThePage = () => {
  const waiting = [];
  send = (message) => waiting.push(message);
  import(here("answers.js"))
    .then(({ start }) => start(hear))
    .then((take) => {
      send = take;
      waiting.forEach(take);
    }, (error) => fail(String(error)));
};

const inAWorker = () => {
  const worker = new Worker(here("worker.js"), { type: "module" });
  worker.onmessage = ({ data }) => hear(data);
  worker.onerror = (event) => fail(event.message || "the worker does not start");
  send = (message) => worker.postMessage(message);
};

// Opens a view: `page` is its address without query and fragment, `languages` what the reader speaks, best first.
export const open = ({ page, fragment, languages }) => {
  if (!send) (window.Worker ? inAWorker : besideThePage)();
  views += 1;
  send({ id: views, open: { page, fragment, languages } });
  return views;
};
export const take = (id, events) => send({ id, events });
export const bring = (id, files) => send({ id, files });
export const listen = (id, listener) => {
  listeners.set(id, listener);
  (early.get(id) ?? []).forEach(listener);
  early.delete(id);
};
