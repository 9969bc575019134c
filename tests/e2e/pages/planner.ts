import type { Locator, Page } from "@playwright/test";

/** The planner as a person meets it: by roles and labels, never by class names. */
export class Planner {
  readonly heading: Locator;
  readonly failure: Locator;

  constructor(readonly page: Page) {
    this.heading = page.getByRole("heading", { level: 1 });
    this.failure = page.locator("#boot-failure");
  }

  /** Opens the page, with `fragment` (without `#`) as the plan in the link, and waits until it runs. */
  async open(fragment = ""): Promise<void> {
    await this.page.goto(fragment ? `./#${fragment}` : "./");
    await this.heading.waitFor();
  }
}
