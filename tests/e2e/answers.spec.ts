// The answer for scripts that the page gives is the terminal's, to the byte. `cargo xtask package --check` asks for thousands of plans.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "./test";

const TERMINAL = process.env.HEADROOM_CLI;
const PLANS = process.env.HEADROOM_PLANS ? readFileSync(process.env.HEADROOM_PLANS, "utf8").trim().split("\n") : [];

test("the whole answer as JSON is the terminal's, to the byte", async ({ page, planner }) => {
  test.skip(!TERMINAL || PLANS.length === 0, "HEADROOM_CLI and HEADROOM_PLANS name what to compare with");
  test.setTimeout(30_000 + 3_000 * PLANS.length);
  await planner.open();
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
    await page.evaluate((link) => (location.hash = link), link);
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
