//! What `docker run` and its kin give a container: variables, GPUs, memory.

use super::super::command::{Word, base};
use super::super::node::{Entry, Node, Value};
use super::assignment;

/// Programs whose `--gpus` and `--memory` are those of one container; Slurm's are those of a job.
const CONTAINERS: [&str; 3] = ["docker", "podman", "nerdctl"];

/// Variables and limits that the flags of a wrapper set for what it starts.
pub(super) fn environment(words: &[Word]) -> Vec<Entry> {
    let is_container = words.first().is_some_and(|first| CONTAINERS.contains(&base(&first.text)));
    let (mut found, mut devices) = (Vec::new(), Vec::new());
    for (place, word) in words.iter().enumerate().skip(1) {
        let Some((name, value)) = option(word, words.get(place + 1)) else { continue };
        match name {
            "-e" | "--env" => found.extend(assignment(&value)),
            "--gpus" if is_container => found.extend(gpus(&value).map(|value| entry("docker.gpus", value, word))),
            "-m" | "--memory" if is_container => {
                found.extend(gib(&value.text).map(|gib| entry("docker.memory", Value::Number(gib), word)));
            }
            "--device" => {
                let device = value.text.strip_prefix("nvidia.com/gpu=").filter(|device| *device != "all");
                devices.extend(device.map(|device| (device.to_owned(), word)));
            }
            _ => {}
        }
    }
    if let Some((_, word)) = devices.first() {
        let list = devices.iter().map(|(device, word)| Node { value: Value::Text(device.clone()), span: word.span });
        found.push(entry("docker.device", Value::List(list.collect()), word));
    }
    found
}

/// `--name value` and `--name=value`.
fn option<'w>(word: &'w Word, next: Option<&Word>) -> Option<(&'w str, Word)> {
    let text = word.text.as_str();
    if !text.starts_with('-') {
        return None;
    }
    match text.split_once('=') {
        Some((name, value)) => Some((name, Word { text: value.to_owned(), ..word.clone() })),
        None => Some((text, next?.clone())),
    }
}

fn entry(key: &str, value: Value, word: &Word) -> Entry {
    Entry { key: key.to_owned(), span: word.span, node: Node { value, span: word.span } }
}

/// The GPUs of `all`, `2`, `count=2`, `"device=0,1"`, `"device=0,1","capabilities=compute"` (docker opts/gpus.go): a count, or
/// a list; `all` says nothing.
fn gpus(value: &Word) -> Option<Value> {
    if !value.known {
        return Some(Value::Expression(super::shown(&value.text)));
    }
    let text = value.text.replace(['"', '\''], "");
    let (mut listed, mut lists) = (Vec::new(), false);
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        match part.split_once('=') {
            Some(("device", first)) => {
                lists = true;
                listed.push(first.to_owned());
            }
            Some(("count", count)) => return count.parse().ok().filter(|count| *count > 0).map(Value::Integer),
            Some(_) => lists = false,
            None if lists => listed.push(part.to_owned()),
            None => {
                if let Ok(count) = part.parse::<i64>() {
                    return (count > 0).then_some(Value::Integer(count));
                }
            }
        }
    }
    let span = value.span;
    let node = |text: String| Node { value: Value::Text(text), span };
    (!listed.is_empty()).then(|| Value::List(listed.into_iter().map(node).collect()))
}

/// GiB of `64g`, `512m`, `137438953472`: powers of 1024, bytes where no letter stands (docker/go-units `RAMInBytes`).
fn gib(text: &str) -> Option<f64> {
    const UNITS: [(&str, i32); 5] = [("b", 0), ("k", 1), ("m", 2), ("g", 3), ("t", 4)];
    let lower = text.to_ascii_lowercase();
    let lower = if lower.len() > 2 { lower.trim_end_matches("ib") } else { &lower };
    let lower = if lower.len() > 2 && !lower.ends_with(|last: char| last.is_ascii_digit()) {
        lower.strip_suffix('b').filter(|rest| rest.ends_with(|last: char| last.is_ascii_alphabetic())).unwrap_or(lower)
    } else {
        lower
    };
    let (number, power) = UNITS
        .iter()
        .find_map(|(unit, power)| lower.strip_suffix(unit).map(|number| (number, *power)))
        .unwrap_or((lower, 0));
    let number: f64 = number.trim().parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0)?;
    Some(number * 1024_f64.powi(power - 3))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::read;
    use super::*;

    fn given(flags: &str) -> Vec<(String, Value)> {
        let commands = read(&format!("docker run {flags} image python train.py")).unwrap();
        commands[0].environment.iter().map(|entry| (entry.key.clone(), entry.node.value.clone())).collect()
    }

    fn names(value: &Value) -> Vec<&str> {
        let Value::List(items) = value else { return Vec::new() };
        items.iter().filter_map(Node::text).collect()
    }

    #[test]
    fn gpus_of_a_container_are_a_count_or_a_list() {
        assert_eq!(given("--gpus 2"), [("docker.gpus".to_owned(), Value::Integer(2))]);
        assert_eq!(given("--gpus=count=4"), [("docker.gpus".to_owned(), Value::Integer(4))]);
        for several in
            ["--gpus '\"device=0,2\"'", "--gpus=device=0,2", r#"--gpus '"device=0,2","capabilities=compute,utility"'"#]
        {
            assert_eq!(names(&given(several)[0].1), ["0", "2"], "{several}");
        }
        assert_eq!(names(&given("--device nvidia.com/gpu=1 --device=nvidia.com/gpu=3")[0].1), ["1", "3"]);
        for nothing in
            ["--gpus all", "--gpus \"all,capabilities=utility\"", "--device nvidia.com/gpu=all", "--device /dev/kfd"]
        {
            assert!(given(nothing).is_empty(), "{nothing}");
        }
        assert!(matches!(given("--gpus $N")[0].1, Value::Expression(_)));
    }

    #[test]
    fn memory_of_a_container_is_in_gib() {
        for (text, gib) in
            [("64g", 64.0), ("64GB", 64.0), ("2048m", 2.0), ("1t", 1024.0), ("137438953472", 128.0), ("64GiB", 64.0)]
        {
            assert_eq!(given(&format!("-m {text}")), [("docker.memory".to_owned(), Value::Number(gib))], "{text}");
        }
        assert!(given("--memory=lots").is_empty());
        let inside = read("docker run image python -m train").unwrap();
        assert!(inside[0].environment.is_empty(), "the flag of what runs in the container");
    }

    #[test]
    fn what_a_wrapper_sets_holds_within_its_shell() {
        let commands = read("docker run --gpus 2 -e A=1 image bash -c 'B=2 python train.py'").unwrap();
        let keys: Vec<&str> = commands[0].environment.iter().map(|entry| entry.key.as_str()).collect();
        assert_eq!(keys, ["docker.gpus", "A", "B"]);
    }
}
