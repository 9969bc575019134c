//! Groups of fields that are folded until they are asked for, or until a problem needs them seen.

use headroom_core::plan;
use headroom_view::{Content, Element, Node, el};

use super::field::set_with;
use super::given;
use crate::page::Page;

/// A group; `key` tells it apart from others. What of it differs from what the trainer gives stands below its summary.
/// `names` are those of all fields that it may have: while it is folded and none of them differs, or needs to be seen, nothing of it is
/// drawn, and a first view does without the code that would.
pub(super) fn group(
    page: &Page,
    (key, title): (&str, &str),
    names: &[&str],
    make: fn(&Page) -> Vec<Element>,
) -> Element {
    let may_be_folded = !is_open(page, key, names) && page.state.embedded.is_none();
    if may_be_folded && given::changed(page, &set_by(names)).is_empty() {
        return fold(page, (key, title), &[], false, Vec::new());
    }
    let fields = make(page);
    let mut keys = Vec::new();
    fields.iter().for_each(|field| keys_within(field, &mut keys));
    let (is_open, names) = (is_open(page, key, &keys), set_by(&keys));
    // What is folded need not be carried to the page and compared there with every edit.
    let fields = if is_open || page.state.embedded.is_some() { fields } else { Vec::new() };
    fold(page, (key, title), &names, is_open, fields)
}

/// A group whose fields are made once it is unfolded: `names` are theirs.
pub(super) fn made_when_open(
    page: &Page,
    (key, title): (&str, &str),
    names: &[&str],
    make: fn(&Page) -> Vec<Element>,
) -> Element {
    // Authors of embedded plans name single fields.
    let is_open = is_open(page, key, names);
    let fields = if is_open || page.state.embedded.is_some() { make(page) } else { Vec::new() };
    fold(page, (key, title), &set_by(names), is_open, fields)
}

fn is_open(page: &Page, key: &str, keys: &[&str]) -> bool {
    page.state.is_open(&["form-", key].concat()) || needs_seeing(page, keys)
}

/// The fields of the plan that inputs of these names set.
fn set_by(keys: &[&str]) -> Vec<&'static str> {
    let own = keys.iter().filter_map(|key| plan::field(key));
    own.flat_map(|field| [field.name].into_iter().chain(set_with(field.name).iter().copied())).collect()
}

fn fold(
    page: &Page,
    (key, title): (&str, &str),
    names: &[&'static str],
    is_open: bool,
    fields: Vec<Element>,
) -> Element {
    let name = ["form-", key].concat();
    let changed = given::changed(page, names);
    let count = if changed.is_empty() { String::new() } else { (page.texts.form.changed)(changed.len()) };
    let id = ["group-", key].concat();
    let summary = el("summary").attr("id", &id).with(el("h3").text(title)).text(" ");
    let fold = el("details")
        .key("fold")
        .attr("data-toggle", &["open ", &name].concat())
        .flag("open", is_open)
        .with(summary.with(el("span").class("changed-count").text(&count)))
        .with(el("div").class("fields").with_all(fields));
    el("section").key(key).class("form-section").with(fold).with_some(given::chips(page, &id, &changed))
}

/// The keys of the fields, and of the models beside the policy, within `element`: those are their names.
pub(super) fn keys_within<'a>(element: &'a Element, keys: &mut Vec<&'a str>) {
    let class = element.attribute("class").unwrap_or_default();
    if class == "field" || class.starts_with("field ") || class == "model-row" {
        keys.push(&element.key);
    }
    if let Content::Children(children) = &element.content {
        for child in children {
            if let Node::Element(child) = child {
                keys_within(child, keys);
            }
        }
    }
}

/// Whether a problem of the plan is about one of these fields, or a choice of one of them changed others.
pub(super) fn needs_seeing(page: &Page, keys: &[&str]) -> bool {
    let is_here = |name: &str| {
        keys.iter().any(|key| name.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
    };
    let problems = page.to_fix();
    let adjusted = page.state.adjusted.as_ref().and_then(|adjusted| adjusted.chosen.first());
    problems.iter().any(|problem| is_here(&problem.field)) || adjusted.is_some_and(|name| is_here(name))
}
