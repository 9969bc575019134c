//! Where in a line a GPU is named: a banner, a table, what a cluster is asked for, a label, a sentence.

use headroom_core::gpu::search;

/// The GPU of Unsloth's banner (unsloth models/llama.py, vision.py): `GPU: Tesla T4. Max memory: 14.748 GB. Platform = Linux`, and
/// since 2024.10 `Tesla T4. Num GPUs = 1. Max memory: 14.741 GB. Platform: Linux.`; of what notebooks print by its example
/// `GPU = Tesla T4. Max memory = 14.741 GB.`
pub(super) fn in_banner(line: &str) -> Option<&str> {
    const MEMORY: [&str; 2] = [". Max memory", ". Num GPUs"];
    let end = MEMORY.iter().filter_map(|mark| line.find(mark)).min().filter(|_| line.contains(" GB"))?;
    let name = line[..end].trim_start_matches(['\\', '/', '|', ' ', '\t', '>', '-']);
    let name = ["GPU: ", "GPU = "].iter().find_map(|label| name.strip_prefix(label)).unwrap_or(name);
    (!name.is_empty() && !name.contains(". ")).then_some(name)
}

/// GB of the GPU that such a line says, as its maker sells it.
pub(super) fn size_in_banner(line: &str) -> Option<u32> {
    let (_, behind) = line.split_once("Max memory")?;
    let number = behind.trim_start_matches([' ', ':', '=']).split(' ').next()?;
    number.parse::<f32>().ok().filter(|size| (1.0..4096.0).contains(size)).map(|size| size.ceil() as u32)
}

/// The GPU of a row that nvidia-smi prints: `|   0  Tesla T4                       Off | 00000000:00:04.0 Off |`.
pub(super) fn in_table(line: &str) -> Option<&str> {
    let mut cells = line.trim().strip_prefix('|')?.split('|');
    let (card, bus) = (cells.next()?.trim(), cells.next()?.trim());
    let is_bus = bus.split(' ').next().is_some_and(|bus| bus.len() >= 12 && bus.matches(':').count() == 2);
    let name = card.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let name = ["Off", "On", "N/A"].iter().find_map(|mode| name.strip_suffix(mode)).unwrap_or(name).trim();
    (is_bus && name.len() < card.len() && !name.is_empty()).then_some(name)
}

/// GB of the GPU that the second row of nvidia-smi says: `| N/A   30C    P0    25W / 250W |      4MiB / 32768MiB |`.
pub(super) fn size_in_row(line: &str) -> Option<u32> {
    let memory = line.trim().strip_prefix('|')?.split('|').nth(1)?.trim();
    let (_, total) = memory.split_once("MiB / ")?;
    let mib: u32 = total.trim().strip_suffix("MiB")?.trim().parse().ok()?;
    const MIB_PER_GIB: u32 = 1024;
    // Its makers count what the driver keeps too.
    (mib > 0 && mib < 4096 * MIB_PER_GIB).then(|| mib.div_ceil(MIB_PER_GIB))
}

/// The kind of GPU that a line asks a cluster for: `--gres=gpu:a100:4`, `--gpus-per-node=h100:8`.
pub(super) fn asked_for(line: &str) -> Option<&str> {
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
pub(super) fn labelled(line: &str) -> Option<&str> {
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
pub(super) fn told(clause: &str) -> bool {
    sentence(&clause.replace(" for ", " with "), true).is_some()
}

/// What a person writes in a line: a note's whole line, of a file of keys or code its comment. Lines that weigh one GPU against
/// another, or say what to do on one, name no run's.
pub(super) fn sentence(line: &str, is_note: bool) -> Option<&str> {
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
