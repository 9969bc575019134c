//! A snapshot of a real step, and pickles that are none.

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::job::Job;
use headroom_core::plan::Plan;
use headroom_files::diagnose::{Kind, diagnose};
use headroom_files::snapshot::{Pickle, Problem, Snapshot, Unreadable};

/// Two LoRA steps of a two-layer Qwen2.5-0.5B, 2 sequences of 512 tokens, as PyTorch 2.15's caching allocator recorded them.
const REAL: &[u8] = include_bytes!("../../../tests/files/diagnose/qwen2.5-0.5b-lora-2-layers.pickle");

fn job() -> Job {
    let plan = r#"{"model": {"config": {"model_type": "qwen2", "hidden_size": 896, "intermediate_size": 4864,
        "num_hidden_layers": 2, "num_attention_heads": 14, "num_key_value_heads": 2, "vocab_size": 151936,
        "tie_word_embeddings": true, "max_position_embeddings": 32768}},
        "method": "lora", "per_device_train_batch_size": 2, "max_length": 512}"#;
    Job::resolve(&Plan::from_json(plan).unwrap()).unwrap()
}

#[test]
fn a_real_snapshot_is_read() {
    let snapshot = Snapshot::read(REAL).unwrap();
    let device = &snapshot.devices[0];
    // As PyTorch counted itself: memory_allocated(), max_memory_allocated(), memory_reserved().
    assert_eq!((device.allocated_bytes, device.reserved_bytes), (341_746_688, 2_805_989_376));
    // The trace has what was asked for, PyTorch counts blocks, with remainders of up to 1 MiB.
    let peak = device.allocated().into_iter().max().unwrap();
    assert!(peak.abs_diff(2_378_215_424) < 3 << 20, "{peak}");
    assert_eq!(snapshot.steps.len(), 2);
}

#[test]
fn a_real_step_is_set_against_the_plans_own() {
    let found = diagnose(REAL, Some(&job())).unwrap();
    let compared = found.findings.iter().find_map(|finding| match &finding.kind {
        Kind::Snapshot(comparison) => Some(comparison),
        _ => None,
    });
    let comparison = compared.unwrap();
    let (run, plan) = (comparison.run_peak_bytes, comparison.plan_peak_bytes);
    assert!(run.abs_diff(plan) * 100 < plan * 2, "{run} {plan}");
    assert!(comparison.matched_requests * 100 >= comparison.run_requests * 95, "{comparison:?}");
    assert_eq!(comparison.run.iter().map(|(_, bytes)| *bytes).max(), Some(run));
}

#[test]
fn the_message_of_a_real_step_is_recognised() {
    // The same step on a device of 1,600 MiB with expandable segments, PyTorch 2.15's own message.
    let text = include_bytes!("../../../tests/files/diagnose/torch-2.15-expandable.txt");
    let found = diagnose(text, Some(&job())).unwrap();
    let ids: Vec<&str> = found.findings.iter().map(|finding| finding.kind.id()).collect();
    let named = ["failed_request_logits_fp32", "failed_request_loss"];
    assert!(ids.iter().any(|id| named.contains(id)), "{ids:?}");
}

#[test]
fn a_truncated_snapshot_names_where_it_ends() {
    for end in (2..REAL.len()).step_by(1_999) {
        let Err(Unreadable { at, problem }) = Pickle::read(&REAL[..end]) else { panic!("{end} bytes are a pickle") };
        assert!(at <= end && problem == Problem::Truncated, "{end}: {problem:?}");
    }
}

#[test]
fn what_would_run_code_is_refused_by_name() {
    for (bytes, name) in [
        (&b"\x80\x02cos\nsystem\n(S'x'\ntR."[..], "GLOBAL"),
        (b"\x80\x04\x8c\x02os\x8c\x06system\x93.", "STACK_GLOBAL"),
        (b"\x80\x02)(R.", "REDUCE"),
        (b"\x80\x02}}b.", "BUILD"),
        (b"\x80\x02(ios\nsystem\n.", "INST"),
        (b"\x80\x02))\x81.", "NEWOBJ"),
        (b"\x80\x02\x82\x01.", "EXT1"),
        (b"\x80\x02Pid\n.", "PERSID"),
    ] {
        let refused = Pickle::read(bytes).unwrap_err();
        assert_eq!(refused.problem, Problem::Code(name));
        assert!(refused.to_string().contains(name));
    }
}

#[test]
fn hostile_pickles_end() {
    // Deep nesting; then a list that holds itself, lengths beyond the end, marks that are not there.
    let mut deep = b"\x80\x02".to_vec();
    deep.extend(b"]".repeat(1_000_000));
    deep.extend(b"a".repeat(999_999));
    deep.push(b'.');
    assert!(Pickle::read(&deep).is_ok());
    for bytes in [
        &b"\x80\x02]q\x00h\x00a."[..],
        b"\x80\x02X\xff\xff\xff\xff",
        b"\x80\x02\x8b\xff\xff\xff\x7f",
        b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\x80\x02e.",
        b"\x80\x02(0.",
        b"\x80\x02h\x05.",
        b"\x80\x02Nu.",
        b"\x80\x02.",
        b"\x80\x02\xff.",
    ] {
        let _ = diagnose(bytes, None);
    }
    let mut changed = REAL.to_vec();
    for at in (0..changed.len()).step_by(4_001) {
        changed[at] ^= 0x5a;
        let _ = diagnose(&changed, None);
    }
}
