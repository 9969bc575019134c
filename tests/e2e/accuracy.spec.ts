import { expect, test } from "./test";

const CASES = "**/cases.txt";
const PLAN = "v=1&model=Qwen/Qwen2.5-1.5B&gpu=rtx-4090&method=lora";

test("accuracy: all measured steps first, those near the plan behind them, in the reader's language", async ({ page, planner }) => {
  await planner.open(PLAN);
  await page.getByRole("link", { name: "How accurate is this?" }).click();
  await expect(page.getByRole("heading", { name: "Accuracy" })).toBeVisible();
  await expect(page.getByText(/^1,\d{3} training steps were measured/)).toBeVisible();
  const all = page.getByRole("region", { name: "All measured steps" }).getByRole("table");
  await expect(all.locator("tbody")).toHaveCount(2);
  for (const row of await all.getByRole("row", { name: /^(Allocated|Required|Device)/ }).all()) {
    const [steps, median, most, worst] = await row.getByRole("cell").allInnerTexts();
    expect(Number(steps.replace(",", ""))).toBeGreaterThan(0);
    expect(median).toMatch(/^\d+\.\d\d %$/);
    expect(Number.parseFloat(most)).toBeGreaterThanOrEqual(Number.parseFloat(median));
    expect(worst).toMatch(/^(-\d+\.\d\d %|·)$/);
  }
  const table = page.getByRole("region", { name: "How accurate is this?" }).getByRole("table");
  // Three steps nearest, at most three more whose smallest GPU was searched; each with its figures.
  const steps = table.locator("tbody");
  await expect(steps.first()).toBeVisible();
  expect(await steps.count()).toBeGreaterThanOrEqual(3);
  expect(await steps.count()).toBeLessThanOrEqual(6);
  await expect(steps.first()).toContainText("LoRA");
  for (const row of await table.getByRole("row", { name: /^(Allocated|Required)/ }).all()) {
    const [measured, estimated, error] = await row.getByRole("cell").allInnerTexts();
    expect(measured).toMatch(/ [MG]iB$/);
    expect(estimated).toMatch(/ [MG]iB$/);
    expect(error).toMatch(/^[+-]\d+\.\d\d %$/);
  }
  // What follows for this plan comes with its own replay.
  await expect(page.getByText(/If this plan's estimate is off/)).toBeVisible();
  await expect(page.getByText(/held the measured figure in \d+ of the \d+ steps/)).toBeVisible();

  await page.getByRole("combobox", { name: "Language" }).selectOption("zh");
  await expect(page.getByRole("heading", { name: "准确度" })).toBeVisible();
  await expect(page.getByRole("columnheader", { name: "实测", exact: true })).toBeVisible();
});

test("measured steps that cannot be fetched are said to be missing, and fetched when the page is opened again", async ({ page, planner, complaints }) => {
  await page.route(CASES, (route) => route.abort());
  await planner.open(PLAN);
  await page.getByRole("link", { name: "How accurate is this?" }).click();
  await expect(page.getByText("The measured steps could not be fetched.")).toBeVisible();

  await page.unroute(CASES);
  await page.goBack();
  await planner.runs();
  await page.goForward();
  await expect(page.getByRole("region", { name: "All measured steps" }).getByRole("table")).toBeVisible();
  await expect(page.getByText("The measured steps could not be fetched.")).toBeHidden();
  // The browser tells of the request that was refused.
  expect(complaints.splice(0).every((complaint) => /cases\.txt|ERR_FAILED/.test(complaint))).toBe(true);
});
