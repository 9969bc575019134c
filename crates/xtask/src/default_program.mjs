// Which file has the default plan's program: static/answers.js, which fetches it, is the one place that says so.
import { readFileSync } from "node:fs";

const from = (name) => readFileSync(new URL(`../../../static/${name}`, import.meta.url), "utf8");
const named = [...new Set(from("answers.js").match(/programs\/[\w-]+\.json/g))];
if (named.length !== 1) throw new Error(`static/answers.js names ${named.length} programs where one is the default plan's`);

export const [name] = named;
export const program = from(name);
