//! Links from plans.

use super::meaning::{Link, OTHER};
use super::{packed, percent, shown, v1};
use crate::plan::{Field, Plan, fields};

/// A value with more characters than this, escaped, is read by nobody: it is compressed where that makes the link shorter.
const LONGEST_READABLE: usize = 400;

/// With more characters than this, everything but the names of model and GPU is compressed: below it, chats, issue trackers and
/// mail programs keep a link in one piece.
const LONGEST_PLAIN: usize = 2000;

/// A key, and its value not yet escaped.
type Pair = (String, String);

impl Link {
    /// Writes it as a link's fragment, without the `#`. Equal links have equal texts.
    ///
    /// ```
    /// use headroom_core::link::{Link, Shown, View};
    /// use headroom_core::plan::{Method, Plan};
    /// let other = Plan { method: Method::Full, ..Plan::default() };
    /// let shown = Shown { view: Some(View::Phases), ..Shown::default() };
    /// let link = Link { plan: Plan::default(), other: Some(other), shown };
    /// assert_eq!(link.encode(), "v=1&model=Qwen/Qwen3-4B&gpu=a100-80gb&vs.method=full&view=phases");
    /// ```
    pub fn encode(&self) -> String {
        encode(self)
    }
}

/// The link to `link.plan` and what else `link` says.
fn encode(link: &Link) -> String {
    let mut pairs: Vec<Pair> =
        own_pairs(&link.plan).into_iter().map(|(field, text)| (field.link.to_owned(), text)).collect();
    if let Some(other) = &link.other {
        pairs.extend(other_pairs(&link.plan, other));
    }
    for (place, key) in shown::KEYS.into_iter().enumerate() {
        if let Some(text) = link.shown.text(place) {
            pairs.push((key.to_owned(), text));
        }
    }
    let plain = written(&pairs, None);
    let is_long = |(_, text): &Pair| escaped(text).len() > LONGEST_READABLE;
    let shorter = if pairs.iter().any(is_long) { packed(&pairs, is_long, plain) } else { plain };
    if shorter.len() <= LONGEST_PLAIN {
        return shorter;
    }
    packed(&pairs, |(key, _)| !matches!(key.as_str(), "model" | "gpu"), shorter)
}

/// What differs in `plan` from the defaults of its version, and the names of model and GPU: a link should say what it is about
/// even where that is the default.
pub(super) fn own_pairs(plan: &Plan) -> Vec<(&'static Field, String)> {
    let mut pairs = Vec::new();
    for field in fields() {
        if field.value(plan).is_null() {
            continue;
        }
        let text = field.text(plan);
        if matches!(field.link, "model" | "gpu") || v1::default(field.link) != Some(text.as_str()) {
            pairs.push((field, text));
        }
    }
    pairs
}

/// What differs in `other` from `plan`, at least one pair.
fn other_pairs(plan: &Plan, other: &Plan) -> Vec<Pair> {
    let pair = |field: &Field| (format!("{}{}", OTHER, field.link), field.text(other));
    let mut pairs: Vec<Pair> = fields().iter().filter(|field| is_said(field, plan, other)).map(pair).collect();
    if pairs.is_empty() {
        pairs.extend(fields().iter().find(|field| !field.value(other).is_null()).map(pair));
    }
    pairs
}

/// Whether a link has to name `field` to make `other` of `plan`.
fn is_said(field: &Field, plan: &Plan, other: &Plan) -> bool {
    let value = field.value(other);
    // The parts of what a model or GPU no longer is go with the rest of it.
    let takes_the_others_place = match field.name {
        "model" | "gpu" => true,
        "gpu.name" => !matches!(other.gpu, crate::plan::GpuChoice::Custom { .. }),
        name => name.starts_with("model.") || name.starts_with("gpu."),
    };
    if value.is_null() && takes_the_others_place {
        return false;
    }
    // A config that is named takes its own name with it.
    let with_config = field.name == "model.name" && differs("model.config", plan, other);
    with_config || value != field.value(plan)
}

fn differs(name: &str, plan: &Plan, other: &Plan) -> bool {
    crate::plan::field(name).is_some_and(|field| field.value(plan) != field.value(other))
}

/// The link with the pairs for which `goes` holds compressed, or `plain` where that is no longer.
fn packed(pairs: &[Pair], goes: impl Fn(&Pair) -> bool, plain: String) -> String {
    let mut inner = String::new();
    let mut stay = Vec::new();
    for pair in pairs {
        if goes(pair) {
            if !inner.is_empty() {
                inner.push('&');
            }
            inner.push_str(&pair.0);
            inner.push('=');
            // What would end the value or begin an escape; the rest compresses better as it is.
            inner.push_str(&pair.1.replace('%', "%25").replace('&', "%26"));
        } else {
            stay.push(pair.clone());
        }
    }
    let shorter = written(&stay, Some(&packed::pack(&inner)));
    if shorter.len() < plain.len() { shorter } else { plain }
}

fn written(pairs: &[Pair], packed: Option<&str>) -> String {
    let mut link = format!("v={}", v1::VERSION);
    for (key, text) in pairs {
        link.push('&');
        link.push_str(key);
        link.push('=');
        percent::escape(text, &mut link);
    }
    if let Some(packed) = packed {
        link.push('&');
        link.push_str(packed::KEY);
        link.push('=');
        link.push_str(packed);
    }
    link
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    percent::escape(text, &mut out);
    out
}
