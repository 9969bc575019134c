//! The programs of all recorded classes, as they lie in `static/programs`.

use headroom_core::model::Programs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../static/programs")
}

/// All of them, each read when it is first asked for.
pub(crate) fn programs() -> Programs {
    let files = std::fs::read_dir(folder()).into_iter().flatten().flatten();
    let names = files.filter_map(|file| Some(file.path().file_stem()?.to_str()?.to_owned()));
    Programs::from_source(names, |name| std::fs::read_to_string(folder().join(name).with_extension("json")).ok())
}
