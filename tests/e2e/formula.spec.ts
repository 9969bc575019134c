import { expect, test } from "./test";

test("a row opens into its formula, with the numbers put in and its source", async ({ planner }) => {
  await planner.open("v=1", "memory");
  const row = await planner.openFormula("Feed-forward projections", "mlp.gate_proj");
  const told = async (term: string) => row.locator(`dt:text-is("${term}") + dd`).innerText();
  expect(await told("Formula")).toMatch(/[Lh]/);
  expect(await told("With numbers")).toMatch(/\d+ × \d+/);
  expect(await told("Result")).toMatch(/iB = [\d,]+ bytes$/);
  expect(await told("Source")).toContain("config.json");
});

test("an open formula stays open and follows the plan", async ({ planner }) => {
  await planner.open("v=1", "memory");
  const row = await planner.openFormula("Feed-forward projections", "mlp.gate_proj");
  const result = row.locator('dt:text-is("Result") + dd');
  const before = await result.innerText();
  await planner.pick(planner.model, "qwen3-8b", /^Qwen\/Qwen3-8B/);
  await expect(result).toBeVisible();
  await expect(result).not.toHaveText(before);
});

test("the parts of each phase add up", async ({ page, planner }) => {
  await planner.open("v=1", "memory");
  const table = page.getByRole("table", { name: "Phases as a table" });
  const bytes = (title: string | null) => BigInt(title!.replace(/\D/g, ""));
  for (const row of await table.locator("tbody tr").all()) {
    const titles = await Promise.all((await row.getByRole("cell").all()).map((cell) => cell.getAttribute("title")));
    const values = titles.map(bytes);
    const sum = values.pop();
    expect(values.reduce((all, part) => all + part, 0n)).toBe(sum);
  }
});
