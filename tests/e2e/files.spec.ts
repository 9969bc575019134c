import { expect, test } from "./test";

const ACCELERATE = "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\nmixed_precision: bf16\nnum_machines: 1\nnum_processes: 1\n";
const OUT_OF_MEMORY =
  "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.32 GiB. GPU 0 has a total capacity of 23.64 GiB of which " +
  "1.20 GiB is free. Including non-PyTorch memory, this process has 22.44 GiB memory in use. Of the allocated memory " +
  "21.10 GiB is allocated by PyTorch, and 861.20 MiB is reserved by PyTorch but unallocated.";

test("a pasted launch configuration is read, its contradiction fixed, and the plan taken over", async ({ page, planner }) => {
  await planner.openAsNewcomer();
  await page.getByRole("button", { name: "Paste or drop" }).click();
  const panel = page.getByRole("region", { name: "Read files" });
  await panel.getByRole("textbox").fill(ACCELERATE);
  await panel.getByRole("button", { name: "Read", exact: true }).click();
  const finding = panel.getByRole("listitem").filter({ hasText: "MULTI_GPU" });
  await expect(finding).toContainText("line 2");
  await finding.getByRole("button", { name: "Fix" }).click();
  await expect(panel.locator("pre").first()).toContainText("distributed_type: 'NO'");
  await panel.getByRole("button", { name: "Use this plan" }).click();
  await expect(panel.getByRole("status")).toContainText("The plan on the page");
});

test("a pasted error states its figures", async ({ page, planner }) => {
  await planner.openAsNewcomer();
  await page.getByRole("button", { name: "Paste or drop" }).click();
  const panel = page.getByRole("region", { name: "Read files" });
  await panel.getByRole("textbox").fill(OUT_OF_MEMORY);
  await panel.getByRole("button", { name: "Read", exact: true }).click();
  await expect(panel.getByRole("row", { name: /tried_bytes/ })).toContainText("2.32 GiB");
  await expect(panel.getByRole("row", { name: /reserved_unallocated_bytes/ })).toContainText("861.2 MiB");
});

test("the plan is written as files that say why", async ({ page, planner }) => {
  await planner.openAsNewcomer();
  await page.getByRole("button", { name: "Export" }).click();
  const panel = page.getByRole("region", { name: "Write files that run" });
  await expect(panel.locator("pre").first()).toContainText("SFTConfig(");
  await panel.getByRole("combobox", { name: "Format" }).selectOption("llamafactory");
  await expect(panel.locator("pre").first()).toContainText("finetuning_type: lora");
  const download = page.waitForEvent("download");
  await panel.getByRole("button", { name: "Download", exact: true }).first().click();
  expect((await download).suggestedFilename()).toBe("train.yaml");
});

test.describe("in Chinese", () => {
  test.use({ locale: "zh-CN" });
  test("the same file, the same finding", async ({ page, planner }) => {
    await planner.openAsNewcomer();
    await page.getByRole("button", { name: "粘贴或拖入" }).click();
    const panel = page.getByRole("region", { name: "读取文件" });
    await panel.getByRole("textbox").fill(ACCELERATE);
    await panel.getByRole("button", { name: "读取", exact: true }).click();
    await expect(panel.getByRole("listitem").filter({ hasText: "MULTI_GPU" })).toContainText("第 2 行");
  });
});
