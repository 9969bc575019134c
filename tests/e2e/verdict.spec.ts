import { expect, test } from "./test";

test("another model and another GPU change the verdict", async ({ planner }) => {
  await planner.open();
  await expect(planner.verdict).toContainText("Fits");
  await expect(planner.verdict).toContainText("of headroom");

  await planner.pick(planner.model, "llama 3.1 8b", "meta-llama/Llama-3.1-8B");
  await planner.pick(planner.gpu, "4090", /RTX 4090/);
  await planner.choice("Method", /Full/).check();
  await expect(planner.verdict).toContainText("Does not fit");
  await expect(planner.verdict).toContainText("over");

  await planner.pick(planner.model, "gpt2", /^openai-community\/gpt2 /);
  await expect(planner.verdict).toContainText("Fits");
});

test("a GPU of one's own is described by its memory", async ({ planner }) => {
  await planner.open();
  await planner.pick(planner.gpu, "custom", /Another GPU/);
  await planner.number("Memory of the GPU").fill("6");
  await expect(planner.verdict).toContainText("of 6.0 GiB");
  await expect(planner.verdict).toContainText("Does not fit");
});

test("the effective batch is shown with its factors", async ({ page, planner }) => {
  await planner.open();
  await planner.number("Batch per GPU").fill("4");
  await planner.unfold();
  await planner.number("Gradient accumulation").fill("2");
  await planner.number("Number of GPUs").fill("8");
  await expect(page.getByText("4 × 2 × 8 = 64 sequences a step")).toBeVisible();
});

test("every step of a slider is answered, and until it is the page says so", async ({ page, planner }) => {
  await planner.open();
  const slider = page.getByRole("slider", { name: "Sequence length" });
  await slider.focus();
  let before = await planner.verdict.innerText();
  for (let step = 0; step < 8; step++) {
    await page.keyboard.press("ArrowRight");
    // The key is down, so the page has sent what it did: the mark is there from that moment until the answer is.
    const after = await page.evaluate(
      () => new Promise<string>((done) => {
        const look = () => {
          if (document.documentElement.hasAttribute("data-pending")) requestAnimationFrame(look);
          else done((document.querySelector("[role=status][aria-atomic]") as HTMLElement).innerText);
        };
        look();
      }),
    );
    expect(after).not.toBe(before);
    before = after;
  }
  await expect(planner.number("Sequence length")).toHaveValue("4096");
});
