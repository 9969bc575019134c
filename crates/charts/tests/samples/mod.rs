//! Bars and an estimate to draw.
#![allow(dead_code, clippy::unwrap_used, missing_docs, unreachable_pub)]

use headroom_charts::{Bar, FitMapLook, FitMapTexts, LeverBar, Look, Orientation, Palette, Texts};
use headroom_core::advise::Level;
use headroom_core::advise::map::Map;
use headroom_core::memory::{
    Band, Basis, Category, Estimate, Fit, HostVerdict, Peak, Phase, PhaseUse, TaskUse, Verdict,
};
use headroom_core::plan::Plan;
use headroom_text::ENGLISH;

pub const GIB: u64 = 1 << 30;

pub fn assert_golden(name: &str, text: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    compare(&path, text);
}

pub fn compare(path: &std::path::Path, text: &str) {
    if std::env::var_os("HEADROOM_UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        std::fs::write(path, text).unwrap();
    }
    let golden = std::fs::read_to_string(path).unwrap_or_default();
    let name = path.display();
    assert!(golden == text, "{name} differs; look at the change, then run the test with HEADROOM_UPDATE_GOLDEN=1");
}

fn bar(group: &str, label: &str, gib: [f64; 6]) -> Bar {
    let categories = [
        Category::Weights,
        Category::Gradients,
        Category::OptimizerStates,
        Category::Activations,
        Category::LogitsAndLoss,
        Category::Overhead,
    ];
    let bytes = |gib: f64| (gib * GIB as f64) as u64;
    let parts: Vec<(Category, u64)> = categories.into_iter().zip(gib.map(bytes)).filter(|(_, b)| *b > 0).collect();
    Bar {
        label: label.to_owned(),
        group: group.to_owned(),
        total: parts.iter().map(|(_, bytes)| bytes).sum(),
        parts,
        selected: false,
        id: format!("{group}/{label}").to_lowercase().replace(' ', "-"),
    }
}

pub fn bars() -> Vec<Bar> {
    let mut bars = vec![
        bar("Full", "ZeRO-0", [140.0, 140.0, 280.0, 40.0, 11.25, 0.75]),
        bar("Full", "ZeRO-1", [15.0, 15.0, 7.5, 4.2, 2.3, 0.8]),
        bar("Full", "ZeRO-2", [15.0, 1.9, 7.5, 4.2, 2.3, 0.8]),
        bar("Full", "ZeRO-2 offload", [15.0, 1.9, 0.0, 4.2, 2.3, 0.8]),
        bar("Full", "ZeRO-3", [4.1, 1.9, 7.5, 4.2, 2.3, 0.8]),
        bar("Full", "ZeRO-3 offload", [1.1, 0.4, 0.0, 4.2, 2.3, 0.8]),
        bar("LoRA", "ZeRO-0", [15.1, 0.1, 0.3, 4.9, 2.5, 0.8]),
        bar("LoRA", "ZeRO-2", [15.1, 0.0, 0.1, 4.9, 2.5, 0.8]),
        bar("LoRA", "ZeRO-3", [3.1, 0.0, 0.1, 4.9, 2.5, 0.8]),
        bar("QLoRA 4-bit", "ZeRO-0", [3.6, 0.1, 0.3, 1.5, 0.8, 0.75]),
        bar("QLoRA 4-bit", "ZeRO-2", [3.6, 0.0, 0.1, 1.5, 0.8, 0.75]),
    ];
    bars[6].selected = true;
    bars
}

pub fn chinese_bars() -> Vec<Bar> {
    let mut bars = bars();
    for bar in &mut bars {
        bar.group = match bar.group.as_str() {
            "Full" => "全量微调",
            "LoRA" => "LoRA 微调",
            _ => "QLoRA 4 比特",
        }
        .to_owned();
        bar.label = bar.label.replace(" offload", " 卸载到内存");
    }
    bars
}

pub fn chinese() -> Texts {
    Texts {
        title: "各方案的显存占用".to_owned(),
        capacity: "RTX 4090 显存 24.0\u{a0}GiB".to_owned(),
        fits: "放得下".to_owned(),
        does_not_fit: "放不下".to_owned(),
        peak: "峰值".to_owned(),
        before: "当前方案".to_owned(),
        after: "建议方案".to_owned(),
        coarser: "计算或优化器状态的精度降低".to_owned(),
        different: "训练内容会改变".to_owned(),
        ..Texts::of(&ENGLISH, String::new(), String::new())
    }
}

pub fn look(width: u32, palette: Palette) -> Look {
    let texts = Texts::of(&ENGLISH, "GPU memory".to_owned(), "RTX 4090, 24.0\u{a0}GiB".to_owned());
    Look { width, height: 420, orientation: Orientation::Auto, palette, texts }
}

/// A plan of 43.7 GiB made to fit 24 GiB: with a lever that costs memory and one that saves next to nothing.
pub fn levers() -> Vec<LeverBar> {
    let levers = [
        ("Expandable segments", 42.4, Level::Same),
        ("Micro-batch 4 → 2", 33.6, Level::Same),
        ("Liger loss", 28.1, Level::Same),
        ("SDPA attention", 28.9, Level::Same),
        ("8-bit AdamW", 26.2, Level::Coarser),
        ("LoRA rank 16 → 8", 26.164, Level::Different),
        ("New tokens 128 → 96", 22.3, Level::Different),
    ];
    let lever = |(label, gib, level): (&str, f64, Level)| LeverBar {
        label: label.to_owned(),
        need_bytes: (gib * GIB as f64) as u64,
        level,
        id: label.to_lowercase().replace(' ', "-"),
    };
    levers.into_iter().map(lever).collect()
}

pub fn chinese_levers() -> Vec<LeverBar> {
    let labels = [
        "可扩展显存段",
        "微批 4 → 2",
        "Liger 分块损失",
        "SDPA 注意力",
        "8 比特 AdamW",
        "LoRA 秩 16 → 8",
        "新生成长度 128 → 96",
    ];
    levers().into_iter().zip(labels).map(|(lever, label)| LeverBar { label: label.to_owned(), ..lever }).collect()
}

pub const LEVERS_START: u64 = GIB * 437 / 10;

/// 24 batch sizes and lengths on a GPU of 24 GiB, of which weights and context take 7.
pub fn map() -> Map {
    let batches: Vec<u64> = (1..=24).collect();
    let lengths: Vec<u64> = (1..=24).map(|i| i * 256).collect();
    let share = |batch: u64, length: u64| {
        let tokens = (batch * length) as f64;
        (7.0 + tokens * 6.1e-4 + tokens * length as f64 * 2e-8) / 24.0
    };
    let row = |length: &u64| batches.iter().map(|batch| share(*batch, *length)).collect();
    let used_share = lengths.iter().map(row).collect();
    Map { batches, lengths, used_share }
}

pub fn map_look(width: u32, palette: Palette) -> FitMapLook {
    let texts = FitMapTexts::of(&ENGLISH, "RTX 4090, 24.0\u{a0}GiB".to_owned(), false);
    FitMapLook { width, palette, texts }
}

pub fn chinese_map() -> FitMapTexts {
    let [title, batch, length, used] =
        ["显存利用率", "每卡批大小", "序列长度", "占用显存 0 – 100 %"].map(str::to_owned);
    let [capacity, fits, tight, does_not_fit, current] =
        ["RTX 4090 显存 24.0\u{a0}GiB", "放得下", "勉强放下", "放不下", "当前方案"].map(str::to_owned);
    FitMapTexts { title, batch, length, used, capacity, fits, tight, does_not_fit, current }
}

pub fn estimate() -> Estimate {
    let phases: Vec<PhaseUse> = [
        (Phase::Load, [8.1, 0.0, 0.3, 0.0, 0.0, 0.0]),
        (Phase::Forward, [8.1, 0.0, 0.3, 5.2, 0.0, 0.4]),
        (Phase::Loss, [8.1, 0.0, 0.3, 5.2, 2.1, 0.0]),
        (Phase::LossBackward, [8.1, 0.0, 0.3, 5.2, 3.4, 0.1]),
        (Phase::Backward, [8.1, 0.15, 0.3, 5.1, 0.0, 1.2]),
        (Phase::GradientClipping, [8.1, 0.15, 0.3, 0.0, 0.0, 0.1]),
        (Phase::OptimizerStep, [8.1, 0.15, 0.3, 0.0, 0.0, 0.2]),
    ]
    .into_iter()
    .map(|(phase, gib)| {
        let drawn = bar("", "", gib);
        // Forward makes the allocator take segments, and the peak two more; the other phases live in those.
        let fragmentation_bytes = match phase {
            Phase::Forward => GIB / 4,
            Phase::LossBackward => GIB,
            _ => 0,
        };
        PhaseUse { phase, allocated_bytes: drawn.total, by_category: drawn.parts, fragmentation_bytes }
    })
    .collect();
    let peak = Peak {
        is_guess: false,
        phase: Phase::LossBackward,
        allocated_bytes: 17 * GIB,
        required_bytes: 17 * GIB,
        required_bytes_expandable: 17 * GIB,
        reserved_bytes: 18 * GIB,
        device_bytes: 19 * GIB,
        context_bytes: GIB / 2,
        nccl_bytes: 0,
        band: Band { low: 16 * GIB, expected: 17 * GIB, high: 18 * GIB },
        safe_bytes: 18 * GIB,
        device_overhead: Band { low: GIB / 4, expected: GIB / 2, high: GIB },
        limit: None,
        basis: Basis::Heuristic,
        expandable: false,
    };
    Estimate {
        guess: None,
        evaluation: None,
        param_count: 0,
        active_param_count: 0,
        trainable_count: 0,
        peak,
        phases,
        allocations: Vec::new(),
        task: TaskUse { batches: Plan::default().batches(), models: Vec::new(), rollout: None },
        host: Vec::new(),
        host_verdict: HostVerdict::default(),
        gpu_bytes: 16 * GIB,
        failure: None,
        verdict: Verdict { fit: Fit::DoesNotFit, headroom_bytes: -1, used_share: 1.1 },
        notes: Vec::new(),
    }
}
