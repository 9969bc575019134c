// The page under test, as another site serves it. `cargo xtask test` chooses a free port.
export const PORT = Number(process.env.HEADROOM_SITE_PORT ?? 4175);
export const HEADROOM = `http://127.0.0.1:${PORT}/headroom/`;
