//! Percent escapes, as far as a fragment needs them to survive browsers, chats and Markdown.

/// Writes `text` to `out`, escaping every byte that an address bar, a chat or Markdown might change.
pub(super) fn escape(text: &str, out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/:,@".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
}

/// Reads `text`; `None` when an escape is cut off or the bytes are not UTF-8. Everything else stands for itself, `+` too.
pub(super) fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
            bytes.push(high << 4 | low);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_what_is_not_safe() {
        let mut out = String::new();
        escape("a/b:c,d@e {\"f\"} 显 +&=#%", &mut out);
        assert_eq!(out, "a/b:c,d@e%20%7B%22f%22%7D%20%E6%98%BE%20%2B%26%3D%23%25");
        assert_eq!(unescape(&out).as_deref(), Some("a/b:c,d@e {\"f\"} 显 +&=#%"));
    }

    #[test]
    fn refuses_broken_escapes() {
        for broken in ["%", "%4", "%zz", "%C3", "%FF", "a%2", "%%20"] {
            assert_eq!(unescape(broken), None, "{broken}");
        }
        assert_eq!(unescape("%e6%98%be+ {raw}").as_deref(), Some("显+ {raw}"));
    }
}
