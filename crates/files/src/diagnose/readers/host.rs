//! The host ran out of memory: what systems, launchers and libraries say.

use super::super::log::{Line, value_after};
use super::super::quantity::{Amount, leading, number, scaled};
use super::super::reading::{Format, Process, Reading};

/// Words in lower case of which one tells such a line.
const MARKS: &[&str] = &[
    "exit code -9",
    "exit code: -9",
    "exitcode -9",
    "exitcode  : -9",
    "exitcode: -9",
    "exited with code -9",
    "exit status 137",
    "exit code 137",
    "exit code: 137",
    "oomkilled",
    "oom-kill",
    "oom_kill",
    "oom killer",
    "out of memory: kill",
    "memory cgroup out of memory",
    "memory: usage ",
    "(sigkill)",
    "signals.sigkill",
    "return code = -9",
    "return code -9",
    "returncode: -9",
    "signal 9",
    "is killed by signal: killed",
    "defaultcpuallocator",
    "unable to allocate",
    "cannot allocate memory",
    "not enough memory: you tried to allocate",
    "killed by the memory monitor",
    "workers killed due to memory pressure",
    "running low on memory",
    "memory on the node",
    "exceeded k8s pod memory limits",
    "bus error",
    "insufficient shared memory",
    "std::bad_alloc",
    "cuda error: host memory",
    "cudahostalloc",
    "(core dumped) killed",
];

/// Most lines that are read.
const MOST: usize = 64;

/// What the lines say of it, in their order: the first is evidence, figures are those of any.
pub(in super::super) fn host(lines: &[Line]) -> Vec<Reading> {
    let is_mark = |line: &&Line| {
        let text = line.text.to_ascii_lowercase();
        is_killed(&text) || MARKS.iter().any(|mark| text.contains(mark))
    };
    let mut found: Vec<Reading> = Vec::new();
    for line in lines.iter().filter(is_mark).take(MOST) {
        let mut reading = Reading::new(Format::HostOutOfMemory, line.number, &line.text);
        let of_launcher = ["local_rank: ", "--local_rank="].iter().find_map(|mark| value_after(&line.text, mark));
        reading.rank = line.rank.or(of_launcher);
        figures(&line.text, &mut reading);
        found.push(reading);
    }
    let Some(mut first) = found.first().cloned() else { return found };
    for other in &found {
        first.tried = first.tried.or(other.tried);
        first.process_bytes = first.process_bytes.or(other.process_bytes);
        first.host_used_bytes = first.host_used_bytes.or(other.host_used_bytes);
        first.host_total_bytes = first.host_total_bytes.or(other.host_total_bytes);
        first.rank = first.rank.or(other.rank);
        if first.processes.is_empty() {
            first.processes.clone_from(&other.processes);
        }
    }
    vec![first]
}

/// A shell's `Killed`, alone or behind the number of the job and its command.
fn is_killed(text: &str) -> bool {
    let text = text.trim();
    text == "killed" || text == "已杀死" || text.ends_with(": killed") || text.contains(" killed  ") || is_job(text)
}

/// `run.sh: line 12: 4711 Killed  python train.py`.
fn is_job(text: &str) -> bool {
    let Some((before, _)) = text.split_once(" killed") else { return false };
    before.contains("line ") && before.ends_with(|last: char| last.is_ascii_digit())
}

fn figures(text: &str, reading: &mut Reading) {
    let lower = text.to_ascii_lowercase();
    let after = |mark: &str| -> Option<Amount> {
        let (_, rest) = lower.split_once(mark)?;
        leading(rest).map(|(amount, _)| amount).or_else(|| scaled(number(rest)?.0, 0))
    };
    reading.tried = after("tried to allocate ").or_else(|| after("unable to allocate "));
    // The kernel: `anon-rss:65011712kB`; several Linux kernels put a space before the unit.
    reading.process_bytes = after("anon-rss:").map(|amount| amount.bytes);
    if let Some(bytes) = reading.process_bytes {
        let pid = value_after(text, "Killed process ").or_else(|| value_after(text, "Kill process "));
        let name = text.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map(|(name, _)| name.to_owned());
        reading.processes = vec![Process { pid, name, bytes }];
    }
    // The kernel of a cgroup: `memory: usage 134217728kB, limit 134217728kB, failcnt 81233`.
    if lower.contains("memory: usage ") {
        reading.host_used_bytes = after("memory: usage ").map(|amount| amount.bytes);
        reading.host_total_bytes = after("limit ").map(|amount| amount.bytes);
    }
    // Ray: `Memory on the node (IP: ..., ID: ...) where the task was running was 62.31GB / 64.00GB (0.973592)`.
    if let Some((_, rest)) = lower.split_once("running was ")
        && let Some((used, rest)) = leading(rest)
        && let Some((total, _)) = rest.trim_start().strip_prefix('/').and_then(leading)
    {
        (reading.host_used_bytes, reading.host_total_bytes) = (Some(used.bytes), Some(total.bytes));
    }
}
