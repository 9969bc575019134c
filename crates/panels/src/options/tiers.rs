//! The ways to shard the training state by the ways to train: a matrix to choose from.

use headroom_charts::{need_by_category, swatch_class};
use headroom_core::advise::tiers::{Reason, Tier};
use headroom_core::advise::{Judgement, Level, has_wide_adapters};
use headroom_core::memory::Basis;
use headroom_core::memory::Estimate;
use headroom_core::order;
use headroom_core::plan::{Alternative, Method, Offload, Plan};
use headroom_core::speed::Range;
use headroom_text::Texts;
use headroom_view::{Element, el};

use super::ladder;
use crate::figures;
use crate::page::Page;
use crate::pieces;
use crate::result::chart;
use crate::result::comparison::Candidate;
use crate::why;

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
    let words = &page.texts.options().tiers;
    let Matrix { rows, columns } = Matrix::of(page.texts, page.plan(), candidates, tiers);
    let mut names = el("div")
        .class("tier-rows")
        .attr("aria-hidden", "true")
        .with(el("span").class("tier-head").text(words.sharding));
    for (name, _) in &rows {
        names = names.with(el("span").class("tier-row").text(name));
    }
    let scale = Scale::of(page, candidates);
    let drawn = columns.iter().map(|column| method(page, column, &rows, scale)).collect();
    let grid = el("div")
        .class("tiers")
        .attr("role", "group")
        .attr("aria-label", words.title)
        .attr("data-marks", "")
        .attr("data-style", &format!("--rows:{}", rows.len()))
        .with(names)
        .with_all(drawn);
    let facts = |key: &str, text: &str| el("p").key(key).class("facts").text(text);
    let mut all = vec![baseline(page).key("baseline"), grid.key("tiers")];
    if page.plan().num_gpus == 1 {
        all.push(facts("one-gpu", words.one_gpu));
    }
    if candidates.iter().any(|candidate| has_wide_adapters(&candidate.alternative.plan)) {
        all.push(facts("wide-adapters", words.wide_adapters));
    }
    all.extend(surprises(page, &rows, &columns));
    all.extend(ladder::details(page).map(|details| details.key("ladder")));
    all
}

/// What the times are beside, and what keeps them there while other plans are chosen.
fn baseline(page: &Page) -> Element {
    let words = &page.texts.options().tiers;
    let line = el("div").class("baseline");
    match &page.state.options.pinned {
        Some(plan) => line
            .with(el("p").class("panel-intro").text(&(words.pinned)(&page.texts.plan_title(plan))))
            .with(pieces::button("unpin", words.unpin)),
        None => line
            .with(el("p").class("panel-intro").text(words.intro))
            .with_some(page.outcome.is_ok().then(|| pieces::button("pin", words.pin))),
    }
}

/// What needs more than its neighbour that is known for less, asked about: QLoRA beside LoRA, a later stage beside an earlier one.
fn surprises(page: &Page, rows: &[(String, u8)], columns: &[Column]) -> Vec<Element> {
    let mut found = Vec::new();
    for (at, column) in columns.iter().enumerate() {
        for (line, cell) in column.cells.iter().enumerate() {
            let Some(cell) = cell else { continue };
            let left = at.checked_sub(1).and_then(|at| columns.get(at));
            let left = left.and_then(|left| left.cells.get(line)?.map(|cell| (true, left, line, cell)));
            let above =
                line.checked_sub(1).and_then(|line| column.cells.get(line)?.map(|cell| (false, column, line, cell)));
            let than = left.into_iter().chain(above).find(|(.., other)| exceeds(*cell, *other));
            let Some((is_method, other, other_line, than)) = than else { continue };
            let name = |column: &Column, line: usize| {
                [column.name.as_str(), ", ", rows.get(line).map_or("", |(name, _)| name.as_str())].concat()
            };
            let more = need(*cell).saturating_sub(need(than));
            let words = headroom_text::why(page.state.language);
            let question = (words.needs_more)(&name(column, line), &figures::glance(more), &name(other, other_line));
            let key = format!("why:tier-{}-{line}", column.method.name());
            let plans = [than, *cell].map(|cell| &cell.candidate.alternative.plan);
            found.push(((is_method, more), why::details(page, &key, &question, plans)));
        }
    }
    // That a method needs more says more than that a stage does.
    order::sort(&mut found, |(one, _), (other, _)| other.cmp(one));
    found.truncate(MOST_SURPRISES);
    found.into_iter().map(|(_, asked)| asked).collect()
}

/// Questions below the matrix.
const MOST_SURPRISES: usize = 3;

fn need(cell: Cell) -> u64 {
    cell.tier.judgement.map_or(0, |judged| judged.need_bytes)
}

/// Whether a cell needs clearly more than another that has an answer.
fn exceeds(cell: Cell, other: Cell) -> bool {
    let [own, others] = [cell, other].map(need);
    others > 0 && own > others + others / 100
}

/// Bytes that the whole width of a cell's bar stands for.
#[derive(Clone, Copy)]
struct Scale(u64);

impl Scale {
    /// Beyond this many GPUs bars are cut: one plan far from fitting would leave the others no width.
    const MOST_GPUS: u64 = 2;

    fn of(page: &Page, candidates: &[Candidate]) -> Self {
        let gpu = page.estimate.map_or(1, |estimate| estimate.gpu_bytes).max(1);
        let needs = candidates.iter().filter_map(Candidate::estimate).map(|estimate| estimate.peak.band.expected);
        Self(needs.max().unwrap_or(gpu).clamp(gpu, gpu.saturating_mul(Self::MOST_GPUS)))
    }

    fn percent(self, bytes: u64) -> String {
        format!("{:.2}%", (100.0 * bytes as f64 / self.0 as f64).min(100.0))
    }

    /// What a plan needs by category, and where the GPU ends.
    fn bar(self, estimate: &Estimate) -> Element {
        let mut from = 0_u64;
        let mut bar = el("span").class("tier-bar").attr("aria-hidden", "true");
        for (category, bytes) in need_by_category(estimate) {
            let width = bytes.min(self.0.saturating_sub(from));
            if width > 0 {
                let style = ["left:", &self.percent(from), ";width:", &self.percent(width)].concat();
                bar = bar.with(el("i").key(category.name()).class(swatch_class(category)).attr("data-style", &style));
            }
            from = from.saturating_add(bytes);
        }
        let is_cut = estimate.peak.band.expected > self.0;
        bar.with_some(is_cut.then(|| el("b").key("cut").class("tier-cut"))).with(
            el("b")
                .key("gpu")
                .class("tier-gpu")
                .attr("data-style", &["left:", &self.percent(estimate.gpu_bytes)].concat()),
        )
    }
}

/// The column of a method.
fn method(page: &Page, column: &Column, rows: &[(String, u8)], scale: Scale) -> Element {
    let mut group = el("div")
        .key(column.method.name())
        .class("tier-method")
        .attr("role", "group")
        .attr("aria-label", &column.name)
        .with(el("h3").text(&column.name));
    for (cell, (row, stage)) in column.cells.iter().zip(rows) {
        group = group.with(match cell {
            Some(cell) => filled(page, &column.name, row, *cell, scale),
            None => {
                let is_missing = column.method == Method::Qlora && *stage == 3;
                let why = if is_missing { page.texts.options().tiers.not_offered } else { "–" };
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
fn filled(page: &Page, method: &str, row: &str, cell: Cell, scale: Scale) -> Element {
    let Cell { tier, candidate } = cell;
    let bar = candidate.estimate().map(|estimate| scale.bar(estimate));
    let name = [method, ", ", row].concat();
    let hidden = el("span").class("visually-hidden").text(&format!("{method}, "));
    let value = candidate
        .estimate()
        .map(|estimate| chart::value(page.texts, &name, estimate.peak.band.expected, estimate.gpu_bytes));
    let choice = choice(
        page,
        Choice {
            name: vec![hidden, row_name(row)],
            bar,
            plan: &candidate.alternative.plan,
            judgement: tier.judgement,
            time: tier.time,
            reason: tier.reason,
            shards_nothing: tier.shards_nothing,
            is_coarser: !tier.fewer_bits.is_empty(),
            is_rough: candidate.estimate().is_some_and(|estimate| estimate.peak.basis != Basis::Replayed),
            of_ladder: false,
            why_not: candidate.why_not(page.texts),
        },
    );
    choice.maybe("data-value", value.as_deref())
}

/// A plan to choose: its name and what is known of it.
pub(super) struct Choice<'a> {
    pub(super) name: Vec<Element>,
    /// What it needs, as a picture.
    pub(super) bar: Option<Element>,
    pub(super) plan: &'a Plan,
    pub(super) judgement: Option<Judgement>,
    pub(super) time: Option<Range>,
    pub(super) reason: Reason,
    pub(super) shards_nothing: bool,
    /// Something is held or computed in fewer bits than in the reader's plan.
    pub(super) is_coarser: bool,
    /// What it needs has not been replayed yet.
    pub(super) is_rough: bool,
    /// One of a few, each of which says why it is not the one to take.
    pub(super) of_ladder: bool,
    pub(super) why_not: String,
}

/// A plan as a button that makes it the reader's; one that contradicts itself as its reason.
pub(super) fn choice(page: &Page, shown: Choice) -> Element {
    let texts = page.texts;
    let words = &texts.options().tiers;
    let Choice { name, bar, plan, judgement, time, reason, shards_nothing, is_coarser, is_rough, of_ladder, why_not } =
        shown;
    let Some(judged) = judgement else {
        return el("p").class("tier none").with_all(name).with(el("span").text(&why_not));
    };
    let is_current = plan == page.plan();
    let glance = figures::glance(judged.need_bytes);
    let glance = if is_rough { figures::rough(&glance) } else { glance };
    let mut need = format!("{} {glance}", words.on_gpu);
    if judged.host_bytes > 0 {
        need.push_str(&format!(" · {} {}", words.in_host, figures::glance(judged.host_bytes)));
    }
    let pinned = page.state.options.pinned.as_ref();
    let time = match time {
        _ if is_current && pinned.is_none() => texts.current_plan.to_owned(),
        Some(time) if is_current => format!("{} · {} {}", texts.current_plan, words.time, figures::times(time)),
        Some(time) => format!("{} {}", words.time, figures::times(time)),
        None => String::new(),
    };
    let remark = match reason {
        _ if pinned == Some(plan) => words.baseline,
        Reason::Quickest => words.quickest,
        _ if shards_nothing => words.shards_nothing,
        Reason::HostTooSmall => words.host_too_small,
        Reason::Slower if of_ladder => words.slower,
        Reason::Slower | Reason::DoesNotFit | Reason::Contradicts => "",
    };
    let line = el("span")
        .class("tier-line")
        .with(pieces::fit_word(texts, &judged))
        .text(" ")
        .with(el("span").class("badge").text(remark));
    let coarser = if is_coarser { (texts.advice.level_short)(Level::Coarser) } else { "" };
    let line = line.with(el("span").class("level coarser").flag("hidden", !is_coarser).text(coarser));
    let figures = el("span").class("tier-figures").with(el("span").text(&need)).text(" ").with(el("span").text(&time));
    el("button")
        .attr("type", "button")
        .class(match (reason, bar.is_some()) {
            (Reason::Quickest, true) => "tier mark quickest",
            (Reason::Quickest, false) => "tier quickest",
            (_, true) => "tier mark",
            (_, false) => "tier",
        })
        .aria("aria-pressed", is_current)
        .attr("data-do", &page.adopts(plan))
        .with_all(name)
        .with(line)
        .with_some(bar)
        .text(" ")
        .with(figures)
}
