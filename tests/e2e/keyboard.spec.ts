import { expect, test } from "./test";

test("a model is found and chosen by keyboard alone", async ({ page, planner }) => {
  await planner.open();
  await planner.model.focus();
  await page.keyboard.type("mistral-7b");
  await expect(planner.model).toHaveAttribute("aria-expanded", "true");
  await page.keyboard.press("ArrowDown");
  const active = await planner.model.getAttribute("aria-activedescendant");
  await expect(page.locator(`#${active}`)).toContainText("Mistral-7B");
  await page.keyboard.press("Enter");
  await expect(planner.model).toHaveAttribute("aria-expanded", "false");
  await expect(planner.model).toHaveValue(/Mistral-7B/);
  await expect(planner.model).toBeFocused();
});

test("Escape closes a list and keeps the choice", async ({ page, planner }) => {
  await planner.open();
  await planner.model.focus();
  await page.keyboard.type("zzz");
  await expect(page.getByText("Nothing matches")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(planner.model).toHaveValue("Qwen/Qwen3-4B");
});

test("the whole page can be reached by Tab, in the order it is read", async ({ page, planner }) => {
  await planner.open("v=1&num_gpus=4", "compare");
  const seen: string[] = [];
  for (let press = 0; press < 120; press++) {
    await page.keyboard.press("Tab");
    const name = await page.evaluate(() => {
      const element = document.activeElement;
      if (!element || element === document.body) return "";
      const label = element.getAttribute("aria-label") ?? (element as HTMLInputElement).labels?.[0]?.textContent;
      return label ?? element.textContent ?? "";
    });
    seen.push(name.trim());
    if (name.includes("LoRA, ZeRO-3:")) break;
  }
  const at = (part: string) => seen.findIndex((name) => name.includes(part));
  const order = ["Skip to the verdict", "Glossary", "Model", "Number of GPUs", "Sequence length", "Copy link", "Compare", "LoRA, ZeRO-3:"];
  const places = order.map(at);
  expect(places).not.toContain(-1);
  expect(places).toEqual([...places].sort((a, b) => a - b));
});

test("a reader can skip the form", async ({ page, planner }) => {
  await planner.open();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement!.closest("#answer") !== null)).toBe(true);
});

test("a choice among buttons is made with the arrows", async ({ page, planner }) => {
  await planner.open();
  await planner.choice("Method", /^LoRA/).focus();
  await page.keyboard.press("ArrowRight");
  await expect(planner.choice("Method", /QLoRA/)).toBeChecked();
  await expect.poll(() => planner.fragment()).toContain("method=qlora");
});

test("tabs are walked with the arrows, and are one stop for Tab", async ({ page, planner }) => {
  await planner.open();
  await page.getByRole("tab", { name: "Fix" }).focus();
  await page.keyboard.press("ArrowRight");
  await expect(page.getByRole("tab", { name: "Compare" })).toBeFocused();
  await expect(page.getByRole("tabpanel", { name: "Compare" })).toBeVisible();
  await expect.poll(() => planner.fragment()).toContain("tab=compare");
  await page.keyboard.press("End");
  await expect(page.getByRole("tab", { name: "Run" })).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement!.closest("[role=tabpanel]") !== null)).toBe(true);
  // Each is a link of its own, and the browser's way back leads through them.
  await page.goBack();
  await expect(page.getByRole("tabpanel", { name: "Compare" })).toBeVisible();
});

test("the verdict stays in sight above what is read", async ({ page, planner }) => {
  await planner.open("v=1", "memory");
  await planner.settled();
  await page.mouse.move(900, 600);
  await page.mouse.wheel(0, 1500);
  await expect(planner.verdict).toBeInViewport();
  await expect(page.getByRole("tab", { name: "Memory" })).toBeInViewport();
  await expect(planner.copyLink).toBeInViewport();
});
