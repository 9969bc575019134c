// A page that has said everything does nothing: it asks for no frame and sends no message, in sight or out of it.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test, type Page } from "@playwright/test";
import { Planner } from "./pages/planner";
import { SITE } from "./sites";

const IDLE = 10_000;
/** What comes late by design: the page notes after four seconds that its reader stayed with a plan. */
const QUIET = 5_000;
const PLAN = "v=1&model=Qwen/Qwen3-8B&gpu=rtx-4090&method=qlora";

type Counts = { frames: number; sent: number; received: number };
const NOTHING: Counts = { frames: 0, sent: 0, received: 0 };

/**
 * Counts, in every document of the page, the frames that are asked for and the messages in both directions. This browser hides no page, so
 * a document can be told that it is hidden: it then makes no frame until `reveal` is called.
 */
async function watch(page: Page, isHidden: boolean): Promise<void> {
  await page.addInitScript((isHidden) => {
    const counts = { frames: 0, sent: 0, received: 0 };
    const held: FrameRequestCallback[] = [];
    const frame = requestAnimationFrame.bind(window);
    const state = { counts, isHidden, reveal: () => {} };
    (window as any).watched = state;
    window.requestAnimationFrame = (callback) => {
      counts.frames += 1;
      return state.isHidden ? held.push(callback) : frame(callback);
    };
    Object.defineProperty(document, "hidden", { get: () => state.isHidden });
    Object.defineProperty(document, "visibilityState", { get: () => (state.isHidden ? "hidden" : "visible") });
    state.reveal = () => {
      state.isHidden = false;
      document.dispatchEvent(new Event("visibilitychange"));
      held.splice(0).forEach(frame);
    };
    for (const owner of [window, Worker.prototype, MessagePort.prototype] as any[]) {
      const send = owner.postMessage;
      owner.postMessage = function (...given: unknown[]) {
        counts.sent += 1;
        return send.apply(this, given);
      };
    }
    const receive = () => (counts.received += 1);
    addEventListener("message", receive);
    const listening = (name: "Worker" | "SharedWorker", port: (worker: any) => EventTarget) => {
      (window as any)[name] = class extends ((window as any)[name] as new (...given: any[]) => object) {
        constructor(...given: unknown[]) {
          super(...given);
          port(this).addEventListener("message", receive);
        }
      };
    };
    listening("Worker", (worker) => worker);
    listening("SharedWorker", (worker) => worker.port);
  }, isHidden);
}

/** Counts in the page's workers, too, which send messages to themselves. */
async function watchWorkers(page: Page): Promise<void> {
  for (const worker of page.workers()) {
    await worker.evaluate(() => {
      const counts = { frames: 0, sent: 0, received: 0 };
      (globalThis as any).watched = { counts };
      for (const owner of [globalThis, MessagePort.prototype] as any[]) {
        const send = owner.postMessage;
        owner.postMessage = function (...given: unknown[]) {
          counts.sent += 1;
          return send.apply(this, given);
        };
      }
      addEventListener("message", () => (counts.received += 1));
    });
  }
}

/** What all documents and workers of the page have counted since they were last asked. */
async function counted(page: Page): Promise<Counts> {
  const total = { ...NOTHING };
  for (const place of [...page.frames(), ...page.workers()]) {
    const counts: Counts = await place.evaluate(() => {
      const { counts } = (globalThis as any).watched;
      const before = { ...counts };
      counts.frames = counts.sent = counts.received = 0;
      return before;
    });
    for (const key of Object.keys(total) as (keyof Counts)[]) total[key] += counts[key];
  }
  return total;
}

/** Waits until every document of ours says that nothing on it will change. */
async function settled(page: Page): Promise<void> {
  for (const frame of page.frames().filter((frame) => frame.url().startsWith(SITE))) {
    await expect
      .poll(() => frame.evaluate(() => !!document.querySelector("section.verdict") && !document.documentElement.hasAttribute("data-computing")), {
        timeout: 20_000,
      })
      .toBe(true);
  }
}

/** Once the page has settled nothing happens for ten seconds, and nothing is animated. */
async function expectIdle(page: Page): Promise<void> {
  await settled(page);
  await page.waitForTimeout(QUIET);
  await watchWorkers(page);
  const before = await counted(page);
  expect(before.received, "the engine's answers are counted").toBeGreaterThan(0);
  await page.waitForTimeout(IDLE);
  expect(await counted(page)).toEqual(NOTHING);
  for (const frame of page.frames()) {
    const moving = await frame.evaluate(() => document.getAnimations().filter(({ playState }) => playState === "running").length);
    expect(moving).toBe(0);
  }
}

test.describe.configure({ timeout: 60_000 });

for (const isHidden of [false, true]) {
  const how = isHidden ? "hidden" : "visible";

  test(`a ${how} page that has said everything does nothing`, async ({ page }) => {
    await watch(page, isHidden);
    await page.goto(`./#${PLAN}`);
    await expectIdle(page);
    if (!isHidden) return;
    // Frames that were asked for come when the page is shown: that starts nothing either.
    await page.evaluate(() => (window as any).watched.reveal());
    await page.waitForTimeout(1_000);
    await counted(page);
    await page.waitForTimeout(2_000);
    expect(await counted(page)).toEqual(NOTHING);
  });

  test(`a ${how} plan for frames that has said everything does nothing`, async ({ page }) => {
    await watch(page, isHidden);
    await page.goto(`./embed.html#${PLAN}`);
    await expectIdle(page);
  });
}

test("a page around two embedded plans does nothing, and neither do they", async ({ page }) => {
  const plan = '<headroom-plan model="Qwen/Qwen3-8B" gpu="rtx-4090" method="qlora" view="phases"></headroom-plan>';
  const html = `<!doctype html><title>Docs</title><script defer src="${SITE}headroom-plan.js"></script>${plan}${plan}`;
  const server = createServer((_, response) => {
    response.writeHead(200, { "Content-Type": "text/html" }).end(html);
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  await watch(page, false);
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  await expect(page.locator("headroom-plan iframe")).toHaveCount(2);
  await expectIdle(page);
  server.closeAllConnections();
  server.close();
});

test("a page that has answered a change does nothing again", async ({ page }) => {
  await watch(page, false);
  await page.goto(`./#${PLAN}`);
  await settled(page);
  await new Planner(page).choice("Method", /^LoRA/).check();
  await expectIdle(page);
});
