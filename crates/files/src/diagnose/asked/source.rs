//! Whose code a stack runs through, by the files of its frames.

use headroom_core::plan::TrainerName;

/// A trainer, by a file of a stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// As plans write it.
    pub trainer: &'static str,
    /// The task, where the file is of one.
    pub task: Option<&'static str>,
    /// The file, from its package on.
    pub file: String,
}

/// Folders and files of packages, and whose they are: what wraps another trainer comes before it.
const PACKAGES: &[(&str, &str)] = &[
    ("axolotl/cli/", "axolotl"),
    ("axolotl/core/", "axolotl"),
    ("axolotl/utils/", "axolotl"),
    ("axolotl/monkeypatch/", "axolotl"),
    ("axolotl/integrations/", "axolotl"),
    ("axolotl/train.py", "axolotl"),
    ("llamafactory/", "llamafactory"),
    ("llmtuner/", "llamafactory"),
    ("swift/cli/", "ms-swift"),
    ("swift/llm/", "ms-swift"),
    ("swift/pipelines/", "ms-swift"),
    ("swift/trainers/", "ms-swift"),
    ("swift/rlhf_trainers/", "ms-swift"),
    ("swift/plugin/", "ms-swift"),
    ("unsloth/", "unsloth"),
    ("unsloth_zoo/", "unsloth"),
    ("unsloth_compiled_cache/", "unsloth"),
    ("verl/trainer/", "verl"),
    ("verl/workers/", "verl"),
    ("verl/single_controller/", "verl"),
    ("verl/utils/", "verl"),
    ("openrlhf/", "openrlhf"),
    ("torchtune/", "torchtune"),
    ("trl/trainer/", "trl"),
    ("trl/experimental/", "trl"),
    ("trl/scripts/", "trl"),
    ("transformers/trainer.py", "transformers"),
    ("transformers/trainer_seq2seq.py", "transformers"),
];

/// Parts of files that are of one task: LLaMA-Factory's folders, then TRL's trainers, which it builds on.
const TASKS: &[(&str, &str)] = &[
    ("llamafactory/train/dpo/", "dpo"),
    ("llamafactory/train/kto/", "kto"),
    ("llamafactory/train/ppo/", "ppo"),
    ("llamafactory/train/rm/", "reward"),
    ("llamafactory/train/sft/", "sft"),
    ("llamafactory/train/pt/", "sft"),
    ("/grpo_trainer.py", "grpo"),
    ("/rloo_trainer.py", "rloo"),
    ("/dpo_trainer.py", "dpo"),
    ("/kto_trainer.py", "kto"),
    ("/orpo_trainer.py", "orpo"),
    ("/cpo_trainer.py", "cpo"),
    ("/ppo_trainer.py", "ppo"),
    ("/reward_trainer.py", "reward"),
    ("/sft_trainer.py", "sft"),
];

/// The trainer whose code `stack` runs through; `None` where no frame says.
pub(super) fn of(stack: &[String]) -> Option<Source> {
    let files: Vec<String> = stack.iter().map(|frame| file(frame)).collect();
    let found = PACKAGES.iter().find_map(|(package, trainer)| {
        let file = files.iter().rev().find_map(|file| from(file, package))?;
        Some((*trainer, file.to_owned()))
    });
    let (trainer, file) = found?;
    // What plans cannot name is asked for.
    let trainer = TrainerName::NAMES.iter().find(|name| **name == trainer)?;
    let of_task = |(part, _): &&(&str, &str)| files.iter().any(|file| file.contains(part));
    let task = TASKS.iter().find(of_task).map(|(_, task)| *task);
    Some(Source { trainer, task, file })
}

/// The same of paths that stand anywhere in a text: in the stack of another rank, in what a launcher says has failed.
pub(super) fn of_text(text: &str) -> Option<Source> {
    let is_end = |letter: char| letter.is_whitespace() || "\"'`,()[]:".contains(letter);
    let paths = text.split(is_end).filter(|word| word.ends_with(".py") && word.contains(['/', '\\']));
    let stack: Vec<String> = paths.map(|path| ["File \"", path, "\""].concat()).collect();
    of(&stack)
}

/// The path of a frame: `File "/env/a.py", line 3`, or a notebook's `File a.py:3, in f`.
fn file(frame: &str) -> String {
    let quoted = frame.split('"').nth(1);
    let plain = || frame.trim().strip_prefix("File ")?.split(':').next();
    quoted.or_else(plain).unwrap_or("").replace('\\', "/")
}

/// `file` from `package` on, where that begins a part of the path.
fn from<'f>(file: &'f str, package: &str) -> Option<&'f str> {
    let at =
        file.match_indices(package).map(|(at, _)| at).filter(|at| *at == 0 || file[..*at].ends_with('/')).last()?;
    file.get(at..)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_files(files: &[&str]) -> Option<(&'static str, Option<&'static str>)> {
        let stack: Vec<String> = files.iter().map(|file| format!("File \"{file}\", line 7, in f\ncode()")).collect();
        of(&stack).map(|source| (source.trainer, source.task))
    }

    #[test]
    fn a_trainer_is_told_by_its_files_and_one_that_wraps_another_comes_first() {
        let transformers = "/env/lib/python3.12/site-packages/transformers/trainer.py";
        let sft = "/env/lib/python3.12/site-packages/trl/trainer/sft_trainer.py";
        for (files, expected) in [
            (vec!["/home/u/train.py", transformers], Some(("transformers", None))),
            (vec![transformers, sft], Some(("trl", Some("sft")))),
            (vec!["/w/axolotl/src/axolotl/cli/train.py", transformers, sft], Some(("axolotl", Some("sft")))),
            (vec!["/w/LLaMA-Factory/src/llamafactory/train/dpo/trainer.py", sft], Some(("llamafactory", Some("dpo")))),
            (vec!["/env/swift/llm/train/sft.py", transformers], Some(("ms-swift", None))),
            (vec!["C:\\env\\unsloth\\models\\llama.py"], Some(("unsloth", None))),
            (vec!["/w/verl/workers/fsdp_workers.py"], Some(("verl", None))),
            (vec!["/home/me/swift/train.py", "/home/me/myverl/trainer/x.py"], None),
        ] {
            assert_eq!(of_files(&files), expected, "{files:?}");
        }
    }
}
