//! Takes the words of a launcher apart: its flags, what it runs, and the arguments of that.

use crate::syntax::Word;

/// A launcher's command.
#[derive(Debug, Default)]
pub(super) struct Parts<'w> {
    /// The launcher's flags and their values.
    pub(super) flags: Vec<Word>,
    /// The script or module.
    pub(super) target: Option<&'w Word>,
    /// Whether it is a module.
    pub(super) is_module: bool,
    /// What follows the script.
    pub(super) rest: &'w [Word],
}

/// Flags of `accelerate launch` that take no value (accelerate commands/launch.py).
pub(super) const ACCELERATE_BARE: &[&str] = &[
    "cpu",
    "debug",
    "downcast_bf16",
    "dynamo_use_dynamic",
    "dynamo_use_fullgraph",
    "dynamo_use_regional_compilation",
    "enable_cpu_affinity",
    "fp8_use_autocast_during_eval",
    "m",
    "module",
    "multi_gpu",
    "no_python",
    "same_network",
    "tpu",
    "tpu_cluster",
    "no_tpu_cluster",
    "tpu_use_sudo",
    "use_deepspeed",
    "use_fsdp",
    "use_megatron_lm",
    "use_parallelism_config",
    "q",
    "quiet",
    "fp16",
    "use_mps_device",
    "use_xpu",
    "ipex",
];
/// Flags of `torchrun` that take no value (torch distributed/run.py).
pub(super) const TORCHRUN_BARE: &[&str] = &["standalone", "m", "module", "no_python", "run_path", "use_env", "use-env"];
/// Flags of `deepspeed` that take no value (deepspeed launcher/runner.py).
pub(super) const DEEPSPEED_BARE: &[&str] = &[
    "force_multi",
    "module",
    "m",
    "no_python",
    "no_local_rank",
    "no_ssh_check",
    "no_ssh",
    "save_pid",
    "bind_cores_to_rank",
    "elastic_training",
    "enable_each_rank_log",
];
/// Options of `python` that take no value.
pub(super) const PYTHON_BARE: &[&str] = &["u", "O", "OO", "B", "E", "s", "I", "v", "m"];

/// Parts the words behind a launcher.
pub(super) fn parts<'w>(words: &'w [Word], bare: &[&str]) -> Parts<'w> {
    let mut parts = Parts::default();
    let mut place = 0;
    while let Some(word) = words.get(place) {
        place += 1;
        let Some(option) = word.text.strip_prefix('-') else {
            // Options that stand in a variable which nobody sets: what runs comes behind them.
            let is_open = !word.known && word.text.starts_with('$') && !word.text.contains('/');
            if is_open && words.get(place).is_some_and(|next| !next.text.starts_with("--")) {
                parts.flags.push(word.clone());
                continue;
            }
            parts.target = Some(word);
            parts.rest = words.get(place..).unwrap_or_default();
            return parts;
        };
        let name = option.trim_start_matches('-').replace('-', "_");
        if name.is_empty() {
            continue;
        }
        if matches!(name.as_str(), "m" | "module") {
            parts.is_module = true;
            continue;
        }
        parts.flags.push(word.clone());
        if name.contains('=') || bare.contains(&name.as_str()) {
            continue;
        }
        // A value follows, unless the next word is an option or the script.
        if let Some(next) = words.get(place).filter(|next| !next.text.starts_with("--")) {
            parts.flags.push(next.clone());
            place += 1;
        }
    }
    parts
}
