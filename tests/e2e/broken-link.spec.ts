import { expect, test } from "./test";

test("a broken link says what was wrong and opens with the rest", async ({ page, planner }) => {
  await planner.open("v=1&model=mistralai/Mistral-7B-v0.1&r=banana&frobnicate=1&max_length=0&method=full");
  await expect(planner.linkProblems).toContainText("frobnicate");
  await expect(planner.linkProblems).toContainText("lora.r");
  await expect(planner.linkProblems).toContainText("max_length");
  await expect(planner.model).toHaveValue("mistralai/Mistral-7B-v0.1");
  await expect(planner.choice("Method", /Full/)).toBeChecked();
  await expect(planner.verdict).toContainText("GiB");
  await page.getByRole("button", { name: "Close" }).click();
  await expect(planner.linkProblems).toBeHidden();
});

const HOSTILE = {
  "markup in a name": `v=1&config=${encodeURIComponent('{"model_type":"llama"}')}&name=${encodeURIComponent("<img src=x onerror=alert(1)>")}`,
  "markup in a key": `v=1&${encodeURIComponent("<script>alert(1)</script>")}=1`,
  "markup in a value": `v=1&gpu=${encodeURIComponent('"><svg onload=alert(1)>')}`,
  "broken escapes": "v=1&model=%ff%fe%&gpu=%",
  "nothing but separators": "&&&===&&&",
  "a version from the future": "v=99&model=gpt2",
  "numbers without end": `v=1&max_length=${"9".repeat(400)}&num_gpus=-1&r=1e999`,
  "a hundred thousand letters": `v=1&model=${"a".repeat(100_000)}`,
  "deeply nested JSON": `v=1&config=${encodeURIComponent("[".repeat(5_000))}`,
};

for (const [name, fragment] of Object.entries(HOSTILE)) {
  test(`a hostile link does no harm: ${name}`, async ({ page, planner }) => {
    let dialogs = 0;
    page.on("dialog", (dialog) => {
      dialogs += 1;
      void dialog.dismiss();
    });
    await planner.open(fragment);
    await expect(planner.heading).toBeVisible();
    // Whatever came, the page still works.
    await planner.pick(planner.model, "gpt2", /^openai-community\/gpt2 /);
    await planner.pick(planner.gpu, "4090", /RTX 4090/);
    await page.getByRole("button", { name: "Start over" }).click();
    await expect(planner.verdict).toContainText("Fits");
    expect(dialogs).toBe(0);
    expect(await page.locator("img").count()).toBe(0);
  });
}
