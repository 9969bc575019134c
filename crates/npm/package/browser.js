import start from "./headroom.js";

await start({ module_or_path: new URL("./headroom_bg.wasm", import.meta.url) });

export * from "./api.js";
