import type { Locator, Page } from "@playwright/test";
import { expect, test } from "./test";

/** A plan that needs far more than its GPU has, yet fits with changes. */
const TOO_LARGE =
  "v=1&model=Qwen/Qwen2.5-1.5B&memory_gib=12&compute_capability=8.6&method=full" +
  "&per_device_train_batch_size=4&gradient_accumulation_steps=4&max_length=1024";

/** A plan that no change brings onto its GPU. */
const HOPELESS = "v=1&model=meta-llama/Llama-3.1-405B&memory_gib=4&compute_capability=8.6&method=full";

/** A plan that leaves most of its GPU idle. */
const IDLE =
  "v=1&model=Qwen/Qwen2.5-0.5B&gpu=rtx-4090&per_device_train_batch_size=1&gradient_accumulation_steps=16&max_length=512";

/** The panel once it answers all that was done, and everything it shows has been replayed. */
async function settled(page: Page, name: string | RegExp): Promise<Locator> {
  await page.locator("html:not([data-pending])").waitFor();
  const panel = page.getByRole("region", { name });
  await panel.waitFor();
  await expect(panel).toHaveAttribute("aria-busy", "false", { timeout: 20_000 });
  return panel;
}

/** An integer as the page writes it. */
function integer(text: string): number {
  return Number(text.replaceAll(",", "").replace("−", "-").replace("+", ""));
}

test("a plan that does not fit is made to fit with one click, and back undoes it", async ({ page, planner }) => {
  await planner.open(TOO_LARGE);
  const panel = await settled(page, "Make it fit");
  const before = planner.fragment();
  await expect(panel.getByRole("radio")).toHaveCount(3);
  await expect(panel.getByRole("radio", { name: /The same result.*fits with/ })).toBeChecked();
  await expect(panel.getByText("use_liger_kernel=True").first()).toBeVisible();
  await expect(panel).toContainText("the effective batch stays 16");
  await panel.getByRole("button", { name: /^Apply (all|this)/ }).focus();
  await page.keyboard.press("Enter");
  // The button is gone; the focus waits where it is said what changed.
  await expect(page.getByRole("heading", { name: /^Applied: \d+ fields? changed$/ })).toBeFocused();
  expect(await planner.settledVerdict()).toContain("Fits");
  await expect(page.getByText(/= 16 sequences a step/)).toBeVisible();
  await page.goBack();
  await expect(page.getByRole("region", { name: "Make it fit" })).toBeVisible();
  await expect.poll(() => planner.fragment()).toBe(before);
});

test("what was applied is listed, can be copied as code and undone, and is forgotten once edited", async ({ page, planner, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await planner.open(TOO_LARGE);
  const panel = await settled(page, "Make it fit");
  await panel.getByRole("button", { name: /^Only this: Liger kernels/ }).click();
  const note = page.getByRole("complementary", { name: "Applied: 1 field changed" });
  await expect(note.getByRole("status")).toContainText("use_liger_kernel false → true");
  await page.keyboard.press("Tab");
  await expect(note.getByRole("button", { name: "Undo" })).toBeFocused();
  await note.getByRole("button", { name: "Copy code" }).click();
  await expect(note.getByRole("button", { name: "Code copied" })).toBeVisible();
  const code = await page.evaluate(() => navigator.clipboard.readText());
  expect(code).toMatch(/^# TrainingArguments[^\n]*\nuse_liger_kernel=True,\n$/);
  const entries = await page.evaluate(() => history.length);
  await note.getByRole("button", { name: "Undo" }).press("Enter");
  await expect(note).toHaveCount(0);
  await expect.poll(() => planner.fragment()).not.toContain("use_liger_kernel");
  expect(await page.evaluate(() => history.length)).toBe(entries + 1);
  await expect.poll(() => page.evaluate(() => document.activeElement!.tagName)).toBe("H2");
  // A tier's button stays: the note comes, the focus stays.
  await planner.tab("Compare");
  const tier = page.locator("button.tier:not([aria-pressed=true])").first();
  await tier.focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("complementary", { name: /^Applied/ })).toBeVisible();
  await page.waitForTimeout(300);
  expect(await page.evaluate(() => document.activeElement!.tagName)).not.toBe("BODY");
  await planner.number("Sequence length").fill("512");
  await expect(page.getByRole("complementary", { name: /^Applied/ })).toHaveCount(0);
});

test("nothing is advised that a later replay could contradict", async ({ page, planner }) => {
  await page.addInitScript(() => {
    const seen: string[] = [];
    Object.assign(window, { seen });
    setInterval(() => {
      const panel = document.querySelector("section.advice");
      const advised = panel?.querySelector<HTMLElement>(".advised");
      if (!panel || !advised) return;
      const busy = panel.getAttribute("aria-busy") === "true";
      const working = panel.querySelector("[role=status]")!.textContent;
      // What the changes save comes a frame later, and the picture of the same figures once its place has been measured.
      const copy = advised.cloneNode(true) as HTMLElement;
      copy.querySelectorAll(".drawing").forEach((drawing) => drawing.remove());
      const later = copy.querySelector(".savings");
      later?.remove();
      const isStale = advised.classList.contains("stale");
      const text = isStale ? "" : copy.textContent;
      const savings = isStale ? "" : (later?.textContent ?? "");
      const state = JSON.stringify({ busy, working, text, savings });
      if (seen.at(-1) !== state) seen.push(state);
    }, 4);
  });
  for (const fragment of [IDLE, TOO_LARGE, HOPELESS]) {
    await planner.open(fragment);
    await page.reload();
    await settled(page, /Make it fit|Use the GPU/);
    const seen = await page.evaluate(() => (window as unknown as { seen: string[] }).seen);
    const states = seen.map((state) => JSON.parse(state) as { busy: boolean; working: string; text: string; savings: string });
    const busy = states.filter((state) => state.busy);
    expect(busy.length).toBeGreaterThan(0);
    for (const state of busy) expect(state).toMatchObject({ text: "", savings: "", working: expect.stringContaining("Computing:") });
    const final = states.filter((state) => !state.busy);
    expect(new Set(final.map((state) => state.text)).size).toBe(1);
    const savings = final.map((state) => state.savings).filter((said) => said !== "");
    expect(new Set(savings).size).toBe(fragment === TOO_LARGE ? 1 : 0);
    expect(final[0]).toMatchObject({ working: "", text: expect.stringMatching(/./) });
  }
});

test("a longer sequence is never recommended, and offered with the words when it helps", async ({ page, planner }) => {
  await planner.open(IDLE);
  const panel = await settled(page, "Use the GPU");
  const same = panel.getByRole("group", { name: "Same training, faster" });
  await expect(same).toContainText("per_device_train_batch_size 1 → 8");
  await expect(same).not.toContainText("max_length");
  await panel.getByText("Or raise something else by itself").click();
  const longer = panel.getByRole("listitem").filter({ hasText: "max_length" });
  await expect(longer.last()).toContainText("Helps only if the data has longer sequences.");
});

test("each level says what it changes, and one step can be taken alone", async ({ page, planner }) => {
  await planner.open(TOO_LARGE);
  const panel = await settled(page, "Make it fit");
  await panel.getByRole("radio", { name: /The same result/ }).focus();
  await page.keyboard.press("ArrowLeft");
  await expect(panel.getByRole("radio", { name: /Change the training/ })).toBeChecked();
  await expect(panel).toContainText("This changes what is trained");
  await panel.getByRole("radio", { name: /The same result/ }).check();
  await expect(panel).not.toContainText("This changes what is trained");
  await panel.getByRole("button", { name: /^Only this: Liger kernels/ }).click();
  await expect.poll(() => planner.fragment()).toContain("use_liger_kernel=true");
  await expect.poll(() => planner.fragment()).not.toContain("zero_stage");
});

test("the waterfall's savings sum exactly to the difference of the two needs", async ({ page, planner }) => {
  await planner.open(TOO_LARGE);
  const panel = await settled(page, "Make it fit");
  await panel.getByText("The savings as a table").click();
  const rows = panel.getByRole("region", { name: "The savings as a table" }).getByRole("row");
  const cells = await rows.evaluateAll((all) => all.slice(1).map((row) => [...row.querySelectorAll("td")].map((cell) => cell.innerText)));
  const needs = cells.map(([, need]) => integer(need));
  const changes = cells.slice(1).map(([change]) => integer(change));
  expect(changes.length).toBeGreaterThan(1);
  expect(changes.reduce((sum, change) => sum + change, 0)).toBe(needs.at(-1)! - needs[0]);
  expect(needs.at(-1)!).toBeLessThan(12 * 2 ** 30);
});

test("advice is set beside the plan before it is taken", async ({ page, planner }) => {
  await planner.open(TOO_LARGE);
  const panel = await settled(page, "Make it fit");
  await panel.getByRole("button", { name: /^Compare: Apply/ }).click();
  const pair = page.getByRole("region", { name: "Before and after" });
  await expect(pair.getByRole("row", { name: /use_liger_kernel/ })).toBeVisible();
  await expect.poll(() => planner.fragment()).toContain("tab=compare");
  expect(planner.fragment()).not.toContain("use_liger_kernel");
});

test("where no change is enough, the GPUs are named that would do", async ({ page, planner }) => {
  await planner.open(HOPELESS);
  const panel = await settled(page, "Make it fit");
  await expect(panel).toContainText(/nothing short of \d+ × /);
  await expect(panel).toContainText("up to 256.0 GiB of host memory, the most that machines with such GPUs usually have");
  await expect(panel.getByRole("radio", { name: /not enough/ })).toHaveCount(3);
  await panel.getByRole("button", { name: /^Use \d+ × / }).first().click();
  await expect(page.getByRole("region", { name: "Make it fit" })).toHaveCount(0, { timeout: 20_000 });
});

test("an idle GPU is filled into the band that is aimed at", async ({ page, planner }) => {
  await planner.open(IDLE);
  const share = async () => {
    await planner.settledVerdict();
    const said = await planner.basis.getByText(/% of the GPU/).innerText();
    return Number.parseFloat(said);
  };
  const before = await share();
  let panel = await settled(page, "Use the GPU");
  await panel.getByRole("radio", { name: "31–62 %, cautious" }).check();
  panel = await settled(page, "Use the GPU");
  await panel.getByRole("button", { name: "Use: Same training, faster" }).click();
  await expect.poll(share, { timeout: 20_000 }).toBeGreaterThan(before);
  expect(await share()).toBeLessThanOrEqual(63);
  await expect(page.getByText(/= 16 sequences a step/)).toBeVisible();
});

test("frozen weights in float32 are the first thing that is said, and one click loads them in 16 bits", async ({ page, planner }) => {
  await planner.open(
    "v=1&model=meta-llama/Llama-3.1-8B&gpu=rtx-4090&trainer=trl&trainer_version=1.16.0&prepare_for_kbit_training=false" +
      "&torch_dtype=float32&mixed_precision=bf16&optim=adamw_torch_fused&per_device_train_batch_size=4&max_length=4096&gradient_checkpointing=true",
  );
  let panel = await settled(page, "Make it fit");
  await expect(panel).toContainText("The frozen weights load in float32, because nothing says otherwise.");
  await expect(panel).toContainText('model_init_kwargs={"dtype": "bfloat16"}');
  await panel.getByRole("button", { name: "First: load the frozen weights in 16 bits" }).click();
  await expect.poll(() => planner.fragment()).not.toContain("torch_dtype=float32");
  panel = await settled(page, "Make it fit");
  await panel.getByRole("button", { name: /^Apply all/ }).click();
  expect(await planner.settledVerdict()).toContain("Fits");
  expect(planner.fragment()).not.toContain("zero_stage");
});

test("every change by itself, the largest saving first, each to be used", async ({ page, planner }) => {
  await planner.open(TOO_LARGE);
  const panel = await settled(page, "Make it fit");
  await panel.getByText("Every change by itself").click();
  const table = panel.getByRole("region", { name: "Every change by itself" });
  await expect(panel.locator("details.levers")).toHaveAttribute("aria-busy", "false", { timeout: 25_000 });
  const saved = await table.getByRole("row").evaluateAll((rows) =>
    rows.slice(1).map((row) => {
      const [, sign, figure, unit] = /([−+]?)([\d.]+) (GiB|MiB|KiB|B)/.exec(row.querySelector("td")!.innerText)!;
      const scale = { GiB: 2 ** 30, MiB: 2 ** 20, KiB: 2 ** 10, B: 1 }[unit]!;
      return (sign === "−" ? 1 : -1) * Number(figure) * scale;
    }),
  );
  expect(saved.length).toBeGreaterThan(8);
  expect(saved).toEqual([...saved].sort((a, b) => b - a));
  await table.getByRole("button", { name: /^Use: Gradient checkpointing/ }).click();
  await expect.poll(() => planner.fragment()).toContain("gradient_checkpointing=true");
});

test("a plan that contradicts itself gets no advice until it is fixed", async ({ page, planner }) => {
  await planner.open(TOO_LARGE);
  const panel = await settled(page, "Make it fit");
  await page.evaluate(() => (location.hash += "&zero_stage=1&offload_param=cpu"));
  await expect(page.getByRole("region", { name: "Verdict" }).getByRole("alert")).toBeVisible();
  await expect(panel).toBeHidden();
  await page.goBack();
  await settled(page, "Make it fit");
});

test("where the time goes sums to the whole", async ({ page, planner }) => {
  await planner.open(TOO_LARGE);
  await page.getByText("Where the time goes").click();
  const shares = await page.getByRole("row", { name: / %$/ }).getByRole("cell").filter({ hasText: "%" }).allInnerTexts();
  expect(shares.length).toBeGreaterThan(3);
  const sum = shares.reduce((sum, share) => sum + Number.parseFloat(share), 0);
  // Each share is written with two digits at least.
  expect(Math.abs(sum - 100)).toBeLessThan(0.5 * shares.length);
});

test.describe("in Chinese", () => {
  test.use({ locale: "zh-CN", viewport: { width: 390, height: 844 } });

  for (const [name, fragment] of Object.entries({ TOO_LARGE, HOPELESS, IDLE })) {
    test(`${name}: no English sentence, nothing sticks out of a narrow screen`, async ({ page, planner }) => {
      await planner.open(fragment);
      const panel = await settled(page, /怎样才能放下|用满显卡/);
      await panel.evaluate(async (panel) => {
        for (const details of panel.querySelectorAll("details")) details.open = true;
        await new Promise((done) => setTimeout(done, 300));
      });
      const sentences = await panel.evaluate((panel) => {
        const walker = document.createTreeWalker(panel, NodeFilter.SHOW_TEXT);
        const found: string[] = [];
        while (walker.nextNode()) {
          const text = walker.currentNode.textContent!.trim();
          const inCode = walker.currentNode.parentElement!.closest("code, svg");
          if (!inCode && /[a-z]+ [a-z]+ [a-z]+/.test(text)) found.push(text);
        }
        return found;
      });
      expect(sentences).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    });
  }
});
