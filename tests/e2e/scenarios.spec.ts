import type { Page } from "@playwright/test";
import { expect, test } from "./test";
import { Planner, SCENARIOS } from "./pages/planner";

/** What the verdict says is used, GiB. */
async function used(planner: Planner): Promise<number> {
  const [, figure, unit] = /([\d.]+) (GiB|MiB) of/.exec(await planner.verdict.innerText())!;
  return unit === "GiB" ? Number(figure) : Number(figure) / 1024;
}

/** The peak that the timeline marks, GiB, and half of the last digit that it prints. */
async function timelinePeak(page: Page): Promise<{ peak: number; rounding: number }> {
  const title = await page.locator("[aria-labelledby=phases-title] .bar.selected > title").first().textContent();
  const [, figure, unit] = /: ([\d.]+) (GiB|MiB)/.exec(title!)!;
  const decimals = figure.split(".")[1]?.length ?? 0;
  const scale = unit === "GiB" ? 1 : 1024;
  return { peak: Number(figure) / scale, rounding: 0.5 / 10 ** decimals / scale };
}

test("the gallery begins with everyday plans; each situation names its guide, its figures and why ours differ", async ({ page, planner }) => {
  await planner.open();
  await planner.gallery.click();
  for (const title of SCENARIOS) await expect(page.getByRole("article", { name: title })).toBeVisible();
  const cards = page.getByRole("article").getByRole("article");
  await expect(cards.first()).toHaveAccessibleName(SCENARIOS[0]);
  await expect(cards.first().getByRole("listitem")).toHaveCount(4);
  for (const title of SCENARIOS.slice(1)) {
    const guide = page.getByRole("article", { name: title }).locator(".scenario-source");
    await expect(guide.getByRole("link")).toHaveAttribute("href", /^https:\/\/github\.com\/.*\.md$/);
    await expect(guide).toContainText(/Figures: (parts added up|expected, not measured|none of memory)/);
  }
  await page.getByRole("article", { name: SCENARIOS[1] }).getByText("Guide and ours").first().click();
  const table = page.getByRole("region", { name: "Figures of the guide beside ours: Full, state in bf16" });
  await expect(table.getByRole("row", { name: /In all.*59–61 GB/ })).toContainText("agrees within 10 %");
  await expect(table.getByRole("row", { name: /^Gradients/ })).toContainText("buckets");
  await page.goBack();
  await planner.runs();
  await expect(page.getByRole("article")).toHaveCount(0);
});

for (const title of SCENARIOS) {
  test(`${title}: every plan opens, its link round-trips, the timeline's peak is the verdict's`, async ({
    browser,
    context,
    page,
    planner,
  }) => {
    test.slow();
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await planner.open();
    await planner.gallery.click();
    const links = page.getByRole("article", { name: title }).getByRole("listitem").getByRole("link");
    await links.first().waitFor();
    const hrefs = await links.evaluateAll((all) => all.map((link) => link.getAttribute("href")!));
    expect(hrefs.length).toBeGreaterThan(1);
    for (const [place, href] of hrefs.entries()) {
      if (place > 0) await planner.gallery.click();
      await links.nth(place).click();
      await expect(page.getByRole("article")).toHaveCount(0);
      await expect.poll(() => `#${planner.fragment()}`).toBe(href);
      await expect(page.locator("#answer")).toBeFocused();
      await expect(planner.linkProblems).toHaveCount(0);
      await planner.copyLink.click();
      await expect(page.getByRole("button", { name: "Link copied" })).toBeVisible();
      expect(new URL(await page.evaluate(() => navigator.clipboard.readText())).hash).toBe(href);
      await planner.tab("Memory");
      // Both follow the replay when it arrives.
      await expect(async () => {
        const { peak, rounding } = await timelinePeak(page);
        // The verdict prints one decimal.
        expect(Math.abs(peak - (await used(planner)))).toBeLessThanOrEqual(rounding + 0.05 + 1e-9);
      }).toPass();
    }

    const fresh = await browser.newContext();
    const colleague = new Planner(await fresh.newPage());
    await colleague.open(hrefs.at(-1)!.slice(1));
    await expect(async () => {
      expect(await colleague.verdict.innerText()).toBe(await planner.verdict.innerText());
    }).toPass();
    await fresh.close();
  });
}

test("the peak of reinforcement is named in plain words", async ({ page, planner }) => {
  const batch = "per_device_train_batch_size=8&num_generations=8&steps_per_generation=1";
  await planner.open(`v=1&model=Qwen/Qwen2.5-7B&gpu=a100-40gb&task=grpo&${batch}`);
  await expect(planner.basis).toContainText(/of the policy update, not generation/);
});

test("fields of a task show for it and hide for others", async ({ page, planner }) => {
  await planner.open();
  const task = page.getByRole("combobox", { name: "Task" });
  const section = page.getByRole("heading", { name: "Preference and reinforcement" });
  await expect(section).toHaveCount(0);
  await task.selectOption("grpo");
  await planner.unfold();
  await expect(planner.number("Answers to each prompt")).toBeVisible();
  await expect(planner.number("Sequence length")).toHaveCount(0);
  await expect(planner.number("Share of the GPU")).toHaveCount(0);
  await page.getByRole("combobox", { name: "Engine" }).selectOption("vllm");
  await expect(planner.number("Share of the GPU")).toBeVisible();
  // Without a weight there is no reference to choose.
  await expect(page.getByRole("combobox", { name: "Reference" })).toHaveCount(0);
  await planner.number("Weight of the reference").fill("0.04");
  await expect(page.getByRole("combobox", { name: "Reference" })).toBeVisible();
  await task.selectOption("dpo");
  await expect(planner.number("Answers to each prompt")).toHaveCount(0);
  await expect(page.getByRole("combobox", { name: "Reference" })).toBeVisible();
  await expect(page.getByText("A pair is two sequences")).toBeVisible();
  await task.selectOption("sft");
  await expect(section).toHaveCount(0);
});

test("what does not divide is fixed by a click", async ({ page, planner }) => {
  await planner.open("v=1&task=grpo&per_device_train_batch_size=8&num_generations=8&steps_per_generation=1");
  await planner.unfold();
  await planner.number("Answers to each prompt").fill("5");
  const fix = page.getByRole("button", { name: "Set rollout.num_generations to 4" });
  await expect(page.getByRole("button", { name: "Set rollout.num_generations to 8" })).toBeVisible();
  await fix.click();
  await expect(planner.number("Answers to each prompt")).toHaveValue("4");
  await expect(page.getByText("2 prompts × 4 answers = 8 sequences")).toBeVisible();
});

test("a model beside the policy is added, shared and removed", async ({ page, planner }) => {
  await planner.open("v=1&task=grpo&num_generations=4&per_device_train_batch_size=4&steps_per_generation=1");
  await planner.unfold();
  await page.getByRole("button", { name: "Add a model" }).click();
  const added = page.getByRole("group", { name: "Model 1" });
  await added.getByRole("combobox", { name: "Role" }).selectOption("judge");
  await planner.tab("Memory");
  const models = page.getByRole("region", { name: "Models on the GPU" });
  await expect(models.getByRole("row", { name: /^Judge/ })).toContainText("own weights");
  await added.getByRole("checkbox", { name: /Shares/ }).check();
  await expect(models.getByRole("row", { name: /^Judge/ })).toContainText("with the policy, saves");
  await expect(models).toContainText("Sharing saves");
  await added.getByRole("button", { name: /Remove/ }).click();
  await expect(page.getByRole("region", { name: "Models on the GPU" })).toHaveCount(0);
});

test("the gallery opens on a narrow screen, in Chinese", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto("./?lang=zh");
  await page.getByRole("link", { name: "场景", exact: true }).click();
  await expect(page.getByRole("article").getByRole("article")).toHaveCount(7);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await page.getByRole("link", { name: "一份实例，共用", exact: true }).click();
  await expect(page.getByRole("article")).toHaveCount(0);
  expect(new URL(page.url()).search).toBe("?lang=zh");
});
