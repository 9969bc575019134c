import { readFileSync } from "node:fs";
import { initSync } from "./headroom.js";

initSync({ module: readFileSync(new URL("./headroom_bg.wasm", import.meta.url)) });

export * from "./api.js";
