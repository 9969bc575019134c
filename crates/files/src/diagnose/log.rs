//! A log as lines without the prefixes that launchers put before them, and as one stream for each rank.

/// Longest text that is read, bytes; a log that is longer has its messages at its end.
pub const MAX_TEXT_BYTES: usize = 64 << 20;

/// A line of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// From 1.
    pub(super) number: usize,
    /// The rank that printed it, where a prefix says so.
    pub(super) rank: Option<u64>,
    /// Whether a prefix was taken off.
    pub(super) prefixed: bool,
    /// What is left without prefixes and colours.
    pub(super) text: String,
}

/// Lines of one rank without any space: messages are found in it however a terminal has wrapped them.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// All lines after each other.
    pub(super) text: String,
    /// Where each line begins in `text`, its number, and its place among all lines.
    starts: Vec<(usize, usize)>,
    /// The rank.
    pub(super) rank: Option<u64>,
}

/// Text of `bytes`: UTF-8, or UTF-16 as Windows' shells write it; the end of what is too long.
pub(super) fn decoded(bytes: &[u8]) -> String {
    let bytes = bytes.get(bytes.len().saturating_sub(MAX_TEXT_BYTES)..).unwrap_or(bytes);
    let utf16 = |read: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| read([pair[0], pair[1]])).collect();
        String::from_utf16_lossy(&units)
    };
    match bytes {
        [0xff, 0xfe, ..] => utf16(u16::from_le_bytes),
        [0xfe, 0xff, ..] => utf16(u16::from_be_bytes),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// The lines of `text`. What a progress bar overwrites is a line of its own.
pub(super) fn lines(text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    for (at, raw) in text.split('\n').enumerate() {
        for part in raw.split('\r').filter(|part| !part.trim().is_empty()) {
            let bare = without_colours(part);
            let (rank, rest) = without_prefixes(&bare);
            let prefixed = rest.len() < bare.len();
            lines.push(Line { number: at + 1, rank, prefixed, text: rest.trim_end().to_owned() });
        }
    }
    lines
}

/// Without the sequences that colour a terminal, control characters and characters that draw boxes.
fn without_colours(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => {
                if letters.next_if_eq(&'[').is_some() {
                    for code in letters.by_ref() {
                        if ('@'..='~').contains(&code) {
                            break;
                        }
                    }
                }
            }
            '\t' => bare.push(' '),
            '\u{2500}'..='\u{257f}' | '\u{feff}' => {}
            _ if letter.is_control() => {}
            _ => bare.push(letter),
        }
    }
    bare
}

/// Takes one prefix after the other off a line: `[rank3]:`, `[default0]:`, `(WorkerDict pid=12)`, `node-1:`, `[1,3]<stderr>:`,
/// `3: `, date and time, level of a logger.
fn without_prefixes(line: &str) -> (Option<u64>, &str) {
    /// Launchers nest prefixes a few deep.
    const MOST: usize = 8;
    let mut rank = None;
    let mut rest = line;
    for _ in 0..MOST {
        let text = rest.trim_start();
        let Some((found, after)) = prefix(text) else { break };
        rank = found.or(rank);
        rest = after;
    }
    (rank, if rest.len() < line.len() { rest.trim_start() } else { line })
}

fn prefix(text: &str) -> Option<(Option<u64>, &str)> {
    match text.as_bytes().first()? {
        b'[' => bracketed(text),
        b'(' => {
            // Ray: `(WorkerDict pid=312, ip=10.0.0.2)`; vLLM: `(VllmWorker rank=1 pid=312)`.
            let (inside, after) = text.strip_prefix('(')?.split_once(')')?;
            let is_worker = inside.len() < 120 && inside.contains("pid=");
            is_worker.then(|| (value_after(inside, "rank="), after.trim_start_matches(':')))
        }
        // A quotation in a mail or an issue.
        b'>' => text.strip_prefix("> ").map(|after| (None, after)),
        b'0'..=b'9' => dated(text).or_else(|| {
            // srun -l: `3: text`.
            let (number, after) = text.split_once(": ")?;
            (number.len() <= 4 && number.bytes().all(|byte| byte.is_ascii_digit()))
                .then(|| (number.parse().ok(), after))
        }),
        _ => named(text),
    }
}

/// `[rank3]:`, `[default3]:`, `[1,3]<stderr>:`, `[2024-05-01 10:00:00,123]`, `[INFO]`.
fn bracketed(text: &str) -> Option<(Option<u64>, &str)> {
    let (inside, after) = text.strip_prefix('[')?.split_once(']')?;
    let digits = |word: &str| word.parse::<u64>().ok();
    for name in ["rank", "Rank", "RANK", "default", "trainer", "worker"] {
        if let Some(number) = inside.strip_prefix(name) {
            let number = digits(number.trim_start_matches([' ', ':', '=', '-']))?;
            return Some((Some(number), after.trim_start_matches(':')));
        }
    }
    let (date, time) = (inside.get(..4).unwrap_or(""), inside.contains(':'));
    let is_date = date.len() == 4 && date.bytes().all(|byte| byte.is_ascii_digit()) && inside.contains('-') && time;
    let is_level = ["INFO", "WARNING", "ERROR", "DEBUG", "E", "W"].iter().any(|level| inside.starts_with(level));
    if is_date || is_level && after.starts_with([' ', ':']) {
        return Some((None, after.trim_start_matches(':')));
    }
    if let Some((job, rank)) = inside.split_once(',') {
        let (stream, rest) = after.strip_prefix('<')?.split_once(">:")?;
        let is_stream = stream == "stderr" || stream == "stdout";
        return (is_stream && digits(job).is_some()).then(|| (digits(rank.trim()), rest));
    }
    None
}

/// `2024-05-01 10:00:00,123 - ERROR - `, `2024-05-01T10:00:00.123Z`, `10:00:00 `.
fn dated(text: &str) -> Option<(Option<u64>, &str)> {
    let is_stamp = |byte: &u8| byte.is_ascii_digit() || b"-:./,TZ+".contains(byte);
    let word = text.bytes().take_while(is_stamp).count();
    let stamp = text.get(..word)?;
    let parts = |sign: char| stamp.matches(sign).count();
    let (is_date, is_time) = (parts('-') == 2 && word >= 10, parts(':') == 2 && word >= 8);
    if !(is_date || is_time) || !text.get(word..)?.starts_with(' ') {
        return None;
    }
    Some((None, text.get(word..)?.trim_start_matches([' ', '-', '|'])))
}

/// `worker-0: `, `localhost: ` (DeepSpeed's launcher over several hosts), `ERROR 05-01 10:00:00 [core.py:390] `, `ERROR - `.
fn named(text: &str) -> Option<(Option<u64>, &str)> {
    for level in ["ERROR", "WARNING", "INFO", "CRITICAL"] {
        let Some(after) = text.strip_prefix(level) else { continue };
        let after = after.strip_prefix([' ', ':'])?.trim_start();
        // vLLM: month and day, time, file and line.
        let stamped = after.bytes().take_while(|byte| byte.is_ascii_digit() || b"-: ".contains(byte)).count();
        let rest = after.get(stamped..)?;
        let rest = match rest.strip_prefix('[').and_then(|inside| inside.split_once(']')) {
            Some((place, rest)) if place.contains(".py:") => rest,
            _ => after.trim_start_matches(['-', ':']),
        };
        return Some((None, rest));
    }
    let (host, after) = text.split_once(": ")?;
    let is_host =
        host.starts_with("worker-") || host == "localhost" || host.starts_with("node-") || host.starts_with("ip-");
    (is_host && !host.contains(' ')).then_some((None, after))
}

/// The number after `key` in `text`.
pub(super) fn value_after(text: &str, key: &str) -> Option<u64> {
    let (_, after) = text.split_once(key)?;
    let length = after.bytes().take_while(u8::is_ascii_digit).count();
    after.get(..length)?.parse().ok()
}

/// The lines of each rank without spaces; first those that no rank printed. A line without prefix after one of a rank may be
/// the rest of it, cut by a terminal, so it belongs to both.
pub(super) fn streams(lines: &[Line]) -> Vec<Stream> {
    /// More ranks than that share no file.
    const MOST: usize = 4096;
    let mut streams = vec![Stream::default()];
    let mut places: Vec<(u64, usize)> = Vec::new();
    let mut last = 0;
    for (at, line) in lines.iter().enumerate() {
        let own = match line.rank {
            None => 0,
            Some(rank) => match places.binary_search_by_key(&rank, |(rank, _)| *rank) {
                Ok(found) => places[found].1,
                Err(_) if streams.len() >= MOST => 0,
                Err(place) => {
                    streams.push(Stream { rank: Some(rank), ..Stream::default() });
                    places.insert(place, (rank, streams.len() - 1));
                    streams.len() - 1
                }
            },
        };
        streams[own].push(at, &line.text);
        if own == 0 && last != 0 && !line.prefixed {
            streams[last].push(at, &line.text);
        } else {
            last = own;
        }
    }
    streams
}

impl Stream {
    fn push(&mut self, at: usize, line: &str) {
        self.starts.push((self.text.len(), at));
        self.text.extend(line.chars().filter(|letter| !letter.is_whitespace()));
    }

    /// Place among all lines of the line that `offset` falls in.
    pub(super) fn line_at(&self, offset: usize) -> usize {
        let after = self.starts.partition_point(|(start, _)| *start <= offset);
        after.checked_sub(1).and_then(|before| self.starts.get(before)).map_or(0, |(_, at)| *at)
    }

    /// Every place where `mark` begins.
    pub(super) fn all(&self, mark: &str) -> Vec<usize> {
        self.text.match_indices(mark).map(|(at, _)| at).collect()
    }

    /// `length` bytes from `start` on, as far as there are any.
    pub(super) fn window(&self, start: usize, length: usize) -> &str {
        let mut end = self.text.len().min(start.saturating_add(length));
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        self.text.get(start..end).unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_of_launchers_come_off_and_say_the_rank() {
        for (line, rank, rest) in [
            ("[rank3]: torch.OutOfMemoryError: CUDA", Some(3), "torch.OutOfMemoryError: CUDA"),
            ("[default0]:[rank8]: text", Some(8), "text"),
            ("(WorkerDict pid=12, ip=10.0.0.2) text", None, "text"),
            ("(VllmWorker rank=1 pid=3) ERROR 05-01 10:00:00 [core.py:390] text", Some(1), "text"),
            ("[1,3]<stderr>:text", Some(3), "text"),
            ("2: text", Some(2), "text"),
            ("2024-05-01 10:00:00,123 - ERROR - text", None, "text"),
            ("worker-0: [rank1]: text", Some(1), "text"),
            ("GPU 0: text", None, "GPU 0: text"),
            ("| 0  Tesla", None, "| 0  Tesla"),
        ] {
            assert_eq!(without_prefixes(line), (rank, rest), "{line}");
        }
    }

    #[test]
    fn a_wrapped_line_belongs_to_the_rank_before_it_too() {
        let lines = lines("[rank1]: CUDA out of mem\nory. Tried\n[rank0]: other\n");
        let streams = streams(&lines);
        assert_eq!(streams[1].text, "CUDAoutofmemory.Tried");
        assert_eq!((streams[2].rank, streams[2].text.as_str()), (Some(0), "other"));
        assert_eq!(lines[streams[1].line_at(12)].number, 2);
    }

    #[test]
    fn colours_boxes_and_utf_16_are_taken_off() {
        assert_eq!(without_colours("\u{1b}[31mred\u{1b}[0m │ x"), "red  x");
        let mut wide = vec![0xff, 0xfe];
        wide.extend("CUDA".encode_utf16().flat_map(u16::to_le_bytes));
        assert_eq!(decoded(&wide), "\u{feff}CUDA");
    }
}
