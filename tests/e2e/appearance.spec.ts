import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { expect, test } from "./test";

const PLANS = {
  "the first plan": "",
  "a plan with everything": "v=1&method=qlora&num_gpus=8&zero_stage=2&offload_optimizer=cpu",
  "a plan that cannot be estimated": "v=1&model=nobody/nothing",
  "a broken link": "v=1&r=banana&frobnicate=1",
};

const TABS = ["fix", "compare", "limits", "memory", "run"] as const;
const PAGES = ["scenarios", "how-it-works", "accuracy", "glossary"];

const SCREENS = [
  { colorScheme: "light", width: 1440 },
  { colorScheme: "dark", width: 1440 },
  { colorScheme: "light", width: 390 },
] as const;

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

async function violations(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).withTags(RULES).analyze();
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`);
}

/** Opens everything that opens, of the many formulas the first. */
async function openAll(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const isRow = (details: Element) => details.closest("[aria-labelledby=breakdown-title]") !== null;
    for (const details of document.querySelectorAll("details")) details.open ||= !isRow(details);
    // A row with parts, and its first part.
    for (let depth = 0; depth < 2; depth++) {
      const row = document.querySelector<HTMLDetailsElement>("[aria-labelledby=breakdown-title] details:not([open])");
      if (row) row.open = true;
      await new Promise((done) => setTimeout(done, 100));
    }
  });
}

for (const { colorScheme, width } of SCREENS) {
  test.describe(`${colorScheme}, ${width} pixels`, () => {
    test.use({ colorScheme, viewport: { width, height: 900 } });
    // Looking at every element takes its time on a small machine.
    test.slow();

    for (const [name, fragment] of Object.entries(PLANS)) {
      test(`${name}: nobody is shut out, nothing sticks out`, async ({ page, planner }) => {
        const hasAnswer = !name.includes("cannot");
        for (const tab of hasAnswer ? TABS : TABS.slice(0, 1)) {
          await planner.open(fragment || "v=1", tab);
          await page.reload();
          await planner.settled();
          await openAll(page);
          expect(await violations(page), tab).toEqual([]);
          expect(await page.evaluate(() => document.documentElement.scrollWidth), tab).toBe(width);
        }
      });
    }
  });
}

for (const name of PAGES) {
  test(`the page ${name} shuts nobody out and fits every screen`, async ({ page, planner }) => {
    test.slow();
    for (const { colorScheme, width } of SCREENS) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await page.goto(`./#v=1&task=ppo&reward_models=%5B%7B%7D%5D&tab=${name}`);
      await page.getByRole("article").first().waitFor();
      await planner.settled();
      expect(await violations(page)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    }
  });
}

test("the open list of models shuts nobody out", async ({ page, planner }) => {
  test.slow();
  await planner.open();
  await planner.model.click();
  await page.keyboard.press("ArrowDown");
  expect(await violations(page)).toEqual([]);
});

test("Chinese does not stick out of a narrow screen", async ({ page, planner }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  for (const tab of [...TABS, ...PAGES]) {
    await page.goto(`./?lang=zh#v=1&method=qlora&num_gpus=8&zero_stage=2&offload_optimizer=cpu&tab=${tab}`);
    await page.locator("main :is(section, article)").first().waitFor();
    await planner.settled();
    await openAll(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth), tab).toBe(390);
  }
});

test("on a narrow screen the verdict stays in sight and leads to its figures", async ({ page, planner }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await planner.open();
  const line = page.getByRole("button", { name: /^Fits.*GiB/ });
  await expect(line).toBeInViewport();
  await line.click();
  await expect(planner.verdict).toBeInViewport();
});

test("the theme can be chosen against the system's and is remembered in the address", async ({ page, planner }) => {
  await page.emulateMedia({ colorScheme: "light" });
  await planner.open();
  const paper = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await paper();
  await page.getByLabel("Theme").selectOption({ label: "Dark" });
  const dark = await paper();
  expect(dark).not.toBe(light);
  await page.reload();
  await planner.heading.waitFor();
  expect(await paper()).toBe(dark);
  await page.getByLabel("Theme").selectOption({ label: "System" });
  expect(await paper()).toBe(light);
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await paper()).toBe(dark);
});
