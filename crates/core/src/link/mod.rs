//! Plan <-> permalink, versioned. `LINKS.md` specifies the format for those who write links themselves.
//!
//! `v=1&model=Qwen/Qwen3-4B&gpu=rtx-4090&method=qlora`: readable pairs, the version first, then in the order of
//! [`fields`] what differs from that version's defaults. Model and GPU are always named. A second plan to compare with stands
//! behind it as what differs in it (`vs.method=lora`), then how it asks to be shown (`view=map`). What is too long to be read is
//! compressed (`z=`). The text goes behind the `#` of an address, so it never reaches a server.

mod meaning;
mod packed;
mod percent;
mod read;
mod shown;
mod v1;
mod write;

pub use meaning::{Decoded, Link, MAX_LINK_BYTES};
pub use shown::{Shown, Tab, Theme, View};

use crate::plan::{Field, Plan, fields};

/// Writes `plan` as a link's fragment, without the `#`. Equal plans give equal links.
///
/// ```
/// use headroom_core::{link, plan::Plan};
/// let mut plan = Plan::default();
/// plan.lora.r = 64;
/// assert_eq!(link::encode(&plan), "v=1&model=Qwen/Qwen3-4B&gpu=a100-80gb&r=64");
/// ```
pub fn encode(plan: &Plan) -> String {
    Link { plan: plan.clone(), other: None, shown: Shown::default() }.encode()
}

/// What a link to `plan` says, key by key: the fields with their texts, not escaped.
pub fn pairs(plan: &Plan) -> Vec<(&'static Field, String)> {
    write::own_pairs(plan)
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
    read::decode(fragment)
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
