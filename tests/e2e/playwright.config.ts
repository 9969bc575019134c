import { defineConfig } from "@playwright/test";
import { OTHER_SITE, SITE } from "./sites";

// `cargo xtask test` says where the browser is; run by hand, the usual place is tried.
const executablePath = process.env.HEADROOM_CHROMIUM || "/usr/bin/chromium";

const server = (site: string, folder: string) => {
  const { port, pathname } = new URL(site);
  return { command: `node site-server.mjs ${folder} ${pathname} ${port}`, port: Number(port) };
};

export default defineConfig({
  testDir: ".",
  testMatch: "*.spec.ts",
  outputDir: "../../target/e2e",
  // A test that needs a second try is a bug.
  retries: 0,
  forbidOnly: Boolean(process.env.CI),
  fullyParallel: true,
  timeout: 30_000,
  expect: { timeout: 5_000 },
  reporter: [["list"]],
  webServer: [server(SITE, "../../dist"), server(OTHER_SITE, "other-site")],
  use: {
    baseURL: SITE,
    // What a service worker fetches no test sees; hosting.spec.ts has one.
    serviceWorkers: "block",
    browserName: "chromium",
    viewport: { width: 1440, height: 900 },
    locale: "en-US",
    trace: "retain-on-failure",
    screenshot: "only-on-failure",
    launchOptions: {
      executablePath,
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    },
  },
});
