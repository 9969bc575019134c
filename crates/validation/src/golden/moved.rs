//! What moved between two answers.

use std::collections::HashMap;

use super::answer::Answered;

/// A line of an answer that is another one now.
#[derive(Debug, Clone, PartialEq)]
pub struct Moved {
    /// Where the plan comes from.
    pub origin: String,
    /// The plan as a link, or the folder of files.
    pub key: String,
    /// What the line is about: `phase backward`, `required`.
    pub about: String,
    /// As recorded; empty where there was no such line.
    pub before: String,
    /// As it is now; empty where there is none.
    pub after: String,
    /// The largest relative change of a figure in it; infinite where a line came or went.
    pub share: f64,
}

/// Words that a line begins with before its figures: they name what it is about.
fn about(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let named = match words.first() {
        Some(&("phase" | "term" | "advice" | "fill")) => 2,
        _ => 1,
    };
    words.into_iter().take(named).collect::<Vec<_>>().join(" ")
}

/// Every line of `now` that differs from `recorded`, and every plan that only one of them has.
pub fn moved(recorded: &[Answered], now: &[Answered]) -> Vec<Moved> {
    let known: HashMap<&str, &Answered> = recorded.iter().map(|answered| (answered.key.as_str(), answered)).collect();
    let mut found = Vec::new();
    for answered in now {
        let before = known.get(answered.key.as_str()).map(|known| known.lines.as_slice()).unwrap_or_default();
        let mut left: HashMap<String, Vec<&String>> = HashMap::new();
        before.iter().for_each(|line| left.entry(about(line)).or_default().push(line));
        let mut see = |about: String, before: &str, after: &str| {
            let (origin, key) = (answered.origin.clone(), answered.key.clone());
            let share = share(before, after);
            found.push(Moved { origin, key, about, before: before.to_owned(), after: after.to_owned(), share });
        };
        for line in &answered.lines {
            let about = about(line);
            let known = left.get_mut(&about).filter(|lines| !lines.is_empty()).map(|lines| lines.remove(0));
            match known {
                Some(known) if known == line => {}
                known => see(about, known.map_or("", String::as_str), line),
            }
        }
        let mut gone: Vec<&String> = left.into_values().flatten().collect();
        gone.sort();
        gone.into_iter().for_each(|line| see(about(line), line, ""));
    }
    found
}

/// The largest relative change of figures that stand in the same places.
fn share(before: &str, after: &str) -> f64 {
    let figures = |line: &str| line.split([' ', ',', '=']).map(|word| word.parse::<f64>().ok()).collect::<Vec<_>>();
    let (before, after) = (figures(before), figures(after));
    if before.len() != after.len() {
        return f64::INFINITY;
    }
    let change = |(before, after): (&Option<f64>, &Option<f64>)| match (before, after) {
        (Some(before), Some(after)) if before != after => ((after - before) / before.abs().max(1.0)).abs(),
        _ => 0.0,
    };
    before.iter().zip(&after).map(change).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(lines: &[&str]) -> Vec<Answered> {
        let lines = lines.iter().map(|line| (*line).to_owned()).collect();
        vec![Answered { origin: "draw 1".to_owned(), key: "v=1".to_owned(), lines }]
    }

    #[test]
    fn says_what_moved_and_by_how_much() {
        let before = answered(&["required 100 expandable 90", "phase load 10 0", "phase loss 20 0"]);
        let after = answered(&["required 110 expandable 90", "phase load 10 0", "phase backward 30 0"]);
        let found = moved(&before, &after);
        let told: Vec<_> = found.iter().map(|one| (one.about.as_str(), one.share)).collect();
        assert_eq!(told, [("required", 0.1), ("phase backward", f64::INFINITY), ("phase loss", f64::INFINITY)]);
        assert_eq!(moved(&before, &before), []);
    }

    #[test]
    fn a_plan_that_was_not_recorded_has_moved() {
        assert_eq!(moved(&[], &answered(&["count 1 2"])).len(), 1);
    }
}
