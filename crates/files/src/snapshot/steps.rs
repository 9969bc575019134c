//! Where one step ends and the next begins, in a trace.

use super::{Action, Device, Event, Id, Pickle};
use std::ops::Range;

/// Times at which `optimizer.step()` ended: PyTorch notes them among `external_annotations`.
pub(super) fn ends(pickle: &Pickle, root: Id) -> Vec<u64> {
    let Some(notes) = pickle.entry(root, "external_annotations") else { return Vec::new() };
    let of = |note: &Id| {
        let name = pickle.text(*note, "name")?;
        let is_end = name.starts_with("Optimizer.step#") && pickle.text(*note, "stage") == Some("END");
        if is_end { pickle.whole(*note, "time_us") } else { None }
    };
    let mut times: Vec<u64> = pickle.items(notes).iter().filter_map(of).collect();
    times.sort_unstable();
    times
}

/// The events of the last whole step: between the last two ends of `optimizer.step()`; where those were not noted, the last
/// period of the trace, if what it asks for repeats.
pub(super) fn last(device: &Device, ends: &[u64]) -> Option<Range<usize>> {
    let place = |time: u64| device.events.partition_point(|event| event.time_us <= time);
    if let [.., before, last] = ends {
        let range = place(*before)..place(*last);
        if !range.is_empty() {
            return Some(range);
        }
    }
    let period = period(&device.events)?;
    Some(device.events.len() - period..device.events.len())
}

/// The shortest period with which the end of the trace repeats, twice at least, in events.
fn period(events: &[Event]) -> Option<usize> {
    let key = |event: &Event| match event.action {
        Action::Alloc => (1, event.bytes),
        Action::Free => (2, event.bytes),
        Action::OutOfMemory { .. } => (3, event.bytes),
    };
    let back: Vec<(u8, u64)> = events.iter().rev().map(key).collect();
    // A step asks for more than a few tensors: shorter periods are layers of a loop.
    const SHORTEST: usize = 64;
    let lengths = matches(&back);
    // Of equal layers each is a period too, but not over the whole of a step: the longest stretch that repeats decides.
    let candidates =
        (SHORTEST..back.len()).filter(|period| lengths.get(*period).is_some_and(|length| length >= period));
    candidates.max_by_key(|period| (lengths.get(*period).copied().unwrap_or(0) + period, usize::MAX - period))
}

/// For each place, how far the text goes on from it as it begins (the Z function).
fn matches(text: &[(u8, u64)]) -> Vec<usize> {
    let mut lengths = vec![0; text.len()];
    let (mut left, mut right) = (0, 0);
    for at in 1..text.len() {
        let mut length = if at < right { lengths[at - left].min(right - at) } else { 0 };
        while at + length < text.len() && text[length] == text[at + length] {
            length += 1;
        }
        if at + length > right {
            (left, right) = (at, at + length);
        }
        lengths[at] = length;
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_period_of_a_trace_is_a_step_and_no_layer() {
        let event = |action, bytes| Event { action, bytes, address: 0, time_us: 0, id: 0 };
        let mut events = vec![event(Action::Alloc, 9_999); 10];
        for _ in 0..3 {
            for layer in 0..40 {
                events.extend([
                    event(Action::Alloc, 1024),
                    event(Action::Alloc, 2048),
                    event(Action::Free, 1024 + layer % 2),
                ]);
            }
            events.extend([event(Action::Alloc, 77), event(Action::Free, 77)]);
        }
        assert_eq!(period(&events), Some(122));
        assert_eq!(period(&events[..12]), None);
    }
}
