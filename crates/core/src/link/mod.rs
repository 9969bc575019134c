//! Plan <-> permalink, versioned.
//!
//! `v=1&model=Qwen/Qwen3-4B&gpu=rtx-4090&method=qlora`: readable pairs, the version first, then in the order of
//! [`fields`](crate::plan::fields) what differs from that version's defaults. Model and GPU are always named. The text goes
//! behind the `#` of an address, so it never reaches a server.

mod percent;
mod v1;

use crate::plan::{Plan, Problem, ProblemKind, fields, nearest_key};

/// Longest link that is read, bytes; longer ones are cut. Every plan that [`Plan::from_value`] accepts has a shorter one.
pub const MAX_LINK_BYTES: usize = 64 << 10;

/// Most problems that are collected; a text with more is no link.
const MOST_PROBLEMS: usize = 100;

/// What a link said.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded {
    /// The plan, with everything that could be read; the rest at its default.
    pub plan: Plan,
    /// What could not be read; empty for every link that [`encode`] wrote.
    pub problems: Vec<Problem>,
}

/// Writes `plan` as a link's fragment, without the `#`. Equal plans give equal links.
///
/// ```
/// use headroom_core::{link, plan::Plan};
/// let mut plan = Plan::default();
/// plan.lora.r = 64;
/// assert_eq!(link::encode(&plan), "v=1&model=Qwen/Qwen3-4B&gpu=a100-80gb&r=64");
/// ```
pub fn encode(plan: &Plan) -> String {
    let mut link = format!("v={}", v1::VERSION);
    for field in fields() {
        if field.value(plan).is_null() {
            continue;
        }
        let text = field.text(plan);
        // A link should say what it is about even where that is the default.
        let named = matches!(field.link, "model" | "gpu");
        if named || v1::default(field.link) != Some(text.as_str()) {
            link.push('&');
            link.push_str(field.link);
            link.push('=');
            percent::escape(&text, &mut link);
        }
    }
    link
}

/// Reads a link: a fragment, with or without `#`, or a whole address that has one. Never fails: what cannot be read is reported
/// and stays at its default.
///
/// ```
/// use headroom_core::link;
/// let decoded = link::decode("https://example.org/#v=1&model=Qwen/Qwen3-8B&r=sixteen");
/// assert_eq!(link::encode(&decoded.plan), "v=1&model=Qwen/Qwen3-8B&gpu=a100-80gb");
/// assert_eq!(decoded.problems[0].field, "lora.r");
/// ```
pub fn decode(fragment: &str) -> Decoded {
    let mut problems = Problems::default();
    let fragment = fragment_of(fragment.trim());
    let fragment = if fragment.len() > MAX_LINK_BYTES {
        problems.add("link", ProblemKind::TooLong { max_bytes: MAX_LINK_BYTES });
        let end = (0..=MAX_LINK_BYTES).rev().find(|end| fragment.is_char_boundary(*end)).unwrap_or(0);
        // The last pair was cut somewhere inside its value.
        fragment[..end].rsplit_once('&').map_or("", |(whole, _)| whole)
    } else {
        fragment
    };

    let mut texts: Vec<Option<String>> = vec![None; fields().len()];
    let mut version: Option<String> = None;
    let mut pairs = 0;
    for pair in fragment.split('&').filter(|pair| !pair.is_empty()) {
        pairs += 1;
        let (key, text) = pair.split_once('=').unwrap_or((pair, ""));
        // Written by hand, there may be spaces around the signs.
        let key = key.trim();
        let place = fields().iter().position(|field| field.link == key);
        let name = match place {
            Some(place) => fields()[place].name,
            None if key == "v" => "v",
            None if key.is_empty() => {
                problems.add("link", ProblemKind::BadEscape);
                continue;
            }
            None => {
                problems.unknown_key(key);
                continue;
            }
        };
        let Some(text) = percent::unescape(text) else {
            problems.add(name, ProblemKind::BadEscape);
            continue;
        };
        let slot = place.map_or(&mut version, |place| &mut texts[place]);
        if slot.is_some() {
            problems.add(name, ProblemKind::Duplicate);
        } else {
            *slot = Some(text);
        }
    }

    match version.as_deref().map(str::trim) {
        Some(v1::VERSION) => {}
        Some(other) => {
            let value = other.chars().take(16).collect();
            problems.add("v", ProblemKind::UnknownVersion { value, newest: v1::VERSION });
        }
        // An address without a fragment is no damaged link.
        None if pairs == 0 => {}
        None => problems.add("v", ProblemKind::Missing),
    }

    let given = |name: &str| fields().iter().zip(&texts).any(|(field, text)| field.name == name && text.is_some());
    for (id, own) in [("model", "model.config"), ("gpu", "gpu.memory_gib")] {
        if given(id) && given(own) {
            problems.add(id, ProblemKind::Duplicate);
        }
    }

    let mut plan = v1::defaults();
    for (field, text) in fields().iter().zip(&texts) {
        if let Some(text) = text
            && let Err(problem) = field.set_text(&mut plan, text)
        {
            problems.add(&problem.field, problem.kind);
        }
    }
    Decoded { plan, problems: problems.list }
}

/// Whether `text` is the pairs of a link without what stands before them: `model=llama 3.1 8b&gpu=h100`, its version or not.
pub fn is_fragment(text: &str) -> bool {
    let key = text.split_once('=').map_or("", |(key, _)| key.trim());
    key == "v" || fields().iter().any(|field| field.link == key)
}

/// The pairs of a link that someone wrote by hand: without a version they are of the newest.
pub fn decode_by_hand(fragment: &str) -> Decoded {
    let names_version = fragment.split('&').any(|pair| pair.split_once('=').is_some_and(|(key, _)| key.trim() == "v"));
    if names_version { decode(fragment) } else { decode(&format!("v={}&{fragment}", v1::VERSION)) }
}

/// What stands behind the `#`, or the whole text when it is a bare fragment.
fn fragment_of(text: &str) -> &str {
    match text.split_once('#') {
        Some((_, fragment)) => fragment,
        None if text.starts_with("http://") || text.starts_with("https://") => "",
        None => text,
    }
}

#[derive(Default)]
struct Problems {
    list: Vec<Problem>,
    /// Unknown keys met; the search for what each was meant to be takes time.
    unknown_keys: usize,
}

impl Problems {
    fn add(&mut self, field: &str, kind: ProblemKind) {
        let problem = Problem::new(field, kind);
        if self.list.len() < MOST_PROBLEMS && !self.list.contains(&problem) {
            self.list.push(problem);
        }
    }

    fn unknown_key(&mut self, key: &str) {
        const LONGEST_SHOWN: usize = 64;
        self.unknown_keys += 1;
        if self.unknown_keys <= MOST_PROBLEMS {
            let nearest = nearest_key(key, fields().iter().map(|field| field.link)).map(str::to_owned);
            let key: String = key.chars().take(LONGEST_SHOWN).collect();
            self.add(&key, ProblemKind::UnknownKey { nearest });
        }
    }
}
