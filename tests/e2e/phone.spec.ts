import { expect, test } from "./test";

const SCREEN = { width: 390, height: 844 };
/** A plan whose answer is long: it does not fit, and is advised. */
const PLAN = "v=1&model=meta-llama/Llama-3.1-8B&gpu=rtx-4090&method=lora";

test.use({ viewport: SCREEN });

for (const locale of ["en-US", "zh-CN"]) {
  test.describe(locale, () => {
    test.use({ locale });
    test("no page is longer than four screens before anything is unfolded", async ({ page, planner }) => {
      test.slow();
      const places = ["fix", "compare", "limits", "memory", "run", "scenarios", "how-it-works", "accuracy", "glossary"];
      for (const tab of places) {
        await page.goto(`./#${PLAN}&tab=${tab}`);
        await page.reload();
        await page.locator("main :is(section, article)").first().waitFor();
        await planner.settled();
        const height = await page.evaluate(() => document.documentElement.scrollHeight);
        expect.soft(height / SCREEN.height, tab).toBeLessThanOrEqual(4);
      }
    });
  });
}

test("the form is worked through part by part", async ({ page, planner }) => {
  await planner.open(PLAN);
  const parts = page.getByRole("group", { name: "Parts of the plan" });
  await expect(planner.model).toBeVisible();
  await expect(planner.gpu).toBeHidden();
  await page.getByRole("button", { name: "Next: GPU" }).click();
  await expect(planner.gpu).toBeVisible();
  await expect(planner.model).toBeHidden();
  await expect(parts.getByRole("button", { name: "GPU" })).toHaveAttribute("aria-current", "step");
  await page.getByRole("button", { name: "Next: Batch" }).click();
  await expect(planner.number("Sequence length")).toBeVisible();
  await parts.getByRole("button", { name: "More" }).click();
  await expect(page.getByRole("heading", { name: "Memory savers" })).toBeVisible();
  await expect(planner.number("Sequence length")).toBeHidden();
});

test("a part with something to fix is marked, wherever the reader is", async ({ page, planner }) => {
  await planner.open(`${PLAN}&num_gpus=2`);
  const parts = page.getByRole("group", { name: "Parts of the plan" });
  await parts.getByRole("button", { name: "Batch" }).click();
  await planner.number("Sequence length").fill("0");
  await parts.getByRole("button", { name: "Model" }).click();
  await expect(parts.getByRole("button", { name: "Batch, something to fix" })).toBeVisible();
  await parts.getByRole("button", { name: "Batch, something to fix" }).click();
  await planner.number("Sequence length").fill("512");
  await expect(parts.getByRole("button", { name: "Batch", exact: true })).toBeVisible();
});

test("rows of the breakdown are unfolded by hand and by the legend", async ({ page, planner }) => {
  await planner.open(PLAN, "memory");
  await planner.settled();
  const row = page.locator(".category-rows", { has: page.getByRole("heading", { name: /^Activations/ }) });
  await expect(row.locator(".allocation", { hasText: "Attention output" })).toBeHidden();
  await page.getByRole("region", { name: "Memory over one step" }).getByRole("button", { name: "Activations", exact: true }).first().click();
  await expect(row.locator(".allocation", { hasText: "Attention output" })).toBeVisible();
  const weights = page.locator(".category-rows", { has: page.getByRole("heading", { name: /^Weights/ }) });
  await weights.getByText(/kinds$/).click();
  await expect(weights.locator(".allocation").first()).toBeVisible();
});
