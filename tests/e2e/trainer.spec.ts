import { expect, test } from "./test";

test("a newcomer starts with TRL's newest version and its defaults", async ({ page, planner }) => {
  await planner.openAsNewcomer();
  await planner.unfold();
  await expect(page.getByRole("combobox", { name: "Trainer", exact: true })).toHaveValue("trl");
  await expect(page.getByRole("combobox", { name: "Trainer version" })).toHaveValue("1.16.0");
  await expect(page.getByRole("switch", { name: /checkpointing/i })).toBeChecked();
  await expect(planner.verdict).not.toBeEmpty();
});

test("another trainer brings its defaults, says which, and leaves what was chosen", async ({ page, planner }) => {
  await planner.openAsNewcomer();
  await planner.unfold();
  const batch = planner.number("Batch per GPU");
  await batch.fill("3");
  await batch.press("Enter");
  const trainer = page.getByRole("combobox", { name: "Trainer", exact: true });
  await trainer.selectOption("custom");
  await expect(page.getByRole("combobox", { name: "Trainer version" })).toHaveCount(0);
  await expect(page.getByRole("switch", { name: /checkpointing/i })).not.toBeChecked();
  await expect(batch).toHaveValue("3");
  const said = page.locator(".field-adjusted", { hasText: "gradient_checkpointing" });
  await expect(said).toBeVisible();
  await said.getByRole("button").click();
  await expect(trainer).toHaveValue("trl");
  await expect(page.getByRole("switch", { name: /checkpointing/i })).toBeChecked();
});

test("a trainer that is not modelled cannot be chosen, and a link with one is refused by name", async ({ page, planner }) => {
  await planner.openAsNewcomer();
  const unsloth = page.getByRole("combobox", { name: "Trainer", exact: true }).locator("option[value=unsloth]");
  await expect(unsloth).toBeDisabled();
  await planner.open("v=1&trainer=verl");
  await expect(page.getByText(/verl is not modelled/).first()).toBeVisible();
});

test("a link holds the trainer, its version and what it chose", async ({ page, planner }) => {
  await planner.openAsNewcomer();
  await page.getByRole("combobox", { name: "Trainer version" }).selectOption("1.0.0");
  await expect.poll(() => page.url()).toContain("trainer=trl");
  expect(page.url()).toContain("trainer_version=1.0.0");
  await page.reload();
  await planner.unfold();
  await expect(page.getByRole("combobox", { name: "Trainer version" })).toHaveValue("1.0.0");
  await expect(page.getByRole("switch", { name: /checkpointing/i })).toBeChecked();
});
