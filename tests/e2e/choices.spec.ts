import type { Page } from "@playwright/test";
import { SCENARIOS } from "./pages/planner";
import { expect, test } from "./test";

/** A value of a list, of buttons side by side, or of a switch. */
type Choice = { selector: string; value: string };

/** Every choice that the form offers now; of a list of all models every tenth, as the core's own test takes each. */
function choices(page: Page): Promise<Choice[]> {
  return page.evaluate(() => {
    const offered: Choice[] = [];
    for (const list of document.querySelectorAll<HTMLSelectElement>("form.form select")) {
      const step = list.options.length > 100 ? 10 : 1;
      for (let at = 0; at < list.options.length; at += step) {
        offered.push({ selector: `#${list.id}`, value: list.options[at].value });
      }
    }
    for (const button of document.querySelectorAll<HTMLInputElement>("form.form input[type=radio]")) {
      offered.push({ selector: `input[name="${button.name}"][value="${button.value}"]`, value: "" });
    }
    for (const box of document.querySelectorAll<HTMLInputElement>("form.form input[type=checkbox][id]")) {
      offered.push({ selector: `#${box.id}`, value: "" });
    }
    return offered;
  });
}

/** Takes each choice from the plan of the address, and says which led to no verdict. */
function walk(page: Page, offered: Choice[]): Promise<string[]> {
  return page.evaluate(async (offered) => {
    // Until the page shows what became of it: the engine answers from a worker, and the first model of a recorded class waits for
    // its program.
    const waits = () =>
      document.documentElement.hasAttribute("data-pending") || document.querySelector("[data-fetch-now]") !== null;
    const turn = async () => {
      do await new Promise((done) => setTimeout(done));
      while (waits());
    };
    const wrong: string[] = [];
    for (const { selector, value } of offered) {
      // The address still holds the beginning: nothing is written into it here.
      window.dispatchEvent(new PopStateEvent("popstate"));
      await turn();
      const control = document.querySelector<HTMLInputElement | HTMLSelectElement>(selector);
      if (!control) {
        wrong.push(`${selector} is gone`);
      } else if (control instanceof HTMLSelectElement) {
        control.value = value;
        control.dispatchEvent(new Event("change", { bubbles: true }));
      } else {
        control.click();
      }
      await turn();
      const verdict = document.querySelector("section.verdict");
      const word = verdict?.querySelector("[role=status] .verdict-word")?.textContent;
      if (!verdict?.hasAttribute("data-basis") || !word || verdict.querySelector(".verdict-problems")) {
        wrong.push(`${selector} = ${value}: ${verdict?.textContent}`);
      }
    }
    return wrong;
  }, offered);
}

// The core's own test takes every choice from every plan of the gallery; here the page does it from one of each situation.
for (const beginning of ["the first plan", ...SCENARIOS]) {
  test(`every choice of every list leads to a verdict, from: ${beginning}`, async ({ page, planner }) => {
    test.setTimeout(120_000);
    await page.addInitScript(() => {
      // Hundreds of entries a minute are more than a browser's history takes.
      history.pushState = () => {};
      history.replaceState = () => {};
    });
    await planner.open("v=1");
    if (SCENARIOS.includes(beginning)) {
      await planner.gallery.click();
      const plan = page.getByRole("article", { name: beginning }).getByRole("listitem").getByRole("link").first();
      const href = (await plan.getAttribute("href"))!;
      await page.goto("about:blank");
      await planner.open(href.slice(1));
    }
    await planner.unfold();
    const offered = await choices(page);
    expect(offered.length).toBeGreaterThan(50);
    expect(await walk(page, offered)).toEqual([]);
  });
}

test("choosing GRPO says which fields changed with it, and takes it back", async ({ page, planner }) => {
  await planner.open();
  const task = page.getByRole("combobox", { name: "Task" });
  await task.selectOption("grpo");
  await expect(planner.verdict).toContainText(/Fits|Tight|Does not fit/);
  const note = page.getByRole("status").filter({ hasText: "Changed with it" });
  await expect(note).toContainText("per_device_train_batch_size 1 → 8");
  await expect(planner.number("Batch per GPU")).toHaveValue("8");
  await note.getByRole("button", { name: "Undo" }).click();
  await expect(task).toHaveValue("sft");
  await expect(planner.number("Batch per GPU")).toHaveValue("1");
  await expect(note).toHaveCount(0);
});

test("a value that nothing can make possible is not shown as chosen", async ({ page, planner }) => {
  await planner.open("v=1&gpu=t4");
  await planner.unfold();
  const attention = page.getByRole("combobox", { name: "Attention", exact: true });
  await attention.selectOption("flash_attention_2");
  await expect(attention).toHaveValue("sdpa");
  await expect(page.getByRole("status").filter({ hasText: "Changed with it" })).toContainText("flash_attention_2 → sdpa");
});

test("a plan that contradicts itself has no verdict", async ({ page, planner }) => {
  await planner.open("v=1&task=grpo&per_device_train_batch_size=3");
  await expect(page.getByText("This plan cannot be estimated yet").first()).toBeVisible();
  await expect(planner.verdict).toBeEmpty();
  await planner.number("Batch per GPU").fill("8");
  await expect(planner.verdict).toContainText(/Fits|Tight|Does not fit/);
  // The last verdict is gone as soon as it is not this plan's.
  await planner.number("Batch per GPU").fill("3");
  await expect(planner.verdict).toBeEmpty();
});
