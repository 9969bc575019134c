//! A reader for each kind of text: total functions over any input, that state only what the text states.

mod amd;
mod host;
mod library;
mod metrics;
mod monitor;
mod npu;
mod nvidia_csv;
mod nvidia_query;
mod nvidia_table;
mod nvitop;
mod pytorch;
mod serving;
mod statistics;

use super::log::{Line, Stream};
use super::reading::Reading;

pub(super) use host::host;

/// A reader of what a tool prints line by line.
type Table = fn(&[Line]) -> Vec<Reading>;

/// Every reading of a text, in the order of its lines.
///
/// Messages of a failure say more than the state that a tool prints beside them, so they come first where both are there;
/// and of what libraries say after another, the allocator's own message counts.
pub(super) fn read(lines: &[Line], streams: &[Stream]) -> Vec<Reading> {
    let mut failures = pytorch::messages(lines, streams);
    failures.extend(serving::messages(lines, streams));
    if failures.is_empty() {
        failures = library::messages(lines, streams);
    }
    let mut readings = failures;
    let host = host(lines);
    let tables: [Table; 13] = [
        nvidia_table::read,
        nvitop::read,
        nvidia_query::read,
        nvidia_csv::read,
        amd::read,
        npu::read,
        statistics::summaries,
        statistics::stats,
        statistics::deepspeed,
        metrics::trainer,
        metrics::torchtune,
        metrics::torchtitan,
        metrics::axolotl,
    ];
    let mut states: Vec<Reading> = tables.iter().flat_map(|table| table(lines)).collect();
    // The host's memory says less than anything of a GPU.
    states.extend(metrics::free(lines));
    if readings.is_empty() && host.is_empty() && states.is_empty() {
        return monitor::read(lines);
    }
    readings.extend(host);
    readings.extend(states);
    readings
}

/// What every reader makes of a text, whatever the others find: what a fuzzer runs.
pub(super) fn read_by_each(lines: &[Line], streams: &[Stream]) -> Vec<Reading> {
    let mut readings = read(lines, streams);
    readings.extend(library::messages(lines, streams));
    readings.extend(monitor::read(lines));
    readings
}

/// The number at the beginning of `text`, spaces before it allowed.
fn whole(text: &str) -> Option<u64> {
    let text = text.trim_start();
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    text.get(..length)?.parse().ok()
}

/// `bytes` of MiB.
const fn mib(count: u64) -> u64 {
    count.saturating_mul(1 << 20)
}
