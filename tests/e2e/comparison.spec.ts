import { expect, test } from "./test";

test("a click on a bar makes it the plan", async ({ planner }) => {
  await planner.open("v=1&num_gpus=8");
  await expect(planner.bar(/^LoRA, not sharded/)).toHaveAttribute("aria-pressed", "true");
  const bar = planner.bar(/^Full, ZeRO-3:/);
  await expect(bar).toHaveAttribute("aria-pressed", "false");
  await bar.click();
  await expect(bar).toHaveAttribute("aria-pressed", "true");
  await expect(planner.choice("Method", /Full/)).toBeChecked();
  await expect(planner.choice("ZeRO stage", /^3/)).toBeChecked();
  expect(planner.fragment()).toContain("method=full");
});

test("full, LoRA and QLoRA stand side by side at the stages that make sense", async ({ planner }) => {
  await planner.open("v=1&num_gpus=8");
  for (const method of ["Full", "LoRA", "QLoRA 4-bit"]) {
    await expect(planner.bar(`${method}, not sharded`)).toBeVisible();
    await expect(planner.bar(`${method}, ZeRO-2:`)).toBeVisible();
  }
  await planner.open("v=1");
  await expect(planner.bar(/ZeRO-1/)).toHaveCount(0);
});

test("bars are chosen by keyboard, and the focus stays", async ({ page, planner }) => {
  await planner.open("v=1&num_gpus=8");
  const bar = planner.bar(/^QLoRA 4-bit, ZeRO-2:/);
  await bar.focus();
  await page.keyboard.press("Enter");
  await expect(bar).toHaveAttribute("aria-pressed", "true");
  await expect(bar).toBeFocused();
});

test("the table says the same as the chart", async ({ page, planner }) => {
  await planner.open("v=1&num_gpus=8");
  await page.getByText("The comparison as a table").click();
  const row = page.getByRole("row", { name: /^LoRA, ZeRO-3 / }).first();
  await expect(async () => {
    const need = await row.getByRole("cell").first().innerText();
    const bar = planner.bar(/^LoRA, ZeRO-3:/);
    await expect(bar).toHaveAccessibleName(new RegExp(need.replace(".", "\\.")), { timeout: 100 });
  }).toPass();
  await row.getByRole("button", { name: "Use LoRA, ZeRO-3" }).click();
  await expect(row).toContainText("current plan");
});
