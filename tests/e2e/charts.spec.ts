import { readFileSync } from "node:fs";
import { devices } from "@playwright/test";
import { expect, test } from "./test";

const PLAN = "#v=1&model=Qwen/Qwen3-4B&method=lora&gpu=rtx-4090&per_device_train_batch_size=8&max_length=2048";

for (const tab of ["memory", "compare", "limits"]) {
  test(`the chart of ${tab} is downloaded as SVG, PNG and CSV`, async ({ page }) => {
    await page.goto(`./${PLAN}&tab=${tab}`);
    if (tab === "compare") await page.getByText("The same as a chart, to save").click();
    const files = page.getByRole("group", { name: "Download this chart" });
    await expect(page.locator(".drawing svg").first()).toBeVisible();
    for (const [form, start] of [["SVG", "<svg"], ["PNG", "\x89PNG"], ["CSV", "\xef\xbb\xbf"]]) {
      const download = page.waitForEvent("download");
      await files.getByRole("button", { name: form }).click();
      const bytes = readFileSync(await (await download).path());
      expect(bytes.subarray(0, start.length).toString("latin1")).toBe(start);
      if (form !== "CSV") continue;
      const [heads, ...rows] = bytes.subarray(3).toString("utf8").trimEnd().split("\r\n");
      expect(heads).toContain("Memory (bytes),GPU memory (bytes),Share of the GPU (%)");
      expect(rows.length).toBeGreaterThan(10);
      for (const row of rows) expect(row).toMatch(/,\d+,\d+,[\d.]+$/);
    }
  });
}

test("values are reached by pointer and by arrow keys", async ({ page }) => {
  await page.goto(`./${PLAN}&tab=memory`);
  const marks = page.locator("#phases-figure .mark");
  await marks.first().hover();
  const panel = page.locator(".value-panel");
  await expect(panel).toHaveText(/GiB \([\d,]+ bytes\), [\d.]+ % of the GPU$/);
  await page.mouse.move(5, 5);
  await expect(panel).toBeHidden();
  await marks.first().focus();
  await expect(panel).toBeVisible();
  const first = await panel.textContent();
  await page.keyboard.press("ArrowRight");
  await expect(panel).not.toHaveText(first!);
  const next = page.locator(":focus");
  expect(await next.getAttribute("aria-label")).toBe(await panel.textContent());
  await page.keyboard.press("ArrowDown");
  await expect(panel).toContainText(":");
  await page.keyboard.press("Escape");
  await expect(panel).toBeHidden();
});

test("a category leads from legend and chart to its row, and back", async ({ page }) => {
  await page.goto(`./${PLAN}&tab=memory`);
  const figure = page.locator("#phases-figure");
  await figure.getByRole("list").getByRole("button", { name: "Activations" }).click();
  const row = page.locator(".category-rows.picked");
  await expect(row.locator("h3")).toContainText("Activations");
  await expect(row.getByRole("button").first()).toBeFocused();
  await expect(row).toBeInViewport();
  await row.getByRole("button").first().click();
  await expect(figure).toBeFocused();
  await expect(figure).toHaveAttribute("data-picked", "activations");
});

test.describe("by touch, on a phone", () => {
  const { defaultBrowserType: _, ...phone } = devices["iPhone 13"];
  test.use({ ...phone });
  test("a tap shows a value within the screen", async ({ page }) => {
    await page.goto(`./${PLAN}&tab=compare`);
    const mark = page.locator(".tier.mark").nth(1);
    await mark.scrollIntoViewIfNeeded();
    await mark.tap();
    const panel = page.locator(".value-panel");
    await expect(panel).toHaveText(/bytes\), [\d.]+ % of the GPU$/);
    const { x, width } = (await panel.boundingBox())!;
    expect(x).toBeGreaterThanOrEqual(0);
    expect(x + width).toBeLessThanOrEqual(page.viewportSize()!.width);
  });
});

test("the map is that of the advised plan where that is asked for", async ({ page }) => {
  await page.goto(`./${PLAN}&tab=limits`);
  const panel = page.getByRole("region", { name: "Batch by length" });
  const before = await panel.locator(".drawing").first().innerHTML();
  await panel.getByRole("checkbox", { name: /With advice/ }).check();
  await expect.poll(() => panel.locator(".drawing").first().innerHTML()).not.toBe(before);
});
