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
