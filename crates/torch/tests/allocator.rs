//! The caching allocator's rules, each against PyTorch's own allocator (torch 2.15, c10/cuda/CUDACachingAllocator.cpp),
//! which was given the same requests and whose counters are what is expected.
//!
//! A script asks for memory (`a=40M`), frees it (`-a`) and empties the cache (`empty`). After each step stands what is
//! allocated and what is reserved, or with which figures the request failed.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use headroom_torch::allocator::{Allocator, BlockId, Mode, OutOfMemory};
use std::collections::HashMap;

const MIB: u64 = 1 << 20;

/// A device on which nothing runs out.
const PLENTY: u64 = 1 << 42;

/// What a device has given and handed out, in the units of [`shown`].
fn replay(mode: Mode, limit: u64, script: &str) -> String {
    let mut device = Allocator::new(mode, limit);
    let mut live: HashMap<&str, BlockId> = HashMap::new();
    let mut lines = Vec::new();
    for step in script.split_whitespace() {
        if step == "empty" {
            device.empty_cache();
        } else if let Some(name) = step.strip_prefix('-') {
            device.free(live.remove(name).unwrap());
        } else {
            let (name, size) = step.split_once('=').unwrap();
            match ask(&mut device, bytes(size)) {
                Ok(block) => live.insert(name, block),
                Err(OutOfMemory { tried, free, stranded, .. }) => {
                    let [tried, free, stranded] = [tried, free, stranded].map(message);
                    lines.push(format!("{step} fails: tried {tried}, free {free}, stranded {stranded}"));
                    continue;
                }
            };
        }
        lines.push(format!("{}/{}", shown(device.allocated()), shown(reserved(&mut device))));
    }
    lines.join(" ")
}

/// All requests of these tests are made here, on the default stream.
fn ask(device: &mut Allocator, bytes: u64) -> Result<BlockId, OutOfMemory> {
    device.allocate(bytes, headroom_torch::Stream::COMPUTE)
}

#[track_caller]
fn expect(found: String, expected: &str) {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&found), words(expected), "found:\n{found}\n");
}

fn reserved(device: &mut Allocator) -> u64 {
    device.reset_peaks();
    device.reserved_peak()
}

/// `1M+1`: a number of bytes, KiB or MiB and what is added or taken.
fn bytes(text: &str) -> u64 {
    let (whole, more) = text.split_once('+').unwrap_or((text, "0"));
    let (whole, less) = whole.split_once('-').unwrap_or((whole, "0"));
    let (number, unit) = match (whole.strip_suffix('M'), whole.strip_suffix('K')) {
        (Some(number), _) => (number, MIB),
        (_, Some(number)) => (number, 1024),
        _ => (whole, 1),
    };
    let parsed = |text: &str| text.parse::<u64>().unwrap();
    parsed(number) * unit + parsed(more) - parsed(less)
}

/// In the largest unit that divides it.
fn shown(bytes: u64) -> String {
    match bytes {
        0 => "0".to_owned(),
        _ if bytes.is_multiple_of(MIB) => format!("{}M", bytes / MIB),
        _ if bytes.is_multiple_of(1024) => format!("{}K", bytes / 1024),
        _ => bytes.to_string(),
    }
}

/// As PyTorch's message writes it (`format_size`).
fn message(bytes: u64) -> String {
    let of = |unit: u64| bytes as f64 / unit as f64;
    match bytes {
        0..=1024 => format!("{bytes} bytes"),
        1025..=1_048_576 => format!("{:.2} KiB", of(1024)),
        _ => format!("{:.2} MiB", of(MIB)),
    }
}

#[test]
fn requests_are_rounded_to_512_bytes() {
    expect(replay(Mode::Default, PLENTY, "a=1 b=513 c=1024 -b d=1024"), "512/2M 1536/2M 2560/2M 1536/2M 2560/2M");
}

#[test]
fn requests_of_up_to_one_mebibyte_share_segments_of_two() {
    expect(replay(Mode::Default, PLENTY, "a=1M b=1M c=1M"), "1M/2M 2M/2M 3M/4M");
}

#[test]
fn requests_below_ten_mebibytes_share_segments_of_twenty() {
    expect(replay(Mode::Default, PLENTY, "a=1M+1 b=5M c=10M-512 d=9M"), "1049088/20M 6291968/20M 16M/20M 25M/40M");
}

#[test]
fn requests_from_ten_mebibytes_on_have_segments_of_their_own_in_steps_of_two() {
    expect(replay(Mode::Default, PLENTY, "a=10M b=11M c=12M+1 d=30M"), "10M/10M 22M/22M 35652096/36M 67109376/66M");
}

#[test]
fn a_small_block_is_split_down_to_512_bytes() {
    expect(replay(Mode::Default, PLENTY, "a=1M b=1M-512 c=512 d=512"), "1M/2M 2096640/2M 2M/2M 2097664/4M");
}

#[test]
fn of_a_large_block_more_than_one_mebibyte_is_split_off() {
    expect(replay(Mode::Default, PLENTY, "a=19M-512 b=1M+512"), "19922432/20M 20M/20M");
}

#[test]
fn of_a_large_block_at_most_one_mebibyte_is_handed_out_as_well() {
    expect(replay(Mode::Default, PLENTY, "a=19M b=1M+512"), "20M/20M 22020608/40M");
}

/// Had the request of 25 taken the segment of 40, that of 40 would need a new one.
#[test]
fn the_smallest_free_block_that_fits_is_taken() {
    expect(
        replay(Mode::Default, PLENTY, "a=40M b=30M c=20M -a -b -c d=25M e=40M f=20M"),
        "40M/40M 70M/70M 90M/90M 50M/90M 20M/90M 0/90M 25M/90M 65M/90M 85M/90M",
    );
}

/// Two segments, each half free; the older is taken, so that the younger can go back.
#[test]
fn among_equal_blocks_the_lowest_address_is_taken() {
    expect(
        replay(Mode::Default, PLENTY, "p=40M q=40M -p -q a=20M b=20M c=20M d=20M -c -a e=20M -d empty"),
        "40M/40M 80M/80M 40M/80M 0/80M 20M/80M 40M/80M 60M/80M 80M/80M 60M/80M 40M/80M 60M/80M 40M/80M 40M/40M",
    );
}

#[test]
fn freed_neighbours_merge() {
    expect(
        replay(Mode::Default, PLENTY, "p=60M -p a=20M b=20M c=20M -a -c -b d=60M"),
        "60M/60M 0/60M 20M/60M 40M/60M 60M/60M 40M/60M 20M/60M 0/60M 60M/60M",
    );
}

#[test]
fn blocks_of_different_segments_do_not_merge() {
    expect(replay(Mode::Default, PLENTY, "a=20M b=20M -a -b c=40M"), "20M/20M 40M/40M 20M/40M 0/40M 40M/80M");
}

#[test]
fn the_small_and_the_large_pool_do_not_share() {
    expect(
        replay(Mode::Default, PLENTY, "a=1M -a b=2M -b c=1K d=1M+512"),
        "1M/2M 0/2M 2M/22M 0/22M 1K/22M 1050112/22M",
    );
}

#[test]
fn an_emptied_cache_keeps_segments_that_something_lives_in() {
    expect(
        replay(Mode::Default, PLENTY, "a=30M b=2M c=2M -b -a empty -c empty"),
        "30M/30M 32M/50M 34M/50M 32M/50M 2M/50M 2M/20M 0/20M 0/0",
    );
}

#[test]
fn wholly_free_segments_go_back_before_a_request_fails() {
    expect(replay(Mode::Default, 100 * MIB, "a=60M -a b=80M"), "60M/60M 0/60M 80M/80M");
}

#[test]
fn a_request_that_fails_says_what_it_tried_and_what_is_stranded() {
    expect(
        replay(Mode::Default, 100 * MIB, "a=80M -a b=2M c=90M d=18M"),
        "80M/80M 0/80M 2M/80M c=90M fails: tried 90.00 MiB, free 20.00 MiB, stranded 78.00 MiB 20M/80M",
    );
}

#[test]
fn a_request_that_fails_for_the_size_of_its_segment_says_that_size() {
    expect(
        replay(Mode::Default, 30 * MIB, "a=2M b=1K c=9M d=9M+524288 e=9M"),
        "2M/20M 2049K/22M 11265K/22M d=9M+524288 fails: tried 20.00 MiB, free 8.00 MiB, stranded 11.00 MiB 20481K/22M",
    );
}

#[test]
fn a_failed_request_has_emptied_the_cache() {
    expect(
        replay(Mode::Default, 100 * MIB, "a=40M b=40M -a c=70M d=20M"),
        "40M/40M 80M/80M 40M/80M c=70M fails: tried 70.00 MiB, free 60.00 MiB, stranded 0 bytes 60M/60M",
    );
}

#[test]
fn expandable_segments_map_granules_of_two_and_twenty_mebibytes() {
    expect(replay(Mode::Expandable, PLENTY, "a=1 b=1M+1 c=18M d=25M"), "512/2M 1025K/22M 19457K/22M 45057K/62M");
}

#[test]
fn expandable_segments_split_down_to_512_bytes() {
    expect(
        replay(Mode::Expandable, PLENTY, "a=20M-512 b=1M+512 -a c=19M d=1M-512"),
        "20971008/20M 21M/40M 1049088/40M 20972032/40M 21M/42M",
    );
}

#[test]
fn expandable_segments_go_on_behind_their_last_free_block() {
    expect(replay(Mode::Expandable, PLENTY, "a=30M b=15M -b c=45M"), "30M/40M 45M/60M 30M/60M 75M/80M");
}

#[test]
fn expandable_segments_merge_what_was_mapped_apart() {
    expect(
        replay(Mode::Expandable, PLENTY, "a=20M b=20M c=20M -a -b d=40M"),
        "20M/20M 40M/40M 60M/60M 40M/60M 20M/60M 60M/60M",
    );
}

#[test]
fn an_emptied_cache_unmaps_whole_granules_in_the_middle() {
    expect(
        replay(Mode::Expandable, PLENTY, "a=30M b=30M -a empty c=10M d=20M"),
        "30M/40M 60M/60M 30M/60M 30M/40M 40M/40M 60M/60M",
    );
}

#[test]
fn unmapped_addresses_are_mapped_again() {
    expect(
        replay(Mode::Expandable, PLENTY, "a=60M b=20M -a empty c=40M d=20M"),
        "60M/60M 80M/80M 20M/80M 20M/20M 60M/60M 80M/80M",
    );
}

#[test]
fn a_hole_that_is_too_small_is_passed_over() {
    expect(replay(Mode::Expandable, PLENTY, "a=20M b=20M -a empty c=40M"), "20M/20M 40M/40M 20M/40M 20M/20M 60M/60M");
}

#[test]
fn expandable_segments_unmap_free_granules_before_a_request_fails() {
    expect(
        replay(Mode::Expandable, 100 * MIB, "a=30M b=30M c=30M -b -a d=50M -c e=95M -d f=95M"),
        "30M/40M 60M/60M 90M/100M 60M/100M 30M/100M 80M/100M 50M/100M e=95M fails: tried 96.00 MiB, free 40.00 MiB, stranded 10.00 MiB 0/60M 95M/100M",
    );
}

#[test]
fn expandable_segments_that_fail_say_the_whole_segment() {
    expect(
        replay(Mode::Expandable, 100 * MIB, "a=80M b=1K c=30M -a d=2M e=90M"),
        "80M/80M 81921K/82M c=30M fails: tried 30.00 MiB, free 18.00 MiB, stranded 2.00 MiB 1K/82M 2049K/82M e=90M fails: tried 90.00 MiB, free 78.00 MiB, stranded 20.00 MiB",
    );
}

#[test]
fn a_block_before_unmapped_addresses_counts_as_large_as_it_can_grow() {
    expect(
        replay(Mode::Expandable, PLENTY, "a=20M b=40M c=20M d=38M -b -d e=38M f=40M g=2M"),
        "20M/20M 60M/60M 80M/80M 118M/120M 78M/120M 40M/120M 78M/120M 118M/120M 120M/120M",
    );
}

/// What is allocated (in units of 512 bytes), reserved (in MiB) and has failed so far, after every 500 of 4,000 steps: half
/// of them requests of 1 byte to 50 MiB, the others frees, drawn from a linear congruential generator.
fn walk(mode: Mode, limit: u64, seed: u64) -> Vec<(u64, u64, u64)> {
    let mut device = Allocator::new(mode, limit);
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let (mut live, mut failed, mut rows) = (Vec::new(), 0, Vec::new());
    for step in 1..=4000 {
        if next() % 10 < 5 && live.len() < 400 || live.is_empty() {
            let (class, draw) = (next() % 4, next());
            let bytes = match class {
                0 => 1 + draw % MIB,
                1 => MIB + draw % (9 * MIB),
                2 => 10 * MIB + draw % (40 * MIB),
                _ => 512 * (1 + draw % 64),
            };
            match ask(&mut device, bytes) {
                Ok(block) => live.push(block),
                Err(_) => failed += 1,
            }
        } else {
            let at = (next() % live.len() as u64) as usize;
            device.free(live.swap_remove(at));
        }
        if step % 500 == 0 {
            rows.push((device.allocated() / 512, reserved(&mut device) / MIB, failed));
        }
    }
    rows
}

#[test]
fn four_thousand_steps_without_end() {
    let found = walk(Mode::Default, PLENTY, 1);
    assert_eq!(
        found,
        [
            (105502, 284, 0),
            (63, 382, 0),
            (353450, 382, 0),
            (91923, 382, 0),
            (318155, 382, 0),
            (566078, 614, 0),
            (355482, 708, 0),
            (67283, 708, 0)
        ]
    );
}

#[test]
fn four_thousand_steps_on_1000_mebibytes() {
    let found = walk(Mode::Default, 1000 * MIB, 2);
    assert_eq!(
        found,
        [
            (553048, 588, 0),
            (134316, 588, 0),
            (0, 588, 0),
            (203511, 588, 0),
            (670082, 588, 0),
            (461876, 620, 0),
            (825333, 620, 0),
            (851108, 764, 0)
        ]
    );
}

#[test]
fn four_thousand_steps_that_fail_on_400_mebibytes() {
    let found = walk(Mode::Default, 400 * MIB, 3);
    assert_eq!(
        found,
        [
            (91808, 376, 3),
            (124264, 376, 3),
            (332677, 376, 3),
            (142838, 376, 3),
            (142532, 378, 3),
            (257001, 378, 3),
            (664914, 388, 4),
            (315983, 394, 16)
        ]
    );
}

#[test]
fn four_thousand_steps_without_end_with_expandable_segments() {
    let found = walk(Mode::Expandable, PLENTY, 1);
    assert_eq!(
        found,
        [
            (105502, 304, 0),
            (63, 346, 0),
            (353450, 346, 0),
            (91923, 346, 0),
            (316528, 368, 0),
            (563877, 550, 0),
            (353191, 570, 0),
            (65385, 570, 0)
        ]
    );
}

#[test]
fn four_thousand_steps_on_1000_mebibytes_with_expandable_segments() {
    let found = walk(Mode::Expandable, 1000 * MIB, 2);
    assert_eq!(
        found,
        [
            (552234, 492, 0),
            (130492, 492, 0),
            (0, 492, 0),
            (203511, 492, 0),
            (666501, 492, 0),
            (456590, 632, 0),
            (817926, 632, 0),
            (843628, 792, 0)
        ]
    );
}

#[test]
fn four_thousand_steps_that_fail_on_400_mebibytes_with_expandable_segments() {
    let found = walk(Mode::Expandable, 400 * MIB, 3);
    assert_eq!(
        found,
        [
            (139853, 370, 2),
            (134051, 370, 2),
            (67024, 370, 2),
            (212134, 370, 2),
            (124855, 370, 2),
            (173416, 370, 2),
            (530323, 390, 2),
            (419453, 390, 19)
        ]
    );
}

/// On small devices much fails and caches are emptied over and over: where each walk has come after its 4,000 steps. An
/// expandable segment's addresses suffice in these; where they do not, PyTorch's own answer depends on which addresses the
/// driver gives to the next.
#[test]
fn walks_on_small_devices_end_where_pytorchs_do() {
    for (mode, limit, seed, end) in [
        (Mode::Default, 300, 4, (396025, 292, 70)),
        (Mode::Default, 200, 5, (109936, 198, 101)),
        (Mode::Default, 350, 6, (203994, 350, 80)),
        (Mode::Default, 150, 7, (116641, 102, 133)),
        (Mode::Default, 400, 8, (564785, 386, 4)),
        (Mode::Expandable, 400, 8, (580212, 368, 3)),
        (Mode::Expandable, 600, 9, (490729, 592, 35)),
        (Mode::Expandable, 800, 10, (228232, 668, 0)),
    ] {
        assert_eq!(walk(mode, limit * MIB, seed).last(), Some(&end), "{mode:?} {limit} {seed}");
    }
}
