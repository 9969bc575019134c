import type { Page } from "@playwright/test";
import { expect, test } from "./test";

/** Plans that differ in what makes a total: sharding, quantisation, generation, a peak that strands memory, tiny and huge. */
const PLANS = [
  "v=1",
  "v=1&model=meta-llama/Llama-3.1-8B&per_device_train_batch_size=8&max_length=2048",
  "v=1&model=mistralai/Mistral-7B-v0.1&gpu=rtx-4090&method=qlora&gradient_checkpointing=true",
  "v=1&model=meta-llama/Llama-3.1-8B&method=full&num_gpus=8&zero_stage=3",
  "v=1&model=openai-community/gpt2&method=full&max_length=512&expandable_segments=true",
  "v=1&model=Qwen/Qwen2.5-7B&task=grpo&per_device_train_batch_size=8",
  "v=1&task=inference&max_length=4096",
  "v=1&model=meta-llama/Llama-3.1-405B&method=full&gpu=rtx-4090",
];

/** Hundredths of a GiB, as printed. */
const hundredths = (cell: string) => (/^\d+\.\d\d$/.test(cell) ? Number(cell.replace(".", "")) : 0);

async function phaseRows(page: Page): Promise<{ name: string; cells: string[]; peak: boolean }[]> {
  const rows = page.getByRole("region", { name: "Phases as a table" }).locator("tbody tr");
  return rows.evaluateAll((all) =>
    all.map((row) => ({
      name: row.querySelector("th")!.childNodes[0].textContent!.trim(),
      cells: [...row.querySelectorAll("td")].map((cell) => cell.textContent!),
      peak: row.classList.contains("peak"),
    })),
  );
}

for (const plan of PLANS) {
  test(`every total is the verdict's figure: ${plan}`, async ({ page, planner }) => {
    test.setTimeout(60_000);
    await planner.open(plan, "memory");
    const verdict = await planner.settledVerdict();
    const [, used, unit] = /([\d.]+) (GiB|TiB) (?:of|\/)/.exec(verdict)!;
    const decimals = used.split(".")[1].length;
    const need = Number(used) * (unit === "TiB" ? 1024 : 1);
    const rounding = (0.5 * (unit === "TiB" ? 1024 : 1)) / 10 ** decimals + 0.0051;

    // What stands further down follows the first advice.
    await planner.settled();
    const rows = await phaseRows(page);
    expect(rows.filter((row) => row.peak)).toHaveLength(1);
    for (const { cells, peak, name } of rows) {
      const [total, ...parts] = cells.map(hundredths).reverse();
      expect(parts.reduce((sum, part) => sum + part, 0), `${name}: ${cells}`).toBe(total);
      expect(total / 100, name).toBeLessThanOrEqual(need + rounding);
      if (peak) expect(Math.abs(total / 100 - need), `${name}: ${cells}, ${verdict}`).toBeLessThanOrEqual(rounding);
    }

    const heads = await planner.breakdown.locator(".category-rows h3 .number").allTextContents();
    const sum = heads.map((head) => hundredths(head.replace(" GiB", ""))).reduce((sum, part) => sum + part, 0);
    const peak = rows.find((row) => row.peak)!;
    expect(sum, `${heads}`).toBe(hundredths(peak.cells.at(-1)!));
    await expect(planner.breakdown.getByText("Fragmentation", { exact: true })).toBeVisible();
    await expect(planner.breakdown.getByText("CUDA context", { exact: true })).toBeVisible();
  });
}

test("before and after say of each phase what its table says", async ({ page, planner }) => {
  await planner.open("v=1&model=meta-llama/Llama-3.1-8B&per_device_train_batch_size=4&max_length=2048", "memory");
  await planner.settledVerdict();
  const before = await phaseRows(page);
  await planner.tab("Compare");
  await planner.pair.getByRole("button", { name: "Keep this plan" }).click();
  await planner.number("Batch per GPU").fill("2");
  await planner.settledVerdict();
  const table = planner.pair.getByRole("table", { name: /phase/i });
  for (const { name, cells } of before) {
    const shown = await table.getByRole("row", { name: new RegExp(`^${name} \\d`) }).locator("td").first().innerText();
    expect(Math.abs(Number.parseFloat(shown) - Number(cells.at(-1))), `${name}: ${shown}, ${cells}`).toBeLessThan(0.06);
  }
});

test("a plan that does not fit says in which request it fails", async ({ page, planner }) => {
  await planner.open("v=1&model=meta-llama/Llama-3.1-8B&per_device_train_batch_size=8&max_length=2048");
  await planner.settledVerdict();
  await expect(page.getByText(/Fails in step 1, Forward: “CUDA out of memory\. Tried to allocate 896 MiB”/)).toBeVisible();
  await expect(page.getByText(/On a smaller GPU/)).toHaveCount(0);
  // Loading alone can be too much; and a share of thousands of per cent is no figure to read.
  await planner.open("v=1&model=meta-llama/Llama-3.1-405B&method=full&gpu=rtx-4090");
  await page.reload();
  await planner.settledVerdict();
  await expect(page.getByText(/Fails while the model is loaded/)).toBeVisible();
  await expect(page.getByText(/\d+ times the memory of the GPU/)).toBeVisible();
});
