// Plans embedded in somebody else's page, under a policy that allows it no more than docs/embedding.md asks for.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test, type Browser, type Page } from "@playwright/test";
import { SITE } from "./sites";

const ORIGIN = new URL(SITE).origin;
const POLICY = `default-src 'none'; script-src 'self' ${ORIGIN}; frame-src ${ORIGIN}; style-src 'self'; img-src 'self' ${ORIGIN}`;
const PLAN = 'model="Qwen/Qwen3-8B" gpu="rtx-4090" method="qlora"';
const FALLBACK = `<a href="${SITE}#v=1&model=Qwen/Qwen3-8B&gpu=rtx-4090&method=qlora">Qwen3-8B with QLoRA on an RTX 4090</a>`;

// Somebody else's server: an intercepted page would be from nowhere, and no page from nowhere may ask this machine for anything.
let html = "";
let server: Server;
test.beforeAll(async () => {
  const css = "body { background: #fff; margin: 0 } main { max-width: 720px; margin: auto } .dark body { background: #111; transition: background 0.2s }";
  server = createServer((request, response) => {
    const isStyle = request.url!.endsWith(".css");
    response.writeHead(200, { "Content-Type": isStyle ? "text/css" : "text/html", "Content-Security-Policy": POLICY });
    response.end(isStyle ? css : html);
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
});
test.afterAll(() => void server.close());
const addressOf = (name: string) => `http://${name}:${(server.address() as AddressInfo).port}/`;

/** A page of documentation with `body`, and what went wrong on it. */
async function host(page: Page, body: string, name = "127.0.0.1"): Promise<string[]> {
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => console.error(`policy: ${event.violatedDirective}`));
    const shifts = ((window as any).shifts = [] as number[]);
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (!(entry as any).hadRecentInput) shifts.push((entry as any).value);
    }).observe({ type: "layout-shift", buffered: true });
  });
  html = `<!doctype html><html lang="en"><head><title>Docs</title><link rel="stylesheet" href="docs.css">
    <script defer src="${SITE}headroom-plan.js"></script></head><body><main><h1>Docs</h1>${body}<p id="end">The end.</p></main></body></html>`;
  await page.goto(addressOf(name));
  return complaints;
}

const frameOf = (page: Page, at = 0) => page.locator("headroom-plan").nth(at).locator("iframe").contentFrame();
const shifted = (page: Page) => page.evaluate(() => (window as any).shifts.reduce((sum: number, one: number) => sum + one, 0));

test("two embedded plans answer, share one download of the engine, and are as high as what they show", async ({ page }) => {
  const fetched: string[] = [];
  page.context().on("request", (request) => fetched.push(request.url()));
  const complaints = await host(
    page,
    `<headroom-plan ${PLAN} view="phases" height="560">${FALLBACK}</headroom-plan>
     <headroom-plan model="Qwen/Qwen3-8B" gpu="rtx-4090" method="full" inputs="method,gpu,per_device_train_batch_size" height="470">${FALLBACK}</headroom-plan>`,
  );
  await expect(frameOf(page).getByRole("heading", { level: 1 })).toHaveText("Qwen3-8B · QLoRA 4-bit · RTX 4090");
  await expect(frameOf(page).locator("section[data-basis=replayed]")).toContainText("Fits");
  await expect(frameOf(page).locator("figure svg").first()).toBeVisible();
  await expect(frameOf(page, 1).locator("section[data-basis=replayed]")).toContainText("Does not fit");
  for (const at of [0, 1]) {
    const frame = page.locator("headroom-plan").nth(at).locator("iframe");
    await expect(frame).toBeVisible();
    await expect
      .poll(async () => {
        const inner = await frame.contentFrame().locator("body").evaluate((body) => Math.ceil(body.getBoundingClientRect().height));
        return Math.abs((await frame.boundingBox())!.height - inner);
      })
      .toBeLessThanOrEqual(1);
  }
  await expect(page.locator("headroom-plan a").first()).toBeHidden();
  expect(await shifted(page)).toBeLessThanOrEqual(0.02);
  // Two frames, one engine.
  expect(fetched.filter((url) => url.endsWith("headroom-worker_bg.wasm")).length).toBeLessThanOrEqual(1);
  expect(complaints).toEqual([]);
});

test("what a reader changes is said to the page around it, which may change the plan too", async ({ page }) => {
  const complaints = await host(page, `<headroom-plan ${PLAN} inputs="method,per_device_train_batch_size"></headroom-plan>`);
  await page.evaluate(() => {
    document.addEventListener("headroom-change", (event) => ((window as any).changed = (event as CustomEvent).detail));
  });
  const frame = frameOf(page);
  await frame.getByRole("radio", { name: /Full/ }).check();
  await expect.poll(() => page.evaluate(() => (window as any).changed?.link)).toContain("method=full");
  expect(await page.evaluate(() => (window as any).changed.title)).toBe("Qwen3-8B · full fine-tuning · RTX 4090");
  await expect(frame.getByRole("link", { name: "Open in Headroom" })).toHaveAttribute("href", `${SITE}#v=1&model=Qwen/Qwen3-8B&gpu=rtx-4090&method=full`);
  const entries = await page.evaluate(() => history.length);
  await frame.getByRole("radio", { name: /^LoRA/ }).check();
  await expect(frame.getByRole("heading", { level: 1 })).toContainText("· LoRA ·");
  expect(await page.evaluate(() => history.length)).toBe(entries);
  await page.locator("headroom-plan").evaluate((plan) => plan.setAttribute("gpu", "h200"));
  await expect(frame.getByRole("heading", { level: 1 })).toContainText("H200");
  expect(complaints).toEqual([]);
});

test("an embedded plan has the colours and the language of the page around it", async ({ page }) => {
  await host(page, `<div lang="zh-Hans"><headroom-plan ${PLAN} view="comparison"></headroom-plan></div>`);
  const root = frameOf(page).locator("html");
  await expect(root).toHaveAttribute("data-theme", "light");
  await expect(frameOf(page).getByRole("region", { name: "结论" })).toContainText("放得下");
  await page.evaluate(() => document.documentElement.classList.add("dark"));
  await expect(root).toHaveAttribute("data-theme", "dark");
  await page.evaluate(() => document.documentElement.classList.remove("dark"));
  await expect(root).toHaveAttribute("data-theme", "light");
});

test("a frame that gets no shared worker has one of its own", async ({ page }) => {
  // Another site, not just another origin: this browser, as it is started for tests, refuses its frames shared workers.
  const waitedFor: string[] = [];
  page.on("request", (request) => {
    if (request.resourceType() === "xhr") waitedFor.push(request.url());
  });
  const complaints = await host(page, `<headroom-plan ${PLAN} view="phases"></headroom-plan>`, "localhost");
  await expect(frameOf(page).locator("section[data-basis=replayed]")).toContainText("Fits");
  // The engine's parts come at once, not one after the other when they are called.
  expect(waitedFor).toEqual([]);
  expect(complaints).toEqual([]);
});

test("before it is used an embedded plan is its author's picture, and nothing of the engine is fetched", async ({ page }) => {
  const fetched: string[] = [];
  page.on("request", (request) => fetched.push(request.url()));
  const complaints = await host(page, `<headroom-plan ${PLAN} load="use">${FALLBACK}</headroom-plan>`);
  await expect(page.getByRole("link", { name: /with QLoRA on an RTX 4090/ })).toBeVisible();
  await page.locator("#end").scrollIntoViewIfNeeded();
  const ours = fetched.filter((url) => url.startsWith(SITE));
  expect(ours).toEqual([`${SITE}headroom-plan.js`]);
  await page.getByRole("button", { name: "Change the plan" }).click();
  await expect(frameOf(page).locator("section.verdict")).toContainText("Fits");
  expect(complaints).toEqual([]);
});

test("an embedded plan further down waits until it is scrolled to, and survives navigation by scripts", async ({ page }) => {
  await host(page, `<div id="there"></div><p style="height: 1px"></p>`);
  await page.evaluate((plan) => {
    const space = document.createElement("div");
    space.style.height = "3000px";
    document.querySelector("#there")!.before(space);
    document.querySelector("#there")!.innerHTML = `<headroom-plan ${plan}></headroom-plan>`;
  }, PLAN);
  await expect(page.locator("headroom-plan")).toHaveCount(1);
  await expect(page.locator("headroom-plan iframe")).toHaveCount(0);
  await page.locator("headroom-plan").evaluate((plan) => plan.scrollIntoView());
  await expect(frameOf(page).locator("section.verdict")).toContainText("Fits");
  // As a router does it: the element goes, and another comes.
  await page.evaluate((plan) => {
    document.querySelector("#there")!.innerHTML = `<headroom-plan ${plan.replace("qlora", "full")}></headroom-plan>`;
  }, PLAN);
  await expect(frameOf(page).locator("section.verdict")).toContainText("Does not fit");
});

test("a frame that stands in the page by itself gets its height where the script is there", async ({ page }) => {
  const complaints = await host(page, `<iframe title="A plan" src="${SITE}embed.html#v=1&model=Qwen/Qwen3-8B&gpu=rtx-4090&method=qlora" width="700" height="100"></iframe>`);
  await expect(page.frameLocator("iframe").locator("section.verdict")).toContainText("Fits");
  await expect.poll(async () => (await page.locator("iframe").boundingBox())!.height).toBeGreaterThan(120);
  expect(complaints).toEqual([]);
});

async function withoutScripts(browser: Browser): Promise<Page> {
  const context = await browser.newContext({ javaScriptEnabled: false });
  return context.newPage();
}

test("without scripts there is a link", async ({ browser }) => {
  const page = await withoutScripts(browser);
  html = `<headroom-plan ${PLAN}>${FALLBACK}</headroom-plan>`;
  await page.goto(addressOf("127.0.0.1"));
  await expect(page.getByRole("link")).toHaveAttribute("href", /^http.*#v=1&model=Qwen/);
  await page.context().close();
});

test("what is wrong with an embedded plan is said in it", async ({ page }) => {
  await host(page, `<headroom-plan model="Qwen/Qwen3-8B" gpu="h100" metod="full"></headroom-plan>`);
  await expect(frameOf(page).getByRole("alert").first()).toContainText("h100-80gb-pcie");
  await expect(frameOf(page).getByText("metod")).toBeVisible();
});

test("a host that is no parent, and messages that are none, change nothing", async ({ page }) => {
  await page.goto(`${SITE}embed.html#v=1&model=Qwen/Qwen3-8B&gpu=rtx-4090&method=qlora`);
  await expect(page.locator("section.verdict")).toContainText("Fits");
  await page.evaluate(() => {
    for (const data of [null, 1, "plan", { headroom: 1 }, { headroom: 1, type: "plan", link: "v=1&gpu=t4" }, { headroom: 2, type: "connect" }]) {
      window.postMessage(data, "*");
    }
  });
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Qwen3-8B · QLoRA 4-bit · RTX 4090");
});
