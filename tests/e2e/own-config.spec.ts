import { expect, test } from "./test";
import { Planner } from "./pages/planner";

// A Llama of 1.1 billion parameters under no name that a catalogue would know.
const CONFIG = {
  architectures: ["LlamaForCausalLM"],
  model_type: "llama",
  hidden_size: 2048,
  intermediate_size: 5632,
  num_hidden_layers: 22,
  num_attention_heads: 32,
  num_key_value_heads: 4,
  vocab_size: 32000,
  max_position_embeddings: 2048,
  tie_word_embeddings: false,
};
const PARAMETERS = "1,100,048,384";

test("a pasted config.json becomes the model and travels in the link", async ({ browser, page, planner }) => {
  await planner.open();
  await page.getByText("Use your own config.json").click();
  await page.getByRole("textbox", { name: "config.json" }).fill(JSON.stringify(CONFIG, null, 2));
  await page.getByRole("textbox", { name: "Name to show" }).fill("our/tiny");
  await page.getByRole("button", { name: "Use this config" }).click();
  await expect(page.getByText(PARAMETERS)).toBeVisible();
  await expect(planner.model).toHaveValue("our/tiny");
  const verdict = await planner.settledVerdict();

  const fresh = await browser.newContext();
  const colleague = new Planner(await fresh.newPage());
  await colleague.page.goto(page.url());
  await expect(colleague.model).toHaveValue("our/tiny");
  await expect(colleague.page.getByText(PARAMETERS)).toBeVisible();
  await expect(colleague.page.getByRole("textbox", { name: "config.json" })).toHaveValue(/"hidden_size": 2048/);
  expect(await colleague.settledVerdict()).toBe(verdict);
  await fresh.close();
});

test("a config.json can be chosen as a file", async ({ page, planner }) => {
  await planner.open();
  await page.getByText("Use your own config.json").click();
  const file = { name: "our-tiny.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(CONFIG)) };
  await page.getByLabel("Choose a file").setInputFiles(file);
  await expect(planner.model).toHaveValue("our-tiny");
  await expect(page.getByText(PARAMETERS)).toBeVisible();
});

test("a config.json can be dropped", async ({ page, planner }) => {
  await planner.open();
  const box = page.getByRole("group").filter({ hasText: "Use your own config.json" });
  const data = await page.evaluateHandle((text) => {
    const data = new DataTransfer();
    data.items.add(new File([text], "dropped.json", { type: "application/json" }));
    return data;
  }, JSON.stringify(CONFIG));
  await box.dispatchEvent("dragover", { dataTransfer: data });
  await box.dispatchEvent("drop", { dataTransfer: data });
  await expect(planner.model).toHaveValue("dropped");
});

test("a config.json that cannot be read says why, and nothing is lost", async ({ page, planner }) => {
  await planner.open();
  await page.getByText("Use your own config.json").click();
  const text = page.getByRole("textbox", { name: "config.json" });
  const use = page.getByRole("button", { name: "Use this config" });
  await use.click();
  await expect(text).toHaveAccessibleDescription(/Paste the text/);

  await text.fill('{ "model_type": "llama", ');
  await use.click();
  await expect(text).toHaveAccessibleDescription(/Not JSON at line 1, column \d+/);
  await expect(text).toHaveValue('{ "model_type": "llama", ');

  await text.fill('{ "model_type": "llama", "hidden_size": -3 }');
  await use.click();
  await expect(text).toHaveAccessibleDescription(/hidden_size/);
  await expect(planner.model).toHaveValue("Qwen/Qwen3-4B");
});

test("what the config does not say is listed, and what it was read as", async ({ page, planner }) => {
  await planner.open();
  await page.getByText("Use your own config.json").click();
  const { num_hidden_layers: _, ...silent } = CONFIG;
  await page.getByRole("textbox", { name: "config.json" }).fill(JSON.stringify(silent));
  await page.getByRole("button", { name: "Use this config" }).click();
  const read = page.getByRole("status").filter({ hasText: "Read as llama" });
  await expect(read).toContainText("32 layers");
  await expect(read).toContainText("num_hidden_layers = 32");
  await expect(page.getByRole("region", { name: "Assumptions and warnings" })).toContainText("num_hidden_layers = 32");

  await page.getByRole("textbox", { name: "config.json" }).fill(JSON.stringify(CONFIG));
  await page.getByRole("button", { name: "Use this config" }).click();
  await expect(read).toContainText("22 layers");
  await expect(read).toContainText("It says everything that decides the model's size.");
});

test("five megabytes are answered within 100 ms", async ({ page, planner }) => {
  await planner.open();
  await page.getByText("Use your own config.json").click();
  await page.getByRole("textbox", { name: "config.json" }).focus();
  const waited = await page.evaluate(async () => {
    const data = new DataTransfer();
    data.setData("text/plain", `{"model_type": "llama", "x": "${"y".repeat(5 << 20)}"}`);
    const event = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
    const start = performance.now();
    document.activeElement!.dispatchEvent(event);
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    return { milliseconds: performance.now() - start, inserted: !event.defaultPrevented };
  });
  await expect(page.getByRole("alert").filter({ hasText: "5.0 MiB" })).toContainText("never above 1 MiB");
  expect(waited.inserted).toBe(false);
  expect(waited.milliseconds).toBeLessThan(100);
});

test("a config.json with thousands of labels is read without them", async ({ page, planner }) => {
  await planner.open();
  await page.getByText("Use your own config.json").click();
  const labels = Object.fromEntries(Array.from({ length: 20_000 }, (_, label) => [label, `a label of many letters ${label}`]));
  const text = page.getByRole("textbox", { name: "config.json" });
  await text.fill(JSON.stringify({ ...CONFIG, id2label: labels }));
  await page.getByRole("button", { name: "Use this config" }).click();
  await expect(page.getByText(PARAMETERS)).toBeVisible();
  await expect(text).toHaveValue(/"num_labels": 20000/);
  await expect(text).not.toHaveValue(/id2label/);
});
