#![allow(clippy::unwrap_used)]

use super::sizes::MIB;
use super::*;

const GIB: u64 = 1 << 30;

fn device(mode: Mode, limit: u64) -> Allocator {
    Allocator::new(mode, limit)
}

#[test]
fn segments_come_in_the_sizes_of_the_caching_allocator() {
    for (request, segment) in [
        (1, 2 * MIB),
        (MIB, 2 * MIB),
        (MIB + 1, 20 * MIB),
        (10 * MIB - 512, 20 * MIB),
        (10 * MIB, 10 * MIB),
        (11 * MIB + 1, 12 * MIB),
    ] {
        let mut device = device(Mode::Default, GIB);
        device.allocate(request, Stream::COMPUTE).unwrap();
        assert_eq!(device.reserved_peak(), segment, "{request}");
    }
}

#[test]
fn a_remainder_of_at_most_one_mebibyte_is_handed_out_as_well() {
    let mut whole = device(Mode::Default, GIB);
    whole.allocate(11 * MIB, Stream::COMPUTE).unwrap();
    assert_eq!(whole.allocated_peak(), 12 * MIB);
    let mut split = device(Mode::Default, GIB);
    split.allocate(9 * MIB, Stream::COMPUTE).unwrap();
    assert_eq!(split.allocated_peak(), 9 * MIB);
}

#[test]
fn the_smallest_free_block_is_taken_and_the_older_of_two_equals() {
    let mut device = device(Mode::Default, GIB);
    let first = device.allocate(40 * MIB, Stream::COMPUTE).unwrap();
    let second = device.allocate(40 * MIB, Stream::COMPUTE).unwrap();
    let third = device.allocate(30 * MIB, Stream::COMPUTE).unwrap();
    device.free(second);
    device.free(first);
    device.free(third);
    assert_eq!(device.allocate(20 * MIB, Stream::COMPUTE).unwrap(), third);
    assert_eq!(device.allocate(35 * MIB, Stream::COMPUTE).unwrap(), first);
}

#[test]
fn freed_neighbours_merge() {
    let mut device = device(Mode::Default, GIB);
    let whole = device.allocate(60 * MIB, Stream::COMPUTE).unwrap();
    device.free(whole);
    let parts = [0, 1, 2].map(|_| device.allocate(20 * MIB, Stream::COMPUTE).unwrap());
    assert_eq!(device.reserved_peak(), 60 * MIB);
    device.free(parts[0]);
    device.free(parts[2]);
    device.free(parts[1]);
    device.allocate(60 * MIB, Stream::COMPUTE).unwrap();
    assert_eq!(device.reserved_peak(), 60 * MIB);
}

#[test]
fn wholly_free_segments_go_back_before_a_request_fails() {
    let mut device = device(Mode::Default, 100 * MIB);
    let first = device.allocate(60 * MIB, Stream::COMPUTE).unwrap();
    device.free(first);
    let second = device.allocate(80 * MIB, Stream::COMPUTE).unwrap();
    assert_eq!(device.reserved_peak(), 80 * MIB);
    device.free(second);
    // One small piece pins the segment.
    device.allocate(2 * MIB, Stream::COMPUTE).unwrap();
    let lack = OutOfMemory { needs: 170 * MIB, tried: 90 * MIB, free: 20 * MIB, stranded: 78 * MIB };
    assert_eq!(device.allocate(90 * MIB, Stream::COMPUTE), Err(lack));
}

#[test]
fn expandable_segments_grow_by_granules_and_shrink_in_the_middle() {
    let mut device = device(Mode::Expandable, 100 * MIB);
    let blocks = [0, 1, 2].map(|_| device.allocate(30 * MIB, Stream::COMPUTE).unwrap());
    assert_eq!(device.reserved_peak(), 100 * MIB);
    device.free(blocks[1]);
    device.free(blocks[0]);
    // 60 MiB are free before the last block; the 70 wanted come from behind it, after the free pages were unmapped.
    let moved = device.allocate(50 * MIB, Stream::COMPUTE).unwrap();
    device.free(moved);
    device.free(blocks[2]);
    device.allocate(95 * MIB, Stream::COMPUTE).unwrap();
    assert_eq!(device.reserved_peak(), 100 * MIB);
}

#[test]
fn what_can_be_given_back_is_known_without_giving_it_back() {
    for mode in [Mode::Default, Mode::Expandable] {
        let mut device = device(mode, 64 * GIB);
        let mut lives = Vec::new();
        for turn in 0..400_u64 {
            // Sizes of every pool and segment kind, in an order without a period of its own.
            let size = [700, 3 * MIB, 11 * MIB + 512, 64 * MIB, MIB / 2][(turn * turn % 13 % 5) as usize] + turn * 512;
            lives.push(device.allocate(size, Stream::COMPUTE).unwrap());
            if turn % 3 == 2 {
                let block = lives.swap_remove((turn * 7 % lives.len() as u64) as usize);
                device.free(block);
            }
            let mut emptied = device.clone();
            emptied.empty_cache();
            assert_eq!(device.held(), emptied.reserved, "{mode:?}, turn {turn}");
        }
    }
}

#[test]
fn only_a_request_that_takes_a_segment_makes_a_demand() {
    let mut device = device(Mode::Default, GIB);
    let large = device.allocate(100 * MIB, Stream::COMPUTE).unwrap();
    device.allocate(30 * MIB, Stream::COMPUTE).unwrap();
    assert_eq!(device.demand_peak(), 130 * MIB);
    device.free(large);
    device.reset_peaks();
    // From the cached segment: nothing is asked of the device.
    device.allocate(60 * MIB, Stream::COMPUTE).unwrap();
    assert_eq!(device.demand_peak(), 0);
    // Beside it: what is left of the cached segment is too small, and cannot be given back.
    device.allocate(50 * MIB, Stream::COMPUTE).unwrap();
    assert_eq!(device.demand_peak(), (100 + 30 + 50) * MIB);
}

const SIDE: Stream = Stream::side(1);

#[test]
fn a_freed_block_is_used_again_on_its_own_stream_only() {
    for mode in [Mode::Default, Mode::Expandable] {
        let mut device = device(mode, GIB);
        let compute = device.allocate(40 * MIB, Stream::COMPUTE).unwrap();
        device.free(compute);
        let side = device.allocate(40 * MIB, SIDE).unwrap();
        assert_ne!(side, compute, "{mode:?}");
        assert_eq!(device.reserved_peak(), 80 * MIB, "{mode:?}");
        // What is split off stays with the stream.
        device.free(side);
        device.allocate(10 * MIB, SIDE).unwrap();
        device.allocate(20 * MIB, SIDE).unwrap();
        assert_eq!(device.reserved_peak(), 80 * MIB, "{mode:?}");
        assert_eq!(device.allocate(40 * MIB, Stream::COMPUTE).unwrap(), compute, "{mode:?}");
    }
}

#[test]
fn small_requests_have_a_pool_on_each_stream_too() {
    let mut device = device(Mode::Default, GIB);
    let first = device.allocate(512, Stream::COMPUTE).unwrap();
    device.allocate(512, SIDE).unwrap();
    assert_eq!(device.reserved_peak(), 4 * MIB);
    device.free(first);
    device.allocate(512, SIDE).unwrap();
    assert_eq!(device.reserved_peak(), 4 * MIB);
}

#[test]
fn segments_of_every_stream_go_back_before_a_request_fails() {
    for mode in [Mode::Default, Mode::Expandable] {
        let mut device = device(mode, 100 * MIB);
        let compute = device.allocate(60 * MIB, Stream::COMPUTE).unwrap();
        device.free(compute);
        device.allocate(80 * MIB, SIDE).unwrap();
        assert_eq!(device.reserved_peak(), 80 * MIB, "{mode:?}");
        assert!(device.allocate(60 * MIB, Stream::COMPUTE).is_err(), "{mode:?}");
    }
}

#[test]
fn a_pool_of_its_own_takes_no_cached_segment_and_leaves_none() {
    for mode in [Mode::Default, Mode::Expandable] {
        let mut device = device(mode, 100 * MIB);
        let compute = device.allocate(60 * MIB, Stream::COMPUTE).unwrap();
        device.free(compute);
        // The cache is emptied first: both would not fit.
        let engine = device.allocate(80 * MIB, Stream::UNCACHED).unwrap();
        assert_eq!(device.allocated(), 80 * MIB, "{mode:?}");
        assert!(device.allocate(60 * MIB, Stream::COMPUTE).is_err(), "{mode:?}");
        device.free(engine);
        assert_eq!((device.allocated(), device.reserved), (0, 0), "{mode:?}");
        device.pass(90 * MIB, Stream::UNCACHED).unwrap();
        assert_eq!(device.reserved, 0, "{mode:?}");
    }
}

#[test]
fn a_block_that_another_stream_has_read_is_free_at_the_next_request() {
    let mut device = device(Mode::Default, GIB);
    let read = device.allocate(40 * MIB, Stream::COMPUTE).unwrap();
    device.free_recorded(read);
    assert_eq!(device.allocated(), 0);
    // Its segment is not empty until the event has been looked at.
    assert_eq!(device.held(), 40 * MIB);
    assert_eq!(device.allocate(30 * MIB, Stream::COMPUTE).unwrap(), read);
    assert_eq!(device.reserved_peak(), 40 * MIB);
    device.free_recorded(read);
    device.empty_cache();
    assert_eq!(device.held(), 0);
}

#[test]
fn what_passes_leaves_what_taking_and_giving_back_leaves() {
    for (mode, limit) in [(Mode::Default, GIB), (Mode::Default, 300 * MIB), (Mode::Expandable, 300 * MIB)] {
        let (mut one, mut other) = (device(mode, limit), device(mode, limit));
        let (mut live, mut random, mut passed) = (Vec::new(), 1u64, 0);
        for _ in 0..4000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (what, size) = (random >> 61, (random >> 20) % (1 << (10 + random % 17)) + 1);
            match what {
                0..=2 => {
                    let blocks = (one.allocate(size, Stream::COMPUTE), other.allocate(size, Stream::COMPUTE));
                    assert_eq!(blocks.0.is_ok(), blocks.1.is_ok());
                    live.extend(blocks.0.ok().zip(blocks.1.ok()));
                }
                3 | 4 if !live.is_empty() => {
                    let blocks = live.swap_remove((random >> 32) as usize % live.len());
                    one.free(blocks.0);
                    other.free(blocks.1);
                }
                _ => {
                    passed += 1;
                    let taken = other.allocate(size, Stream::COMPUTE);
                    assert_eq!(one.pass(size, Stream::COMPUTE).err(), taken.err());
                    if let Ok(block) = taken {
                        other.free(block);
                    }
                }
            }
            let figures = |device: &Allocator| {
                let peaks = (device.reserved_peak(), device.allocated_peak(), device.demand_peak());
                (device.allocated(), device.reserved, device.held(), peaks)
            };
            assert_eq!(figures(&one), figures(&other));
        }
        assert!(passed > 1000 && one.reserved > 100 * MIB, "{passed} passed, {} reserved", one.reserved);
    }
}
