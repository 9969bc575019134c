//! "Why?" where a change does not do what it is known for: the tensors behind it, opened where the figure stands.

use headroom_core::advise::why::{self as core, Part, is_surprising};
use headroom_core::advise::{Impact, code::lever_code};
use headroom_core::job::Job;
use headroom_core::memory::{self, Estimate};
use headroom_core::plan::Plan;
use headroom_text::{WhyTexts, why as words};
use headroom_view::{Element, Node, el};

use crate::figures;
use crate::page::Page;
use crate::pieces;

/// Kinds of tensors that are named; the rest stands in one line.
const MOST_PARTS: usize = 6;

/// Of what is saved elsewhere.
const MOST_ELSEWHERE: usize = 3;

/// Smaller differences explain nothing: bytes.
const LEAST_BYTES: u64 = 1 << 20;

/// What the answer to why `impact` surprises is called among what can be opened; `None` where it does as it is known for.
pub(crate) fn name_of(page: &Page, impact: &Impact) -> Option<String> {
    let Impact { lever, plan, judgement, saved_bytes, .. } = impact;
    // What one writes for it tells levers apart; only of signs that are none in markup.
    let written = || lever_code(*lever, page.plan(), plan).replace(|sign: char| !sign.is_ascii_alphanumeric(), "-");
    is_surprising(*lever, *saved_bytes, judgement).then(|| ["why:", &written()].concat())
}

/// The question about a lever called `lever`: what it takes, or that it saves nothing.
pub(crate) fn question(page: &Page, lever: &str, saved_bytes: i64) -> String {
    let words = words(page.state.language);
    let takes = saved_bytes < 0 && saved_bytes.unsigned_abs() >= LEAST_BYTES;
    (if takes { words.takes } else { words.saves_little })(lever)
}

/// A question that opens into its answer, made when it is asked.
#[inline(never)]
pub(crate) fn details(page: &Page, name: &str, question: &str, plans: [&Plan; 2]) -> Element {
    let is_open = page.state.is_open(name);
    el("details")
        .key(name)
        .class("why")
        .attr("data-toggle", &["open ", name].concat())
        .flag("open", is_open)
        .with(el("summary").text(question))
        .with_some(is_open.then(|| answer(page, plans)))
}

/// What is behind the difference of two plans.
#[inline(never)]
pub(crate) fn answer(page: &Page, plans: [&Plan; 2]) -> Element {
    let words = words(page.state.language);
    let place = el("div").key("answer").class("why-answer");
    let ([Ok(before), Ok(after)], is_final) = answers(page, plans) else { return place };
    let why = core::why([&before.0, &after.0], [&before.1, &after.1]);
    let causes = why.causes.iter().map(|cause| el("p").text(&(words.cause)(*cause))).collect();
    let [first, second] = why.phases.map(page.texts.phase);
    let caption = (words.at_peak)([first, second], first == second);
    place
        .with_all(causes)
        .with(table(words, &caption, rows(page, words, &why)).key("peak"))
        .with_some(elsewhere(page, words, &why))
        .with(el("p").key("provisional").class("computing").text(if is_final { "" } else { words.provisional }))
}

type Answered = Result<(Job, Estimate), ()>;

/// Both answers, by replays where both are there: a replay beside what other plans needed would differ by that.
fn answers(page: &Page, plans: [&Plan; 2]) -> ([Answered; 2], bool) {
    let are_replayed = plans.iter().all(|plan| page.replays.of(plan).is_some());
    let answered = plans.map(|plan| {
        let job = Job::resolve(plan).map_err(|_| ())?;
        let estimate = memory::estimate(&job);
        let replay = page.replays.of(plan).filter(|_| are_replayed);
        let estimate = match replay {
            Some(replay) => estimate.refined(replay),
            None => estimate,
        };
        Ok((job, estimate))
    });
    (answered, are_replayed)
}

/// What differs at the peaks, and that it sums to what the plans need.
fn rows(page: &Page, words: &WhyTexts, why: &core::Why) -> Vec<Element> {
    let (named, others): (Vec<(usize, &Part)>, Vec<_>) = why
        .parts
        .iter()
        .enumerate()
        .partition(|(at, part)| *at < MOST_PARTS && part.more().unsigned_abs() >= LEAST_BYTES);
    let mut rows: Vec<Element> =
        named.iter().map(|(_, part)| row((page.texts.term)(part.term), &part.modules.join(", "), part.bytes)).collect();
    if !others.is_empty() {
        let sum = |i: usize| others.iter().fold(0_u64, |sum, (_, part)| sum.saturating_add(part.bytes[i]));
        rows.push(row(words.others, "", [sum(0), sum(1)]));
    }
    rows.push(row(words.sum, "", why.need_bytes).class("sum"));
    rows
}

/// What is saved where it does not count.
fn elsewhere(page: &Page, words: &WhyTexts, why: &core::Why) -> Option<Element> {
    let is_named = |one: &&core::Elsewhere| one.bytes[0] - one.bytes[1] >= LEAST_BYTES;
    let texts = page.texts;
    let row =
        |one: &core::Elsewhere| row(&(words.in_phase)((texts.term)(one.term), (texts.phase)(one.phase)), "", one.bytes);
    let rows: Vec<Element> = why.elsewhere.iter().filter(is_named).take(MOST_ELSEWHERE).map(row).collect();
    (!rows.is_empty()).then(|| table(words, words.elsewhere, rows).key("elsewhere"))
}

fn table(words: &WhyTexts, caption: &str, rows: Vec<Element>) -> Element {
    let head = el("tr")
        .with(el("th").attr("scope", "col").text(words.column_tensors))
        .with(el("th").attr("scope", "col").class("number").text(words.column_difference));
    el("table").with(el("caption").text(caption)).with(el("thead").with(head)).with(el("tbody").with_all(rows))
}

/// Tensors with their modules; the difference, and under it both figures.
fn row(name: &str, modules: &str, bytes: [u64; 2]) -> Element {
    let [before, after] = bytes.map(figures::glance);
    el("tr").with(el("th").attr("scope", "row").text(name).text(" ").with(el("code").text(modules))).with(
        el("td")
            .class("number")
            .text(&pieces::change(bytes))
            .text(" ")
            .with(el("small").text(&before).text(" → ").text(&after)),
    )
}

/// The same as a row of a table that is HTML, `columns` wide.
pub(crate) fn row_html(page: &Page, name: &str, question: &str, plans: [&Plan; 2], columns: usize) -> String {
    let details = Node::from(details(page, name, question, plans)).to_html();
    format!("<tr class=\"why-row\"><td colspan=\"{columns}\">{details}</td></tr>")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::reader::Reader;

    /// A plan for which 4 bits cost memory.
    const SMALL: &str = "v=1&model=Qwen/Qwen2.5-0.5B&gpu=a100-80gb&method=lora";

    #[test]
    fn a_field_whose_change_surprises_says_which_tensors_it_is() {
        let mut reader = Reader::open(SMALL);
        let form = reader.wait("form", "explain form-why:");
        assert!(!form.contains("why-answer"), "nobody asked");
        reader.press("form", "why?");
        let form = reader.html("form");
        assert!(
            form.contains("id=\"field-method-why\"") && form.contains("aria-controls=\"field-method-why\""),
            "{form}"
        );
        assert!(form.contains("prepare_model_for_kbit_training") && form.contains("mlp.gate_proj"), "{form}");
        reader.press("form", "why?");
        assert!(!reader.html("form").contains("why-answer"));
    }

    #[test]
    fn the_table_of_changes_answers_below_the_change() {
        let mut reader = Reader::open("v=1&model=Qwen/Qwen3-4B&gpu=a100-80gb&method=full");
        reader.act("open levers", "true");
        let advice = reader.wait("advice", "Liger kernels: the loss in chunks</summary>");
        assert!(advice.contains("Why does this save next to nothing: Liger kernels"), "{advice}");
        assert!(!advice.contains("Why does this save next to nothing: Optimizer state in 8 bits"), "it does");
        let name = advice.split("data-toggle=\"open why:").nth(1).unwrap().split('"').next().unwrap();
        reader.act(&format!("open why:{name}"), "true");
        let said = reader.text("advice");
        assert!(said.contains("another phase (Optimizer step)"), "{said}");
        assert!(said.contains("Gradients of the logits (Backward of the loss)"), "{said}");
    }
}
