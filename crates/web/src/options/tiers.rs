//! The ways to shard the training state by the ways to train: a matrix to choose from.

use headroom_core::advise::tiers::{Reason, Tier, tiers};
use headroom_core::advise::{FitOracle, Judgement, has_wide_adapters};
use headroom_core::job::Job;
use headroom_core::order;
use headroom_core::plan::{Alternative, Method, Offload, Plan};
use headroom_core::speed::Range;
use leptos::prelude::*;

use super::ladder::LadderDetails;
use crate::figures;
use crate::result::{Candidate, FitIcon, class_of};
use crate::state::State;
use crate::text::{Texts, text, texts};

/// Answers that are there already: what the bars show, the matrix says.
struct Shown<'a>(&'a [Candidate]);

impl FitOracle for Shown<'_> {
    fn judge(&self, job: &Job) -> Option<Judgement> {
        let candidate = self.0.iter().find(|candidate| candidate.alternative.plan == *job.plan())?;
        candidate.estimate().map(Judgement::from)
    }
}

/// Which row a tier stands in, and where: without offload first, then by stage.
type Row = (bool, u8, bool, bool);

fn row_of(alternative: &Alternative) -> Row {
    let Alternative { zero_stage, offload, plan, .. } = alternative;
    (*offload, *zero_stage, plan.offload_param == Offload::Cpu, plan.offload_optimizer == Offload::Cpu)
}

/// A cell: its place among the candidates.
#[derive(Clone, PartialEq)]
struct Cell {
    index: usize,
    tier: Tier,
}

/// A column: the method's name, a cell for each row.
#[derive(Clone, PartialEq)]
struct Column {
    name: String,
    method: Method,
    cells: Vec<Option<Cell>>,
}

/// The matrix: names of its rows, each with its stage; columns.
#[derive(Clone, PartialEq, Default)]
struct Matrix {
    rows: Vec<(String, u8)>,
    columns: Vec<Column>,
}

impl Matrix {
    fn of(texts: &Texts, plan: &Plan, candidates: &[Candidate]) -> Self {
        let job = Job::resolve(plan);
        let tiers = job.map(|job| tiers(&job, &Shown(candidates))).unwrap_or_default();
        let mut keys: Vec<Row> = tiers.iter().map(|tier| row_of(&tier.alternative)).collect();
        order::sort(&mut keys, Row::cmp);
        keys.dedup();
        let find = |method: Method, key: &Row| {
            let mut found = tiers
                .iter()
                .enumerate()
                .filter(|(_, tier)| tier.alternative.method == method && row_of(&tier.alternative) == *key);
            // Where two stand in one place, the reader's own is the one to see.
            let (index, tier) =
                found.clone().find(|(_, tier)| tier.alternative.plan == *plan).or_else(|| found.next())?;
            Some(Cell { index, tier: tier.clone() })
        };
        let named = |index: usize| candidates.get(index);
        let column = |method: Method| {
            let cells: Vec<Option<Cell>> = keys.iter().map(|key| find(method, key)).collect();
            let name = cells.iter().flatten().find_map(|cell| Some(named(cell.index)?.group(texts)))?;
            Some(Column { name, method, cells })
        };
        let row = |key: &Row| {
            let first = Method::ALL.iter().find_map(|method| find(*method, key));
            let name = first.and_then(|cell| Some(named(cell.index)?.label(texts)));
            (name.unwrap_or_default(), key.1)
        };
        Self { rows: keys.iter().map(row).collect(), columns: Method::ALL.iter().copied().filter_map(column).collect() }
    }
}

/// The matrix of the plan's tiers.
#[component]
pub(crate) fn TierMatrix(
    plan: ReadSignal<Plan>,
    candidates: Memo<Vec<Candidate>>,
    choose: Callback<usize>,
) -> impl IntoView {
    let texts = texts();
    let matrix = Memo::new(move |_| Matrix::of(texts.get(), &plan.read(), &candidates.read()));
    let is_wide =
        Memo::new(move |_| candidates.read().iter().any(|candidate| has_wide_adapters(&candidate.alternative.plan)));
    let is_alone = Memo::new(move |_| State::of_page().plan().read().num_gpus == 1);
    let names = move || {
        let rows = matrix.get().rows;
        rows.into_iter().map(|(name, _)| view! { <span class="tier-row">{name}</span> }).collect::<Vec<_>>()
    };
    let columns = move || {
        let texts = texts.get();
        let Matrix { rows, columns } = matrix.get();
        let column = |column: Column| {
            let cells: Vec<_> = column
                .cells
                .into_iter()
                .zip(&rows)
                .map(|(cell, (row, stage))| match cell {
                    Some(cell) => filled(texts, &column.name, row, cell, candidates, choose),
                    None => {
                        let why = if column.method == Method::Qlora && *stage == 3 {
                            texts.options.tiers.not_offered
                        } else {
                            "–"
                        };
                        view! { <p class="tier none"><span class="tier-name">{row.clone()}" "</span>{why}</p> }
                            .into_any()
                    }
                })
                .collect();
            view! {
                <div class="tier-method" role="group" aria-label=column.name.clone()>
                    <h4>{column.name.clone()}</h4>
                    {cells}
                </div>
            }
        };
        columns.into_iter().map(column).collect::<Vec<_>>()
    };
    view! {
        <h3 id="tiers-title">{text(|t| t.options.tiers.title)}</h3>
        <p class="panel-intro">{text(|t| t.options.tiers.intro)}</p>
        <Show when=move || is_alone.get()><p class="facts">{text(|t| t.options.tiers.one_gpu)}</p></Show>
        <Show when=move || is_wide.get()><p class="facts">{text(|t| t.options.tiers.wide_adapters)}</p></Show>
        <div class="tiers" role="group" aria-labelledby="tiers-title" style:--rows=move || matrix.read().rows.len().to_string()>
            <div class="tier-rows" aria-hidden="true">
                <span class="tier-head">{text(|t| t.options.tiers.sharding)}</span>
                {names}
            </div>
            {columns}
        </div>
        <LadderDetails plan/>
    }
}

/// A tier as a button that makes it the plan.
fn filled(
    texts: &'static Texts,
    method: &str,
    row: &str,
    cell: Cell,
    candidates: Memo<Vec<Candidate>>,
    choose: Callback<usize>,
) -> AnyView {
    let Cell { index, tier: Tier { judgement, time, reason, shards_nothing, .. } } = cell;
    let candidates = candidates.read_untracked();
    let candidate = candidates.get(index);
    let name = view! {
        <span class="visually-hidden">{format!("{method}, ")}</span>
        <span class="tier-name">{format!("{row} ")}</span>
    };
    let shown = Choice {
        name: name.into_any(),
        judgement,
        time,
        reason,
        shards_nothing,
        of_ladder: false,
        why_not: candidate.map(|candidate| candidate.why_not(texts)).unwrap_or_default(),
        is_current: candidate.is_some_and(|candidate| candidate.is_current),
    };
    choice(texts, shown, Callback::new(move |()| choose.run(index)))
}

/// A plan to choose: its name and what is known of it.
pub(super) struct Choice {
    pub(super) name: AnyView,
    pub(super) judgement: Option<Judgement>,
    pub(super) time: Option<Range>,
    pub(super) reason: Reason,
    pub(super) shards_nothing: bool,
    /// One of a few, each of which says why it is not the one to take.
    pub(super) of_ladder: bool,
    pub(super) why_not: String,
    pub(super) is_current: bool,
}

/// A plan as a button that makes it the reader's; one that contradicts itself as its reason.
pub(super) fn choice(texts: &'static Texts, shown: Choice, choose: Callback<()>) -> AnyView {
    let words = &texts.options.tiers;
    let Choice { name, judgement, time, reason, shards_nothing, of_ladder, why_not, is_current } = shown;
    let Some(judged) = judgement else {
        return view! { <p class="tier none">{name}<span>{why_not}</span></p> }.into_any();
    };
    let host = match judged.host_bytes {
        0 => String::new(),
        bytes => format!(" · {} {}", words.in_host, figures::glance(bytes)),
    };
    let time = match time {
        Some(time) if !is_current => format!("{} {}", words.time, figures::times(time)),
        _ if is_current => texts.current_plan.to_owned(),
        _ => String::new(),
    };
    let remark = match reason {
        Reason::Quickest => words.quickest,
        _ if shards_nothing => words.shards_nothing,
        Reason::HostTooSmall => words.host_too_small,
        Reason::Slower if of_ladder => words.slower,
        Reason::Slower | Reason::DoesNotFit | Reason::Contradicts => "",
    };
    view! {
        <button
            type="button"
            class="tier"
            class:quickest=reason == Reason::Quickest
            aria-pressed=is_current.to_string()
            on:click=move |_| choose.run(())
        >
            {name}
            <span class="tier-line">
                <span class=format!("fit {}", class_of(judged.fit))><FitIcon fit=judged.fit/>{(texts.fit)(judged.fit)}</span>
                " "
                <span class="badge">{remark}</span>
            </span>
            " "
            <span class="tier-figures">
                <span>{words.on_gpu}" "{figures::glance(judged.need_bytes)}{host}</span>
                " "
                <span>{time}</span>
            </span>
        </button>
    }
    .into_any()
}
