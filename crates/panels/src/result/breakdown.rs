//! Every allocation at the peak, each opening into its formula.

use headroom_charts::swatch_class;
use headroom_core::memory::{Allocation, Category, Estimate, Term};
use headroom_core::order;
use headroom_core::units::{bytes_text, count_text};
use headroom_view::{Element, Node, el};

use super::chart::swatch;
use super::{bytes, exactly, phases, told, told_formula};
use crate::figures;
use crate::page::Page;

/// Id of the heading.
pub(crate) const TITLE: &str = "breakdown-title";

/// Which of the two lists a row stands in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    AtPeak,
    Gone,
}

impl List {
    fn holds(self, allocation: &Allocation) -> bool {
        (allocation.bytes_at_peak > 0) == (self == Self::AtPeak)
    }

    /// What the names of its rows begin with.
    const fn name(self) -> &'static str {
        match self {
            Self::AtPeak => "term:",
            Self::Gone => "gone:",
        }
    }
}

/// The allocations of `term` in `list`, as the estimate orders them.
fn of_term(estimate: &Estimate, term: Term, list: List) -> Vec<&Allocation> {
    estimate.allocations.iter().filter(|row| row.term == term && list.holds(row)).collect()
}

fn sum(rows: &[&Allocation]) -> u64 {
    rows.iter().map(|row| row.bytes_at_peak).sum()
}

/// Allocations by category, largest first, without what stands around them.
pub(crate) fn rows(page: &Page) -> Option<Element> {
    let estimate = page.estimate?;
    let rows = Category::ALL.iter().filter_map(|category| category_rows(page, estimate, *category)).collect();
    let section = el("section").attr("aria-label", page.texts.breakdown_title);
    Some(section.with_all(rows).with(total(page, estimate)))
}

/// The sum of all categories.
fn total(page: &Page, estimate: &Estimate) -> Element {
    el("p")
        .key("sum")
        .class("breakdown-sum")
        .with(el("strong").text(page.texts.breakdown_sum))
        .with(bytes(page, estimate.peak.band.expected))
}

/// Allocations by category, largest first, and last those that are gone at the peak.
pub(crate) fn panel(page: &Page) -> Option<Node> {
    let estimate = page.estimate?;
    let (texts, peak) = (page.texts, &estimate.peak);
    let intro = (texts.breakdown_intro)((texts.phase)(peak.phase), &bytes_text(peak.allocated_bytes));
    let panel = el("section")
        .class("panel")
        .attr("aria-labelledby", TITLE)
        .with(el("h2").key("title").attr("id", TITLE).text(texts.breakdown_title))
        .with(el("p").key("intro").class("panel-intro").text(&intro))
        .with_all(Category::ALL.iter().filter_map(|category| category_rows(page, estimate, *category)).collect())
        .with(total(page, estimate))
        .with_some(gone(page, estimate));
    Some(panel.into())
}

/// What is held only in other phases than that of the peak.
fn gone(page: &Page, estimate: &Estimate) -> Option<Element> {
    let row = |term: &Term| {
        let rows = of_term(estimate, *term, List::Gone);
        (!rows.is_empty()).then(|| term_row(page, *term, List::Gone, &rows))
    };
    let rows: Vec<Element> = Term::ALL.iter().filter_map(row).collect();
    let summary = el("summary").with(el("h3").text(page.texts.not_at_peak));
    (!rows.is_empty()).then(|| el("details").key("gone").class("gone").with(summary).with_all(rows))
}

/// One category: its sum and its terms, largest first; nothing where it has none.
fn category_rows(page: &Page, estimate: &Estimate, category: Category) -> Option<Element> {
    let of_category = Term::ALL.iter().filter(|term| term.category() == category);
    let mut terms: Vec<(u64, Term, Vec<&Allocation>)> = of_category
        .map(|term| (*term, of_term(estimate, *term, List::AtPeak)))
        .map(|(term, rows)| (sum(&rows), term, rows))
        .filter(|(bytes, ..)| *bytes > 0)
        .collect();
    order::sort(&mut terms, |(one, ..), (other, ..)| other.cmp(one));
    let mut overheads = estimate.overheads();
    overheads.retain(|(term, _)| term.category() == category);
    if terms.is_empty() && overheads.is_empty() {
        return None;
    }
    let name = (page.texts.category)(category);
    let (bytes, written) = sum_of(estimate, category).unwrap_or_default();
    // Without a breakdown's panel around it, there is no chart to lead to.
    let named = match page.state.embedded {
        Some(_) => el("span").with(swatch(category)).text(name),
        None => el("button")
            .attr("type", "button")
            .attr("id", row_id(category))
            .class("category-name")
            .attr("data-do", &["category ", category.name(), " chart"].concat())
            .attr("title", &(page.texts.charts.to_chart)(name))
            .with(swatch(category))
            .text(name),
    };
    let head = el("h3").with(named).with(exactly(page, el("span").class("number"), bytes).text(&written));
    let is_picked = page.state.picked == Some(category);
    let section =
        el("div").key(category.name()).class(if is_picked { "category-rows picked" } else { "category-rows" });
    let formula = formula_of(page, &terms, &overheads);
    // Told apart by term, so that what is open stays open while a slider moves.
    let mut rows: Vec<Element> =
        terms.iter().map(|(_, term, rows)| term_row(page, *term, List::AtPeak, rows)).collect();
    rows.extend(overheads.iter().map(|(term, bytes)| overhead_row(page, estimate, *term, *bytes)));
    let section = section.with(head).with(bar(estimate, category, bytes));
    Some(if phases::is_narrow(page) {
        section.with(folded(page, category, formula, rows))
    } else {
        section.with(formula).with_all(rows)
    })
}

/// What a category is made of behind how many kinds that is; open where a legend has led to it.
fn folded(page: &Page, category: Category, formula: Element, rows: Vec<Element>) -> Element {
    let name = ["rows:", category.name()].concat();
    let is_open = page.state.is_open(&name) || page.state.picked == Some(category);
    el("details")
        .key("rows")
        .class("kinds")
        .attr("data-toggle", &["open ", &name].concat())
        .flag("open", is_open)
        .with(el("summary").text(&(page.texts.charts.kinds)(rows.len())))
        .with(formula)
        .with_all(rows)
}

/// A category's share of what is needed at the peak, as long as that.
fn bar(estimate: &Estimate, category: Category, bytes: u64) -> Element {
    let share = bytes as f64 / estimate.peak.band.expected.max(1) as f64;
    let fill = el("span")
        .class(swatch_class(category))
        .attr("data-style", &["width:", &figures::percent(share), "%"].concat());
    el("div").key("bar").class("category-bar").attr("aria-hidden", "true").with(fill)
}

/// What a category is made of: its terms with their bytes; of a single allocation its own formula.
fn formula_of(page: &Page, terms: &[(u64, Term, Vec<&Allocation>)], overheads: &[(Term, u64)]) -> Element {
    let said = match (terms, overheads) {
        ([(_, _, rows)], []) if rows.len() == 1 => rows.iter().map(|row| row.formula.clone()).collect(),
        _ => {
            let terms = terms.iter().map(|(bytes, term, _)| (*term, *bytes));
            let said = |(term, bytes): (Term, u64)| [(page.texts.term)(term), " ", &bytes_text(bytes)].concat();
            terms.chain(overheads.iter().copied()).map(said).collect::<Vec<_>>().join(" + ")
        }
    };
    el("p").key("formula").class("formula category-formula").text("= ").text(&said)
}

/// Id of a category's heading.
pub(super) const fn row_id(category: Category) -> &'static str {
    match category {
        Category::Weights => "breakdown-weights",
        Category::Gradients => "breakdown-gradients",
        Category::OptimizerStates => "breakdown-optimizer-states",
        Category::Activations => "breakdown-activations",
        Category::LogitsAndLoss => "breakdown-logits-and-loss",
        Category::KvCache => "breakdown-kv-cache",
        Category::CommunicationBuffers => "breakdown-communication-buffers",
        Category::Temporary => "breakdown-temporary",
        Category::Overhead => "breakdown-overhead",
    }
}

/// Bytes of a category at the peak, and how they are written: as the table of phases has it, so that the sums of all
/// categories add up to the verdict's figure as written.
fn sum_of(estimate: &Estimate, category: Category) -> Option<(u64, String)> {
    let (categories, bytes): (Vec<_>, Vec<_>) = estimate.need_by_category(estimate.peak_phase()?).into_iter().unzip();
    let place = categories.iter().position(|of| *of == category)?;
    let written = figures::cells(&bytes).swap_remove(place);
    Some((*bytes.get(place)?, written + " GiB"))
}

/// What the verdict's figure has besides PyTorch's tensors: no allocation of a module, so without parts.
fn overhead_row(page: &Page, estimate: &Estimate, term: Term, own: u64) -> Element {
    let (texts, peak) = (page.texts, &estimate.peak);
    let mut list = el("dl");
    if term == Term::Fragmentation {
        let required = count_text(peak.band.expected - peak.context_bytes);
        let formula = [&required, " − ", &count_text(peak.allocated_bytes), " B"].concat();
        list = list.with_all(told_formula(texts.with_numbers, &formula).into());
    }
    el("details")
        .class("allocation")
        .key(&["need:", term.name()].concat())
        .with(el("summary").with(el("span").class("allocation-name").text((texts.term)(term))).with(bytes(page, own)))
        .with(list.with_all(told(texts.source, term.source()).into()))
}

/// A row that opens; most are never opened: what they show is made when they are.
fn opening(name: &str, key: &str) -> Element {
    el("details").class("allocation").key(key).attr("data-toggle", &["open ", name].concat())
}

/// All allocations of one term. A single one opens into its formula, several into a row each.
fn term_row(page: &Page, term: Term, list: List, rows: &[&Allocation]) -> Element {
    let mut said = el("span").class("allocation-name").text((page.texts.term)(term));
    said = match rows {
        [only] if !only.module.is_empty() => said.text(" ").with(el("code").text(&only.module)),
        [_, _, ..] => said.text(" ").with(el("small").text("× ").text(&rows.len().to_string())),
        _ => said,
    };
    let name = [list.name(), term.name()].concat();
    let row = opening(&name, term.name()).with(el("summary").with(said).with(bytes(page, sum(rows))));
    match rows {
        _ if !page.state.is_open(&name) => row,
        [] => row,
        [only] => row.with(formula(page, only)),
        several => {
            let part = |(nth, row): (usize, &&Allocation)| part_row(page, &name, nth, row);
            row.with(el("div").class("parts").with_all(several.iter().enumerate().map(part).collect()))
        }
    }
}

/// One of several allocations of a term: its module and its formula at a glance.
fn part_row(page: &Page, of: &str, nth: usize, allocation: &Allocation) -> Element {
    let said = el("span")
        .class("allocation-name")
        .with(el("code").text(&allocation.module))
        .text(" ")
        .with(el("span").class("formula-glance").text(&allocation.formula));
    let nth = nth.to_string();
    let name = [of, ":", &nth].concat();
    let row = opening(&name, &nth).with(el("summary").with(said).with(bytes(page, allocation.bytes_at_peak)));
    if page.state.is_open(&name) { row.with(formula(page, allocation)) } else { row }
}

/// The formula in symbols, with the numbers put in, what it comes to, when it lives, and where it comes from.
fn formula(page: &Page, row: &Allocation) -> Element {
    let texts = page.texts;
    let result = (texts.result_bytes)(&bytes_text(row.formula_bytes), &count_text(row.formula_bytes));
    let held = row.phases.iter().filter(|(_, bytes)| *bytes > 0);
    let lives_in: Vec<String> =
        held.map(|(phase, bytes)| [(texts.phase)(*phase), " ", &figures::glance(*bytes)].concat()).collect();
    el("dl")
        .with_all(told_formula(texts.formula, &row.formula).into())
        .with_all(told_formula(texts.with_numbers, &row.formula_with_numbers).into())
        .with_all(told(texts.result, &result).into())
        .with_all(told(texts.lives_in, &lives_in.join(" · ")).into())
        .with_all(told(texts.source, row.term.source()).into())
}
