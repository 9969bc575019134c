// The worker, of one page or shared by all embedded plans of a site: what arrives before the engine is there waits for it.
import { prepare, start } from "./answers.js";

const serve = (port) => {
  const post = (message) => port.postMessage(message, message.answer ? [message.answer.buffer] : []);
  const fail = (error) => port.postMessage({ failure: String(error) });
  const waiting = [];
  let take;
  // In the order in which they arrived. A view may be opened long after the engine is there: what is prepared for it comes before it all
  // the same.
  const goOn = () => {
    while (take && waiting[0]?.isPrepared) {
      try {
        take(waiting.shift().data);
      } catch (error) {
        fail(error);
      }
    }
  };
  port.onmessage = ({ data }) => {
    const message = { data, isPrepared: !data.open };
    waiting.push(message);
    goOn();
    if (message.isPrepared) return;
    prepare(data).then(() => {
      message.isPrepared = true;
      goOn();
    });
  };
  start(post).then((ready) => {
    take = ready;
    goOn();
  }, fail);
};
if ("onconnect" in self) self.onconnect = ({ ports: [port] }) => serve(port);
else serve(self);
