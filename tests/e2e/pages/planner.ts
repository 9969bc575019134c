import type { Locator, Page } from "@playwright/test";

/** Titles of the gallery. */
export const SCENARIOS = [
  "Four everyday plans",
  "A reward model on eight 64 GB GPUs",
  "DPO with two reward models beside it",
  "GRPO on one 40 GB GPU that ran out of memory",
  "A run that uses a tenth of its GPU",
  "Four DeepSpeed tiers for small GPUs",
  "The same model twice on one GPU",
];

/** Tabs of the answer, as links name them. */
type Tab = "fix" | "compare" | "limits" | "memory" | "run";

/** The planner as a person meets it: by roles and labels, never by class names. */
export class Planner {
  readonly heading: Locator;
  readonly failure: Locator;
  /** The word of the verdict and its two figures. */
  readonly verdict: Locator;
  /** What the verdict stands on. */
  readonly basis: Locator;
  readonly model: Locator;
  readonly gpu: Locator;
  readonly copyLink: Locator;
  /** Leads to the scenarios. */
  readonly gallery: Locator;
  /** The matrix of methods by sharding. */
  readonly tiers: Locator;
  /** What stands above the matrix on one GPU. */
  readonly matrixNote: Locator;
  readonly solve: Locator;
  /** The map of batch by length. */
  readonly map: Locator;
  /** The cell of the map that is in hand. */
  readonly mapPlace: Locator;
  /** Two plans side by side. */
  readonly pair: Locator;
  readonly breakdown: Locator;
  readonly linkProblems: Locator;

  constructor(readonly page: Page) {
    this.heading = page.getByRole("heading", { level: 1 });
    this.failure = page.locator("#boot-failure");
    this.verdict = page.getByRole("region", { name: "Verdict" }).getByRole("status");
    this.basis = page.getByRole("region", { name: "What it rests on" });
    this.model = page.getByRole("combobox", { name: "Model" });
    this.gpu = page.getByRole("combobox", { name: "GPU", exact: true });
    this.gallery = page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Scenarios" });
    this.copyLink = page.getByRole("region", { name: "Verdict" }).getByRole("button", { name: "Copy link" });
    this.tiers = page.getByRole("group", { name: "Method by sharding" });
    this.matrixNote = page.getByText("ZeRO shards nothing: only offload");
    this.solve = page.getByRole("region", { name: "What is the most that fits?" });
    this.map = page.getByRole("grid", { name: "Batch by length" });
    this.mapPlace = this.map.getByRole("gridcell");
    this.pair = page.getByRole("region", { name: "Before and after" });
    this.breakdown = page.getByRole("region", { name: "Where every byte goes" });
    this.linkProblems = page.getByRole("alert", { name: "Part of this link could not be read" });
  }

  /** Opens the page, with `fragment` (without `#`) as the plan in the link, and waits until it runs. */
  async open(fragment = "v=1", tab?: Tab): Promise<void> {
    await this.page.goto(`./#${tab ? `${fragment}&tab=${tab}` : fragment}`);
    await this.runs();
  }

  /** Opens a tab of the answer. */
  async tab(name: "Fix" | "Compare" | "Limits" | "Memory" | "Run"): Promise<void> {
    await this.page.getByRole("tab", { name }).click();
    await this.page.getByRole("tabpanel", { name }).waitFor();
  }

  /** Opens the page as someone who typed its address. */
  async openAsNewcomer(): Promise<void> {
    await this.page.goto("./");
    await this.runs();
  }

  /** Waits until the page has answered: the heading alone is there before. */
  async runs(): Promise<void> {
    await this.page.locator("html:not([data-pending]) section.verdict").waitFor();
  }

  /** Waits until nothing more is to come. */
  async settled(): Promise<void> {
    await this.page.locator("html:not([data-computing])").waitFor();
  }

  /** What the verdict says once this plan's own replay is in it. */
  async settledVerdict(): Promise<string> {
    await this.page.locator("html:not([data-pending]) section[data-basis=replayed]").waitFor();
    return this.verdict.innerText();
  }

  /** Opens every folded group of the form. */
  async unfold(): Promise<void> {
    // What was chosen just before may bring groups of its own.
    await this.page.locator("html:not([data-pending])").waitFor();
    await this.page.locator("form.form").evaluate((form) => {
      const folded = [...form.querySelectorAll<HTMLDetailsElement>("section > details:not([open])")];
      // Some fields are made when they are unfolded.
      return Promise.all(folded.map((group) => {
        const unfolded = new Promise((done) => group.addEventListener("toggle", done, { once: true }));
        group.open = true;
        return unfolded;
      })).then(() => {});
    });
    await this.page.locator("html:not([data-pending])").waitFor();
  }

  /** Chooses from a searchable list, as one does with the mouse. */
  async pick(list: Locator, typed: string, name: string | RegExp): Promise<void> {
    await list.click();
    await list.fill(typed);
    await this.page.getByRole("option", { name }).first().click();
  }

  /** A number that is typed. */
  number(label: string): Locator {
    return this.page.getByRole("textbox", { name: label });
  }

  /** A choice shown as buttons side by side. */
  choice(group: string, name: string | RegExp): Locator {
    return this.page.getByRole("group", { name: group }).getByRole("radio", { name });
  }

  /** A cell of the matrix. */
  tier(name: RegExp): Locator {
    return this.tiers.getByRole("button", { name });
  }

  /** Asks what the most is that fits. */
  async solveFor(question: string): Promise<void> {
    await this.solve.getByRole("button", { name: question, exact: true }).click();
  }

  /** Opens a row of the breakdown, and in it the part of one module; what has opened there. */
  async openFormula(name: string, module: string): Promise<Locator> {
    const row = this.breakdown.getByRole("group").filter({ hasText: name }).first();
    await row.getByText(name).click();
    const part = row.getByRole("group").filter({ hasText: module }).first();
    await part.getByText(module).first().click();
    return part;
  }

  /** The plan in the address. */
  fragment(): string {
    return new URL(this.page.url()).hash.slice(1);
  }
}
