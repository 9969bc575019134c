import type { Page } from "@playwright/test";
import { expect, test } from "./test";

// The first view of the default plan is worked out when the release is built: newcomers see it while the engine is on its way.

/** Holds the engine back until the returned function is called. */
const withoutEngine = async (page: Page) => {
  let release = () => {};
  const held = new Promise<void>((done) => (release = done));
  await page.route(/headroom-worker_bg\.wasm$/, async (route) => {
    await held;
    await route.continue();
  });
  return () => release();
};

/** What the page says and which controls stand how, of all that is there. */
const said = (page: Page) =>
  page.evaluate(() => {
    const controls = [...document.querySelectorAll<HTMLInputElement>("input, select")];
    const states = controls.map(({ id, name, value, checked }) => `${id} ${name} ${value} ${checked}`);
    return { text: document.body.innerText, title: document.title, states };
  });

test("a newcomer's first view stands before the engine does, and is what the engine says", async ({ page, planner }) => {
  const release = await withoutEngine(page);
  await page.goto("./");
  await expect(planner.verdict).toContainText("Fits");
  await expect(planner.verdict).toContainText("22.0 GiB of 79.2 GiB");
  const before = await said(page);
  const address = page.url();
  release();
  await planner.settled();
  const after = await said(page);
  expect(after.title).toBe(before.title);
  for (const state of before.states) expect(after.states).toContain(state);
  // What other values would need is added by then, beside fields and below the first view.
  const lines = new Set(after.text.split("\n"));
  expect(before.text.split("\n").filter((line) => !lines.has(line))).toEqual([]);
  expect(page.url()).toBe(address);
});

test("what a newcomer does before the engine is there waits for it", async ({ page, planner }) => {
  const release = await withoutEngine(page);
  await page.goto("./");
  await expect(planner.verdict).toContainText("Fits");
  await planner.choice("Method", /^Full/).check();
  await expect(page.locator("html")).toHaveAttribute("data-pending", "");
  release();
  await planner.settled();
  await expect(planner.choice("Method", /^Full/)).toBeChecked();
  await expect(planner.verdict).not.toContainText("22.0 GiB");
  expect(page.url()).toContain("method=full");
});

test("an offer that a newcomer takes before the engine is there is taken", async ({ page, planner }) => {
  const release = await withoutEngine(page);
  await page.goto("./");
  const advice = await page.locator("section.advice").innerText();
  const promised = /Same training, faster[^]*?([\d.]+ GiB of [\d.]+ GiB)/.exec(advice)?.[1] ?? "";
  expect(promised).not.toBe("");
  await page.getByRole("button", { name: "Use: Same training, faster" }).click();
  await expect(page.locator("html")).toHaveAttribute("data-pending", "");
  release();
  await planner.settled();
  await expect(planner.verdict).not.toContainText("22.0 GiB");
  await expect(planner.verdict).toContainText(promised);
});

test("the link that the first view gives leads to this page", async ({ page, planner, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const release = await withoutEngine(page);
  await page.goto("./");
  await expect(planner.verdict).toContainText("Fits");
  await planner.copyLink.click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied.startsWith(`${page.url()}#v=1&model=Qwen/Qwen3-4B&`), copied).toBe(true);
  release();
  await planner.settled();
});

test("the first view is in the reader's language", async ({ browser, baseURL }) => {
  for (const [locale, query, verdict] of [
    ["zh-CN", "", "放得下"],
    ["de-DE", "", "Fits"],
    ["zh-CN", "?lang=en", "Fits"],
    ["en-US", "?lang=zh", "放得下"],
  ]) {
    const context = await browser.newContext({ baseURL, locale, serviceWorkers: "block" });
    const page = await context.newPage();
    const release = await withoutEngine(page);
    await page.goto(`./${query}`);
    await expect(page.locator("section.verdict"), `${locale} ${query}`).toContainText(verdict);
    release();
    await context.close();
  }
});

test("the first view of a link is that of its plan", async ({ page, planner }) => {
  const release = await withoutEngine(page);
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.goto("./#v=1&model=Qwen/Qwen3-8B&gpu=rtx-4090");
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await expect.poll(() => asked.some((url) => url.endsWith("headroom-worker_bg.wasm"))).toBe(true);
  await expect(page.locator(".skeleton-verdict")).toBeVisible();
  expect(asked.filter((url) => /\/first-\w+\.txt$/.test(url))).toEqual([]);
  release();
  await planner.settled();
  await expect(planner.verdict).toContainText("of 23.");
});
