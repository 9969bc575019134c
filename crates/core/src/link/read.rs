//! Plans from links.

use super::meaning::{Decoded, MAX_LINK_BYTES, OTHER};
use super::shown::Shown;
use super::{packed, percent, shown, v1};
use crate::plan::{Field, Plan, Problem, ProblemKind, also_called, fields, nearest_key};

/// Most problems that are collected; a text with more is no link.
const MOST_PROBLEMS: usize = 100;

/// What the pairs of a link say, as texts.
struct Texts {
    version: Option<String>,
    packed: Option<String>,
    /// By the place of the field.
    own: Vec<Option<String>>,
    other: Vec<Option<String>>,
    shown: [Option<String>; shown::KEYS.len()],
    /// How many pairs there were.
    pairs: usize,
}

/// Reads a link.
pub(super) fn decode(fragment: &str) -> Decoded {
    let mut problems = Problems::default();
    let fragment = whole_pairs(fragment_of(fragment.trim()), &mut problems);
    let count = fields().len();
    let mut texts = Texts {
        version: None,
        packed: None,
        own: vec![None; count],
        other: vec![None; count],
        shown: [const { None }; shown::KEYS.len()],
        pairs: 0,
    };
    texts.read(fragment, &mut problems);
    if let Some(text) = texts.packed.clone() {
        match packed::unpack(&text) {
            Ok(inner) => texts.read(&inner, &mut problems),
            Err(kind) => problems.add(packed::KEY, kind),
        }
    }
    texts.check_version(&mut problems);
    let mut plan = v1::defaults();
    set(&mut plan, &texts.own, "", &mut problems);
    let other = texts.other.iter().any(Option::is_some).then(|| {
        let mut other = plan.clone();
        set(&mut other, &texts.other, OTHER, &mut problems);
        other
    });
    let mut shown = Shown::default();
    for (place, text) in texts.shown.iter().enumerate() {
        if let Some(text) = text
            && let Err(problem) = shown.set(place, text.trim())
        {
            problems.add(&problem.field, problem.kind);
        }
    }
    Decoded { plan, other, shown, problems: problems.list }
}

/// Sets in `plan` what `texts` say; `prefix` stands before the names of fields where they are told.
fn set(plan: &mut Plan, texts: &[Option<String>], prefix: &str, problems: &mut Problems) {
    let given = |name: &str| fields().iter().zip(texts).any(|(field, text)| field.name == name && text.is_some());
    for (id, own) in [("model", "model.config"), ("gpu", "gpu.memory_gib")] {
        if given(id) && given(own) {
            problems.add(&format!("{prefix}{id}"), ProblemKind::Duplicate);
        }
    }
    for (field, text) in fields().iter().zip(texts) {
        if let Some(text) = text
            && let Err(problem) = field.set_text(plan, text)
        {
            problems.add(&format!("{prefix}{}", problem.field), problem.kind);
        }
    }
}

/// What stands behind the `#`, or the whole text when it is a bare fragment.
fn fragment_of(text: &str) -> &str {
    match text.split_once('#') {
        Some((_, fragment)) => fragment,
        None if text.starts_with("http://") || text.starts_with("https://") => "",
        None => text,
    }
}

/// The part of `fragment` that is read.
fn whole_pairs<'a>(fragment: &'a str, problems: &mut Problems) -> &'a str {
    if fragment.len() <= MAX_LINK_BYTES {
        return fragment;
    }
    problems.add("link", ProblemKind::TooLong { max_bytes: MAX_LINK_BYTES });
    let end = (0..=MAX_LINK_BYTES).rev().find(|end| fragment.is_char_boundary(*end)).unwrap_or(0);
    // The last pair was cut somewhere inside its value.
    fragment[..end].rsplit_once('&').map_or("", |(whole, _)| whole)
}

/// What a key stands for.
enum Key {
    Version,
    Packed,
    Own(usize),
    Other(usize),
    Shown(usize),
}

impl Key {
    fn named(key: &str) -> Option<Self> {
        let field = |key: &str| fields().iter().position(|field| field.link == key);
        match key {
            "v" => Some(Self::Version),
            packed::KEY => Some(Self::Packed),
            _ => match key.strip_prefix(OTHER) {
                Some(key) => field(key).map(Self::Other),
                None => field(key)
                    .map(Self::Own)
                    .or_else(|| shown::KEYS.iter().position(|own| *own == key).map(Self::Shown)),
            },
        }
    }

    /// What problems call it.
    fn name(&self) -> String {
        let field = |place: usize| fields().get(place).map_or("", |field: &Field| field.name);
        match *self {
            Self::Version => "v".to_owned(),
            Self::Packed => packed::KEY.to_owned(),
            Self::Own(place) => field(place).to_owned(),
            Self::Other(place) => format!("{OTHER}{}", field(place)),
            Self::Shown(place) => shown::KEYS[place].to_owned(),
        }
    }
}

impl Texts {
    fn read(&mut self, pairs: &str, problems: &mut Problems) {
        for pair in pairs.split('&').filter(|pair| !pair.is_empty()) {
            self.pairs += 1;
            let (key, text) = pair.split_once('=').unwrap_or((pair, ""));
            // Written by hand, there may be spaces around the signs.
            let key = key.trim();
            let Some(known) = Key::named(key) else {
                if key.is_empty() {
                    problems.add("link", ProblemKind::BadEscape);
                } else {
                    problems.unknown_key(key);
                }
                continue;
            };
            let Some(text) = percent::unescape(text) else {
                problems.add(&known.name(), ProblemKind::BadEscape);
                continue;
            };
            let slot = match known {
                Key::Version => &mut self.version,
                Key::Packed => &mut self.packed,
                Key::Own(place) => &mut self.own[place],
                Key::Other(place) => &mut self.other[place],
                Key::Shown(place) => &mut self.shown[place],
            };
            if slot.is_some() {
                problems.add(&known.name(), ProblemKind::Duplicate);
            } else {
                *slot = Some(text);
            }
        }
    }

    fn check_version(&self, problems: &mut Problems) {
        match self.version.as_deref().map(str::trim) {
            Some(v1::VERSION) => {}
            Some(other) => {
                let value = other.chars().take(16).collect();
                problems.add("v", ProblemKind::UnknownVersion { value, newest: v1::VERSION });
            }
            // An address without a fragment is no damaged link.
            None if self.pairs == 0 => {}
            None => problems.add("v", ProblemKind::Missing),
        }
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
            let (prefix, own) = key.strip_prefix(OTHER).map_or(("", key), |own| (OTHER, own));
            let keys = fields().iter().map(|field| field.link);
            let extras = shown::KEYS.into_iter().filter(|_| prefix.is_empty());
            let meant = also_called(own).map(|field| field.link);
            let nearest = meant.or_else(|| nearest_key(own, keys.chain(extras))).map(|near| format!("{prefix}{near}"));
            let key: String = key.chars().take(LONGEST_SHOWN).collect();
            self.add(&key, ProblemKind::UnknownKey { nearest });
        }
    }
}
