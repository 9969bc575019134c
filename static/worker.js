// The worker: what arrives before the engine is there waits for it.
import { start } from "./answers.js";

const waiting = [];
self.onmessage = ({ data }) => waiting.push(data);
const post = (message) => self.postMessage(message, message.answer ? [message.answer.buffer] : []);
start(post).then(
  (take) => {
    self.onmessage = ({ data }) => take(data);
    waiting.forEach(take);
  },
  (error) => self.postMessage({ failure: String(error) }),
);
