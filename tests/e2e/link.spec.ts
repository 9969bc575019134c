import { SITE } from "./sites";
import { expect, test } from "./test";
import { Planner } from "./pages/planner";

test("a copied link opens in a fresh browser to the same plan", async ({ browser, context, page, planner }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await planner.open();
  await planner.pick(planner.model, "mistral 7b", /^mistralai\/Mistral-7B-v0\.1/);
  await planner.choice("Method", /QLoRA/).check();
  await planner.number("Sequence length").fill("3000");
  await planner.copyLink.click();
  await expect(page.getByRole("button", { name: "Link copied" })).toBeVisible();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  expect(link.startsWith(`${SITE}#v=1&`)).toBe(true);
  const verdict = await planner.settledVerdict();

  const fresh = await browser.newContext();
  const colleague = new Planner(await fresh.newPage());
  await colleague.page.goto(link);
  await expect(colleague.model).toHaveValue("mistralai/Mistral-7B-v0.1");
  await expect(colleague.choice("Method", /QLoRA/)).toBeChecked();
  await expect(colleague.number("Sequence length")).toHaveValue("3000");
  expect(await colleague.settledVerdict()).toBe(verdict);
  await fresh.close();
});

test("a link that cannot be copied is there to be selected", async ({ page, planner }) => {
  await page.addInitScript(() => {
    navigator.clipboard.writeText = () => Promise.reject(new DOMException("no", "NotAllowedError"));
  });
  await planner.open("v=1&method=full");
  await planner.copyLink.click();
  await expect(page.getByLabel(/copy it yourself/)).toHaveValue(/^http.*#v=1&.*method=full$/);
});

test("back and forward walk through the choices", async ({ page, planner }) => {
  await planner.open();
  await planner.choice("Method", /Full/).check();
  await planner.choice("Method", /QLoRA/).check();
  await page.goBack();
  await expect(planner.choice("Method", /Full/)).toBeChecked();
  await page.goBack();
  await expect(planner.choice("Method", /^LoRA/)).toBeChecked();
  await page.goForward();
  await expect(planner.choice("Method", /Full/)).toBeChecked();
});

test("a slider's way is one entry of the history", async ({ page, planner }) => {
  await planner.open();
  await page.getByRole("slider", { name: "Sequence length" }).focus();
  for (let step = 0; step < 12; step++) await page.keyboard.press("ArrowRight");
  await expect.poll(() => planner.fragment()).toContain("max_length=8192");
  await page.goBack();
  await expect(planner.number("Sequence length")).toHaveValue("1024");
});

test("an edited address is followed", async ({ page, planner }) => {
  await planner.open("v=1&method=full");
  await page.evaluate(() => (location.hash = "#v=1&method=qlora"));
  await expect(planner.choice("Method", /QLoRA/)).toBeChecked();
});
