import { expect, test } from "./test";

test("what does not make sense stays as typed, with the fix beside it", async ({ planner }) => {
  await planner.open();
  const verdict = await planner.settledVerdict();
  const batch = planner.number("Batch per GPU");

  await batch.fill("eight");
  await expect(batch).toHaveValue("eight");
  await expect(batch).toHaveAttribute("aria-invalid", "true");
  await expect(batch).toHaveAccessibleDescription(/Write a whole number here.*last good value stays in use/i);
  expect(await planner.settledVerdict()).toBe(verdict);

  await batch.fill("0");
  await expect(batch).toHaveAccessibleDescription(/0 is outside 1 to 65536/);

  await batch.fill("8");
  await expect(batch).toHaveAttribute("aria-invalid", "false");
  await expect.poll(() => planner.fragment()).not.toContain("=0");
  await expect.poll(() => planner.fragment()).toContain("per_device_train_batch_size=8");
});

test("numbers may be grouped", async ({ planner }) => {
  await planner.open();
  await planner.number("Sequence length").fill("8,192");
  await expect(planner.number("Sequence length")).toHaveValue("8,192");
  await expect.poll(() => planner.fragment()).toContain("max_length=8192");
});

test("fields that contradict each other say which value goes with the other", async ({ page, planner }) => {
  await planner.open("v=1&offload_param=cpu");
  const trouble = page.getByRole("alert").filter({ hasText: "cannot be estimated" });
  await expect(trouble).toContainText(/offload_param|zero_stage/);
  await expect(trouble).toContainText(/set .* to/i);
});

test("a contradiction is fixed by one click", async ({ page, planner }) => {
  await planner.open("v=1&offload_param=cpu");
  await page.getByRole("button", { name: "Set zero_stage to 3" }).click();
  await expect(planner.verdict).toContainText("GiB");
  await planner.unfold();
  await expect(planner.choice("ZeRO stage", /^3/)).toBeChecked();
});

test("another framework takes along what it does not have, and says so", async ({ page, planner }) => {
  await planner.open("v=1&num_gpus=8&zero_stage=2&offload_optimizer=cpu");
  await planner.unfold();
  await page.getByLabel("Framework").selectOption("ddp");
  const note = page.getByRole("status").filter({ hasText: "Changed with it" });
  await expect(note).toContainText("zero_stage 2 → 0");
  await expect(note).toContainText("offload_optimizer cpu → none");
  await expect(planner.verdict).toContainText("GiB");
  // DDP has neither.
  await expect(page.getByRole("group", { name: "ZeRO stage" })).toHaveCount(0);
  await expect(page.getByRole("switch", { name: "Optimizer state in host memory" })).toHaveCount(0);
});

test("what a link contradicts is fixed one by one", async ({ page, planner }) => {
  await planner.open("v=1&num_gpus=8&framework=ddp&zero_stage=2&offload_optimizer=cpu");
  await page.getByRole("button", { name: "Set zero_stage to 0" }).click();
  await planner.unfold();
  await page.getByRole("switch", { name: "Optimizer state in host memory" }).click();
  await expect(planner.verdict).toContainText("GiB");
  await expect(page.getByRole("group", { name: "ZeRO stage" })).toHaveCount(0);
});

test("an unknown model is named with its fix", async ({ page, planner }) => {
  await planner.open();
  await planner.model.click();
  await planner.model.fill("Qwen/Qwen3-4Bee");
  await page.keyboard.press("Enter");
  await expect(planner.model).toHaveAccessibleDescription(/not in the catalogue; paste its config.json.*Qwen\/Qwen3-4B/);
});
