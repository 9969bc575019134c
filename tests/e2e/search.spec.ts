import type { Page } from "@playwright/test";
import { expect, test } from "./test";

/** The lines of the open list. */
const linesOf = (page: Page) => page.getByRole("listbox").getByRole("option");

/** The line that Enter takes. */
/** The line that Enter would take, once there is one. */
const activeLine = async (page: Page, list: ReturnType<Page["getByRole"]>) => {
  await expect(list).toHaveAttribute("aria-activedescendant", /./);
  return page.locator(`[id="${await list.getAttribute("aria-activedescendant")}"]`);
};

test("4090 and Tab is an RTX 4090", async ({ page, planner }) => {
  await planner.open();
  await planner.gpu.focus();
  await page.keyboard.type("4090");
  await expect(await activeLine(page, planner.gpu)).toContainText("GeForce RTX 4090");
  await page.keyboard.press("Tab");
  await expect(planner.gpu).toHaveValue("GeForce RTX 4090");
  await expect(planner.gpu).toHaveAttribute("aria-expanded", "false");
  await expect(planner.number("Number of GPUs")).toBeFocused();
  await expect.poll(() => planner.fragment()).toContain("gpu=rtx-4090");
});

test("Tab leads from a list that scrolls to the next field", async ({ page, planner }) => {
  await planner.open();
  await planner.gpu.focus();
  await page.keyboard.type("4");
  await expect(await activeLine(page, planner.gpu)).toBeVisible();
  expect(await page.getByRole("listbox").evaluate((list) => list.scrollHeight > list.clientHeight)).toBe(true);
  await page.keyboard.press("Tab");
  await expect(planner.number("Number of GPUs")).toBeFocused();
});

test("a line that is clicked is taken, whatever is listed until the mouse is released", async ({ page, planner }) => {
  await planner.open();
  await planner.model.click();
  await planner.model.fill("qwen3");
  const line = linesOf(page).filter({ hasText: /^Qwen\/Qwen3-8B / });
  await line.hover();
  await page.mouse.down();
  await page.keyboard.type("-4b");
  // Time enough for the answer, which would take the line away.
  await page.waitForTimeout(1_000);
  await expect(line).toBeVisible();
  await page.mouse.up();
  await expect(planner.model).toHaveValue("Qwen/Qwen3-8B");
  await expect(planner.model).toHaveAttribute("aria-expanded", "false");
});

test("4090 and Enter is an RTX 4090, and the D and the laptop stand below it", async ({ page, planner }) => {
  await planner.open();
  await planner.gpu.click();
  await planner.gpu.fill("4090");
  const lines = linesOf(page);
  await expect(lines.nth(0)).toContainText(/RTX 4090 +23.5/);
  await expect(lines.nth(1)).toContainText("RTX 4090 D");
  await expect(lines.nth(2)).toContainText("RTX 4090 Laptop");
  await page.keyboard.press("Enter");
  await expect(planner.gpu).toHaveValue("GeForce RTX 4090");
  await expect(planner.gpu).toBeFocused();
});

test("what matches nothing is told with the fix, and stays as typed", async ({ page, planner }) => {
  await planner.open();
  await planner.gpu.focus();
  await page.keyboard.type("abacus");
  await expect(page.getByText("Nothing matches")).toBeVisible();
  // What would fix it stands in the list.
  await expect(linesOf(page)).toHaveText([/Another GPU/]);
  await page.keyboard.press("Tab");
  await expect(planner.gpu).toHaveValue("abacus");
  await expect(planner.gpu).toHaveAttribute("aria-invalid", "true");
  await expect(planner.gpu).toHaveAccessibleDescription(/abacus is not in the catalogue; give its memory/);
  await expect(page.getByRole("alert").filter({ hasText: "abacus" })).toBeVisible();
  await planner.gpu.focus();
  await page.keyboard.type("rtx4090");
  await page.keyboard.press("Tab");
  await expect(planner.gpu).toHaveAttribute("aria-invalid", "false");
  await expect(planner.verdict).toContainText("23.5 GiB");
});

test("Escape gives back what was chosen", async ({ page, planner }) => {
  await planner.open("v=1&gpu=h200");
  await planner.gpu.focus();
  await page.keyboard.type("4090");
  await page.keyboard.press("Escape");
  await expect(planner.gpu).toHaveValue(/H200/);
  await page.keyboard.press("Tab");
  await expect(planner.gpu).toHaveValue(/H200/);
  await expect.poll(() => planner.fragment()).toContain("gpu=h200");
});

test("a memory size lists the GPUs of that size, and leaving asks for one of them", async ({ page, planner }) => {
  await planner.open();
  await planner.gpu.focus();
  await page.keyboard.type("24GB");
  const lines = linesOf(page);
  for (const name of ["RTX 3090", "RTX 4090", "TITAN RTX", "L4"]) {
    await expect(lines.filter({ hasText: name }).first()).toBeAttached();
  }
  await expect(lines.filter({ hasText: "A100" })).toHaveCount(0);
  await page.keyboard.press("Tab");
  await expect(planner.gpu).toHaveAccessibleDescription(/24GB can be titan-rtx/);
  await page.getByRole("button", { name: "Set gpu to rtx-4090", exact: true }).click();
  await expect(planner.gpu).toHaveValue("GeForce RTX 4090");
});

test("an ambiguous name in a link is asked about", async ({ page, planner }) => {
  await planner.open("v=1&model=llama 3.1 8b&gpu=h100");
  await expect(planner.model).toHaveValue("meta-llama/Llama-3.1-8B");
  await expect(planner.gpu).toHaveValue("h100");
  await page.getByRole("button", { name: "Set gpu to h100-80gb-pcie" }).click();
  await expect(planner.gpu).toHaveValue("NVIDIA H100 PCIe 80 GB");
  await expect.poll(() => planner.fragment()).toContain("model=meta-llama/Llama-3.1-8B&gpu=h100-80gb-pcie");
});

test("Chinese names, copies and addresses of models are understood", async ({ page, planner }) => {
  await planner.open();
  await planner.model.focus();
  await page.keyboard.insertText("千问");
  await expect(linesOf(page).first()).toContainText("Qwen/Qwen3-");
  await planner.model.fill("https://huggingface.co/unsloth/Llama-3.1-8B-Instruct-bnb-4bit/tree/main");
  await page.keyboard.press("Tab");
  await expect(planner.model).toHaveValue("meta-llama/Llama-3.1-8B-Instruct");
});

test("a model that is not there is never taken for one that is", async ({ page, planner }) => {
  await planner.open();
  await planner.model.focus();
  await page.keyboard.type("Qwen2.5-Audio");
  await expect(page.getByText("Nothing has this name. The nearest:")).toBeVisible();
  await expect(linesOf(page).first()).toContainText("Qwen/Qwen2.5");
  expect(await planner.model.getAttribute("aria-activedescendant")).toBeNull();
  await page.keyboard.press("Enter");
  await expect(planner.model).toHaveValue("Qwen2.5-Audio");
  await expect(planner.model).toHaveAccessibleDescription(/not in the catalogue; paste its config.json.*Qwen\/Qwen2.5-7B/);
});

test("a very long text is refused and kept", async ({ page, planner }) => {
  await planner.open();
  const text = "a1".repeat(500_000);
  await planner.gpu.fill(text);
  await planner.model.focus();
  await expect(planner.gpu).toHaveValue(text);
  await expect(planner.gpu).toHaveAccessibleDescription(/Longer than 256 bytes/);
  expect(page.url().length).toBeLessThan(200);
});

test("out of memory on a 4090: right GPU, advice applied and link copied in 50 keys", async ({ page, planner, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await planner.open();
  let keys = 0;
  const press = async (key: string) => {
    keys += 1;
    await page.keyboard.press(key);
  };
  const type = async (text: string) => {
    for (const letter of text) await press(letter);
  };
  const focused = () =>
    page.evaluate(() => {
      const element = document.activeElement as HTMLInputElement;
      return element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent ?? element.textContent ?? "";
    });
  const tabTo = async (name: RegExp) => {
    do await press("Tab");
    while (!name.test(await focused()) && keys < 60);
  };

  await tabTo(/^Model/);
  await type("llama31 8b");
  await tabTo(/^GPU/);
  await type("4090");
  await tabTo(/Skip to the verdict/);
  await expect(planner.model).toHaveValue("meta-llama/Llama-3.1-8B");
  await expect(planner.gpu).toHaveValue("GeForce RTX 4090");
  await expect(planner.verdict).toContainText("Does not fit");
  const advice = page.getByRole("region", { name: /make it fit|fit/i }).filter({ has: page.getByRole("button", { name: /^Apply/ }) });
  await expect(advice).toHaveAttribute("aria-busy", "false", { timeout: 20_000 });
  await press("Enter");
  await tabTo(/^Apply/);
  await press("Enter");
  await expect(planner.verdict).toContainText(/Fits|Tight/);
  // What was applied is said where the focus goes, and the link can be copied there.
  await expect(page.getByRole("heading", { name: /^Applied/ })).toBeFocused();
  await tabTo(/Copy link/);
  await press("Enter");
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain("model=meta-llama/Llama-3.1-8B&gpu=rtx-4090");
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(`#${planner.fragment()}`);
  console.log(`keys: ${keys}`);
  expect(keys).toBeLessThanOrEqual(50);
});
