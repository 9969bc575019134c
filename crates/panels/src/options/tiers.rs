//! The ways to shard the training state by the ways to train: a matrix to choose from.

use headroom_core::advise::tiers::{Reason, Tier};
use headroom_core::advise::{Judgement, has_wide_adapters};
use headroom_core::order;
use headroom_core::plan::{Alternative, Method, Offload, Plan};
use headroom_core::speed::Range;
use headroom_text::Texts;
use headroom_view::{Element, el};

use super::ladder;
use crate::figures;
use crate::page::Page;
use crate::pieces;
use crate::result::comparison::Candidate;

/// Which row a tier stands in, and where: without offload first, then by stage.
type Row = (bool, u8, bool, bool);

fn row_of(alternative: &Alternative) -> Row {
    let Alternative { zero_stage, offload, plan, .. } = alternative;
    (*offload, *zero_stage, plan.offload_param == Offload::Cpu, plan.offload_optimizer == Offload::Cpu)
}

/// A cell: what is known of it, and the candidate that it is.
#[derive(Clone, Copy)]
struct Cell<'a> {
    tier: &'a Tier,
    candidate: &'a Candidate,
}

/// A column: the method's name, a cell for each row.
struct Column<'a> {
    name: String,
    method: Method,
    cells: Vec<Option<Cell<'a>>>,
}

/// The matrix: names of its rows, each with its stage; columns.
struct Matrix<'a> {
    rows: Vec<(String, u8)>,
    columns: Vec<Column<'a>>,
}

impl<'a> Matrix<'a> {
    /// `tiers` are those of the candidates, in their order.
    fn of(texts: &Texts, plan: &Plan, candidates: &'a [Candidate], tiers: &'a [Tier]) -> Self {
        let cells: Vec<(Row, Cell)> = tiers
            .iter()
            .zip(candidates)
            .map(|(tier, candidate)| (row_of(&tier.alternative), Cell { tier, candidate }))
            .collect();
        let mut keys: Vec<Row> = cells.iter().map(|(key, _)| *key).collect();
        order::sort(&mut keys, Row::cmp);
        keys.dedup();
        let find = |method: Method, key: &Row| {
            let stands = |(own, cell): &&(Row, Cell)| cell.tier.alternative.method == method && own == key;
            // Where two stand in one place, the reader's own is the one to see.
            let own = cells.iter().filter(stands).find(|(_, cell)| cell.tier.alternative.plan == *plan);
            own.or_else(|| cells.iter().find(stands)).map(|(_, cell)| *cell)
        };
        let column = |method: Method| {
            let cells: Vec<Option<Cell>> = keys.iter().map(|key| find(method, key)).collect();
            let name = cells.iter().flatten().next().map(|cell| cell.candidate.group(texts))?;
            Some(Column { name, method, cells })
        };
        let row = |key: &Row| {
            let first = Method::ALL.iter().find_map(|method| find(*method, key));
            (first.map(|cell| cell.candidate.label(texts)).unwrap_or_default(), key.1)
        };
        Self { rows: keys.iter().map(row).collect(), columns: Method::ALL.iter().copied().filter_map(column).collect() }
    }
}

/// The matrix of the plan's tiers, with what stands above and below it. `tiers` are those of the candidates, in their order.
pub(crate) fn matrix(page: &Page, candidates: &[Candidate], tiers: &[Tier]) -> Vec<Element> {
    let words = &page.texts.options.tiers;
    let Matrix { rows, columns } = Matrix::of(page.texts, page.plan(), candidates, tiers);
    let mut names = el("div")
        .class("tier-rows")
        .attr("aria-hidden", "true")
        .with(el("span").class("tier-head").text(words.sharding));
    for (name, _) in &rows {
        names = names.with(el("span").class("tier-row").text(name));
    }
    let columns = columns.iter().map(|column| method(page, column, &rows)).collect();
    let grid = el("div")
        .class("tiers")
        .attr("role", "group")
        .attr("aria-labelledby", "tiers-title")
        .attr("data-style", &format!("--rows:{}", rows.len()))
        .with(names)
        .with_all(columns);
    let facts = |key: &str, text: &str| el("p").key(key).class("facts").text(text);
    let mut all =
        vec![el("h3").attr("id", "tiers-title").text(words.title), el("p").class("panel-intro").text(words.intro)];
    if page.plan().num_gpus == 1 {
        all.push(facts("one-gpu", words.one_gpu));
    }
    if candidates.iter().any(|candidate| has_wide_adapters(&candidate.alternative.plan)) {
        all.push(facts("wide-adapters", words.wide_adapters));
    }
    all.push(grid.key("tiers"));
    all.extend(ladder::details(page).map(|details| details.key("ladder")));
    all
}

/// The column of a method.
fn method(page: &Page, column: &Column, rows: &[(String, u8)]) -> Element {
    let mut group = el("div")
        .key(column.method.name())
        .class("tier-method")
        .attr("role", "group")
        .attr("aria-label", &column.name)
        .with(el("h4").text(&column.name));
    for (cell, (row, stage)) in column.cells.iter().zip(rows) {
        group = group.with(match cell {
            Some(cell) => filled(page, &column.name, row, *cell),
            None => {
                let is_missing = column.method == Method::Qlora && *stage == 3;
                let why = if is_missing { page.texts.options.tiers.not_offered } else { "–" };
                el("p").class("tier none").with(row_name(row)).text(why)
            }
        });
    }
    group
}

/// The name of the row, seen where the columns stand one below the other.
fn row_name(row: &str) -> Element {
    el("span").class("tier-name").text(&format!("{row} "))
}

/// A tier as a button that makes it the plan.
fn filled(page: &Page, method: &str, row: &str, cell: Cell) -> Element {
    let Cell { tier, candidate } = cell;
    let hidden = el("span").class("visually-hidden").text(&format!("{method}, "));
    choice(
        page,
        Choice {
            name: vec![hidden, row_name(row)],
            plan: &candidate.alternative.plan,
            judgement: tier.judgement,
            time: tier.time,
            reason: tier.reason,
            shards_nothing: tier.shards_nothing,
            of_ladder: false,
            why_not: candidate.why_not(page.texts),
        },
    )
}

/// A plan to choose: its name and what is known of it.
pub(super) struct Choice<'a> {
    pub(super) name: Vec<Element>,
    pub(super) plan: &'a Plan,
    pub(super) judgement: Option<Judgement>,
    pub(super) time: Option<Range>,
    pub(super) reason: Reason,
    pub(super) shards_nothing: bool,
    /// One of a few, each of which says why it is not the one to take.
    pub(super) of_ladder: bool,
    pub(super) why_not: String,
}

/// A plan as a button that makes it the reader's; one that contradicts itself as its reason.
pub(super) fn choice(page: &Page, shown: Choice) -> Element {
    let texts = page.texts;
    let words = &texts.options.tiers;
    let Choice { name, plan, judgement, time, reason, shards_nothing, of_ladder, why_not } = shown;
    let Some(judged) = judgement else {
        return el("p").class("tier none").with_all(name).with(el("span").text(&why_not));
    };
    let is_current = plan == page.plan();
    let mut need = format!("{} {}", words.on_gpu, figures::glance(judged.need_bytes));
    if judged.host_bytes > 0 {
        need.push_str(&format!(" · {} {}", words.in_host, figures::glance(judged.host_bytes)));
    }
    let time = match time {
        _ if is_current => texts.current_plan.to_owned(),
        Some(time) => format!("{} {}", words.time, figures::times(time)),
        None => String::new(),
    };
    let remark = match reason {
        Reason::Quickest => words.quickest,
        _ if shards_nothing => words.shards_nothing,
        Reason::HostTooSmall => words.host_too_small,
        Reason::Slower if of_ladder => words.slower,
        Reason::Slower | Reason::DoesNotFit | Reason::Contradicts => "",
    };
    let line = el("span")
        .class("tier-line")
        .with(pieces::fit_word(texts, judged.fit))
        .text(" ")
        .with(el("span").class("badge").text(remark));
    let figures = el("span").class("tier-figures").with(el("span").text(&need)).text(" ").with(el("span").text(&time));
    el("button")
        .attr("type", "button")
        .class(if reason == Reason::Quickest { "tier quickest" } else { "tier" })
        .aria("aria-pressed", is_current)
        .attr("data-do", &page.adopts(plan))
        .with_all(name)
        .with(line)
        .text(" ")
        .with(figures)
}
