import { defineConfig } from "@playwright/test";
import { HEADROOM, PORT } from "./sites";

export default defineConfig({
  testDir: ".",
  testMatch: "*.spec.ts",
  outputDir: "../../target/docs-sites/results",
  retries: 0,
  workers: 1,
  forbidOnly: Boolean(process.env.CI),
  reporter: [["list"]],
  webServer: { command: `node ../e2e/site-server.mjs ../../dist ${new URL(HEADROOM).pathname} ${PORT}`, port: PORT },
  use: {
    browserName: "chromium",
    viewport: { width: 1280, height: 1000 },
    locale: "en-US",
    screenshot: "only-on-failure",
    launchOptions: {
      executablePath: process.env.HEADROOM_CHROMIUM || "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
    },
  },
});
