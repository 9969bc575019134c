// Journeys from the visible words alone: each within six interactions and one screen of scrolling. An interaction is one control that is
// used, however many keys that takes; scrolling is what it takes to bring the control, or the answer, into sight.
import type { Locator, Page } from "@playwright/test";
import { expect, test } from "./test";
import { Planner } from "./pages/planner";

const MOST_INTERACTIONS = 6;
const MOST_SCREENS = 1;

class Journey {
  interactions = 0;
  screens = 0;

  constructor(private readonly page: Page) {}

  /** Brings `target` into sight, and counts how far that is. */
  async sees(target: Locator): Promise<void> {
    await target.waitFor();
    const away = await target.evaluate((element) => {
      // What a sticky head or the bar at the foot of a phone covers is not in sight.
      const covered = (selector: string) => {
        const box = document.querySelector(selector)?.getBoundingClientRect();
        return box && getComputedStyle(document.querySelector(selector)!).position !== "static" ? box.height : 0;
      };
      const [top, bottom] = [covered(".answer-head"), innerHeight - covered(".verdict-line")];
      const box = element.getBoundingClientRect();
      const inForm = element.closest(".form-column") !== null;
      const away = box.top < (inForm ? 0 : top) ? box.top - (inForm ? 0 : top) : Math.max(0, Math.min(box.bottom - bottom, box.top - top));
      scrollBy(0, away);
      return Math.abs(away) / innerHeight;
    });
    this.screens += away;
  }

  async clicks(target: Locator): Promise<void> {
    await this.sees(target);
    this.interactions += 1;
    await target.click();
  }

  async fills(target: Locator, text: string): Promise<void> {
    await this.sees(target);
    this.interactions += 1;
    await target.fill(text);
  }

  async picks(list: Locator, typed: string, name: RegExp): Promise<void> {
    await this.sees(list);
    this.interactions += 1;
    await list.click();
    await list.fill(typed);
    await this.page.getByRole("option", { name }).first().click();
  }

  ends(name: string): void {
    console.log(`${name}: ${this.interactions} interactions, ${this.screens.toFixed(2)} screens`);
    expect(this.interactions).toBeLessThanOrEqual(MOST_INTERACTIONS);
    expect(this.screens).toBeLessThanOrEqual(MOST_SCREENS);
  }
}

const WORDS = {
  en: { model: "Model", next: "Next: GPU", gpu: "GPU", length: "Sequence length", apply: /^Apply (all|this)/, copy: "Copy link", copied: "Link copied", fits: /^Fits/, fit: "Make it fit" },
  zh: { model: "模型", next: "下一步：显卡", gpu: "显卡", length: "序列长度", apply: /^(应用|全部应用|采用)/, copy: "复制链接", copied: "链接已复制", fits: /^放得下/, fit: "怎样才能放下" },
};

for (const [language, locale, viewport] of [
  ["en", "en-US", { width: 1440, height: 900 }],
  ["zh", "zh-CN", { width: 390, height: 844 }],
] as const) {
  test.describe(`${locale}, ${viewport.width} pixels`, () => {
    test.use({ locale, viewport });

    test("a LoRA that ran out of memory on a 4090 is made to fit, and the link opens elsewhere", async ({ page, planner, context, browser }) => {
      await context.grantPermissions(["clipboard-read", "clipboard-write"]);
      const words = WORDS[language];
      const journey = new Journey(page);
      await planner.openAsNewcomer();
      await journey.picks(page.getByRole("combobox", { name: words.model, exact: true }), "llama-3.1-8b", /^meta-llama\/Llama-3\.1-8B\b/);
      // A phone shows a part of the form at a time.
      if (viewport.width < 900) await journey.clicks(page.getByRole("button", { name: words.next }));
      await journey.picks(page.getByRole("combobox", { name: words.gpu, exact: true }), "4090", /RTX 4090/);
      await planner.settled();
      if (viewport.width < 900) await journey.clicks(page.locator(".verdict-line button").first());
      await expect(page.getByRole("region", { name: words.fit })).toHaveAttribute("aria-busy", "false", { timeout: 20_000 });
      await journey.clicks(page.getByRole("button", { name: words.apply }).first());
      await page.locator("html:not([data-pending]) section[data-basis=replayed]").waitFor();
      await expect(page.locator("section.verdict [role=status]")).toHaveText(words.fits);
      await journey.clicks(page.getByRole("button", { name: words.copy }).locator("visible=true").first());
      await expect(page.getByText(words.copied).locator("visible=true").first()).toBeVisible();
      journey.ends(`(a) OOM on a 4090, ${locale}`);
      const elsewhere = await (await browser.newContext({ locale })).newPage();
      await elsewhere.goto(await page.evaluate(() => navigator.clipboard.readText()));
      await expect(elsewhere.locator("section.verdict [role=status]")).toHaveText(words.fits);
      await elsewhere.close();
    });
  });
}

test("full, LoRA, 4-bit and ZeRO are compared on four A100", async ({ page, planner }) => {
  const journey = new Journey(page);
  await planner.openAsNewcomer();
  await journey.fills(planner.number("Number of GPUs"), "4");
  await journey.clicks(page.getByRole("tab", { name: "Compare" }));
  for (const name of [/^Full, ZeRO-3 [FTD]/, /^LoRA, not sharded/, /^QLoRA 4-bit, ZeRO-2 [FTD]/]) await journey.sees(planner.tier(name));
  journey.ends("(b) methods on 4 x A100");
});

test("GRPO is made to fit 24 GB", async ({ page, planner }) => {
  const journey = new Journey(page);
  await planner.openAsNewcomer();
  await journey.sees(page.getByRole("combobox", { name: "Task" }));
  journey.interactions += 1;
  await page.getByRole("combobox", { name: "Task" }).selectOption("grpo");
  await journey.picks(planner.model, "qwen3-8b", /^Qwen\/Qwen3-8B\b/);
  await journey.picks(planner.gpu, "4090", /RTX 4090/);
  await expect(page.getByRole("region", { name: "Make it fit" })).toHaveAttribute("aria-busy", "false", { timeout: 20_000 });
  await journey.clicks(page.getByRole("button", { name: /^Apply (all|this)/ }).first());
  expect(await planner.settledVerdict()).toMatch(/^Fits/);
  journey.ends("(c) GRPO on 24 GB");
});

test("an idle GPU is used", async ({ page, planner }) => {
  const journey = new Journey(page);
  await planner.openAsNewcomer();
  await journey.clicks(page.getByRole("button", { name: "Use: Same training, faster" }));
  await expect.poll(() => planner.fragment()).toContain("per_device_train_batch_size=");
  journey.ends("(d) idle GPU");
});

test("a config of one's own, broken and then good", async ({ page, planner }) => {
  const journey = new Journey(page);
  await planner.openAsNewcomer();
  await journey.clicks(page.getByText("Use your own config.json"));
  const box = page.getByRole("textbox", { name: "config.json" });
  const use = page.getByRole("button", { name: "Use this config" });
  await journey.fills(box, '{"model_type": "llama",');
  await journey.clicks(use);
  await expect(box).toHaveAccessibleDescription(/.+/);
  await journey.fills(box, JSON.stringify({ model_type: "llama", hidden_size: 2048, intermediate_size: 8192, num_hidden_layers: 16, num_attention_heads: 32, num_key_value_heads: 8, vocab_size: 128256 }));
  await journey.clicks(use);
  await expect.poll(() => planner.fragment()).toContain("config");
  await expect(planner.verdict).toContainText("Fits");
  journey.ends("(e) own config");
});

test("the largest model on a T4", async ({ page, planner }) => {
  // Models of every family, each by its program.
  test.setTimeout(60_000);
  const journey = new Journey(page);
  await planner.openAsNewcomer();
  await journey.picks(planner.gpu, "t4", /Tesla T4|NVIDIA T4/);
  await journey.clicks(page.getByRole("tab", { name: "Limits" }));
  await journey.clicks(page.getByRole("button", { name: "Largest models" }));
  await page.locator(".largest[aria-busy=false] li").first().waitFor({ timeout: 30_000 });
  await journey.sees(page.locator(".largest li").first());
  journey.ends("(g) largest model on a T4");
});

test("why are there gigabytes of activations?", async ({ page, planner }) => {
  const journey = new Journey(page);
  await planner.open("v=1&model=Qwen/Qwen3-4B&gpu=a100-80gb&method=lora&max_length=2048");
  await journey.clicks(page.getByRole("tab", { name: "Memory" }));
  await planner.settled();
  const activations = planner.breakdown.getByRole("heading", { name: /^Activations/ });
  // The legend leads there.
  await journey.clicks(page.getByRole("region", { name: "Memory over one step" }).getByRole("listitem").getByRole("button", { name: "Activations" }));
  await expect(activations).toBeInViewport();
  journey.ends("(h) activations");
});
