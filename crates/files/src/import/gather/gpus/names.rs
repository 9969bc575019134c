//! Names of GPUs in a text, and how many of them the words beside a name say.

use headroom_core::gpu::search;
use headroom_core::search::Found;

/// GPUs that `text` names: what each can be, whether the first is meant, and where it stands.
pub(super) fn names(text: &str) -> Vec<(Vec<&'static str>, bool, usize, usize)> {
    let words = words(text);
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let here = (1..=5.min(words.len() - at)).rev().find_map(|length| {
            let window = &words[at..at + length];
            // A name does not go on behind a comma.
            let is_one = window.windows(2).all(|pair| text[pair[0].1..pair[1].0].trim().is_empty());
            let (from, to) = (window[0].0, window[length - 1].1);
            let joined = window.iter().map(|(from, to)| &text[*from..*to]).collect::<Vec<_>>().join(" ");
            let counted = at > 0 && is_times(&text[words[at - 1].0..words[at - 1].1])
                || text[..from].trim_end().ends_with(['x', 'X', '*', '×', '张', '块', '卡', '片'])
                || is_bare(&joined, &text[to..])
                || is_counted(&joined, &text[..from]);
            let holds_count = window.iter().any(|(from, to)| is_times(&text[*from..*to]));
            if !is_one || holds_count || !is_name(&joined, counted) {
                return None;
            }
            let hits = sized(&joined, text, from, to);
            let ids: Vec<&'static str> = match hits.one() {
                Some(id) => vec![id],
                None => hits.hits.iter().take(hits.matches()).map(|hit| hit.id).collect(),
            };
            (!ids.is_empty()).then_some(((ids, hits.is_clear, from, to), length))
        });
        match here {
            Some((mention, length)) => {
                found.push(mention);
                at += length;
            }
            None => at += 1,
        }
    }
    found
}

/// Whether a number is a GPU's as people write it without anything: `5090+64g`, `4090上`, not `4090 steps`.
pub(super) fn is_bare(name: &str, behind: &str) -> bool {
    const NUMBERS: [&str; 3] = ["3090", "4090", "5090"];
    let ends = |next: char| !next.is_ascii() || "+,)/".contains(next);
    NUMBERS.contains(&name) && behind.chars().next().is_none_or(ends)
}

/// Whether a number is a GPU's by the number of them before it: `two 3090s`, `2 4090`.
pub(super) fn is_counted(name: &str, before: &str) -> bool {
    const NUMBERS: [&str; 5] = ["2080", "3080", "3090", "4090", "5090"];
    const COUNTS: [&str; 14] =
        ["a", "single", "one", "two", "dual", "three", "four", "six", "eight", "1", "2", "4", "6", "8"];
    let last = before.trim_end().rsplit(|letter: char| !letter.is_ascii_alphanumeric()).next().unwrap_or("");
    NUMBERS.contains(&name.trim_end_matches('s')) && COUNTS.contains(&last.to_ascii_lowercase().as_str())
}

/// Where a text names a GPU that the catalogue does not have: `RTX 9999`, `a K80 card`, `NVIDIA X100`.
pub(super) fn other(text: &str) -> Option<(usize, usize)> {
    const BRANDS: [&str; 7] = ["nvidia", "geforce", "rtx", "gtx", "tesla", "quadro", "radeon"];
    const GPU_WORDS: [&str; 6] = ["gpu", "gpus", "vram", "card", "cards", "graphics"];
    let words = words(text);
    let word = |at: usize| words.get(at).map_or("", |(from, to)| &text[*from..*to]);
    (0..words.len()).find_map(|at| {
        let name = word(at);
        let (from, to) = words[at];
        // `two 48G graphics cards`, `a single GPU 16Gb VRAM`: a GPU by its memory.
        let size = name.trim_end_matches(['B', 'b']).trim_end_matches(['i']).strip_suffix(['G', 'g']);
        let is_size = size.is_some_and(|size| !size.is_empty() && size.bytes().all(|byte| byte.is_ascii_digit()));
        let is_word = |at: usize| GPU_WORDS.contains(&word(at).to_ascii_lowercase().as_str());
        if is_size && (is_word(at + 1) || is_word(at + 2) || at > 0 && is_word(at - 1)) {
            return Some((from, to));
        }
        let (letters, digits) =
            (name.bytes().filter(u8::is_ascii_alphabetic).count(), name.bytes().filter(u8::is_ascii_digit).count());
        let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric()) && name.len() <= 6;
        let is_branded = at > 0
            && BRANDS.contains(&word(at - 1).to_ascii_lowercase().as_str())
            && digits >= 2
            && letters <= 3
            && is_plain;
        // A series' letter and its number, before the word for what it is or behind how many there are.
        let is_series = name.starts_with(|first: char| "ABHKLMPTV".contains(first)) && letters == 1 && is_plain;
        let behind = word(at + 1).to_ascii_lowercase();
        let is_card = ["gpu", "gpus", "card", "cards"].contains(&behind.as_str());
        let is_counted = count_beside(text, from, to).is_some();
        (is_branded || is_series && (2..=3).contains(&digits) && (is_card || is_counted)).then_some((from, to))
    })
}

/// What a name can be: of several that differ in memory the one of the size beside it, `A100(40G)`, `80G A800s`.
pub(super) fn sized(name: &str, text: &str, from: usize, to: usize) -> Found {
    let hits = search(name);
    // `A100s` of several.
    let single = name.strip_suffix('s').filter(|single| single.ends_with(|last: char| last.is_ascii_digit()));
    let (name, hits) = match single {
        Some(single) if hits.matches() == 0 => (single, search(single)),
        _ => (name, hits),
    };
    if hits.one().is_some() && hits.matches() == 1 {
        return hits;
    }
    let size = size_behind(&text[to..]).or_else(|| {
        let word = text[..from].trim_end().rsplit(|letter: char| !letter.is_ascii_alphanumeric()).next()?;
        size_behind(word).filter(|_| !word.is_empty())
    });
    let of_size = size.map(|size| search(&format!("{name} {size}GB"))).filter(|found| found.one().is_some());
    of_size.unwrap_or(hits)
}

/// GB that a text begins with, in brackets or not: ` 80GB`, `(40G)`, `（141G）`.
pub(super) fn size_behind(text: &str) -> Option<u32> {
    const BETWEEN: [&str; 12] =
        ["'s", "GPUs", "GPU", "gpus", "gpu", "cards", "card", "each", "with", "显卡", "显存", "of"];
    const SIGNS: [char; 8] = [' ', '(', '（', '-', ',', '，', '*', '×'];
    let mut text = text.trim_start_matches(SIGNS);
    while let Some(rest) = BETWEEN.iter().find_map(|word| text.strip_prefix(word)) {
        text = rest.trim_start_matches(SIGNS);
    }
    let digits = text.len() - text.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    unit.starts_with(['g', 'G']).then(|| number.parse().ok()).flatten()
}

/// How many GPUs the words before a name or behind it say: `8x`, `4 张`, `two`, `*8`, `（40G*8卡）`.
pub(super) fn count_beside(text: &str, from: usize, to: usize) -> Option<i64> {
    const MOST: i64 = 4096;
    const WORDS: [(&str, i64); 24] = [
        ("single", 1),
        ("one", 1),
        ("two", 2),
        ("dual", 2),
        ("three", 3),
        ("four", 4),
        ("six", 6),
        ("seven", 7),
        ("eight", 8),
        ("sixteen", 16),
        ("单", 1),
        ("一", 1),
        ("两", 2),
        ("二", 2),
        ("双", 2),
        ("三", 3),
        ("四", 4),
        ("五", 5),
        ("六", 6),
        ("七", 7),
        ("八", 8),
        ("十", 10),
        ("十六", 16),
        ("三十二", 32),
    ];
    const UNITS: [char; 9] = ['x', 'X', '*', '×', '张', '块', '卡', '片', '个'];
    let brand = |text: &str| {
        let bare =
            text.trim_end().trim_end_matches("GPU").trim_end_matches("NVIDIA").trim_end_matches("Nvidia").trim_end();
        // `two 80G A800s`.
        let last = bare.rsplit(' ').next().unwrap_or("");
        let digits = last.trim_end_matches(['b', 'B', 'g', 'G']);
        let is_size =
            digits.len() < last.len() && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        bare.strip_suffix(last).filter(|_| is_size).map_or(bare, str::trim_end).len()
    };
    let before = &text[..brand(&text[..from])];
    // The last letter of `six` is no sign.
    let is_word =
        before.ends_with(['x', 'X']) && before[..before.len() - 1].ends_with(|last: char| last.is_ascii_alphabetic());
    let has_unit = before.ends_with(UNITS) && !is_word;
    let counted = if is_word { before } else { before.trim_end_matches(UNITS).trim_end() };
    let digits = counted.len() - counted.trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
    let number = &counted[counted.len() - digits..];
    let is_plain = !counted[..counted.len() - digits].ends_with(['.', '-', '_', '/', ':']);
    let is_spaced = before.len() < from && text[before.len()..from].starts_with(' ');
    let is_joined = before.len() == from && text[from..].starts_with(|first: char| first.is_ascii_uppercase());
    if digits > 0 && is_plain && (has_unit || is_spaced || is_joined) {
        return number.parse().ok().filter(|count| (1..=MOST).contains(count));
    }
    // No such word is longer.
    const LONGEST: usize = 12;
    let from = counted.char_indices().rev().take(LONGEST).last().map_or(0, |(at, _)| at);
    let lower = counted[from..].to_lowercase();
    let is_word = |word: &str| {
        let rest = lower.strip_suffix(word);
        let is_ascii = word.is_ascii();
        rest.is_some_and(|rest| (is_ascii || has_unit) && !(is_ascii && rest.ends_with(char::is_alphabetic)))
    };
    if let Some((_, count)) = WORDS.iter().rev().find(|(word, _)| is_word(word)) {
        return Some(*count);
    }
    // Behind the name, after its size and brackets.
    let behind = text[to..].trim_start_matches(|letter: char| {
        letter.is_ascii_digit() || matches!(letter, ' ' | '(' | '（' | ')' | '）' | 'g' | 'G' | 'i' | 'b' | 'B' | 's')
    });
    let skipped = text.len() - to - behind.len();
    let times = behind.strip_prefix(['x', 'X', '*', '×'])?.trim_start();
    let digits = times.len() - times.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    // `7*80g`: what is in bytes is the memory of each.
    let is_size = times[digits..].trim_start().starts_with(['g', 'G']);
    let first = text[to..to + skipped].trim_end();
    let first = &first[first.trim_end_matches(|letter: char| letter.is_ascii_digit()).len()..];
    let counted = if is_size { first } else { &times[..digits] };
    let count = counted.parse().ok().filter(|count| (1..=MOST).contains(count));
    count.filter(|_| skipped <= 24)
}

/// Words by where they stand, without a number of GPUs before them: of `4x8H200` and `8*A100` the name.
pub(super) fn words(text: &str) -> Vec<(usize, usize)> {
    let is_between = |letter: char| letter.is_whitespace() || !letter.is_ascii() || ",;()[]{}|:*+\"'`".contains(letter);
    let mut found = Vec::new();
    let mut at = 0;
    for part in text.split(is_between) {
        let from = at;
        at += part.len();
        at += text[at..].chars().next().map_or(0, char::len_utf8);
        let name = without_count(number_alone(part));
        let from = from + (name.as_ptr() as usize - part.as_ptr() as usize);
        let name = name.trim_end_matches('.');
        if !name.is_empty() {
            found.push((from, from + name.len()));
        }
    }
    found
}

/// `3090` of `3090lora`: Chinese is written without blanks.
pub(super) fn number_alone(word: &str) -> &str {
    const NUMBERS: [&str; 3] = ["3090", "4090", "5090"];
    let behind = NUMBERS.iter().find_map(|number| word.strip_prefix(number));
    let is_word = |rest: &str| {
        let letters = rest.bytes().take_while(u8::is_ascii_lowercase).count();
        letters > 2 && !rest.starts_with("super")
    };
    behind.filter(|rest| is_word(rest)).map_or(word, |rest| &word[..word.len() - rest.len()])
}

/// `8xH100` without its number, and `4x8H200` without both.
pub(super) fn without_count(word: &str) -> &str {
    let rest = word.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let counted = rest.len() < word.len();
    // `32H800`: a capital and digits behind a number.
    let is_name = rest.starts_with(|first: char| first.is_ascii_uppercase())
        && !rest.starts_with(['X', 'G', 'B'])
        && rest.ends_with(|last: char| last.is_ascii_digit());
    if counted && is_name {
        return rest;
    }
    match rest.strip_prefix(['x', 'X']).filter(|rest| counted && rest.starts_with(|l: char| l.is_ascii_alphanumeric()))
    {
        Some(name) => {
            let plain = name.trim_start_matches(|letter: char| letter.is_ascii_digit());
            // Of `2x3090` the number is the name.
            if plain.is_empty() || !plain.starts_with(|l: char| l.is_ascii_uppercase()) { name } else { plain }
        }
        None => word,
    }
}

pub(super) fn is_times(word: &str) -> bool {
    matches!(word, "x" | "X")
}

/// Whether words can be a GPU's name as people write it: letters and digits, short ones in capitals, `3090` alone behind a number.
pub(super) fn is_name(text: &str, is_counted: bool) -> bool {
    const BRANDS: [&str; 9] = ["nvidia", "geforce", "rtx", "gtx", "tesla", "quadro", "amd", "instinct", "radeon"];
    let mut is_branded = false;
    let mut is_named = false;
    for (place, word) in text.split(' ').enumerate() {
        let lower = word.to_ascii_lowercase();
        let is_brand = BRANDS.contains(&lower.as_str());
        let has = |test: fn(&u8) -> bool| word.bytes().any(|byte| test(&byte));
        let (letters, digits) = (has(u8::is_ascii_alphabetic), has(u8::is_ascii_digit));
        let size = lower.trim_end_matches("gib").trim_end_matches("gb").trim_end_matches('g');
        let is_size = size.len() < lower.len() && size.bytes().all(|byte| byte.is_ascii_digit());
        let is_short = word.len() <= 3;
        let is_written = letters && digits && !is_size && word.starts_with(|l: char| l.is_ascii_alphabetic());
        let is_plain = !is_short || !word.bytes().any(|byte| byte.is_ascii_lowercase());
        // `2080TI` too is a number with what it is called beside.
        let digits_alone = lower.trim_end_matches("ti").trim_end_matches("super").trim_end_matches('s');
        let is_number = digits_alone.len() == 4
            && digits_alone.bytes().all(|byte| byte.is_ascii_digit())
            && (is_branded || place == 0 && is_counted);
        let names = is_written && is_plain || is_number;
        if place == 0 && !is_brand && !names {
            return false;
        }
        is_branded |= is_brand;
        is_named |= names;
    }
    is_named
}
