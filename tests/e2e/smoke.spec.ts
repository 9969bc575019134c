import { OTHER_SITE } from "./sites";
import { expect, test } from "./test";

test("the page starts", async ({ planner }) => {
  await planner.open();
  await expect(planner.heading).toBeVisible();
  await expect(planner.failure).toBeHidden();
});

test("the page says so when its program cannot be fetched", async ({ page, planner, complaints }) => {
  await page.route(/\.wasm$/, (route) => route.abort());
  await page.goto("./");
  await expect(planner.failure).toBeVisible();
  expect(complaints.join("\n")).toContain(".wasm");
  complaints.length = 0;
});

test("where there are no workers the page answers by itself", async ({ page, planner }) => {
  await page.addInitScript(() => Object.defineProperty(window, "Worker", { value: undefined }));
  await planner.open("v=1&model=meta-llama/Llama-3.1-8B&gpu=rtx-4090&method=full");
  await expect(planner.verdict).toContainText("Does not fit");
  await planner.choice("Method", /^LoRA/).check();
  await planner.settled();
  await expect(planner.verdict).toContainText("of 23.");
  await planner.tab("Memory");
  await expect(planner.breakdown).toBeVisible();
});

test("header and skeleton are there before any program", async ({ page }) => {
  let release = () => {};
  const held = new Promise<void>((done) => (release = done));
  await page.route(/\.wasm$/, async (route) => {
    await held;
    await route.continue();
  });
  await page.goto("./");
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await expect(page.locator(".skeleton-verdict")).toBeVisible();
  release();
  await expect(page.getByRole("region", { name: "Verdict" })).toBeVisible();
  await expect(page.locator("#skeleton")).toHaveCount(0);
});

test("the page says so when the engine's further parts cannot be fetched", async ({ page, planner, complaints }) => {
  await page.route(/engine-part-.*\.wasm$/, (route) => route.abort());
  await page.goto("./");
  // The first view needs none of them.
  await expect(planner.verdict).toContainText("Fits");
  await expect(planner.failure).toBeVisible();
  expect(complaints.join("\n")).toContain("engine-part");
  complaints.length = 0;
});

test("a complaint of the page would be noticed", async ({ page, planner, complaints }) => {
  await planner.open();
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.inline = true";
    document.body.append(script);
  });
  await page.evaluate((url) => fetch(url).catch(() => undefined), OTHER_SITE);
  await expect.poll(() => complaints.join("\n")).toMatch(/policy: script-src/);
  await expect.poll(() => complaints.join("\n")).toMatch(/policy: connect-src/);
  complaints.length = 0;
});

test("links to the page are shown with a title and a picture, and its foot leads to the licences", async ({ page, planner, request }) => {
  await planner.open();
  for (const name of ["og:title", "og:description", "og:image"]) {
    expect((await page.locator(`meta[property="${name}"]`).getAttribute("content"))!.length, name).toBeGreaterThan(5);
  }
  const picture = await page.locator('meta[property="og:image"]').getAttribute("content");
  const response = await request.get(new URL(picture!, page.url()).href);
  expect(response.ok()).toBe(true);
  expect((await response.body()).subarray(0, 3).toString("latin1")).toBe("\xff\xd8\xff");
  for (const name of ["MIT", "Apache 2.0"]) {
    const href = await page.getByRole("contentinfo").getByRole("link", { name }).getAttribute("href");
    expect(await (await request.get(new URL(href!, page.url()).href)).text()).toMatch(/licen[cs]e/i);
  }
});
