import { expect, test } from "./test";

test("a click on a cell makes it the plan", async ({ planner }) => {
  await planner.open("v=1&num_gpus=8", "compare");
  await expect(planner.tier(/^LoRA, not sharded/)).toHaveAttribute("aria-pressed", "true");
  const cell = planner.tier(/^Full, ZeRO-3 [FTD]/);
  await expect(cell).toHaveAttribute("aria-pressed", "false");
  await cell.click();
  await expect(cell).toHaveAttribute("aria-pressed", "true");
  await expect(planner.choice("Method", /Full/)).toBeChecked();
  await planner.unfold();
  await expect(planner.choice("ZeRO stage", /^3/)).toBeChecked();
  await expect.poll(() => planner.fragment()).toContain("method=full");
});

test("full, LoRA and QLoRA stand side by side at the stages that make sense", async ({ planner }) => {
  await planner.open("v=1&num_gpus=8", "compare");
  for (const method of ["Full", "LoRA", "QLoRA 4-bit"]) {
    await expect(planner.tier(new RegExp(`^${method}, not sharded `))).toBeVisible();
    await expect(planner.tier(new RegExp(`^${method}, ZeRO-2 [FTD]`))).toBeVisible();
  }
  await planner.open("v=1", "compare");
  await expect(planner.tier(/ZeRO-1/)).toHaveCount(0);
});

test("cells are chosen by keyboard, and the focus stays", async ({ page, planner }) => {
  await planner.open("v=1&num_gpus=8", "compare");
  const cell = planner.tier(/^QLoRA 4-bit, ZeRO-2 [FTD]/);
  await cell.focus();
  await page.keyboard.press("Enter");
  await expect(cell).toHaveAttribute("aria-pressed", "true");
  await expect(cell).toBeFocused();
});

test("the chart that can be opened says the same as the matrix", async ({ page, planner }) => {
  await planner.open("v=1&num_gpus=8", "compare");
  const tier = planner.tier(/^LoRA, ZeRO-3 [FTD]/);
  await expect(page.locator(".bar-button")).toHaveCount(0);
  await page.getByText("The same as a chart, to save").click();
  const bar = page.getByRole("group", { name: "Compare" }).getByRole("button", { name: /^LoRA, ZeRO-3:/ });
  await expect(async () => {
    const need = (await tier.innerText()).match(/GPU ([\d.]+ GiB)/)![1];
    await expect(bar).toHaveAccessibleName(new RegExp(need.replace(".", "\\.")), { timeout: 100 });
  }).toPass();
  await tier.click();
  await expect(tier).toHaveAttribute("aria-pressed", "true");
  await expect(bar).toHaveAttribute("aria-pressed", "true");
});

test("times stay beside the plan that is pinned", async ({ page, planner }) => {
  await planner.open("v=1&num_gpus=8", "compare");
  await planner.settled();
  const time = async (name: RegExp) => (await planner.tier(name).innerText()).match(/time (\S+)/)![1];
  const beside = await time(/^Full, ZeRO-3 [FTD]/);
  await page.getByRole("button", { name: "Pin this plan" }).click();
  await planner.tier(/^Full, ZeRO-3 [FTD]/).click();
  await planner.settled();
  expect(await time(/^Full, ZeRO-3 [FTD]/)).toBe(beside);
  await expect(planner.tier(/^LoRA, not sharded/)).toContainText("baseline");
  await page.getByRole("button", { name: "Unpin" }).click();
  await expect(planner.tier(/^Full, ZeRO-3 [FTD]/)).not.toContainText("time");
});

test("QLoRA above LoRA says which tensors it is", async ({ page, planner }) => {
  await planner.open("v=1&model=Qwen/Qwen2.5-0.5B&method=lora&gpu=a100-80gb", "compare");
  await planner.settled();
  await page.getByText(/^Why does QLoRA 4-bit, not sharded need .* more than LoRA, not sharded/).click();
  const answer = page.locator(".why-answer");
  await expect(answer).toContainText("prepare_model_for_kbit_training");
  await expect(answer.getByRole("row", { name: /^Feed-forward activations .*mlp\.gate_proj/ })).toContainText("+");
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
