import { readFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import { expect, test } from "./test";

// Models that the catalogue does not have: from Hugging Face, by a button, and classes that the reader records.
const ID = "example-org/Example-1B";
const CONFIG_AT = `https://huggingface.co/${ID}/resolve/main/config.json`;
const FACTS_AT = `https://huggingface.co/api/models/${ID}`;
const CONFIG = {
  architectures: ["LlamaForCausalLM"],
  model_type: "llama",
  hidden_size: 2048,
  intermediate_size: 8192,
  num_hidden_layers: 16,
  num_attention_heads: 32,
  num_key_value_heads: 8,
  vocab_size: 128256,
  tie_word_embeddings: true,
};
const headers = { "access-control-allow-origin": "*" };

// What the page asks of others.
const asked = (page: Page) => {
  const urls: string[] = [];
  page.on("request", (request) => request.url().startsWith("https://") && urls.push(request.url()));
  return urls;
};
// A request to Hugging Face is what these tests ask for, and so is how it ends.
const expected = (complaints: string[]) => {
  const other = complaints.filter((text) => !text.includes("https://huggingface.co/") && !text.startsWith("error: Failed to load resource"));
  expect(other).toEqual([]);
  complaints.length = 0;
};
const typed = "{ \"model_type\": \"llama\", ";
const load = async (page: Page, id = ID) => {
  await page.getByText("Use your own config.json").click();
  await page.getByRole("textbox", { name: "config.json" }).fill(typed);
  await page.getByRole("textbox", { name: "Hugging Face id" }).fill(id);
  await page.getByRole("button", { name: "Load from Hugging Face" }).click();
};

test("a config comes from Hugging Face when the button is pressed, not before", async ({ page, planner, complaints }) => {
  const urls = asked(page);
  await page.route(CONFIG_AT, (route) => route.fulfill({ json: CONFIG, headers }));
  await page.route(FACTS_AT, (route) => route.fulfill({ json: { safetensors: { total: 1_235_814_400 } }, headers }));
  await planner.open();
  await page.getByText("Use your own config.json").click();
  await page.getByRole("textbox", { name: "Hugging Face id" }).fill(`https://huggingface.co/${ID}`);
  await planner.settledVerdict();
  expect(urls).toEqual([]);
  await page.getByRole("button", { name: "Load from Hugging Face" }).click();
  await expect(page.getByText(/Hugging Face counts 1\.24 ?B parameters: as many as are read here/)).toBeVisible();
  await expect(page.getByText("1,235,814,400")).toBeVisible();
  await expect(page.getByRole("textbox", { name: "Name to show" })).toHaveValue(ID);
  expect(urls).toEqual([CONFIG_AT, FACTS_AT]);
  // The link has the config, so that whoever opens it need not ask anyone.
  await expect.poll(() => page.url()).toContain("config=");
  expected(complaints);
});

test("another number of parameters, or none, is said as it is", async ({ page, planner, complaints }) => {
  let facts: object = { safetensors: { total: 2_000_000_000 } };
  await page.route(CONFIG_AT, (route) => route.fulfill({ json: CONFIG, headers }));
  await page.route(FACTS_AT, (route) => route.fulfill({ json: facts, headers }));
  await planner.open();
  await load(page);
  await expect(page.getByText(/counts 2(\.00)? ?B parameters, 1\.24 ?B are read here/)).toBeVisible();
  facts = {};
  await page.getByRole("button", { name: "Load from Hugging Face" }).click();
  await expect(page.getByText("states no number of parameters")).toBeVisible();
  expected(complaints);
});

for (const [what, status, said] of [
  ["a gated model", 401, "is gated, private, or not there"],
  ["a forbidden one", 403, "is gated, private, or not there"],
  ["one that is missing", 404, "has no config.json of example-org/Example-1B"],
  ["a host in trouble", 503, "answered 503"],
] as const) {
  test(`${what} is said plainly, and nothing typed is lost`, async ({ page, planner, complaints }) => {
    await page.route(CONFIG_AT, (route) => route.fulfill({ status, headers }));
    await planner.open();
    const before = await planner.settledVerdict();
    await load(page);
    await expect(page.getByRole("alert").filter({ hasText: said })).toBeVisible();
    await expect(page.getByRole("textbox", { name: "config.json" })).toHaveValue(typed);
    await expect(page.getByRole("textbox", { name: "Hugging Face id" })).toHaveValue(ID);
    expect(await planner.settledVerdict()).toEqual(before);
    expected(complaints);
  });
}

test("without a network the page says so, and the button can be pressed again", async ({ page, planner, complaints }) => {
  let isOffline = true;
  await page.route(CONFIG_AT, (route) => (isOffline ? route.abort() : route.fulfill({ json: CONFIG, headers })));
  await page.route(FACTS_AT, (route) => route.abort());
  await planner.open();
  await load(page);
  await expect(page.getByRole("alert").filter({ hasText: "huggingface.co could not be reached" })).toBeVisible();
  await expect(page.getByRole("textbox", { name: "config.json" })).toHaveValue(typed);
  isOffline = false;
  await page.getByRole("button", { name: "Load from Hugging Face" }).click();
  await expect(page.getByText("1,235,814,400")).toBeVisible();
  await expect(page.getByText("states no number of parameters")).toBeVisible();
  expected(complaints);
});

test("what is no id is asked of nobody", async ({ page, planner }) => {
  const urls = asked(page);
  await planner.open();
  await load(page, "../../evil?x");
  await expect(page.getByRole("alert").filter({ hasText: "owner/name" })).toBeVisible();
  expect(urls).toEqual([]);
});

test("Hugging Face is loaded from in Chinese too", async ({ page, planner, complaints }) => {
  await page.route(CONFIG_AT, (route) => route.fulfill({ status: 404, headers }));
  await page.goto("./?lang=zh#v=1");
  await planner.runs();
  await page.getByText("使用自己的 config.json").click();
  await page.getByRole("textbox", { name: "Hugging Face 模型 ID" }).fill(ID);
  await page.getByRole("button", { name: "从 Hugging Face 加载" }).click();
  await expect(page.getByRole("alert").filter({ hasText: "没有 example-org/Example-1B 的 config.json" })).toBeVisible();
  expected(complaints);
});

// A mixture that no version of this page knows, with what recording it would give: a class that was recorded, under another name.
const OWN = {
  model_type: "my_moe",
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
const program = readFileSync("../../static/programs/minimax_m2.json", "utf8").replaceAll('"minimax_m2"', '"my_moe"');

test("a class that nothing knows is recorded by the reader, whose file is taken", async ({ page, planner }) => {
  await planner.open();
  await page.getByText("Use your own config.json").click();
  await page.getByRole("textbox", { name: "config.json" }).fill(JSON.stringify(OWN));
  await page.getByRole("button", { name: "Use this config" }).click();
  const record = page.locator("section.record");
  await expect(record.getByRole("heading", { name: "my_moe has not been recorded yet" })).toBeVisible();
  await expect(record.getByText("python -m headroom.record my_moe --out my_moe.json")).toBeVisible();
  const guessed = await planner.settledVerdict();

  await record.getByRole("textbox", { name: "Recorded program" }).fill('{"format": 9}');
  await record.getByRole("button", { name: "Use this program" }).click();
  await expect(record.getByRole("alert")).toContainText("no program that can be used");
  await record.locator("input[type=file]").setInputFiles({ name: "my_moe.json", mimeType: "application/json", buffer: Buffer.from(program) });
  await expect(record).toHaveCount(0);
  await expect(page.getByText(/Read as my_moe: 4 layers, 15\.9.B parameters\./)).toBeVisible();
  expect(await planner.settledVerdict()).not.toEqual(guessed);
});

test("a recorded program can be pasted, in Chinese", async ({ page, planner }) => {
  await page.goto("./?lang=zh#v=1");
  await planner.runs();
  await page.getByText("使用自己的 config.json").click();
  await page.getByRole("textbox", { name: "config.json" }).fill(JSON.stringify(OWN));
  await page.getByRole("button", { name: "使用这份配置" }).click();
  await expect(page.getByRole("heading", { name: "my_moe 尚未录制" })).toBeVisible();
  await page.getByRole("textbox", { name: "录制文件" }).fill(program);
  await page.getByRole("button", { name: "使用这份录制" }).click();
  await expect(page.getByText(/已按 my_moe 读取：4 层/)).toBeVisible();
});
