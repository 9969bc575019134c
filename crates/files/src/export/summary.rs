//! The plan and its estimate as Markdown and CSV.

use headroom_core::link;
use headroom_core::memory::Fit;
use headroom_core::plan::{self, Plan, TrainerName};
use headroom_core::units::bytes_text;
use headroom_text::Language;

use super::planned::Planned;

/// A README for the folder of files, which are for `trainer`: the verdict and whose step it is of, every phase, every setting that was
/// chosen, and what no file says.
pub(super) fn markdown(planned: &Planned<'_>, trainer: TrainerName, unsaid: &[String]) -> String {
    let plan = planned.plan;
    let chinese = planned.language == Language::Chinese;
    let say = |english: &'static str, chinese_text: &'static str| if chinese { chinese_text } else { english };
    let mut out = format!("# {}\n\n", say("Planned with Headroom", "由 Headroom 规划"));
    if let Some(estimate) = &planned.estimate {
        let word = [planned.language.texts().verdict_word(estimate), say(".", "。")].concat();
        let verdict = match estimate.verdict.fit {
            _ if estimate.guess.is_some() || estimate.step_fit() != estimate.verdict.fit => word.as_str(),
            Fit::Fits => say("It fits.", "放得下。"),
            Fit::Tight => say("It is tight.", "勉强放得下。"),
            Fit::DoesNotFit => say("It does not fit.", "放不下。"),
        };
        // As the page's verdict: the smallest GPU memory that does, not what an allocator with room to spare takes.
        let needed = bytes_text(estimate.peak.band.expected);
        let shown = bytes_text(estimate.peak.device_bytes);
        let there = bytes_text(estimate.gpu_bytes);
        out += &match chinese {
            true => format!("{verdict}每张 GPU 需要 {needed}，共 {there}；nvidia-smi 最多显示 {shown}。\n"),
            false => format!("{verdict} {needed} of {there} on each GPU; nvidia-smi shows up to {shown}.\n"),
        };
        out += &format!("{}\n\n", step(planned, trainer));
        out += &format!(
            "| {} | {} | {} |\n| --- | --- | --- |\n",
            say("phase", "阶段"),
            say("in tensors", "张量"),
            say("needed", "所需")
        );
        for used in &estimate.phases {
            out += &format!(
                "| {} | {} | {} |\n",
                (planned.language.texts().phase)(used.phase),
                bytes_text(used.allocated_bytes),
                bytes_text(estimate.need_bytes(used))
            );
        }
        out.push('\n');
    }
    out += &format!("| {} | {} |\n| --- | --- |\n", say("setting", "设置"), say("value", "值"));
    for (name, value) in chosen(plan) {
        out += &format!("| `{name}` | `{}` |\n", value.replace('|', "\\|"));
    }
    if !unsaid.is_empty() {
        out += &format!(
            "\n{}\n\n",
            say("What no file here says, and the plan does:", "以下设置属于规划，但这些文件无法表达：")
        );
        for field in unsaid {
            out += &format!("- `{field}`\n");
        }
    }
    out += &format!(
        "\n{}\n\n```sh\nheadroom estimate '#{}'\n```\n",
        say("Estimate it again:", "重新估算："),
        link::encode(plan)
    );
    out
}

/// Whose step the figures are of, and whether the files are for another trainer.
fn step(planned: &Planned<'_>, trainer: TrainerName) -> String {
    let chinese = planned.language == Language::Chinese;
    let label = |name: TrainerName| (planned.language.texts().trainer)(name).label;
    let of = &planned.plan.trainer;
    let estimated = match of.name {
        TrainerName::Custom if chinese => "按通用训练循环（方案未指定训练器）的步骤估算。".to_owned(),
        TrainerName::Custom => "Estimated by the step of a custom training loop: the plan names no trainer.".to_owned(),
        name if name.measured().is_empty() && chinese => {
            format!("{} 的步骤尚未建模，按最接近的步骤估算。", label(name))
        }
        name if name.measured().is_empty() => {
            format!("The step of {} is not modelled: estimated by the nearest one.", label(name))
        }
        name if chinese => format!("按 {} {} 的步骤估算。", label(name), of.release()),
        name => format!("Estimated by the step of {} {}.", label(name), of.release()),
    };
    if of.name == trainer {
        return estimated;
    }
    match chinese {
        true => format!("{estimated}这些文件用于 {}，其步骤所需可能不同。", label(trainer)),
        false => format!("{estimated} These files are for {}, whose step may need more or less.", label(trainer)),
    }
}

/// Settings in which the plan differs from what its trainer takes by itself, and those that everyone asks for.
fn chosen(plan: &Plan) -> Vec<(&'static str, String)> {
    const ALWAYS: [&str; 9] = [
        "model",
        "gpu",
        "num_gpus",
        "trainer.name",
        "task",
        "method",
        "per_device_train_batch_size",
        "gradient_accumulation_steps",
        "max_length",
    ];
    let base = Plan::default();
    let differs = |field: &&plan::Field| ALWAYS.contains(&field.name) || field.value(plan) != field.value(&base);
    plan::fields()
        .iter()
        .filter(differs)
        .map(|field| (field.name, field.text(plan)))
        .filter(|(_, text)| !text.is_empty())
        .collect()
}

/// What each phase needs at its peak, by category, in bytes.
pub(super) fn csv(planned: &Planned<'_>) -> String {
    let mut out = String::from("phase,category,bytes\n");
    let Some(estimate) = &planned.estimate else { return out };
    for used in &estimate.phases {
        for (category, bytes) in estimate.need_by_category(used) {
            out += &format!("{},{},{bytes}\n", used.phase.name(), category.name());
        }
        out += &format!("{},total,{}\n", used.phase.name(), estimate.need_bytes(used));
    }
    out
}
