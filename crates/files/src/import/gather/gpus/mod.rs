//! Which GPU it is: what a cluster is asked for, what a report lists, what comments and notes say.

mod counts;
mod names;
mod places;

use headroom_core::gpu::search;

use super::super::draft::Rank;
use super::super::recognise::Kind;
use super::Gatherer;
use super::instances::instances;
use crate::syntax::{Node, Source, Span, Value};
use crate::trainers::Fact;
use counts::{listed_count, told_count};
use names::{count_beside, names, other};
use places::{asked_for, in_banner, in_table, labelled, sentence, size_in_banner, size_in_row, told};

/// A GPU that a text names.
#[derive(Debug, Clone, PartialEq)]
struct Mention {
    /// What it can be, the likeliest first.
    ids: Vec<&'static str>,
    /// Whether the first is what people mean by it.
    is_clear: bool,
    span: Span,
    /// Whether a key asks for it or lists it; else a sentence names it.
    is_stated: bool,
    /// How many of them the words beside it say.
    count: Option<i64>,
    /// Whether the sentence weighs it, or says what to do on one: it may be the run's.
    is_weighed: bool,
}

impl Gatherer<'_> {
    /// Takes the GPU that the files name. Of several that no GPU is all of none is taken: a note compares them.
    pub(super) fn stated_gpus(&mut self, notes: &[bool]) {
        let (mut found, mut hosts) = (Vec::new(), Vec::new());
        for (place, file) in self.files.iter().enumerate() {
            let is_note = notes.get(place).copied().unwrap_or(false);
            let asked = lines(&file.text)
                .find_map(|(start, line)| Some((super::slurm::asked_count(line)?, start, start + line.len())));
            if let Some((count, start, end)) = asked {
                let span = Source::new(&file.text).span(start, end);
                let key = crate::import::resolve::ASKED;
                self.implied(Fact::GivenGpus, Value::Integer(count), key, (place, span), Rank::Environment);
            }
            let listed = listed_count(&file.text).or_else(|| told_count(&file.text).filter(|_| is_note));
            if let Some((count, span)) = listed {
                self.implied(Fact::GivenGpus, Value::Integer(count), "GPU number", (place, span), Rank::Environment);
            }
            let of_file = if self.found.notebooks.contains(&place) {
                let (of_cells, host) = of_notebook(&file.text);
                hosts.extend(host.map(|(id, count, span)| (place, id, count, span)));
                of_cells
            } else {
                mentions(&file.text, self.found.kinds[place], is_note)
            };
            found.extend(of_file.into_iter().map(|one| (place, one)));
        }
        self.counted_gpus(&found);
        let stated = found.iter().any(|(_, mention)| mention.is_stated);
        // A host is asked for what a notebook needs; what its text says is often of another.
        if let (false, Some((place, id, count, span))) = (stated, hosts.first()) {
            self.implied(Fact::Gpu, Value::Text((*id).to_owned()), "GPU", (*place, *span), Rank::Environment);
            if *count > 1 {
                self.implied(Fact::GivenGpus, Value::Integer(*count), "GPU", (*place, *span), Rank::Environment);
            }
            return;
        }
        // Where sentences only weigh GPUs the run's may be one of them: it is asked for.
        let weighed = found.iter().find(|(_, mention)| mention.is_weighed).cloned();
        found.retain(|(_, mention)| mention.is_stated == stated && !mention.is_weighed);
        if let (true, Some((place, one))) = (found.is_empty(), weighed) {
            return self.implied(
                Fact::Gpu,
                Value::Text("several".to_owned()),
                "GPU",
                (place, one.span),
                Rank::Environment,
            );
        }
        let Some((place, first)) = found.first().cloned() else {
            self.measured_gpu();
            return;
        };
        let is_possible = |id: &&&str| found.iter().all(|(_, mention)| mention.ids.contains(*id));
        let possible: Vec<&'static str> = first.ids.iter().filter(is_possible).copied().collect();
        let likeliest = found.iter().find(|(_, mention)| mention.is_clear).and_then(|(_, mention)| mention.ids.first());
        let name = match (possible.as_slice(), likeliest) {
            // A report that weighs several against each other does not say which it is of.
            ([], _) if found.iter().any(|(_, mention)| mention.count.is_some()) => "several".to_owned(),
            ([], _) if first.ids.is_empty() => {
                self.files[place].text.get(first.span.start..first.span.end).unwrap_or_default().to_owned()
            }
            ([], _) => return,
            ([only], _) => (*only).to_owned(),
            (several, Some(likeliest)) if several.contains(likeliest) => (*likeliest).to_owned(),
            _ => {
                let file = &self.files[place].text;
                file.get(first.span.start..first.span.end).unwrap_or_default().to_owned()
            }
        };
        self.implied(Fact::Gpu, Value::Text(name), "GPU", (place, first.span), Rank::Environment);
    }

    /// A failure's total capacity is that of the run's GPU, whichever it is: no other is taken for it.
    fn measured_gpu(&mut self) {
        for (place, file) in self.files.iter().enumerate() {
            let told = ["total capacity of ", "GiB total capacity"].iter().find_map(|mark| file.text.find(mark));
            if let Some(at) = told.filter(|_| file.text.contains("out of memory")) {
                let source = Source::new(&file.text);
                let span = source.span(at, at + "total capacity".len());
                let name = "a GPU of that capacity".to_owned();
                self.implied(Fact::Gpu, Value::Text(name), "GPU", (place, span), Rank::Environment);
                return;
            }
        }
    }

    /// Takes how many GPUs sentences say there are, where all that say it agree.
    fn counted_gpus(&mut self, found: &[(usize, Mention)]) {
        let found = found.iter().filter(|(_, mention)| !mention.is_weighed);
        // Of several kinds in one sentence no single number is how many there are.
        let counted: Vec<&Mention> =
            found.clone().filter(|(_, mention)| mention.count.is_some()).map(|(_, mention)| mention).collect();
        let is_one = |pair: &[&Mention]| {
            pair[0].span.line != pair[1].span.line || pair[0].ids.iter().any(|id| pair[1].ids.contains(id))
        };
        if !counted.windows(2).all(is_one) {
            return;
        }
        let mut counts = found.filter_map(|(place, mention)| Some((*place, mention.span, mention.count?)));
        let Some((place, span, count)) = counts.next() else { return };
        if counts.all(|(.., other)| other == count) && !self.found.draft.facts.contains_key(&Fact::GivenGpus) {
            self.implied(Fact::GivenGpus, Value::Integer(count), "GPU", (place, span), Rank::Environment);
        }
    }
}

/// Every line and where it begins.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line.trim_end()))
    })
}

/// The GPUs that a notebook's cells name and have printed, those of text as notes; and what its host was asked for.
fn of_notebook(text: &str) -> (Vec<Mention>, Option<(&'static str, i64, Span)>) {
    let Ok(node) = crate::syntax::json(text) else { return (Vec::new(), None) };
    let Some(Value::List(cells)) = node.get("cells").map(|cells| &cells.value) else { return (Vec::new(), None) };
    let mut found = Vec::new();
    // What a quoted text says stands where the text stands.
    let at = |span: Span| move |mention: Mention| Mention { span, ..mention };
    for cell in cells {
        let is_note = cell.get("cell_type").and_then(Node::text) == Some("markdown");
        let Some(source) = cell.get("source") else { continue };
        let lines = match &source.value {
            Value::List(lines) => lines.as_slice(),
            _ => std::slice::from_ref(source),
        };
        for line in lines {
            let of_line = mentions(line.text().unwrap_or_default(), Kind::Python, is_note);
            found.extend(of_line.into_iter().map(at(line.span)));
        }
    }
    for output in super::super::notebook::printed(&node) {
        let printed = mentions(output.text().unwrap_or_default(), Kind::Python, false);
        found.extend(printed.into_iter().filter(|mention| mention.is_stated).map(at(output.span)));
    }
    (found, super::super::notebook::host(&node))
}

/// The GPUs that a file names; of a note every sentence counts, of other files the comments.
fn mentions(text: &str, kind: Kind, is_note: bool) -> Vec<Mention> {
    let source = Source::new(text);
    let mut found = Vec::new();
    let mut fenced = false;
    let mut rows = lines(text).peekable();
    while let Some((start, line)) = rows.next() {
        let below = rows.peek().map_or("", |(_, line)| *line);
        fenced ^= is_note && line.trim_start().starts_with("```");
        // A report may fence its sentences too.
        let is_code = line.contains([':', '=', '\\', '(', '{', '<', '`']) || line.contains("--");
        let at = |part: &str| start + (part.as_ptr() as usize).saturating_sub(line.as_ptr() as usize);
        let mut add = |part: &str, is_stated: bool| {
            found.extend(names(part).into_iter().map(|(ids, is_clear, from, to)| {
                let span = source.span(at(part) + from, at(part) + to);
                // Clouds call the smaller one A100 and V100; the larger has its size in its name.
                let is_clear = is_clear || line.trim_start().starts_with("accelerators:");
                let count = count_beside(part, from, to).filter(|_| !is_stated);
                Mention { ids, is_clear, span, is_stated, count, is_weighed: false }
            }));
        };
        let rented = instances(line);
        if !rented.is_empty() {
            let is_text = is_note && !(fenced && is_code);
            // A key asks for the machine; a sentence may weigh it against another.
            let is_comment = line.trim_start().starts_with('#') && !line.trim_start().starts_with("#SBATCH");
            let is_said = !(is_text || is_comment) || sentence(line, is_text).is_some();
            found.extend(rented.iter().filter(|_| is_said).map(|one| Mention {
                ids: vec![one.gpu],
                is_clear: true,
                span: source.span(start + one.from, start + one.to),
                is_stated: !(is_text || is_comment),
                count: Some(one.count),
                is_weighed: false,
            }));
        } else if let Some(name) = in_banner(line).or_else(|| in_table(line)) {
            // A table cuts names short; the GPU's memory stands in the next row.
            let full = name.trim_end_matches('.').trim_end_matches(['-', ' ']);
            let size = size_in_banner(line).or_else(|| size_in_row(below));
            let printed = [full, &size.map_or_else(String::new, |size| format!(" {size}GB"))].concat();
            let whole = full.rsplit_once('-').map(|(whole, _)| whole).filter(|_| full.len() < name.len());
            let cut = whole.map(|whole| [whole, &size.map_or_else(String::new, |size| format!(" {size}GB"))].concat());
            let named = (full.len() == name.len()).then(|| search(name).one()).flatten();
            let ids = named.or_else(|| search(&printed).one()).or_else(|| search(cut.as_deref()?).one());
            let span = source.span(at(name), at(name) + name.len());
            let (ids, is_clear, is_stated) = (ids.into_iter().collect(), true, true);
            // One that the catalogue does not have is none of those that it has.
            found.push(Mention { ids, is_clear, span, is_stated, count: None, is_weighed: false });
        } else if let Some(kind) = asked_for(line) {
            add(kind, true);
        } else if let Some(value) = labelled(line) {
            add(value, true);
            // One that the catalogue does not have is none of those that it has.
            let is_unknown = value.contains("NVIDIA") && names(value).is_empty();
            if is_unknown {
                let span = source.span(at(value.trim()), at(value.trim()) + value.trim().len());
                let (ids, is_weighed) = (Vec::new(), false);
                found.push(Mention { ids, is_clear: false, span, is_stated: true, count: None, is_weighed });
            }
        } else if let Some(sentence) = sentence(line, is_note && !(fenced && is_code) || kind == Kind::Unknown) {
            add(sentence, false);
            let unknown = other(line).filter(|_| is_note && !fenced && names(sentence).is_empty());
            found.extend(unknown.map(|(from, to)| {
                let (span, is_weighed) = (source.span(start + from, start + to), true);
                Mention { ids: Vec::new(), is_clear: false, span, is_stated: false, count: None, is_weighed }
            }));
        } else if is_note && !fenced {
            // Of a sentence that weighs, a clause that counts GPUs still says which there are.
            let clauses = line.split([',', '，', '。', ';', '；', '!', '?']).flat_map(|clause| clause.split(". "));
            let clauses = clauses.filter(|clause| told(clause));
            let counts =
                |clause: &&str| names(clause).iter().any(|(.., from, to)| count_beside(clause, *from, *to).is_some());
            clauses.filter(counts).for_each(|clause| add(clause, false));
            let named = names(line).into_iter().next();
            let named = named.or_else(|| other(line).map(|(from, to)| (Vec::new(), false, from, to)));
            found.extend(named.map(|(ids, is_clear, from, to)| {
                let span = source.span(start + from, start + to);
                Mention { ids, is_clear, span, is_stated: false, count: None, is_weighed: true }
            }));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(text: &str, is_note: bool) -> Vec<Vec<&'static str>> {
        mentions(text, Kind::Python, is_note).into_iter().map(|mention| mention.ids).collect()
    }

    #[test]
    fn names_are_read_where_people_write_them() {
        for (text, id) in [
            ("- GPU type: NVIDIA A800 80GB PCIe\n", "a800-80gb"),
            ("GPU 1   Type    : NVIDIA RTX A6000\n", "rtx-a6000"),
            ("#SBATCH --gres=gpu:l40s:4\n", "l40s"),
            ("#SBATCH --gpus-per-node=h200:8 # all\n", "h200"),
            ("accelerators: L4:8\n", "l4"),
            ("# GPU: RTX 4090 24GB\n", "rtx-4090"),
            ("x = 1  # 2x3090\n", "rtx-3090"),
            ("# 4x8H200\n", "h200"),
            ("# tested on 8 * A100-SXM4-80GB\n", "a100-80gb"),
        ] {
            assert_eq!(first(text, false), vec![vec![id]], "{text}");
        }
        assert_eq!(first("三张L40s\n", true), vec![vec!["l40s"]]);
        assert!(first("# V100\n", false)[0].len() > 1);
    }

    #[test]
    fn what_names_no_run_s_gpu_is_left() {
        for text in [
            "# Float16 for Tesla T4, V100, Bfloat16 for Ampere+\n",
            "bf16: true  # set to false if on V100\n",
            "gpu_memory_utilization: 0.9\n",
            "n_gpus_per_node: 8\n",
            "A100 = 1\n",
            "# 24GB, t4 and bf16\n",
        ] {
            assert_eq!(first(text, false), Vec::<Vec<&str>>::new(), "{text}");
        }
    }
}
