// The answer for scripts that the page gives is the terminal's, to the byte. `cargo xtask package --check` asks for thousands of plans.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { siteServer } from "./site-server.mjs";
import { expect, test } from "./test";

const TERMINAL = process.env.HEADROOM_CLI;
const PACKAGE = join(import.meta.dirname, "../../target/packages/npm");
const PLANS = process.env.HEADROOM_PLANS ? readFileSync(process.env.HEADROOM_PLANS, "utf8").trim().split("\n") : [];

test("the whole answer as JSON is the terminal's, to the byte", async ({ page, planner }) => {
  test.skip(!TERMINAL || PLANS.length === 0, "HEADROOM_CLI and HEADROOM_PLANS name what to compare with");
  test.setTimeout(30_000 + 3_000 * PLANS.length);
  await planner.open("v=1", "run");
  await planner.settled();
  await page.getByText("The whole answer as JSON").click();
  const button = page.getByRole("button", { name: "Copy JSON" });
  await button.waitFor();
  let sound = 0;
  for (const plan of PLANS) {
    let said: string;
    try {
      said = execFileSync(TERMINAL!, ["estimate", "--json", plan], { encoding: "utf8", maxBuffer: 2 ** 28, stdio: ["ignore", "pipe", "ignore"] });
    } catch {
      // The page says at the fields what is wrong; fields.spec.ts looks at that.
      continue;
    }
    sound += 1;
    const { link } = JSON.parse(said);
    await page.evaluate((link) => (location.hash = `${link}&tab=run`), link);
    // The link of the answer says whose it is.
    await page.waitForFunction(
      ([link]) => document.querySelector(".answer-json [data-copy]")?.getAttribute("data-copy")?.includes(`"link": ${JSON.stringify(link)},`),
      [link],
      { timeout: 30_000 },
    );
    expect(await button.getAttribute("data-copy"), plan).toBe(said);
  }
  console.log(`${PLANS.length} plans, ${sound} of them sound: page and terminal answer the same to the byte`);
  expect(sound).toBeGreaterThan(PLANS.length / 4);
});

test("the npm package answers in a browser", async ({ browser }) => {
  test.skip(!TERMINAL || !existsSync(PACKAGE), "HEADROOM_CLI names what to compare with; `cargo xtask package` builds the package");
  const server = siteServer(() => PACKAGE, "/package/");
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/package/`;
  const page = await browser.newPage();
  await page.goto(`${address}package.json`);
  const plan = { model: "Qwen/Qwen3-8B", gpu: "rtx-4090", method: "qlora" };
  const [said, verdict] = await page.evaluate(
    async ([address, plan]) => {
      const headroom = await import(`${address}browser.js`);
      return [headroom.estimateJson(plan), headroom.estimate(headroom.link(plan)).verdict];
    },
    [address, plan] as const,
  );
  expect(said).toBe(execFileSync(TERMINAL!, ["estimate", "--json", JSON.stringify(plan)], { encoding: "utf8" }));
  expect(verdict).toBe(JSON.parse(said).verdict);
  await page.close();
  server.close();
});
