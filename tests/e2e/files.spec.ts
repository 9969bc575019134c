import type { Page } from "@playwright/test";
import { readFileSync } from "node:fs";
import { expect, test } from "./test";
import { Planner, SCENARIOS } from "./pages/planner";

const ACCELERATE =
  "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\nmixed_precision: bf16\nnum_machines: 1\nnum_processes: 1\n";
const SCRIPT = `from transformers import AutoModelForCausalLM
from trl import GRPOConfig, GRPOTrainer
agent = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-4B", device_map="auto")
user = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-4B")
args = GRPOConfig(per_device_train_batch_size=8, max_completion_length=256)
GRPOTrainer(agent, args=args)
`;
const LAUNCH = "accelerate launch --config_file accelerate.yaml train.py\n";
const OUT_OF_MEMORY =
  "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.32 GiB. GPU 0 has a total capacity of 39.39 GiB of which " +
  "1.20 GiB is free. Process 4711 has 9.50 GiB memory in use. Including non-PyTorch memory, this process has 28.69 GiB memory " +
  "in use. Of the allocated memory 27.10 GiB is allocated by PyTorch, and 861.20 MiB is reserved by PyTorch but unallocated.";
const MONITOR = `=== GPU memory monitor ===
GPU 0: NVIDIA A100-SXM4-40GB
  Compute capability: 8.0
  Total memory: 39.39 GB
  Allocated: 31.22 GB
  Reserved: 36.81 GB
  Free: 2.58 GB
  Alloc retries: 3
  OOM count: 1
`;

/** The page's words in a language. */
const WORDS = {
  en: {
    locale: "en-US", open: "Paste or drop", run: "Run", export: "Export", reading: "Read files", writing: "Write files that run",
    read: "Read", add: "Add another text", fix: "Fix", use: "Use this plan", used: "The plan on the page",
    line: (n: number) => `line ${n}`, tried: "Tried to allocate", free: "Free", retries: "Allocation retries",
    others: "Other processes", calibrate: "Calibrate to this machine", format: "Format", zip: "Download all (zip)",
  },
  zh: {
    locale: "zh-CN", open: "粘贴或拖入", run: "运行", export: "导出", reading: "读取文件", writing: "导出可运行的文件",
    read: "读取", add: "再添加一段文本", fix: "修正", use: "使用该方案", used: "页面上的方案",
    line: (n: number) => `第 ${n} 行`, tried: "请求分配", free: "空闲", retries: "分配重试次数",
    others: "其他进程", calibrate: "按本机校准", format: "格式", zip: "全部下载（zip）",
  },
};

/** The links of the first plans of scenarios. */
async function fragmentsOf(page: Page, titles: string[]): Promise<Record<string, string>> {
  const planner = new Planner(page);
  await planner.open();
  await planner.gallery.click();
  const fragments: Record<string, string> = {};
  for (const title of titles) {
    const href = await page.getByRole("article", { name: title }).getByRole("listitem").getByRole("link").first().getAttribute("href");
    fragments[title] = href!.slice(1);
  }
  return fragments;
}

const [, , , S3, , S5, S6] = SCENARIOS;

for (const words of Object.values(WORDS)) {
  test.describe(`in ${words.locale}`, () => {
    let fragments: Record<string, string>;
    test.use({ locale: words.locale });

    test.beforeAll(async ({ browser }) => {
      test.slow();
      const page = await browser.newPage({ locale: "en-US" });
      fragments = await fragmentsOf(page, [S3, S5, S6]);
      await page.close();
    });

    test("an error and a monitor's output are read beside the plan that ran out of memory", async ({ page, planner }) => {
      await planner.open(fragments[S3]);
      await page.getByRole("button", { name: words.open }).click();
      const panel = page.getByRole("region", { name: words.reading });
      await panel.getByRole("textbox").fill(OUT_OF_MEMORY);
      await panel.getByRole("button", { name: words.add }).click();
      await panel.getByRole("textbox").fill(MONITOR);
      await panel.getByRole("button", { name: words.read, exact: true }).click();
      await expect(panel.getByRole("row", { name: words.tried })).toContainText("2.32 GiB");
      await expect(panel.getByRole("row", { name: words.others })).toContainText("9.50 GiB");
      await expect(panel.getByRole("row", { name: words.retries })).toContainText("3");
      await expect(panel.getByRole("listitem").filter({ hasText: "4711" })).toContainText("9.50 GiB");
      await panel.getByRole("button", { name: words.calibrate }).first().click();
      await expect.poll(() => planner.fragment()).toContain("non_pytorch_memory_mib=");
    });

    test("the plan of a small GPU is exported as files that say why", async ({ page, planner }) => {
      await planner.open(fragments[S5]);
      await page.getByRole("tab", { name: words.run }).click();
      await page.getByRole("button", { name: words.export, exact: true }).click();
      const panel = page.getByRole("region", { name: words.writing });
      await panel.getByRole("combobox", { name: words.format }).selectOption("transformers");
      const script = panel.locator("pre").filter({ hasText: "TrainingArguments(" });
      for (const key of ["per_device_train_batch_size=", "gradient_accumulation_steps=", "dataloader_num_workers=", "save_total_limit=", "eval_strategy=", "save_strategy=", "fp16="]) {
        await expect(script).toContainText(key);
      }
      await panel.getByRole("combobox", { name: words.format }).selectOption("deepspeed");
      await expect(panel.locator("pre").first()).toContainText('"stage": 2');
      await panel.getByRole("combobox", { name: words.format }).selectOption("all");
      const download = page.waitForEvent("download");
      await panel.getByRole("link", { name: words.zip }).click();
      const bytes = readFileSync(await (await download).path());
      expect(bytes.subarray(0, 2).toString()).toBe("PK");
    });

    test("a contradictory launch is found, fixed in the file and taken over", async ({ page, planner }) => {
      await planner.open(fragments[S6]);
      await page.getByRole("button", { name: words.open }).click();
      const panel = page.getByRole("region", { name: words.reading });
      const chosen = page.waitForEvent("filechooser");
      await panel.getByRole("button", { name: /Choose files|选择文件/ }).click();
      await (await chosen).setFiles([
        { name: "accelerate.yaml", mimeType: "text/yaml", buffer: Buffer.from(ACCELERATE) },
        { name: "train.py", mimeType: "text/x-python", buffer: Buffer.from(SCRIPT) },
        { name: "run.sh", mimeType: "text/x-sh", buffer: Buffer.from(LAUNCH) },
      ]);
      const finding = (text: string) => panel.getByRole("listitem").filter({ hasText: text });
      await expect(finding("MULTI_GPU")).toContainText(words.line(2));
      await expect(finding("device_map")).toContainText(words.line(3));
      await expect(finding("Qwen/Qwen3-4B").first()).toContainText(words.line(4));
      await finding("MULTI_GPU").getByRole("button", { name: words.fix }).click();
      await expect(panel.locator("pre").first()).toContainText("distributed_type: 'NO'");
      await expect(finding("MULTI_GPU")).toHaveCount(0);
      await panel.getByRole("button", { name: words.use }).click();
      await expect(panel.getByRole("status")).toContainText(words.used);
      await expect.poll(() => planner.fragment()).toContain("task=grpo");
    });
  });
}

test("files that only say how a run is launched change the plan on the page", async ({ page, planner }) => {
  await planner.open("v=1&model=Qwen/Qwen3-8B&method=lora&num_gpus=4");
  await page.getByRole("button", { name: "Paste or drop" }).click();
  const panel = page.getByRole("region", { name: "Read files" });
  await panel.getByRole("textbox").fill('{"zero_optimization": {"stage": 3}, "bf16": {"enabled": true}}');
  await panel.getByRole("button", { name: "Read", exact: true }).click();
  await panel.getByRole("button", { name: "Use this plan" }).click();
  await expect.poll(() => planner.fragment()).toContain("zero_stage=3");
  await expect.poll(() => planner.fragment()).toContain("Qwen3-8B");
  await expect.poll(() => planner.fragment()).toContain("num_gpus=4");
});

test("a text that is pasted as soon as another is added is kept", async ({ page, planner }) => {
  await planner.open();
  await page.getByRole("button", { name: "Paste or drop" }).click();
  const panel = page.getByRole("region", { name: "Read files" });
  const box = panel.getByRole("textbox");
  await box.fill(OUT_OF_MEMORY);
  const area = await box.elementHandle();
  // Both in one turn: the answer to the button comes when the next text stands there already.
  await panel.getByRole("button", { name: "Add another text" }).evaluate((button, [area, text]) => {
    (button as HTMLElement).click();
    (area as HTMLTextAreaElement).value = text as string;
    (area as HTMLElement).dispatchEvent(new Event("input", { bubbles: true }));
  }, [area, MONITOR] as const);
  await expect(panel.getByRole("listitem").filter({ hasText: "pasted text 1" })).toBeVisible();
  await expect(box).toHaveValue(MONITOR);
  await panel.getByRole("button", { name: "Read", exact: true }).click();
  await expect(panel.getByRole("heading", { name: "pasted text 2" })).toBeVisible();
  await expect(panel.getByRole("row", { name: "Allocation retries" })).toContainText("3");
});

test("a file dropped anywhere is read", async ({ page, planner }) => {
  await planner.open();
  const transfer = await page.evaluateHandle((text) => {
    const data = new DataTransfer();
    data.items.add(new File([text], "error.txt", { type: "text/plain" }));
    return data;
  }, OUT_OF_MEMORY);
  await page.dispatchEvent("body", "dragover", { dataTransfer: transfer });
  await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
  const panel = page.getByRole("region", { name: "Read files" });
  await expect(panel.getByRole("row", { name: "Tried to allocate" })).toContainText("2.32 GiB");
});

test("a memory snapshot is drawn against the plan's own step", async ({ page, planner }) => {
  const snapshot = readFileSync("../files/diagnose/qwen2.5-0.5b-lora-2-layers.pickle");
  await planner.open();
  await page.getByRole("button", { name: "Paste or drop" }).click();
  const panel = page.getByRole("region", { name: "Read files" });
  const chosen = page.waitForEvent("filechooser");
  await panel.getByRole("button", { name: "Choose files" }).click();
  await (await chosen).setFiles([{ name: "snapshot.pickle", mimeType: "application/octet-stream", buffer: snapshot }]);
  // No one has entered a plan yet.
  await expect(panel.getByRole("row", { name: "Peak allocated" })).toBeVisible();
  await panel.getByRole("button", { name: "Compare with the plan on the page" }).click();
  await expect(panel.getByRole("img", { name: "The run's last step beside the plan's" })).toBeVisible();
  await expect(panel.getByRole("row", { name: "Peak allocated" })).toBeVisible();
});

test("what a file says never becomes markup", async ({ page, planner }) => {
  await planner.open();
  await page.getByRole("button", { name: "Paste or drop" }).click();
  const panel = page.getByRole("region", { name: "Read files" });
  await panel.getByRole("textbox").fill('from trl import SFTConfig\nSFTConfig(per_device_train_batch_size="<img src=x onerror=alert(1)>")\n');
  await panel.getByRole("button", { name: "Read", exact: true }).click();
  await expect(panel.getByRole("listitem").first()).toContainText("<img src=x");
  await expect(panel.locator("img")).toHaveCount(0);
});
