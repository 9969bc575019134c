//! Elements of a page as data.
//!
//! The engine describes what stands on the page as [`Node`]s; the page, in another thread, makes DOM of them and changes of
//! each description only what differs from the last ([`Answer`] carries them over, [`Event`] what the reader did). Neither
//! side needs the other's crates: this one knows no plan and no browser, and depends on nothing.
//!
//! Attributes that mean something to the page beside what they mean in HTML:
//!
//! | attribute | meaning |
//! | --- | --- |
//! | `data-do` | a click sends this action |
//! | `data-with-texts` | beside `data-do`: what stands in `data-text` areas is sent first |
//! | `data-set` | `change` sends this action with the value; of a checkbox `true` or `false` |
//! | `data-type` | `input` sends this action with the value |
//! | `data-toggle` | opening or closing (`details`) sends this action with `true` or `false` |
//! | `value`, `checked`, `selected` | the property too, unless the reader is just typing there |
//! | `data-style` | properties as `name:value;name:value`: the Content-Security-Policy allows no style attributes |
//! | `data-width` | the element is measured: `width` and this name is sent with its width in CSS pixels |
//! | `data-cells` | where equal cells lie in the element, per cent of it: left, top, width, height; how many across and down |
//! | `data-point` | the pointer over another cell sends this action with `column,line`; off the cells with nothing |
//! | `data-pick` | a click on a cell sends this action with the same |
//! | `data-press` | one of the keys in `data-keys` sends this action with its name |
//! | `data-combobox` | a searchable list of this field: `web/src/combobox.rs` says what it sends |
//! | `data-text`, `data-file`, `data-drop`, `data-fetch` | long texts and files: `web/src/texts.rs` says what they send |
//! | `data-bring`, `data-choose`, `data-picture` | files that are brought as bytes, and charts as files: `static/boot.js` |
//! | `data-csv` | around `data-picture`: what the chart draws as a table |
//! | class `mark`, `data-value` | a chart's value under pointer and focus, as `data-value` or the label says it: `static/values.js` |
//! | `open` | set or removed when the engine changes its mind: what the reader opened stays open |
//!
//! An action that begins with `@` concerns the page alone (theme, clipboard, focus) and is not sent.

mod codec;
mod html;
mod markup;
mod message;
mod node;

pub use html::escape;
pub use message::{Address, Answer, Event, History, Panel};
pub use node::{Content, Element, Name, Node, el, text};
