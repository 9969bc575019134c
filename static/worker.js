// The worker, of one page or shared by all embedded plans of a site: what arrives before the engine is there waits for it.
import { prepare, start } from "./answers.js";

const serve = (port) => {
  const waiting = [];
  const prepared = [];
  port.onmessage = ({ data }) => {
    waiting.push(data);
    prepared.push(prepare(data));
  };
  const post = (message) => port.postMessage(message, message.answer ? [message.answer.buffer] : []);
  start(post).then(
    async (take) => {
      await Promise.all(prepared);
      port.onmessage = ({ data }) => take(data);
      waiting.forEach(take);
    },
    (error) => port.postMessage({ failure: String(error) }),
  );
};
if ("onconnect" in self) self.onconnect = ({ ports: [port] }) => serve(port);
else serve(self);
