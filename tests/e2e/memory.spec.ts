import { expect, test } from "./test";

test("language and theme are remembered for the next visit", async ({ page, planner, context }) => {
  await planner.open();
  await page.getByLabel("Theme").selectOption({ label: "Dark" });
  await page.getByLabel("Language").selectOption({ label: "简体中文" });
  await expect(page.locator("html")).toHaveAttribute("lang", "zh-Hans");
  const next = await context.newPage();
  await next.goto("./");
  await expect(next.locator("html")).toHaveAttribute("lang", "zh-Hans");
  await expect(next.locator("html")).toHaveAttribute("data-theme", "dark");
  await next.close();
});

test("plans that were looked at can be opened again, and forgotten", async ({ page, planner }) => {
  await planner.open("v=1&model=Qwen/Qwen3-8B&gpu=rtx-4090&method=qlora", "memory");
  await page.goto("about:blank");
  await planner.open("v=1&model=Qwen/Qwen3-1.7B&gpu=t4");
  await page.getByText("Recent", { exact: true }).click();
  const link = page.getByRole("link", { name: "Qwen3-8B · QLoRA 4-bit · RTX 4090" });
  await link.click();
  await expect.poll(() => planner.fragment()).toBe("v=1&model=Qwen/Qwen3-8B&gpu=rtx-4090&method=qlora");
  await expect(link).toBeHidden();
  await page.getByText("Recent", { exact: true }).click();
  await page.getByRole("button", { name: "Forget these plans" }).click();
  await expect(link).toHaveCount(0);
  await expect(page.getByText("No plans yet.")).toBeVisible();
  expect(await page.evaluate(() => localStorage.getItem("headroom-recent"))).toBe("[]");
});

test("a browser that keeps nothing shows the page all the same", async ({ page, planner }) => {
  await page.addInitScript(() => Object.defineProperty(window, "localStorage", { get: () => { throw new Error("no storage"); } }));
  await planner.open();
  await page.getByLabel("Theme").selectOption({ label: "Dark" });
  await page.getByText("Recent", { exact: true }).click();
  await expect(page.getByText("No plans yet.")).toBeVisible();
});

test("a change is taken back and forth, by button and by key", async ({ page, planner }) => {
  await planner.open("v=1&model=Qwen/Qwen3-4B&gpu=a100-80gb");
  const undo = page.getByRole("button", { name: "Undo", exact: true });
  await expect(undo).toHaveAttribute("aria-disabled", "true");
  await planner.choice("Method", /QLoRA/).check();
  await undo.click();
  await expect(planner.choice("Method", /^LoRA/)).toBeChecked();
  await page.getByRole("button", { name: "Redo", exact: true }).click();
  await expect(planner.choice("Method", /QLoRA/)).toBeChecked();
  await page.keyboard.press("Control+z");
  await expect(planner.choice("Method", /^LoRA/)).toBeChecked();
  // In a text the keys are the browser's own.
  await planner.model.focus();
  await page.keyboard.press("Control+Shift+z");
  await expect(planner.choice("Method", /^LoRA/)).toBeChecked();
});

test("a word leads to what it means", async ({ page, planner }) => {
  await planner.open("v=1", "memory");
  await page.getByRole("button", { name: "Reserved", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Glossary" })).toBeVisible();
  await expect(page.locator("#word-reserved")).toBeInViewport();
});

test("on paper: settings and verdict first, three pages at most, light", async ({ page, planner }) => {
  for (const tab of ["fix", "compare", "limits", "memory", "run"] as const) {
    await page.emulateMedia({ colorScheme: "dark" });
    await planner.open("v=1&model=Qwen/Qwen3-8B&gpu=rtx-4090&method=qlora", tab);
    await page.reload();
    await planner.settled();
    const pdf = (await page.pdf({ format: "A4" })).toString("latin1");
    expect(pdf.match(/\/Type\s*\/Page\b(?!s)/g)!.length, tab).toBeLessThanOrEqual(3);
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    const settings = (await page.locator(".settings").boundingBox())!;
    const verdict = (await page.getByRole("region", { name: "Verdict" }).boundingBox())!;
    expect(settings.y + settings.height, tab).toBeLessThan(verdict.y + 1);
    expect(verdict.y + verdict.height, tab).toBeLessThan(900);
    expect(await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)).toBe("rgb(246, 247, 249)");
    await page.emulateMedia({ media: null });
  }
});
