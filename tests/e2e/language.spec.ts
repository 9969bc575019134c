import { expect, test } from "./test";

test.describe("a Chinese browser", () => {
  test.use({ locale: "zh-CN" });

  test("opens the page in Chinese", async ({ page, planner }) => {
    await planner.open();
    await expect(page.locator("html")).toHaveAttribute("lang", "zh-Hans");
    await expect(page.getByRole("region", { name: "结论" })).toContainText("放得下");
    await page.getByRole("tab", { name: "显存" }).click();
    await expect(page.getByRole("region", { name: "每个字节的去向" })).toContainText("优化器状态");
    await expect(page).toHaveTitle("Qwen3-4B · LoRA · A100 SXM 80 GB · Headroom");
  });

  test("an error says its fix in Chinese", async ({ page, planner }) => {
    await planner.open();
    const batch = page.getByRole("textbox", { name: "每卡批量" });
    await batch.fill("0");
    await expect(batch).toHaveAccessibleDescription(/0 不在 1 到 65536 之间/);
  });

  for (const tab of ["fix", "compare", "limits", "memory", "run", "scenarios", "how-it-works", "accuracy", "glossary"]) test(`no English sentence is left: ${tab}`, async ({ page, planner }) => {
    await page.goto(`./#v=1&method=qlora&num_gpus=8&zero_stage=2&offload_optimizer=cpu&r=x&foo=1&tab=${tab}`);
    await page.locator("main :is(section, article)").first().waitFor();
    await planner.settled();
    // Opening the outer rows makes the inner ones.
    for (let depth = 0; depth < 3; depth++) {
      await page.evaluate(async () => {
        for (const details of document.querySelectorAll("details")) details.open = true;
        await new Promise((done) => setTimeout(done, 200));
      });
    }
    // Formulas, sources and code are the same in every language.
    const sentences = await page.evaluate(() => {
      const skipped = "[hidden], code, .formula, dl dd, .formula-glance, option, textarea, select, svg, .brand h1";
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      const found: string[] = [];
      while (walker.nextNode()) {
        const text = walker.currentNode.textContent!.trim();
        const inCode = walker.currentNode.parentElement!.closest(skipped);
        if (!inCode && /[a-z]+ [a-z]+ [a-z]+/.test(text) && !/[\u4e00-\u9fff]/.test(text)) found.push(text);
      }
      return found;
    });
    expect(sentences).toEqual([]);
  });
});

test("the language can be switched and is remembered in the address", async ({ page, planner }) => {
  await planner.open("v=1&method=full");
  await page.getByLabel("Language").selectOption({ label: "简体中文" });
  await expect(page.getByRole("region", { name: "结论" })).toBeVisible();
  expect(page.url()).toContain("?lang=zh#v=1&method=full");
  await page.reload();
  await expect(page.getByRole("region", { name: "结论" })).toBeVisible();
  await page.getByLabel("语言").selectOption({ label: "English" });
  await expect(page.getByRole("region", { name: "Verdict" })).toBeVisible();
  await expect(page.locator("html")).toHaveAttribute("lang", "en");
});

test("a draft survives the switch of languages", async ({ page, planner }) => {
  await planner.open();
  await planner.number("Batch per GPU").fill("many");
  await page.getByLabel("Language").selectOption({ label: "简体中文" });
  await expect(page.getByRole("textbox", { name: "每卡批量" })).toHaveValue("many");
});
