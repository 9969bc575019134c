import { expect, test } from "./test";

test("a click on a bar makes it the plan", async ({ planner }) => {
  await planner.open("v=1&num_gpus=8", "compare");
  await expect(planner.bar(/^LoRA, not sharded/)).toHaveAttribute("aria-pressed", "true");
  const bar = planner.bar(/^Full, ZeRO-3:/);
  await expect(bar).toHaveAttribute("aria-pressed", "false");
  await bar.click();
  await expect(bar).toHaveAttribute("aria-pressed", "true");
  await expect(planner.choice("Method", /Full/)).toBeChecked();
  await expect(planner.choice("ZeRO stage", /^3/)).toBeChecked();
  await expect.poll(() => planner.fragment()).toContain("method=full");
});

test("full, LoRA and QLoRA stand side by side at the stages that make sense", async ({ planner }) => {
  await planner.open("v=1&num_gpus=8", "compare");
  for (const method of ["Full", "LoRA", "QLoRA 4-bit"]) {
    await expect(planner.bar(`${method}, not sharded`)).toBeVisible();
    await expect(planner.bar(`${method}, ZeRO-2:`)).toBeVisible();
  }
  await planner.open("v=1", "compare");
  await expect(planner.bar(/ZeRO-1/)).toHaveCount(0);
});

test("bars are chosen by keyboard, and the focus stays", async ({ page, planner }) => {
  await planner.open("v=1&num_gpus=8", "compare");
  const bar = planner.bar(/^QLoRA 4-bit, ZeRO-2:/);
  await bar.focus();
  await page.keyboard.press("Enter");
  await expect(bar).toHaveAttribute("aria-pressed", "true");
  await expect(bar).toBeFocused();
});

test("the matrix says the same as the chart", async ({ planner }) => {
  await planner.open("v=1&num_gpus=8", "compare");
  const tier = planner.tier(/^LoRA, ZeRO-3 [FTD]/);
  await expect(async () => {
    const need = (await tier.innerText()).match(/GPU ([\d.]+ GiB)/)![1];
    const bar = planner.bar(/^LoRA, ZeRO-3:/);
    await expect(bar).toHaveAccessibleName(new RegExp(need.replace(".", "\\.")), { timeout: 100 });
  }).toPass();
  await tier.click();
  await expect(tier).toHaveAttribute("aria-pressed", "true");
  await expect(planner.bar(/^LoRA, ZeRO-3:/)).toHaveAttribute("aria-pressed", "true");
});

test("the matrix marks the quickest that fits, and using it works", async ({ planner }) => {
  // Full fine-tuning of 8 B parameters fits 24 GB GPUs in shares only.
  await planner.open("v=1&model=meta-llama/Llama-3.1-8B&method=full&gpu=rtx-4090&num_gpus=8", "compare");
  await planner.settledVerdict();
  const quickest = planner.tiers.getByRole("group", { name: "Full" }).getByRole("button", { name: /quickest that fits/ });
  await expect(quickest).toHaveCount(1);
  await expect(quickest).toContainText("Fits");
  await quickest.click();
  await expect(planner.tier(/^Full, .*current plan/)).toHaveAttribute("aria-pressed", "true");
  expect(await planner.settledVerdict()).toContain("Fits");
});

test("on one GPU ZeRO is said to shard nothing", async ({ planner }) => {
  await planner.open("v=1&num_gpus=8", "compare");
  await expect(planner.tiers).toBeVisible();
  await expect(planner.matrixNote).toBeHidden();
  await planner.open("v=1&num_gpus=1", "compare");
  await expect(planner.matrixNote).toBeVisible();
});

test("generation keeps the simple table", async ({ page, planner }) => {
  await planner.open("v=1&task=inference&method=full", "compare");
  await expect(planner.tiers).toHaveCount(0);
  await page.getByText("The comparison as a table").click();
  const row = page.getByRole("row", { name: /^QLoRA 4-bit/ });
  await row.getByRole("button").click();
  await expect(row).toContainText("current plan");
});
