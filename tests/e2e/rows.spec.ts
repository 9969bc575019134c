import type { Page } from "@playwright/test";
import { expect, test } from "./test";

const TRL = "v=1&trainer=trl&trainer_version=1.16.0&mixed_precision=bf16&torch_dtype=float32&gradient_checkpointing=true";

const field = (page: Page, name: string) => page.locator(`#field-${name}`);

test("activation offloading is offered where the trainer has it, and shows what the host holds", async ({ page, planner }) => {
  await planner.openAsNewcomer();
  await planner.unfold();
  const offloading = page.getByRole("switch", { name: "Activation offloading" });
  await expect(offloading).not.toBeChecked();
  const before = await planner.settledVerdict();
  await offloading.click();
  await planner.tab("Memory");
  const host = page.getByRole("region", { name: "Host memory" });
  await expect(host).toContainText("Activations");
  await expect(host).toContainText("pinned");
  await host.getByText("Activations").click();
  await expect(host).toContainText(/1 × \(\d+ × [\d.]+ [KMG]iB/);
  expect(await planner.settledVerdict()).not.toBe(before);
  await expect.poll(() => planner.fragment()).toContain("activation_offloading=true");

  // transformers.Trainer has no such argument.
  await page.getByRole("combobox", { name: "Trainer", exact: true }).selectOption("transformers");
  await expect(page.locator(".field-adjusted", { hasText: "activation_offloading" })).toBeVisible();
  await expect(offloading).toHaveCount(0);
  await expect(planner.verdict).toContainText("GiB");
});

test("the loss says what the trainer takes, and offers what it has", async ({ page, planner }) => {
  await planner.openAsNewcomer();
  await planner.unfold();
  const loss = field(page, "loss_implementation");
  const open = loss.locator("option:checked");
  await expect(open).toHaveText("as the trainer decides · Fused LM head");
  await expect(loss.locator("option[value=full_logits]")).toHaveAttribute("hidden", "");

  const version = page.getByRole("combobox", { name: "Trainer version" });
  await version.selectOption("1.6.0");
  await expect(open).toHaveText("as the trainer decides · Full logits");
  await expect(loss.locator("option[value=full_logits]")).not.toHaveAttribute("hidden");
  const type = field(page, "loss_type");
  await expect(type.locator("option:checked")).toHaveText("as the trainer decides · nll");
  const before = await planner.settledVerdict();
  await type.selectOption("chunked_nll");
  await expect(open).toHaveText("as the trainer decides · chunked_nll");
  expect(await planner.settledVerdict()).not.toBe(before);
});

test("tokens in the loss are asked for where only these reach the head", async ({ page, planner }) => {
  await planner.open(`${TRL}&per_device_train_batch_size=4&max_length=4096`);
  await planner.unfold();
  const tokens = planner.number("Tokens in the loss");
  await expect(tokens).toHaveValue("");
  await tokens.fill("0");
  await expect(tokens).toHaveAccessibleDescription(/0 is outside 1 to/);
  await tokens.fill("128");
  await expect.poll(() => planner.fragment()).toContain("label_tokens=128");
  // Whole logits are as many whatever counts.
  await tokens.fill("");
  await page.getByRole("combobox", { name: "Trainer", exact: true }).selectOption("transformers");
  await expect(tokens).toHaveCount(0);
});

test("packing brings its strategy, and lays batches end to end by itself", async ({ page, planner }) => {
  await planner.open(TRL);
  await planner.unfold();
  const free = page.getByRole("switch", { name: "Padding-free" });
  await expect(free).toBeVisible();
  await expect(field(page, "packing_strategy")).toHaveCount(0);
  await page.getByRole("switch", { name: "Packing" }).click();
  await expect(free).toHaveCount(0);
  await field(page, "packing_strategy").selectOption("wrapped");
  await expect(free).toBeVisible();
  await expect.poll(() => planner.fragment()).toContain("packing_strategy=wrapped");
});

test("GRPO's loss types are a choice of GRPO", async ({ page, planner }) => {
  await planner.openAsNewcomer();
  await expect(field(page, "loss_type")).toHaveCount(0);
  await page.getByRole("combobox", { name: "Task" }).selectOption("grpo");
  await planner.unfold();
  const type = field(page, "loss_type");
  await expect(type.locator("option:checked")).toHaveText("as the trainer decides · dapo");
  await expect(type.locator("option[value=chunked_nll]")).toHaveAttribute("hidden", "");
  await type.selectOption("dr_grpo");
  await expect.poll(() => planner.fragment()).toContain("loss_type=dr_grpo");
});

test("FSDP1 has its own keys, and a 4-bit base its storage dtype", async ({ page, planner }) => {
  await planner.open("v=1&num_gpus=4&method=qlora&trainer=trl&trainer_version=1.16.0&mixed_precision=bf16");
  await planner.unfold();
  const storage = field(page, "quantization-bnb_4bit_quant_storage");
  await expect(storage).toHaveCount(0);
  await page.getByLabel("Framework", { exact: true }).selectOption("fsdp1");
  // FSDP1 cannot flatten bytes.
  await expect(storage).toHaveValue("bfloat16");
  const prefetch = field(page, "distributed-backward_prefetch");
  await expect(prefetch.locator("option:checked")).toHaveText("as the trainer decides · NO_PREFETCH");
  const strategy = field(page, "distributed-sharding_strategy");
  await expect(strategy.locator("option:checked")).toHaveText("as the trainer decides · FULL_SHARD");
  const before = await planner.settledVerdict();
  await strategy.selectOption("shard_grad_op");
  await expect.poll(() => planner.settledVerdict()).not.toBe(before);
  await page.getByLabel("Framework", { exact: true }).selectOption("fsdp2");
  await expect(strategy).toHaveCount(0);
  await expect(page.getByRole("switch", { name: "Reshard after forward" })).toBeVisible();
});

test("parameters beside linear layers are asked for where there are experts", async ({ page, planner }) => {
  await planner.open("v=1&model=Qwen/Qwen3-4B&method=lora");
  await planner.unfold();
  const parameters = planner.number("Target parameters");
  await expect(parameters).toHaveCount(0);
  await planner.open("v=1&model=Qwen/Qwen3-30B-A3B&method=lora");
  await page.reload();
  await planner.unfold();
  await expect(parameters).toBeVisible();
});

test("the form's new rows speak Chinese", async ({ page, planner }) => {
  await page.goto(`./?lang=zh#${TRL}`);
  await planner.runs();
  await planner.unfold();
  await expect(page.getByRole("switch", { name: "激活值卸载" })).toBeVisible();
  await expect(page.locator("#field-loss_implementation option:checked")).toHaveText("由训练器决定 · 融合输出头");
});
