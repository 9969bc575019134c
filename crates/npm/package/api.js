// Objects of what the module says as text.
import * as core from "./headroom.js";

const text = (plan) => (typeof plan === "string" ? plan : JSON.stringify(plan));

export const estimateJson = (plan) => core.estimate(text(plan));
export const adviseJson = (plan) => core.advise(text(plan));
export const diagnoseJson = (said, plan) => core.diagnose(said, plan === undefined ? undefined : text(plan));
export const estimate = (plan) => JSON.parse(estimateJson(plan));
export const advise = (plan) => JSON.parse(adviseJson(plan));
export const diagnose = (said, plan) => JSON.parse(diagnoseJson(said, plan));
export const link = (plan, { other, page, view, lang, theme } = {}) =>
  core.link(text(plan), other === undefined ? undefined : text(other), page, view, lang, theme);
export const readLink = (link) => JSON.parse(core.readLink(link));
export const fromLink = (link) => readLink(link).plan;
