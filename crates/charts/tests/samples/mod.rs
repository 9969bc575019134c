//! Bars and an estimate to draw.
#![allow(dead_code, missing_docs, unreachable_pub)]

use headroom_charts::{Bar, Look, Orientation, Palette, Texts};
use headroom_core::memory::{Band, Basis, Category, Estimate, Fit, Peak, Phase, PhaseUse, TaskUse, Verdict};
use headroom_core::plan::Plan;

pub const GIB: u64 = 1 << 30;

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
        ..Texts::default()
    }
}

pub fn look(width: u32, palette: Palette) -> Look {
    let texts = Texts { capacity: "RTX 4090, 24.0\u{a0}GiB".to_owned(), ..Texts::default() };
    Look { width, height: 420, orientation: Orientation::Auto, palette, texts }
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
        PhaseUse { phase, allocated_bytes: drawn.total, by_category: drawn.parts }
    })
    .collect();
    let peak = Peak {
        phase: Phase::LossBackward,
        allocated_bytes: 17 * GIB,
        required_bytes: 17 * GIB,
        required_bytes_expandable: 17 * GIB,
        reserved_bytes: 18 * GIB,
        device_bytes: 19 * GIB,
        context_bytes: GIB / 2,
        band: Band { low: 16 * GIB, expected: 17 * GIB, high: 18 * GIB },
        sure_bytes: 18 * GIB,
        beside: Band { low: GIB / 4, expected: GIB / 2, high: GIB },
        limit: None,
        basis: Basis::Usual,
        expandable: false,
    };
    Estimate {
        param_count: 0,
        active_param_count: 0,
        trainable_count: 0,
        peak,
        phases,
        allocations: Vec::new(),
        task: TaskUse { batches: Plan::default().batches(), models: Vec::new(), rollout: None },
        host: Vec::new(),
        card_bytes: 16 * GIB,
        verdict: Verdict { fit: Fit::DoesNotFit, headroom_bytes: -1, used_share: 1.1 },
        notes: Vec::new(),
    }
}
