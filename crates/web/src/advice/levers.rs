//! Levers as what one writes to pull them, and the table of every change by itself.

use headroom_core::advise::{Impact, Lever, Quick, impacts};
use headroom_core::plan::{Framework, Plan};
use leptos::prelude::*;

use super::judge::Known;
use super::sheet::{Sheet, SheetView};
use crate::figures;
use crate::replays::Asker;
use crate::state::State;
use crate::text::{Texts, text, texts};

/// What one writes to pull `lever`, with the names of the libraries; `after` is the plan with it.
pub(crate) fn lever_code(lever: Lever, after: &Plan) -> String {
    let fixed = match lever {
        Lever::ExpandableSegments => "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
        Lever::Sdpa => "attn_implementation=\"sdpa\"",
        Lever::FusedOptimizer => "optim=\"adamw_torch_fused\"",
        Lever::Liger => "use_liger_kernel=True",
        Lever::Checkpointing => "gradient_checkpointing=True",
        Lever::NoCheckpointing => "gradient_checkpointing=False",
        Lever::SmallBuckets => "\"reduce_bucket_size\": \"auto\"",
        Lever::DropOutputs => "del outputs",
        Lever::EightBitOptimizer => "optim=\"adamw_bnb_8bit\"",
        Lever::PagedOptimizer => "optim=\"paged_adamw_8bit\"",
        Lever::Adafactor => "optim=\"adafactor\"",
        Lever::PureBfloat16 => "torch_dtype=torch.bfloat16, bf16=False",
        Lever::AdapterReference => "ref_model=None",
        Lever::PrecomputedReference => "precompute_ref_log_probs=True",
        Lever::SharedInstances => "with model.disable_adapter():",
        Lever::OffloadedInstances => "model.to(\"cpu\")",
        Lever::QuantizedInstances | Lever::Qlora => "BitsAndBytesConfig(load_in_4bit=True)",
        Lever::NarrowAdapters => "autocast_adapter_dtype=False",
        Lever::AttentionAdapters => "target_modules=[\"q_proj\", \"k_proj\", \"v_proj\", \"o_proj\"]",
        Lever::Sharding { .. } if after.distributed.framework == Framework::Fsdp2 => "CPUOffloadPolicy()",
        Lever::Model(id) | Lever::Card(id) => id,
        Lever::MicroBatch(batch) => {
            let steps = after.gradient_accumulation_steps;
            return format!("per_device_train_batch_size={batch}, gradient_accumulation_steps={steps}");
        }
        Lever::Sharding { zero_stage, offload_optimizer, offload_param } => {
            let cpu = |offloaded, name: &str| if offloaded { format!(", {name}.device=cpu") } else { String::new() };
            let optimizer = cpu(offload_optimizer, "offload_optimizer");
            let param = cpu(offload_param, "offload_param");
            return format!("zero_optimization.stage={zero_stage}{optimizer}{param}");
        }
        Lever::Lora => return format!("peft_config=LoraConfig(r={})", after.lora.r),
        Lever::Rank(r) => return format!("LoraConfig(r={r})"),
        Lever::Length(length) => return format!("max_length={length}"),
        Lever::Generations(generations) => return format!("num_generations={generations}"),
        Lever::CompletionLength(tokens) => return format!("max_completion_length={tokens}"),
        Lever::Cards(count) => return format!("--nproc_per_node={count}"),
    };
    fixed.to_owned()
}

/// Lever in words, and under them what to write.
pub(super) fn lever_html(texts: &Texts, lever: Lever, after: &Plan) -> String {
    let words = (texts.advice.lever)(lever);
    format!("<span class=\"lever\">{words}</span> <code>{}</code>", lever_code(lever, after))
}

/// What a change saves; what it takes where it saves nothing.
pub(super) fn saved_text(bytes: i64) -> String {
    let size = figures::glance(bytes.unsigned_abs());
    match bytes {
        0 => size,
        ..0 => format!("+{size}"),
        _ => format!("−{size}"),
    }
}

/// Every change by itself, the largest saving first; nothing is computed before it is opened.
#[component]
pub(super) fn LeversDetails() -> impl IntoView {
    let state = State::of_page();
    let replays = state.replays;
    let plan = state.settled_plan();
    let texts = texts();
    let opened = RwSignal::new(false);
    let at_once = Memo::new(move |_| if opened.get() { impacts(&plan.read(), &Quick) } else { Vec::new() });
    Effect::new(move |_| {
        plan.track();
        replays.want(Asker::Levers, at_once.read().iter().map(|impact| impact.plan.clone()));
    });
    // Differences between a replay and a figure that was there at once would say nothing: all of one kind, then all of the
    // other.
    let replayed = Memo::new(move |_| {
        let all = at_once.read();
        !all.is_empty() && replays.answered(&plan.read()) && all.iter().all(|impact| replays.answered(&impact.plan))
    });
    let found = Memo::new(move |_| if replayed.get() { impacts(&plan.read(), &Known(replays)) } else { at_once.get() });
    let sheet = Signal::derive(move || table(texts.get(), &found.read()));
    view! {
        <details class="levers" on:toggle=move |_| opened.set(true) aria-busy=move || (!replayed.get()).to_string()>
            <summary>{text(|t| t.advice.levers_title)}</summary>
            <p class="panel-intro">{text(|t| t.advice.levers_intro)}</p>
            <div class="table-scroll" tabindex="0" role="region" aria-label=text(|t| t.advice.levers_title)>
                <SheetView sheet/>
            </div>
        </details>
    }
}

fn table(texts: &Texts, impacts: &[Impact]) -> Sheet {
    let words = &texts.advice;
    let mut sheet = Sheet::default();
    sheet.table(&[
        (words.column_change, false),
        (words.column_need, true),
        (words.column_sequence_time, true),
        (words.column_result, false),
        (&format!("<span class=\"visually-hidden\">{}</span>", texts.use_plan), false),
    ]);
    for Impact { lever, plan, saved_bytes, time, .. } in impacts {
        let level = lever.level();
        sheet.push("<tr><th scope=\"row\">");
        sheet.push(&lever_html(texts, *lever, plan));
        sheet.push(&format!("</th><td class=\"number\">{}</td>", saved_text(*saved_bytes)));
        sheet.push(&format!("<td class=\"number\">{}</td>", figures::times(*time)));
        sheet.push(&format!(
            "<td><span class=\"level {}\">{}</span></td><td>",
            level.name(),
            (words.level_short)(level)
        ));
        sheet.button(plan, texts.use_plan, &format!("{}: {}", texts.use_plan, (words.lever)(*lever)), "");
        sheet.push("</td></tr>");
    }
    sheet.push("</tbody></table>");
    sheet
}
