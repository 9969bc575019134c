// Two origins on this machine: the site under test, below a sub-path, and somebody else's. `cargo xtask test` chooses
// free ports.
export const SITE = `http://127.0.0.1:${process.env.HEADROOM_SITE_PORT ?? 4173}/some/sub-path/`;
export const OTHER_SITE = `http://127.0.0.1:${process.env.HEADROOM_OTHER_SITE_PORT ?? 4174}/elsewhere/`;
