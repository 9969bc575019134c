//! How many GPUs a cluster is asked for.

/// GPUs on each machine that lines of Slurm ask for: `#SBATCH --gres=gpu:a100:4`, `srun --gpus-per-node=8`.
pub(super) fn asked_count(line: &str) -> Option<i64> {
    const MOST: i64 = 64;
    let line = line.trim_start();
    if !["#SBATCH", "srun ", "salloc "].iter().any(|start| line.starts_with(start)) {
        return None;
    }
    let mut words = line.split([' ', '\t', '=', '"', '\'']).filter(|word| !word.is_empty());
    words.find(|word| matches!(*word, "--gres" | "--gpus-per-node"))?;
    let asked = words.next()?.split(',').find(|part| part.starts_with("gpu") || !part.contains("shard"))?;
    let count = asked.rsplit(':').next()?.parse::<i64>().ok()?;
    (1..=MOST).contains(&count).then_some(count)
}
