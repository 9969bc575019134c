// What every browser test starts from: a page that must not complain. A test fails when the page writes an error to
// the console, throws, breaks its Content-Security-Policy, or asks another origin for anything.
import { test as base, expect } from "@playwright/test";
import { Planner } from "./pages/planner";

type Fixtures = {
  /** Complaints so far; checked after the test. A test that provokes one on purpose takes it out. */
  complaints: string[];
  planner: Planner;
};

export const test = base.extend<Fixtures>({
  complaints: [
    async ({ page, baseURL }, use) => {
      const complaints: string[] = [];
      const origin = new URL(baseURL!).origin;
      page.on("pageerror", (error) => complaints.push(`uncaught: ${error}`));
      page.on("console", (message) => {
        // Service workers are off in most tests (playwright.config.ts).
        if (message.text() === "Service Worker registration blocked by Playwright") return;
        if (["error", "warning"].includes(message.type())) complaints.push(`${message.type()}: ${message.text()}`);
      });
      page.on("requestfailed", (request) => {
        // What was still on its way when the test left the page, or ended.
        if (request.failure()?.errorText === "net::ERR_ABORTED") return;
        complaints.push(`failed: ${request.url()} ${request.failure()?.errorText}`);
      });
      page.on("request", (request) => {
        const url = new URL(request.url());
        const local = ["data:", "blob:"].includes(url.protocol);
        if (!local && url.origin !== origin) complaints.push(`another origin: ${url}`);
      });
      await page.addInitScript(() => {
        document.addEventListener("securitypolicyviolation", (event) => {
          console.error(`policy: ${event.violatedDirective} blocked ${event.blockedURI}`);
        });
      });
      await use(complaints);
      expect(complaints).toEqual([]);
    },
    { auto: true },
  ],
  planner: async ({ page }, use) => {
    await use(new Planner(page));
  },
});

export { expect };
