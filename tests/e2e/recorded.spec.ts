import { expect, test } from "./test";

// MiniMax-M2 as its class has it, four layers: no reader of configs is written for it, its forward code was recorded.
const CONFIG = {
  architectures: ["MiniMaxM2ForCausalLM"],
  model_type: "minimax_m2",
  hidden_size: 3072,
  intermediate_size: 1536,
  num_hidden_layers: 4,
  num_attention_heads: 48,
  num_key_value_heads: 8,
  head_dim: 128,
  num_local_experts: 256,
  num_experts_per_tok: 8,
  vocab_size: 200064,
  tie_word_embeddings: false,
};
const PROGRAM = "**/programs/minimax_m2.json";

test("a class whose code was recorded is read by its program, which is fetched once", async ({ page, planner }) => {
  let fetched = 0;
  await page.route(PROGRAM, async (route) => {
    fetched += 1;
    await route.continue();
  });
  await planner.open();
  expect(fetched).toBe(0);
  await page.getByText("Use your own config.json").click();
  await page.getByRole("textbox", { name: "config.json" }).fill(JSON.stringify(CONFIG));
  await page.getByRole("button", { name: "Use this config" }).click();
  await expect(page.getByText(/^15,\d{3},\d{3},\d{3}$/)).toBeVisible();
  await expect(page.getByText("read as a Llama-like one")).toHaveCount(0);
  await planner.settledVerdict();
  expect(fetched).toBe(1);

  const link = page.url();
  await page.goto("about:blank");
  await page.goto(link);
  await expect(page.getByText(/^15,\d{3},\d{3},\d{3}$/)).toBeVisible();
});

test("until the program of a link's model is there the page computes", async ({ page, planner }) => {
  let bring = () => {};
  const brought = new Promise<void>((resolve) => (bring = resolve));
  await page.route("**/programs/qwen3.json", async (route) => {
    await brought;
    await route.continue();
  });
  await planner.open("v=1&model=Qwen/Qwen3-4B&gpu=a100-80gb&method=lora");
  // Time enough for the end of whatever is computed without it.
  await page.waitForTimeout(1_000);
  await expect(page.locator("html")).toHaveAttribute("data-computing");
  bring();
  await planner.settled();
  await expect(planner.verdict).toContainText("Fits");
});

test("where a program cannot be fetched the page says so", async ({ page, planner, complaints }) => {
  await page.route(PROGRAM, (route) => route.fulfill({ status: 404 }));
  await planner.open();
  await page.getByText("Use your own config.json").click();
  await page.getByRole("textbox", { name: "config.json" }).fill(JSON.stringify(CONFIG));
  await page.getByRole("button", { name: "Use this config" }).click();
  await expect(page.getByRole("alert").filter({ hasText: "minimax_m2 could not be fetched" })).toBeVisible();
  expect(complaints.join("\n")).toContain("404");
  complaints.length = 0;
});

test("a model of the catalogue whose code was recorded is chosen like any other", async ({ page, planner }) => {
  await planner.open();
  await planner.model.fill("qwen3.5 9b");
  await page.keyboard.press("Enter");
  await expect(planner.model).toHaveValue("Qwen/Qwen3.5-9B");
  await expect(page.getByText("9,409,813,744")).toBeVisible();
  await planner.settledVerdict();
  // The choice and what it changed once the program was there are one step.
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Undo" }).first().click();
  await expect(planner.model).toHaveValue("Qwen/Qwen3-4B");
  await planner.settledVerdict();
});

test("models of recorded classes are among the largest that fit, and few programs are fetched for them", async ({
  page,
  planner,
}) => {
  const fetched = new Set<string>();
  await page.route("**/programs/*.json", async (route) => {
    fetched.add(route.request().url());
    await route.continue();
  });
  await planner.open("v=1&model=Qwen/Qwen2.5-0.5B&gpu=rtx-4090&method=lora", "limits");
  await planner.solve.getByRole("button", { name: "Largest models" }).click();
  const offers = planner.solve.locator(".largest li");
  await expect(offers.filter({ hasText: "Qwen/Qwen3.5-" })).toHaveCount(1, { timeout: 60_000 });
  expect(fetched.size).toBeGreaterThan(0);
  // As crates/core/tests/largest.rs has it.
  expect(fetched.size).toBeLessThanOrEqual(28);
  await offers.filter({ hasText: "Qwen/Qwen3.5-" }).getByRole("button", { name: /^Use / }).click();
  await expect(planner.model).toHaveValue(/^Qwen\/Qwen3\.5-/);
  expect(await planner.settledVerdict()).toMatch(/^Fits/);
});
