//! Which GPU it is: what a cluster is asked for, what a report lists, what comments and notes say.

use headroom_core::gpu::search;
use headroom_core::search::Found;

use super::super::draft::Rank;
use super::super::recognise::Kind;
use super::Gatherer;
use super::instances::instances;
use crate::syntax::{Node, Source, Span, Value};
use crate::trainers::Fact;

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

/// `GPU number: 4` of `llamafactory-cli env`.
fn listed_count(text: &str) -> Option<(i64, Span)> {
    let source = Source::new(text);
    lines(text).find_map(|(start, line)| {
        // What accelerate prints of the GPUs that it found (commands/launch.py `_validate_launch_command`).
        let printed = line.trim().strip_prefix("`--num_processes` was set to a value of `");
        if let Some(count) = printed.and_then(|rest| rest.split('`').next()?.parse::<i64>().ok()) {
            return (count > 0).then(|| (count, source.span(start, start + line.len())));
        }
        let (label, value) = line.trim().trim_start_matches(['-', '*', ' ']).split_once(':')?;
        let is_count = ["gpu number", "gpu count"].contains(&label.trim().to_ascii_lowercase().as_str());
        let count = value.trim().parse::<i64>().ok().filter(|count| is_count && *count > 0)?;
        Some((count, source.span(start, start + line.len())))
    })
}

/// `with 4 GPUs` of a note, where all its sentences say the same number.
fn told_count(text: &str) -> Option<(i64, Span)> {
    let source = Source::new(text);
    let mut found: Option<(i64, Span)> = None;
    for (start, line) in lines(text) {
        if sentence(line, true).is_some() {
            for count in cards(line) {
                match found {
                    Some((other, _)) if count != other => return None,
                    Some(_) => {}
                    None => found = Some((count, source.span(start, start + line.len()))),
                }
            }
        }
        // A condition holds for its clause.
        let clauses = line.split([',', '，', '。', ';', '；', '!', '?']).flat_map(|clause| clause.split(". "));
        let words: Vec<&str> =
            clauses.filter(|clause| sentence(clause, true).is_some()).flat_map(str::split_whitespace).collect();
        for pair in words.windows(2) {
            let [count, unit] = pair else { continue };
            let unit = unit.trim_matches(|letter: char| !letter.is_ascii_alphanumeric()).to_ascii_lowercase();
            let count = count.parse::<i64>().ok().filter(|count| *count > 0 && (unit == "gpus" || unit == "gpu"));
            match (count, found) {
                (Some(count), Some((other, _))) if count != other => return None,
                (Some(count), None) => found = Some((count, source.span(start, start + line.len()))),
                _ => {}
            }
        }
    }
    found
}

/// Numbers of GPUs as Chinese sentences count them without their name: `在7卡上`, `4张显卡`, `8块GPU`.
fn cards(line: &str) -> impl Iterator<Item = i64> {
    const UNITS: [&str; 9] = ["卡", "张卡", "块卡", "张显卡", "块显卡", "个显卡", "张GPU", "块GPU", "个GPU"];
    const MOST: i64 = 4096;
    line.match_indices(|letter: char| letter.is_ascii_digit()).filter_map(move |(at, _)| {
        let is_first =
            !line[..at].ends_with(|before: char| before.is_ascii_alphanumeric() || "._-*x×".contains(before));
        let digits = line[at..].find(|letter: char| !letter.is_ascii_digit()).unwrap_or(line.len() - at);
        let behind = line[at + digits..].trim_start_matches(' ');
        let is_unit = UNITS.iter().any(|unit| behind.starts_with(unit));
        // A name behind it is counted with the name.
        let name = behind.trim_start_matches(['张', '块', '个', '卡']).trim_start();
        let is_named = name.starts_with(|first: char| first.is_ascii_alphanumeric()) && !name.starts_with("GPU");
        let count = line[at..at + digits].parse::<i64>().ok().filter(|count| (1..=MOST).contains(count));
        count.filter(|_| is_first && is_unit && !is_named)
    })
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
            // A table cuts names short; what the card holds stands in the next row.
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

/// The GPU of Unsloth's banner (unsloth models/llama.py, vision.py): `GPU: Tesla T4. Max memory: 14.748 GB. Platform = Linux`, and
/// since 2024.10 `Tesla T4. Num GPUs = 1. Max memory: 14.741 GB. Platform: Linux.`; of what notebooks print by its example
/// `GPU = Tesla T4. Max memory = 14.741 GB.`
fn in_banner(line: &str) -> Option<&str> {
    const MEMORY: [&str; 2] = [". Max memory", ". Num GPUs"];
    let end = MEMORY.iter().filter_map(|mark| line.find(mark)).min().filter(|_| line.contains(" GB"))?;
    let name = line[..end].trim_start_matches(['\\', '/', '|', ' ', '\t', '>', '-']);
    let name = ["GPU: ", "GPU = "].iter().find_map(|label| name.strip_prefix(label)).unwrap_or(name);
    (!name.is_empty() && !name.contains(". ")).then_some(name)
}

/// GB of the card that such a line says, as its maker sells it.
fn size_in_banner(line: &str) -> Option<u32> {
    let (_, behind) = line.split_once("Max memory")?;
    let number = behind.trim_start_matches([' ', ':', '=']).split(' ').next()?;
    number.parse::<f32>().ok().filter(|size| (1.0..4096.0).contains(size)).map(|size| size.ceil() as u32)
}

/// The GPU of a row that nvidia-smi prints: `|   0  Tesla T4                       Off | 00000000:00:04.0 Off |`.
fn in_table(line: &str) -> Option<&str> {
    let mut cells = line.trim().strip_prefix('|')?.split('|');
    let (card, bus) = (cells.next()?.trim(), cells.next()?.trim());
    let is_bus = bus.split(' ').next().is_some_and(|bus| bus.len() >= 12 && bus.matches(':').count() == 2);
    let name = card.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let name = ["Off", "On", "N/A"].iter().find_map(|mode| name.strip_suffix(mode)).unwrap_or(name).trim();
    (is_bus && name.len() < card.len() && !name.is_empty()).then_some(name)
}

/// GB of the card that the second row of nvidia-smi says: `| N/A   30C    P0    25W / 250W |      4MiB / 32768MiB |`.
fn size_in_row(line: &str) -> Option<u32> {
    let memory = line.trim().strip_prefix('|')?.split('|').nth(1)?.trim();
    let (_, total) = memory.split_once("MiB / ")?;
    let mib: u32 = total.trim().strip_suffix("MiB")?.trim().parse().ok()?;
    const MIB_PER_GIB: u32 = 1024;
    // Its makers count what the driver keeps too.
    (mib > 0 && mib < 4096 * MIB_PER_GIB).then(|| mib.div_ceil(MIB_PER_GIB))
}

/// The kind of GPU that a line asks a cluster for: `--gres=gpu:a100:4`, `--gpus-per-node=h100:8`.
fn asked_for(line: &str) -> Option<&str> {
    let is_directive = line.trim_start().starts_with("#SBATCH");
    if line.trim_start().starts_with('#') && !is_directive {
        return None;
    }
    let options = line.split(" #").next().unwrap_or(line);
    // `@app.function(gpu="L40S:2")` of Modal.
    let quoted = ["gpu=\"", "gpu='"].iter().find_map(|mark| options.split_once(mark));
    if let Some((_, value)) = quoted {
        return value.split(['"', '\'', ':']).next();
    }
    let mut words = options.split([' ', '\t', '=', '"', '\'']).filter(|word| !word.is_empty());
    while let Some(word) = words.next() {
        let is_gres = matches!(word, "--gres" | "--gpus" | "--gpus-per-node" | "--gpus-per-task" | "-G");
        let kind = words.clone().next().filter(|_| is_gres).and_then(|value| {
            let value = value.strip_prefix("gpu:").unwrap_or(value);
            value.split(':').next().filter(|kind| kind.contains(|letter: char| letter.is_ascii_alphabetic()))
        });
        if kind.is_some() {
            return kind;
        }
        if matches!(word, "--constraint" | "-C") && is_directive {
            return words.next();
        }
        // `--partition=gpu_h100`: one part of the name is a GPU's.
        if matches!(word, "--partition" | "-p") && is_directive {
            let parts = words.clone().next().into_iter().flat_map(|name| name.split(['_', '-', ',']));
            let is_kind = |part: &&str| {
                part.len() >= 3 && part.contains(|letter: char| letter.is_ascii_digit()) && search(part).matches() > 0
            };
            let named = parts.rev().find(is_kind);
            if named.is_some() {
                return named;
            }
        }
    }
    None
}

/// The value of a line that lists the GPU: `- GPU type: NVIDIA L40`, `accelerators: A100-80GB:8`, `gpu="H100"`.
fn labelled(line: &str) -> Option<&str> {
    let line = line.trim().trim_start_matches(['-', '*', '#', '`', '|', ' ', '"', '{', '\\', '/']);
    let (label, value) = line.split_once([':', '=', '：'])?;
    let label = label.trim().trim_matches(['`', '"', '*']).to_ascii_lowercase();
    let words: Vec<&str> = label.split([' ', '_', '.', '/', '-']).filter(|word| !word.is_empty()).collect();
    const NAMES: [&str; 9] =
        ["gpu", "gpus", "accelerator", "accelerators", "hardware", "cuda", "显卡", "gpu型号", "显卡型号"];
    const BESIDE: [&str; 16] = [
        "device(s)",
        "devices",
        "type",
        "types",
        "name",
        "model",
        "product",
        "nvidia",
        "com",
        "info",
        "configuration",
        "device",
        "used",
        "and",
        "setup",
        "my",
    ];
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let names_gpu = words.iter().any(|word| NAMES.contains(word));
    let is_plain = words.iter().all(|word| NAMES.contains(word) || BESIDE.contains(word) || is_number(word));
    (names_gpu && is_plain).then_some(value)
}

/// Whether a clause that counts GPUs tells of the run: `8xH100 for training` does, `if you have 8xH100` does not.
fn told(clause: &str) -> bool {
    sentence(&clause.replace(" for ", " with "), true).is_some()
}

/// What a person writes in a line: a note's whole line, of a file of keys or code its comment. Lines that weigh one GPU against
/// another, or say what to do on one, name no run's.
fn sentence(line: &str, is_note: bool) -> Option<&str> {
    const CONDITIONS: [&str; 20] = [
        "if", "for", "when", "or", "unless", "like", "e.g.", "such", "than", "require", "requires", "required", "need",
        "needs", "minimum", "least", "ampere", "else", "not", "instead",
    ];
    const TELLERS: [&str; 14] = [
        "i",
        "i'm",
        "i've",
        "we",
        "we're",
        "my",
        "our",
        "using",
        "running",
        "training",
        "finetuning",
        "fine-tuning",
        "trying",
        "testing",
    ];
    let written = if is_note {
        line
    } else {
        let at = line.find('#').filter(|at| *at == 0 || line[..*at].ends_with([' ', '\t']))?;
        &line[at + 1..]
    };
    let plain = |word: &str| word.trim_matches([',', '(', ')', ':', '?', '`']).to_ascii_lowercase();
    let mut words = written.split_whitespace().map(plain).peekable();
    let mut weighs = false;
    while let Some(word) = words.next() {
        // `when I use two of them`: what the writer did.
        let is_told = word == "when" && words.peek().is_some_and(|next| TELLERS.contains(&next.as_str()));
        weighs |= !is_told && CONDITIONS.contains(&word.as_str());
    }
    (!weighs && !written.trim_start().starts_with("SBATCH")).then_some(written)
}

/// GPUs that `text` names: what each can be, whether the first is meant, and where it stands.
fn names(text: &str) -> Vec<(Vec<&'static str>, bool, usize, usize)> {
    let words = words(text);
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let here = (1..=5.min(words.len() - at)).rev().find_map(|length| {
            let window = &words[at..at + length];
            // A name does not go on behind a comma.
            let is_one = window.windows(2).all(|pair| text[pair[0].1..pair[1].0].trim().is_empty());
            let (from, to) = (window[0].0, window[length - 1].1);
            let joined = window.iter().map(|(from, to)| &text[*from..*to]).collect::<Vec<_>>().join(" ");
            let counted = at > 0 && is_times(&text[words[at - 1].0..words[at - 1].1])
                || text[..from].trim_end().ends_with(['x', 'X', '*', '×', '张', '块', '卡', '片'])
                || is_bare(&joined, &text[to..])
                || is_counted(&joined, &text[..from]);
            let holds_count = window.iter().any(|(from, to)| is_times(&text[*from..*to]));
            if !is_one || holds_count || !is_name(&joined, counted) {
                return None;
            }
            let hits = sized(&joined, text, from, to);
            let ids: Vec<&'static str> = match hits.one() {
                Some(id) => vec![id],
                None => hits.hits.iter().take(hits.matches()).map(|hit| hit.id).collect(),
            };
            (!ids.is_empty()).then_some(((ids, hits.is_clear, from, to), length))
        });
        match here {
            Some((mention, length)) => {
                found.push(mention);
                at += length;
            }
            None => at += 1,
        }
    }
    found
}

/// Whether a number is a GPU's as people write it without anything: `5090+64g`, `4090上`, not `4090 steps`.
fn is_bare(name: &str, behind: &str) -> bool {
    const NUMBERS: [&str; 3] = ["3090", "4090", "5090"];
    let ends = |next: char| !next.is_ascii() || "+,)/".contains(next);
    NUMBERS.contains(&name) && behind.chars().next().is_none_or(ends)
}

/// Whether a number is a GPU's by the number of them before it: `two 3090s`, `2 4090`.
fn is_counted(name: &str, before: &str) -> bool {
    const NUMBERS: [&str; 5] = ["2080", "3080", "3090", "4090", "5090"];
    const COUNTS: [&str; 14] =
        ["a", "single", "one", "two", "dual", "three", "four", "six", "eight", "1", "2", "4", "6", "8"];
    let last = before.trim_end().rsplit(|letter: char| !letter.is_ascii_alphanumeric()).next().unwrap_or("");
    NUMBERS.contains(&name.trim_end_matches('s')) && COUNTS.contains(&last.to_ascii_lowercase().as_str())
}

/// Where a text names a card that the catalogue does not have: `RTX 9999`, `a K80 card`, `NVIDIA X100`.
fn other(text: &str) -> Option<(usize, usize)> {
    const BRANDS: [&str; 7] = ["nvidia", "geforce", "rtx", "gtx", "tesla", "quadro", "radeon"];
    const CARDS: [&str; 6] = ["gpu", "gpus", "vram", "card", "cards", "graphics"];
    let words = words(text);
    let word = |at: usize| words.get(at).map_or("", |(from, to)| &text[*from..*to]);
    (0..words.len()).find_map(|at| {
        let name = word(at);
        let (from, to) = words[at];
        // `two 48G graphics cards`, `a single GPU 16Gb VRAM`: a card by what it holds.
        let size = name.trim_end_matches(['B', 'b']).trim_end_matches(['i']).strip_suffix(['G', 'g']);
        let is_size = size.is_some_and(|size| !size.is_empty() && size.bytes().all(|byte| byte.is_ascii_digit()));
        let is_word = |at: usize| CARDS.contains(&word(at).to_ascii_lowercase().as_str());
        if is_size && (is_word(at + 1) || is_word(at + 2) || at > 0 && is_word(at - 1)) {
            return Some((from, to));
        }
        let (letters, digits) =
            (name.bytes().filter(u8::is_ascii_alphabetic).count(), name.bytes().filter(u8::is_ascii_digit).count());
        let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric()) && name.len() <= 6;
        let is_branded = at > 0
            && BRANDS.contains(&word(at - 1).to_ascii_lowercase().as_str())
            && digits >= 2
            && letters <= 3
            && is_plain;
        // A series' letter and its number, before the word for what it is or behind how many there are.
        let is_series = name.starts_with(|first: char| "ABHKLMPTV".contains(first)) && letters == 1 && is_plain;
        let behind = word(at + 1).to_ascii_lowercase();
        let is_card = ["gpu", "gpus", "card", "cards"].contains(&behind.as_str());
        let is_counted = count_beside(text, from, to).is_some();
        (is_branded || is_series && (2..=3).contains(&digits) && (is_card || is_counted)).then_some((from, to))
    })
}

/// What a name can be: of several that differ in memory the one of the size beside it, `A100(40G)`, `80G A800s`.
fn sized(name: &str, text: &str, from: usize, to: usize) -> Found {
    let hits = search(name);
    // `A100s` of several.
    let single = name.strip_suffix('s').filter(|single| single.ends_with(|last: char| last.is_ascii_digit()));
    let (name, hits) = match single {
        Some(single) if hits.matches() == 0 => (single, search(single)),
        _ => (name, hits),
    };
    if hits.one().is_some() && hits.matches() == 1 {
        return hits;
    }
    let size = size_behind(&text[to..]).or_else(|| {
        let word = text[..from].trim_end().rsplit(|letter: char| !letter.is_ascii_alphanumeric()).next()?;
        size_behind(word).filter(|_| !word.is_empty())
    });
    let of_size = size.map(|size| search(&format!("{name} {size}GB"))).filter(|found| found.one().is_some());
    of_size.unwrap_or(hits)
}

/// GB that a text begins with, in brackets or not: ` 80GB`, `(40G)`, `（141G）`.
fn size_behind(text: &str) -> Option<u32> {
    const BETWEEN: [&str; 12] =
        ["'s", "GPUs", "GPU", "gpus", "gpu", "cards", "card", "each", "with", "显卡", "显存", "of"];
    const SIGNS: [char; 8] = [' ', '(', '（', '-', ',', '，', '*', '×'];
    let mut text = text.trim_start_matches(SIGNS);
    while let Some(rest) = BETWEEN.iter().find_map(|word| text.strip_prefix(word)) {
        text = rest.trim_start_matches(SIGNS);
    }
    let digits = text.len() - text.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    unit.starts_with(['g', 'G']).then(|| number.parse().ok()).flatten()
}

/// How many GPUs the words before a name or behind it say: `8x`, `4 张`, `two`, `*8`, `（40G*8卡）`.
fn count_beside(text: &str, from: usize, to: usize) -> Option<i64> {
    const MOST: i64 = 4096;
    const WORDS: [(&str, i64); 20] = [
        ("single", 1),
        ("one", 1),
        ("two", 2),
        ("dual", 2),
        ("three", 3),
        ("four", 4),
        ("six", 6),
        ("eight", 8),
        ("sixteen", 16),
        ("单", 1),
        ("一", 1),
        ("两", 2),
        ("二", 2),
        ("双", 2),
        ("三", 3),
        ("四", 4),
        ("六", 6),
        ("八", 8),
        ("十六", 16),
        ("三十二", 32),
    ];
    const UNITS: [char; 9] = ['x', 'X', '*', '×', '张', '块', '卡', '片', '个'];
    let brand = |text: &str| {
        let bare =
            text.trim_end().trim_end_matches("GPU").trim_end_matches("NVIDIA").trim_end_matches("Nvidia").trim_end();
        // `two 80G A800s`.
        let last = bare.rsplit(' ').next().unwrap_or("");
        let digits = last.trim_end_matches(['b', 'B', 'g', 'G']);
        let is_size =
            digits.len() < last.len() && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        bare.strip_suffix(last).filter(|_| is_size).map_or(bare, str::trim_end).len()
    };
    let before = &text[..brand(&text[..from])];
    // The last letter of `six` is no sign.
    let is_word =
        before.ends_with(['x', 'X']) && before[..before.len() - 1].ends_with(|last: char| last.is_ascii_alphabetic());
    let has_unit = before.ends_with(UNITS) && !is_word;
    let counted = if is_word { before } else { before.trim_end_matches(UNITS).trim_end() };
    let digits = counted.len() - counted.trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
    let number = &counted[counted.len() - digits..];
    let is_plain = !counted[..counted.len() - digits].ends_with(['.', '-', '_', '/', ':']);
    let is_spaced = before.len() < from && text[before.len()..from].starts_with(' ');
    let is_joined = before.len() == from && text[from..].starts_with(|first: char| first.is_ascii_uppercase());
    if digits > 0 && is_plain && (has_unit || is_spaced || is_joined) {
        return number.parse().ok().filter(|count| (1..=MOST).contains(count));
    }
    // No such word is longer.
    const LONGEST: usize = 12;
    let from = counted.char_indices().rev().take(LONGEST).last().map_or(0, |(at, _)| at);
    let lower = counted[from..].to_lowercase();
    let is_word = |word: &str| {
        let rest = lower.strip_suffix(word);
        let is_ascii = word.is_ascii();
        rest.is_some_and(|rest| (is_ascii || has_unit) && !(is_ascii && rest.ends_with(char::is_alphabetic)))
    };
    if let Some((_, count)) = WORDS.iter().rev().find(|(word, _)| is_word(word)) {
        return Some(*count);
    }
    // Behind the name, after its size and brackets.
    let behind = text[to..].trim_start_matches(|letter: char| {
        letter.is_ascii_digit() || matches!(letter, ' ' | '(' | '（' | ')' | '）' | 'g' | 'G' | 'i' | 'b' | 'B' | 's')
    });
    let skipped = text.len() - to - behind.len();
    let times = behind.strip_prefix(['x', 'X', '*', '×'])?.trim_start();
    let digits = times.len() - times.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let count = times[..digits].parse().ok().filter(|count| (1..=MOST).contains(count));
    count.filter(|_| skipped <= 24)
}

/// Words by where they stand, without a number of GPUs before them: of `4x8H200` and `8*A100` the name.
fn words(text: &str) -> Vec<(usize, usize)> {
    let is_between = |letter: char| letter.is_whitespace() || !letter.is_ascii() || ",;()[]{}|:*+\"'`".contains(letter);
    let mut found = Vec::new();
    let mut at = 0;
    for part in text.split(is_between) {
        let from = at;
        at += part.len();
        at += text[at..].chars().next().map_or(0, char::len_utf8);
        let name = without_count(number_alone(part));
        let from = from + (name.as_ptr() as usize - part.as_ptr() as usize);
        let name = name.trim_end_matches('.');
        if !name.is_empty() {
            found.push((from, from + name.len()));
        }
    }
    found
}

/// `3090` of `3090lora`: Chinese is written without blanks.
fn number_alone(word: &str) -> &str {
    const NUMBERS: [&str; 3] = ["3090", "4090", "5090"];
    let behind = NUMBERS.iter().find_map(|number| word.strip_prefix(number));
    let is_word = |rest: &str| {
        let letters = rest.bytes().take_while(u8::is_ascii_lowercase).count();
        letters > 2 && !rest.starts_with("super")
    };
    behind.filter(|rest| is_word(rest)).map_or(word, |rest| &word[..word.len() - rest.len()])
}

/// `8xH100` without its number, and `4x8H200` without both.
fn without_count(word: &str) -> &str {
    let rest = word.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let counted = rest.len() < word.len();
    // `32H800`: a capital and digits behind a number.
    let is_name = rest.starts_with(|first: char| first.is_ascii_uppercase())
        && !rest.starts_with(['X', 'G', 'B'])
        && rest.ends_with(|last: char| last.is_ascii_digit());
    if counted && is_name {
        return rest;
    }
    match rest.strip_prefix(['x', 'X']).filter(|rest| counted && rest.starts_with(|l: char| l.is_ascii_alphanumeric()))
    {
        Some(name) => {
            let plain = name.trim_start_matches(|letter: char| letter.is_ascii_digit());
            // Of `2x3090` the number is the name.
            if plain.is_empty() || !plain.starts_with(|l: char| l.is_ascii_uppercase()) { name } else { plain }
        }
        None => word,
    }
}

fn is_times(word: &str) -> bool {
    matches!(word, "x" | "X")
}

/// Whether words can be a GPU's name as people write it: letters and digits, short ones in capitals, `3090` alone behind a number.
fn is_name(text: &str, is_counted: bool) -> bool {
    const BRANDS: [&str; 9] = ["nvidia", "geforce", "rtx", "gtx", "tesla", "quadro", "amd", "instinct", "radeon"];
    let mut is_branded = false;
    let mut is_named = false;
    for (place, word) in text.split(' ').enumerate() {
        let lower = word.to_ascii_lowercase();
        let is_brand = BRANDS.contains(&lower.as_str());
        let has = |test: fn(&u8) -> bool| word.bytes().any(|byte| test(&byte));
        let (letters, digits) = (has(u8::is_ascii_alphabetic), has(u8::is_ascii_digit));
        let size = lower.trim_end_matches("gib").trim_end_matches("gb").trim_end_matches('g');
        let is_size = size.len() < lower.len() && size.bytes().all(|byte| byte.is_ascii_digit());
        let is_short = word.len() <= 3;
        let is_written = letters && digits && !is_size && word.starts_with(|l: char| l.is_ascii_alphabetic());
        let is_plain = !is_short || !word.bytes().any(|byte| byte.is_ascii_lowercase());
        // `2080TI` too is a number with what it is called beside.
        let digits_alone = lower.trim_end_matches("ti").trim_end_matches("super").trim_end_matches('s');
        let is_number = digits_alone.len() == 4
            && digits_alone.bytes().all(|byte| byte.is_ascii_digit())
            && (is_branded || place == 0 && is_counted);
        let names = is_written && is_plain || is_number;
        if place == 0 && !is_brand && !names {
            return false;
        }
        is_branded |= is_brand;
        is_named |= names;
    }
    is_named
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
