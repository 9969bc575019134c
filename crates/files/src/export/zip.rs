//! Files as one archive.

use std::io::{Cursor, Write};

use crate::import::File;

/// A zip archive of `files`, stored as they are; empty where one could not be made.
pub fn zip(files: &[File]) -> Vec<u8> {
    let mut archive = ::zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = ::zip::write::SimpleFileOptions::default().compression_method(::zip::CompressionMethod::Stored);
    for file in files {
        // Writing to memory cannot fail; a name that is taken already is left out.
        if archive.start_file(file.name.as_str(), options).is_ok() {
            let _ = archive.write_all(file.text.as_bytes());
        }
    }
    archive.finish().map(Cursor::into_inner).unwrap_or_default()
}
