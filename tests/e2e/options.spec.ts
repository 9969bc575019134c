import type { Page } from "@playwright/test";
import { expect, test } from "./test";

/** Sentences of the answer in Latin letters alone; formulas and code are the same in every language. */
function englishSentences(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const walker = document.createTreeWalker(document.querySelector("main .answer")!, NodeFilter.SHOW_TEXT);
    const found: string[] = [];
    while (walker.nextNode()) {
      const text = walker.currentNode.textContent!.trim();
      const inCode = walker.currentNode.parentElement!.closest("code, .formula, dl dd, .formula-glance, svg, caption");
      if (!inCode && /[a-z]+ [a-z]+ [a-z]+/.test(text) && !/[\u4e00-\u9fff]/.test(text)) found.push(text);
    }
    return found;
  });
}

test("the most that fits fits, and the next does not, by the page's own replay", async ({ planner }) => {
  const plan = "v=1&model=Qwen/Qwen3-1.7B&gpu=rtx-4090&max_length=1024";
  await planner.open(plan, "limits");
  await planner.solveFor("Batch per GPU");
  const use = planner.solve.getByRole("button", { name: /^Use Batch per GPU / });
  await expect(use).toBeVisible({ timeout: 20_000 });
  const batch = Number((await use.getAttribute("aria-label"))!.match(/\d+$/)![0]);
  await expect(planner.solve).toContainText(`${batch + 1}: `);
  await use.click();
  await expect(planner.number("Batch per GPU")).toHaveValue(String(batch));
  expect(await planner.settledVerdict()).toMatch(/^Fits/);
  await planner.open(`${plan}&per_device_train_batch_size=${batch + 1}`, "limits");
  await expect(planner.number("Batch per GPU")).toHaveValue(String(batch + 1));
  expect(await planner.settledVerdict()).not.toMatch(/^Fits/);
});

test("an answer goes when the plan it is about goes", async ({ planner }) => {
  await planner.open("v=1&model=Qwen/Qwen2.5-0.5B&gpu=rtx-4090", "limits");
  await planner.solveFor("LoRA rank");
  await expect(planner.solve.getByRole("status")).toContainText("fits", { timeout: 20_000 });
  await planner.number("Sequence length").fill("512");
  await expect(planner.solve.getByRole("status")).toHaveText("");
});

test("questions are those of the task", async ({ planner }) => {
  await planner.open("v=1&method=full", "limits");
  await expect(planner.solve.getByRole("button", { name: "Sequence length" })).toBeVisible();
  await expect(planner.solve.getByRole("button", { name: "LoRA rank" })).toBeHidden();
  await expect(planner.solve.getByRole("button", { name: "Answers a prompt" })).toBeHidden();
  await planner.open("v=1&task=grpo", "limits");
  await expect(planner.solve.getByRole("button", { name: "Answers a prompt" })).toBeVisible();
  await expect(planner.solve.getByRole("button", { name: "Sequence length" })).toBeHidden();
});

test("a click on the map sets batch and length", async ({ planner }) => {
  await planner.open("v=1&per_device_train_batch_size=4&max_length=1024", "limits");
  // Until then panels above move the map away from under the pointer.
  await planner.settled();
  const box = (await planner.map.boundingBox())!;
  // Among the cells, off the plan's own.
  const position = { x: box.width * 0.25, y: box.height * 0.2 };
  await planner.map.hover({ position });
  await expect(planner.mapPlace).not.toHaveAccessibleName(/^Batch 4, length 1024: /);
  const [, batch, length] = (await planner.mapPlace.getAttribute("aria-label"))!.match(/^Batch (\d+), length (\d+): .* GiB/)!;
  await planner.map.click({ position });
  await expect(planner.number("Batch per GPU")).toHaveValue(batch);
  await expect(planner.number("Sequence length")).toHaveValue(length);
});

test("the map is walked by keyboard", async ({ page, planner }) => {
  await planner.open("v=1&per_device_train_batch_size=4&max_length=1024", "limits");
  await expect(planner.mapPlace).toHaveAccessibleName(/^Batch 4, length 1024: /);
  await planner.map.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  await planner.settled();
  const [, batch, length] = (await planner.mapPlace.getAttribute("aria-label"))!.match(/^Batch (\d+), length (\d+): /)!;
  expect(Number(batch)).toBeGreaterThan(4);
  expect(Number(length)).toBeLessThan(1024);
  await page.keyboard.press("Enter");
  await expect(planner.number("Batch per GPU")).toHaveValue(batch);
  await expect(planner.number("Sequence length")).toHaveValue(length);
  await expect(planner.map).toBeFocused();
});

test("a broken link to compare with is kept and explained", async ({ page, planner }) => {
  await planner.open("v=1", "compare");
  const field = page.getByRole("textbox", { name: "Or paste a link to another plan" });
  await field.fill("https://example.org/nothing <script>alert(1)</script>");
  await page.getByRole("button", { name: "Compare", exact: true }).click();
  await expect(planner.pair.getByRole("alert")).toContainText("This is no link to a plan");
  await expect(field).toHaveValue("https://example.org/nothing <script>alert(1)</script>");
  await expect(planner.pair.getByRole("table")).toHaveCount(0);

  await field.fill("v=1&model=Qwen/Qwen3-4B&r=banana&method=qlora");
  await page.getByRole("button", { name: "Compare", exact: true }).click();
  await expect(planner.pair.getByRole("alert")).toContainText("lora.r");
  await expect(field).toHaveValue("v=1&model=Qwen/Qwen3-4B&r=banana&method=qlora");
  await expect(planner.pair.getByRole("row", { name: /^Method method lora qlora/ })).toBeVisible();
});

test("markup in a link to compare with stays text", async ({ page, planner }) => {
  await planner.open("v=1", "compare");
  const config = { model_type: "llama", hidden_size: 64, intermediate_size: 128, num_hidden_layers: 2, num_attention_heads: 4, vocab_size: 100 };
  const name = "<img src=x onerror=alert(1)>";
  const link = `v=1&config=${encodeURIComponent(JSON.stringify(config))}&name=${encodeURIComponent(name)}`;
  await page.getByRole("textbox", { name: "Or paste a link to another plan" }).fill(link);
  await page.getByRole("button", { name: "Compare", exact: true }).click();
  await expect(planner.pair.getByRole("table").first()).toContainText(name);
  expect(await page.locator("img").count()).toBe(0);
});

test("before and after show what differs and what it does", async ({ page, planner }) => {
  await planner.open("v=1&method=full", "compare");
  await page.getByRole("button", { name: "Keep this plan as “before”" }).click();
  await planner.choice("Method", /^LoRA/).check();
  await planner.number("Sequence length").fill("2048");
  const differs = planner.pair.getByRole("table", { name: "What differs" });
  await expect(differs.getByRole("row")).toHaveCount(3);
  await expect(differs.getByRole("row", { name: /^Method method full lora/ })).toBeVisible();
  await expect(differs.getByRole("row", { name: /^Sequence length max_length 1024 2048/ })).toBeVisible();
  const figures = planner.pair.getByRole("table", { name: "Results" });
  const verdict = await planner.settledVerdict();
  const need = verdict.match(/([\d.]+ GiB)/)![1];
  await expect(figures.getByRole("row", { name: /^Needs on each GPU/ }).getByRole("cell").nth(1)).toHaveText(need);
  await expect(figures.getByRole("row", { name: /^Tokens a step/ })).toContainText("2,048");

  await page.getByRole("button", { name: "Swap the two" }).click();
  await expect(planner.choice("Method", /Full/)).toBeChecked();
  await expect(differs.getByRole("row", { name: /^Method method lora full/ })).toBeVisible();
  await planner.pair.getByRole("button", { name: "Close" }).click();
  await expect(differs).toHaveCount(0);
});

test("the ladder's quickest preset that fits becomes the plan", async ({ page, planner }) => {
  await planner.open("v=1&model=Qwen/Qwen1.5-1.8B&gpu=rtx-3060&torch_dtype=float16", "compare");
  await page.getByText("Four DeepSpeed presets by GPU size").click();
  const ladder = page.getByRole("group", { name: "Four DeepSpeed presets by GPU size" });
  await expect(ladder.getByRole("button")).toHaveCount(4);
  const quickest = ladder.getByRole("button", { name: /quickest that fits/ });
  await expect(quickest).toHaveCount(1);
  const [, batch, length] = (await quickest.innerText()).match(/batch (\d+) × \d+, length (\d+)/)!;
  await quickest.click();
  await expect(planner.number("Batch per GPU")).toHaveValue(batch);
  await expect(planner.number("Sequence length")).toHaveValue(length);
});

test("the summary is copied as Markdown and as text", async ({ page, planner, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await planner.open("v=1&per_device_train_batch_size=4&gradient_accumulation_steps=8&method=lora", "run");
  const summary = page.getByRole("region", { name: "Before you start" });
  await expect(summary.getByRole("row", { name: "Effective batch 32" })).toBeVisible();
  await summary.getByRole("button", { name: "Copy as Markdown" }).click();
  await expect(summary.getByRole("button", { name: "Copied" })).toBeVisible();
  const markdown = await page.evaluate(() => navigator.clipboard.readText());
  expect(markdown).toContain("| Effective batch | 32 |");
  expect(markdown).toContain("- [ ] ");
  expect(markdown).toContain("#v=1&");
  await summary.getByRole("button", { name: "Copy as text" }).click();
  await expect(summary.getByRole("button", { name: "Copied" }).last()).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain("\nEffective batch: 32\n");
});

test.describe("where copying is refused", () => {
  test("the summary is there to be selected", async ({ page, planner }) => {
    await page.addInitScript(() => {
      Object.defineProperty(navigator, "clipboard", { value: undefined });
    });
    await planner.open("v=1", "run");
    await page.getByRole("button", { name: "Copy as text" }).click();
    await expect(page.getByRole("textbox", { name: /did not allow copying/ })).toHaveValue(/Effective batch: 1/);
  });
});

test.describe("in Chinese", () => {
  test.use({ locale: "zh-CN" });

  test("no tool speaks English", async ({ page, planner }) => {
    await planner.open("v=1&num_gpus=1&method=lora&expandable_segments=true", "limits");
    await page.getByRole("button", { name: "每卡批量", exact: true }).click();
    await page.getByText("以表格查看", { exact: true }).click();
    expect(await englishSentences(page)).toEqual([]);
    await page.getByRole("tab", { name: "对比" }).click();
    await page.getByRole("button", { name: "把当前方案保留为“之前”" }).click();
    await planner.unfold();
    await page.getByRole("textbox", { name: "LoRA 秩" }).fill("64");
    await page.getByText("按显存大小划分的四档 DeepSpeed 预设").click();
    await page.getByRole("textbox", { name: "或者粘贴另一个方案的链接" }).fill("nonsense");
    await page.getByRole("button", { name: "对比", exact: true }).click();
    await expect(page.getByRole("alert")).toContainText("这不是方案的链接");
    await expect(page.getByRole("table", { name: "不同之处" })).toBeVisible();
    expect(await englishSentences(page)).toEqual([]);
  });
});

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 844 } });

  test("nothing is wider than the screen", async ({ page, planner }) => {
    await planner.open("v=1&num_gpus=8", "limits");
    await planner.solveFor("Batch per GPU");
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await planner.tab("Compare");
    await page.getByRole("button", { name: "Keep this plan as “before”" }).click();
    await page.getByRole("group", { name: "Parts of the plan" }).getByRole("button", { name: "More" }).click();
    await planner.unfold();
    await page.locator("#field-lora-r").fill("64");
    await expect(planner.pair.getByRole("table").first()).toBeVisible();
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(390);
    // Stacked by method, each cell says which sharding it is.
    const name = planner.tier(/^LoRA, ZeRO-2 /).getByText("ZeRO-2", { exact: true });
    expect((await name.boundingBox())!.width).toBeGreaterThan(20);
  });
});

test("the largest models come by family as people train them, within ten seconds, and each fits once it is used", async ({ page, planner }) => {
  await planner.open("v=1&gpu=t4&method=qlora&torch_dtype=float16", "limits");
  await page.getByRole("button", { name: "Largest models" }).click();
  const offers = page.locator(".largest li");
  await expect(offers).toHaveCount(6, { timeout: 10_000 });
  const names = await offers.locator("strong").allInnerTexts();
  for (const family of ["Qwen/Qwen3-14B", "microsoft/phi-4", "google/gemma-4"]) {
    expect(names.some((name) => name.startsWith(family)), `${family} in ${names}`).toBe(true);
  }
  await expect(page.locator(".largest")).toContainText(/\d+ more families have a model that fits/);
  const name = await offers.first().locator("strong").innerText();
  await expect(offers.first()).toContainText("gradient_checkpointing false → true");
  await page.getByRole("button", { name: `Use ${name}` }).click();
  await expect(page.getByRole("heading", { name: /^Applied: \d+ fields changed$/ })).toBeFocused();
  expect(await planner.settledVerdict()).toContain("Fits");
  // Another model does not change the question.
  await expect(offers).toHaveCount(6);
});
