//! Pairs that are too long to be read anyway, compressed: `z=`, raw DEFLATE (RFC 1951) in URL-safe base64 without padding.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::decompress_to_vec_with_limit;

use super::meaning::MAX_LINK_BYTES;
use crate::plan::ProblemKind;

/// The key they stand under.
pub(super) const KEY: &str = "z";

/// The compressor's most thorough setting.
const THOROUGH: u8 = 10;

/// Compresses pairs, written as in a link.
pub(super) fn pack(pairs: &str) -> String {
    URL_SAFE_NO_PAD.encode(compress_to_vec(pairs.as_bytes(), THOROUGH))
}

/// The pairs that [`pack`] compressed.
///
/// # Errors
/// The text is damaged, or holds more than a link may.
pub(super) fn unpack(text: &str) -> Result<String, ProblemKind> {
    let damaged = ProblemKind::BadEscape;
    let bytes = URL_SAFE_NO_PAD.decode(text.trim().trim_end_matches('=')).map_err(|_| damaged.clone())?;
    match decompress_to_vec_with_limit(&bytes, MAX_LINK_BYTES) {
        Ok(pairs) => String::from_utf8(pairs).map_err(|_| damaged),
        Err(error) if error.status == TINFLStatus::HasMoreOutput => {
            Err(ProblemKind::TooLong { max_bytes: MAX_LINK_BYTES })
        }
        Err(_) => Err(damaged),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_back() {
        for pairs in ["", "r=8", "config={\"model_type\":\"显\"}&name=a b"] {
            assert_eq!(unpack(&pack(pairs)).unwrap(), pairs);
        }
        let long = "r=8&".repeat(1000);
        assert!(pack(&long).len() < 100);
        assert_eq!(unpack(&format!(" {}== ", pack(&long))).unwrap(), long);
    }

    #[test]
    fn what_is_damaged_or_too_long_is_refused() {
        for damaged in ["*", "A", "显", "AAAA", "_____w", &pack("r=8")[..4]] {
            assert_eq!(unpack(damaged), Err(ProblemKind::BadEscape), "{damaged}");
        }
        let bomb = pack(&"0".repeat(MAX_LINK_BYTES + 1));
        assert!(bomb.len() < 1000);
        assert_eq!(unpack(&bomb), Err(ProblemKind::TooLong { max_bytes: MAX_LINK_BYTES }));
    }
}
