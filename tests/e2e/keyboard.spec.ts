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
    if (name.trim() === "Fix") break;
  }
  const at = (part: string) => seen.findIndex((name) => name.includes(part));
  const order = ["Skip to the verdict", "Glossary", "Trainer", "Model", "Number of GPUs", "Sequence length", "Copy link", "Compare", "LoRA, ZeRO-3 "];
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
  // What the tab shows is on the page before there is anything to step to.
  await page.getByRole("tabpanel", { name: "Run" }).getByRole("button").first().waitFor();
  await page.keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement!.closest("[role=tabpanel]") !== null)).toBe(true);
  // Each is a link of its own, and the browser's way back leads through them.
  await page.goBack();
  await expect(page.getByRole("tabpanel", { name: "Compare" })).toBeVisible();
});

test("a tab that is opened before an edit is answered keeps the edit", async ({ page, planner }) => {
  await planner.open("v=1");
  await planner.settled();
  // Both in one turn: the links still hold the plan from before.
  await page.evaluate(() => {
    const input = document.getElementById("field-num_gpus") as HTMLInputElement;
    input.value = "4";
    input.dispatchEvent(new Event("input", { bubbles: true }));
    document.getElementById("tab-compare")!.click();
  });
  await expect(page.getByRole("tabpanel", { name: "Compare" })).toBeVisible();
  await expect(planner.number("Number of GPUs")).toHaveValue("4");
  await expect.poll(() => planner.fragment()).toMatch(/num_gpus=4.*tab=compare/);
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

test("a changed field goes back to what its trainer gives by keyboard, and the focus stays in the form", async ({ page, planner }) => {
  await planner.openAsNewcomer();
  await planner.unfold();
  await planner.number("LoRA rank").fill("64");
  const back = page.getByRole("button", { name: "Reset LoRA rank to 16" });
  await expect(back).toHaveCount(1);
  await page.keyboard.press("Tab");
  await expect(back).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(planner.number("LoRA rank")).toHaveValue("16");
  await expect(planner.number("LoRA rank")).toBeFocused();
  // The same from the folded group.
  await page.keyboard.press("ArrowUp");
  await expect(planner.number("LoRA rank")).toHaveValue("32");
  await page.getByRole("heading", { name: "Training", exact: true }).click();
  await back.focus();
  await page.keyboard.press("Enter");
  await expect.poll(() => planner.fragment()).not.toContain("r=32");
  await expect(page.locator("#group-training")).toBeFocused();
});

test("up and down in a number go along its slider's stops", async ({ page, planner }) => {
  await planner.open();
  await planner.number("Sequence length").focus();
  await page.keyboard.press("ArrowUp");
  await expect(planner.number("Sequence length")).toHaveValue("1280");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await expect(planner.number("Sequence length")).toHaveValue("896");
  // The slider is no stop of its own.
  await page.keyboard.press("Shift+Tab");
  await expect(planner.number("Batch per GPU")).toBeFocused();
});

/** Most keys that the journey below may take. */
const MOST_KEYS = 40;

test("a LoRA that runs out of memory on a 4090 is made to fit and shared by keyboard alone", async ({ page, planner, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  let keys = 0;
  const press = async (key: string) => {
    keys += 1;
    await page.keyboard.press(key);
  };
  const type = async (text: string) => {
    keys += text.length;
    await page.keyboard.type(text);
  };
  /** Goes on to what `is` the wanted element by its accessible words. */
  const tabTo = async (words: RegExp) => {
    for (let steps = 0; steps < 40; steps++) {
      const name = await page.evaluate(() => {
        const element = document.activeElement as HTMLInputElement | null;
        return element?.getAttribute("aria-label") ?? element?.labels?.[0]?.textContent ?? element?.textContent ?? "";
      });
      if (words.test(name.trim())) return;
      await press("Tab");
    }
    throw new Error(`${words} is not reached by Tab`);
  };
  await planner.openAsNewcomer();
  await press("Tab");
  await tabTo(/^Skip to the plan$/);
  await press("Enter");
  await tabTo(/^Model$/);
  await type("qwen3-8b");
  await press("Enter");
  await tabTo(/^LoRA/);
  await tabTo(/^GPU$/);
  await type("4090");
  await press("Enter");
  await tabTo(/^Skip to the verdict$/);
  await press("Enter");
  expect(await planner.settledVerdict()).toContain("Does not fit");
  await page.locator("section.advice[aria-busy=false]").waitFor();
  await tabTo(/^Apply (all|this)/);
  await press("Enter");
  await expect(page.getByRole("heading", { name: /^Applied/ })).toBeFocused();
  expect(await planner.settledVerdict()).toContain("Fits");
  await tabTo(/^Copy link/);
  await press("Enter");
  const link = await page.evaluate(() => navigator.clipboard.readText());
  console.log(`journey by keyboard: ${keys} keys`);
  expect(keys).toBeLessThanOrEqual(MOST_KEYS);
  const other = await context.newPage();
  await other.goto(link);
  await expect(other.getByRole("combobox", { name: "Model" })).toHaveValue("Qwen/Qwen3-8B");
});
