// The site as hosts serve it: its policy, its headers, and what is left of it when there is no host.
import { cpSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { siteServer } from "./site-server.mjs";
import { expect, test as base } from "./test";
import { OTHER_SITE, SITE } from "./sites";

const DIST = join(import.meta.dirname, "../../dist");
const releaseOf = (folder: string) => readdirSync(folder).find((name) => /^[0-9a-f]{16}$/.test(name))!;

type Host = {
  url: string;
  /** Serves another folder; none: nothing. */
  serve: (folder: string | null) => void;
  stop: () => Promise<unknown>;
};
const test = base.extend<{ host: Host }>({
  host: async ({}, use) => {
    let folder: string | null = DIST;
    const server = siteServer(() => folder, "/team/headroom/");
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    const stop = () => {
      server.closeAllConnections();
      return new Promise((done) => server.close(done));
    };
    await use({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/team/headroom/`,
      serve: (other) => (folder = other),
      stop,
    });
    await stop();
  },
});

test.describe("without a host", () => {
  test.use({ serviceWorkers: "allow", baseURL: async ({ host }, use) => use(host.url) });

  /** Opens the page and waits until all of it is kept. */
  const keep = async (page: import("@playwright/test").Page, planner: import("./pages/planner").Planner) => {
    await planner.open();
    await page.evaluate(() => navigator.serviceWorker.ready);
    await expect.poll(() => page.evaluate(() => navigator.serviceWorker.controller?.state)).toBe("activated");
  };

  test("after one visit the page works offline: reload, change the plan, share it", async ({ page, planner, host, context, complaints }) => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await keep(page, planner);
    await host.stop();
    await page.reload();
    await planner.settledVerdict();
    await planner.choice("Method", /Full/).check();
    await expect.poll(() => planner.fragment()).toContain("method=full");
    await planner.settledVerdict();
    // What is fetched when it is opened is there too.
    await page.goto(`${host.url}#v=1&model=Qwen/Qwen3-8B&gpu=h100-sxm&task=grpo&per_device_train_batch_size=8`);
    await planner.settledVerdict();
    await planner.copyLink.click();
    await expect(page.getByRole("button", { name: "Link copied" })).toBeVisible();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain("task=grpo");
    // The browser asks for a newer service worker and finds nobody.
    complaints.splice(0, Infinity, ...complaints.filter((one) => !/sw\.js|ERR_CONNECTION_REFUSED/.test(one)));
  });

  test("a new release is there at the next load, and then without a host", async ({ page, planner, host, complaints }) => {
    const folder = mkdtempSync(join(tmpdir(), "headroom-release-"));
    try {
      await keep(page, planner);
      cpSync(DIST, folder, { recursive: true });
      const [before, after] = [releaseOf(DIST), "0123456789abcdef"];
      renameSync(join(folder, before), join(folder, after));
      for (const name of ["index.html", "embed.html", "sw.js", "_headers"]) {
        const text = readFileSync(join(folder, name), "utf8").replaceAll(before, after);
        writeFileSync(join(folder, name), text.replace("<html lang", '<html data-newer lang'));
      }
      host.serve(folder);
      await page.reload();
      await planner.settledVerdict();
      await expect(page.locator("html[data-newer]")).toHaveCount(1);
      const kept = () => page.evaluate(async () => (await caches.keys()).map((name) => name.split(" ").pop()));
      // The one before stays for pages that are still open.
      await expect.poll(kept).toEqual([before, after]);
      await expect.poll(() => page.evaluate(async () => (await navigator.serviceWorker.getRegistration())?.installing ?? null)).toBe(null);
      await host.stop();
      await page.reload();
      await planner.settledVerdict();
      await expect(page.locator("html[data-newer]")).toHaveCount(1);
      complaints.splice(0, Infinity, ...complaints.filter((one) => !/sw\.js|ERR_CONNECTION_REFUSED/.test(one)));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("a page that its host has taken away is gone", async ({ page, planner, host, complaints }) => {
    await keep(page, planner);
    host.serve(null);
    const response = await page.reload();
    expect(response!.status()).toBe(404);
    complaints.splice(0, Infinity, ...complaints.filter((one) => !/404/.test(one)));
  });
});

test.describe("policy", () => {
  test("scripts that somebody put into the page do not run", async ({ page, planner, complaints }) => {
    await page.route(SITE, async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace("<body>", `<body onload="window.ran = 1"><script>window.ran = 2</script><img src="x" onerror="window.ran = 3">`);
      await route.fulfill({ response, body });
    });
    await planner.open();
    await page.evaluate(() => {
      const script = document.createElement("script");
      script.textContent = "window.ran = 4";
      document.body.append(script);
      document.body.insertAdjacentHTML("beforeend", `<svg onload="window.ran = 5"></svg><a href="javascript:window.ran = 6" id="injected">x</a>`);
      document.getElementById("injected")!.click();
    });
    expect(await page.evaluate(() => (window as any).ran)).toBe(undefined);
    const refused = complaints.filter((one) => /policy|Content Security Policy/i.test(one));
    expect(refused.length).toBeGreaterThanOrEqual(4);
    complaints.splice(0, Infinity, ...complaints.filter((one) => !refused.includes(one) && !/404/.test(one)));
  });

  test("only the page of embedded plans may stand in another site", async ({ page, complaints }) => {
    await page.goto(OTHER_SITE);
    const opens = (address: string) =>
      page.evaluate(async (address) => {
        const frame = Object.assign(document.createElement("iframe"), { src: address });
        const ready = new Promise((said) => addEventListener("message", ({ source }) => source === frame.contentWindow && said(true)));
        const loaded = new Promise((done) => frame.addEventListener("load", () => setTimeout(done, 1500, false)));
        document.body.append(frame);
        return Promise.race([ready, loaded]);
      }, address);
    expect(await opens(`${SITE}embed.html`)).toBe(true);
    const frames = () => page.frames().map((frame) => frame.url());
    expect(await opens(SITE)).toBe(false);
    expect(frames()).not.toContain(SITE);
    complaints.length = 0;
  });

  test("everything but pages is kept for a year, under a name that its content makes", async ({ page, planner }) => {
    const cached = new Map<string, string>();
    page.on("response", (response) => cached.set(new URL(response.url()).pathname.slice(new URL(SITE).pathname.length), response.headers()["cache-control"] ?? ""));
    await planner.open();
    expect(cached.get("")).toBe("no-cache");
    cached.delete("");
    expect(cached.size).toBeGreaterThan(5);
    for (const [name, control] of cached) {
      expect(name).toMatch(new RegExp(`^${releaseOf(DIST)}/`));
      expect(control).toContain("immutable");
    }
  });
});
