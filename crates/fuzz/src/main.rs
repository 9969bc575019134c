//! The readers of files under libFuzzer, which knows which lines an input reached: `cargo xtask fuzz`.

#![no_main]

use std::sync::OnceLock;

use headroom_files::fuzz;
use libfuzzer_sys::fuzz_target;

/// The reader that `HEADROOM_READER` names.
fn reader() -> fn(&[u8]) {
    static READER: OnceLock<fn(&[u8])> = OnceLock::new();
    *READER.get_or_init(|| {
        let name = std::env::var("HEADROOM_READER").unwrap_or_default();
        let found = fuzz::READERS.iter().find(|(of, _)| *of == name);
        found.map_or_else(|| panic!("HEADROOM_READER names no reader: {name}"), |(_, read)| *read)
    })
}

fuzz_target!(|bytes: &[u8]| reader()(bytes));
