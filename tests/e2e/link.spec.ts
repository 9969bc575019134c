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
  // The engine writes the address: each choice is an entry once it is there.
  await planner.choice("Method", /Full/).check();
  await expect.poll(() => planner.fragment()).toContain("method=full");
  await planner.choice("Method", /QLoRA/).check();
  await expect.poll(() => planner.fragment()).toContain("method=qlora");
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

test("a link says what the page is about, in its title", async ({ page, planner }) => {
  await planner.open("v=1&model=Qwen/Qwen3-8B&gpu=rtx-4090&method=qlora");
  await expect(page).toHaveTitle("Qwen3-8B · QLoRA 4-bit · RTX 4090 · Headroom");
  await planner.choice("Method", /Full/).check();
  await expect(page).toHaveTitle("Qwen3-8B · full fine-tuning · RTX 4090 · Headroom");
});

test("a link chooses language, theme and the part to open, and the plan's own link has none of it", async ({ context, page, planner }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto("./#v=1&model=Qwen/Qwen3-8B&gpu=rtx-4090&view=map&lang=zh&theme=dark");
  await planner.runs();
  await expect(page.locator("html")).toHaveAttribute("lang", "zh-Hans");
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await expect(page.locator("#map-title")).toBeInViewport();
  expect(planner.fragment()).not.toContain("lang");
  await page.getByRole("region", { name: "结论" }).getByRole("button", { name: "复制链接" }).click();
  await expect(page.getByRole("button", { name: "链接已复制" })).toBeVisible();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toBe(`${SITE}#v=1&model=Qwen/Qwen3-8B&gpu=rtx-4090`);
  // The same in a page that is open already.
  await page.evaluate(() => (location.hash = "#v=1&model=Qwen/Qwen3-8B&gpu=rtx-4090&lang=en&theme=light&view=table"));
  await expect(page.locator("html")).toHaveAttribute("lang", "en");
  await expect(page.locator("html")).toHaveAttribute("data-theme", "light");
  await expect(page.getByRole("heading", { name: "Where every byte goes" })).toBeInViewport();
});

test("a link to two plans opens both, and can be copied again", async ({ context, page, planner }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const link = "v=1&model=Qwen/Qwen3-8B&gpu=rtx-4090&method=qlora&vs.method=lora&vs.gpu=l40s";
  await planner.open(link);
  await expect(planner.pair.getByRole("heading")).toBeInViewport();
  await expect(planner.pair.getByRole("row", { name: /GPU/ }).first()).toContainText("l40s");
  await planner.settled();
  await planner.pair.getByRole("button", { name: "Copy link to both" }).click();
  await expect(planner.pair.getByRole("button", { name: "Link copied" })).toBeVisible();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toBe(`${SITE}#v=1&model=Qwen/Qwen3-8B&gpu=rtx-4090&method=qlora&vs.gpu=l40s&vs.method=lora`);
});

test("a pasted model travels compressed", async ({ page, planner }) => {
  const z = "S87PS8tMt61Wys1PSc2JL6ksSFWyUlDKyUnMTVTSUVDKyExJSc2LL86sAokbGZhYAAXz8kvAqkwNVI1MFVSNzBRy84tSQcrzSnPjoVpyEitTi4qBygzNagE";
  await planner.open(`v=1&name=packed&gpu=l4&z=${z}`);
  await expect(planner.linkProblems).toHaveCount(0);
  await expect(page).toHaveTitle("packed · LoRA · L4 · Headroom");
});
