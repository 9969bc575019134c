//! What Slurm sets in the environment of a job, as the job's own `#SBATCH` lines ask for it.

use std::collections::BTreeMap;

use super::super::command::Word;
use super::super::node::{Entry, Span};
use super::super::source::Source;

/// Options, and the variables that say what they ask for (`man sbatch`, output environment variables).
const VARIABLES: [(&[&str], &[&str]); 4] = [
    (&["--nodes", "-N"], &["SLURM_NNODES", "SLURM_JOB_NUM_NODES"]),
    (&["--gpus-per-node", "--gres"], &["SLURM_GPUS_ON_NODE", "SLURM_GPUS_PER_NODE"]),
    (&["--ntasks-per-node"], &["SLURM_NTASKS_PER_NODE"]),
    (&["--ntasks", "-n"], &["SLURM_NTASKS", "SLURM_NPROCS"]),
];

/// Variables by name; those that no line decides are missing.
pub(super) fn variables(source: &Source<'_>) -> BTreeMap<String, Vec<Word>> {
    let mut found: BTreeMap<String, Vec<Word>> = BTreeMap::new();
    let mut start = 0;
    for line in source.text.split_inclusive('\n') {
        if let Some((options, span)) = directive(line).map(|options| (options, source.span(start, start + line.len())))
        {
            let mut words = options.split([' ', '\t', '=']).filter(|word| !word.is_empty());
            while let Some(word) = words.next() {
                let Some((_, names)) = VARIABLES.iter().find(|(options, _)| options.contains(&word)) else { continue };
                if let Some(count) = words.next().and_then(count) {
                    found.extend(names.iter().map(|name| ((*name).to_owned(), vec![number(count, span)])));
                }
            }
        }
        start += line.len();
    }
    let whole = |name: &str| found.get(name)?.first()?.text.parse::<u64>().ok();
    if let (None, Some(nodes), Some(each)) =
        (whole("SLURM_NTASKS"), whole("SLURM_NNODES"), whole("SLURM_NTASKS_PER_NODE"))
    {
        let span =
            found.get("SLURM_NNODES").and_then(|words| words.first()).map_or_else(Span::default, |word| word.span);
        for name in ["SLURM_NTASKS", "SLURM_NPROCS"] {
            found.insert(name.to_owned(), vec![number(nodes.saturating_mul(each), span)]);
        }
    }
    found
}

/// Those that programs of the job find in their environment and that say how many of them run.
pub(super) fn exported(variables: &BTreeMap<String, Vec<Word>>) -> Vec<Entry> {
    let entry = |name: &&str| {
        let word = variables.get(*name)?.first()?;
        Some(Entry { key: (*name).to_owned(), span: word.span, node: word.node() })
    };
    ["SLURM_NNODES", "SLURM_NTASKS"].iter().filter_map(entry).collect()
}

/// What stands behind `#SBATCH`, without its comment.
fn directive(line: &str) -> Option<&str> {
    let options = line.trim_start().strip_prefix("#SBATCH")?;
    Some(options.split(" #").next().unwrap_or(options).trim())
}

/// `4`, `gpu:8`, `gpu:a100:8`, `h100:8`; a range or a list is no count.
fn count(value: &str) -> Option<u64> {
    value.trim_matches('"').rsplit(':').next()?.parse().ok().filter(|count| *count > 0)
}

fn number(count: u64, span: Span) -> Word {
    Word { text: count.to_string(), span, known: true }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_job_knows_what_it_asked_for() {
        let text = "#!/bin/bash\n#SBATCH --nodes=4 # all of them\n#SBATCH -J x --gres=gpu:a100:8\n  #SBATCH --ntasks-per-node 1\necho\n";
        let found = variables(&Source::new(text));
        let value = |name: &str| found.get(name).map(|words| words[0].text.as_str());
        assert_eq!(value("SLURM_NNODES"), Some("4"));
        assert_eq!(value("SLURM_GPUS_ON_NODE"), Some("8"));
        assert_eq!(value("SLURM_NTASKS"), Some("4"));
        assert_eq!(found["SLURM_JOB_NUM_NODES"][0].span.line, 2);
        assert!(variables(&Source::new("#SBATCH --nodes=2-4 --gres=none\n# SBATCH -N 3\n")).is_empty());
    }
}
