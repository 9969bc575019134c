// What screen readers are told of an edit: one thing, whatever comes of it on the page.
import type { Page } from "@playwright/test";
import { expect, test } from "./test";

/** Notes what any live region comes to say, each region's changes of one turn together. */
async function listen(page: Page): Promise<void> {
  await page.evaluate(() => {
    const heard: string[] = [];
    Object.assign(window, { heard });
    const LIVE = "[role=status], [role=alert], [role=log], output, [aria-live]";
    new MutationObserver((mutations) => {
      const regions = new Set<Element>();
      for (const { target } of mutations) {
        const region = (target instanceof Element ? target : target.parentElement)?.closest(LIVE);
        if (region && region.getAttribute("aria-live") !== "off") regions.add(region);
      }
      for (const region of regions) if (region.textContent?.trim()) heard.push(region.textContent.trim());
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
}

/** What has been said since, once nothing more will be. */
async function heard(page: Page): Promise<string[]> {
  await page.locator("html:not([data-computing], [data-pending])").waitFor();
  await page.waitForTimeout(1_000);
  return page.evaluate(() => (window as unknown as { heard: string[] }).heard.splice(0));
}

for (const tab of ["fix", "compare", "limits", "memory", "run"] as const) {
  test(`an edit is announced once, with the tab ${tab} open`, async ({ page, planner }) => {
    await planner.open("v=1&model=meta-llama/Llama-3.1-8B&gpu=rtx-4090&method=lora", tab);
    await planner.settledVerdict();
    await planner.unfold();
    await listenFromNow(page);
    await planner.number("Sequence length").fill("512");
    const said = await heard(page);
    expect(said).toHaveLength(1);
    expect(said[0]).toMatch(/^(Fits|Tight|Does not fit)\. .*GiB of/);
    await page.getByRole("switch", { name: "Gradient checkpointing" }).click();
    expect(await heard(page)).toHaveLength(1);
  });
}

/** Listens from now on; what the page says when it opens is no edit's. */
async function listenFromNow(page: Page): Promise<void> {
  await page.locator("html:not([data-computing])").waitFor();
  await page.waitForTimeout(1_000);
  await listen(page);
}

test("what a choice changes besides is announced with the verdict", async ({ page, planner }) => {
  await planner.open("v=1&model=Qwen/Qwen3-4B&gpu=a100-80gb&method=lora");
  await listenFromNow(page);
  await page.getByRole("combobox", { name: "Task" }).selectOption("grpo");
  const said = await heard(page);
  expect(said).toHaveLength(1);
  expect(said[0]).toContain("per_device_train_batch_size 1 → 8");
  expect(said[0]).toMatch(/GiB of/);
});
