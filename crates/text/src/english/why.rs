//! Why a change surprises, in English.

use headroom_core::advise::why::Cause;

use super::terms::phase;
use crate::why::WhyTexts;

pub(crate) static TEXTS: WhyTexts = WhyTexts {
    ask: "why?",
    takes: |change| format!("Why does this cost memory: {change}"),
    saves_little: |change| format!("Why does this save next to nothing: {change}"),
    needs_more: |plan, bytes, other| format!("Why does {plan} need {bytes} more than {other}?"),
    cause: |cause| {
        match cause {
        Cause::KbitUpcast => "The base does get smaller, but peft's prepare_model_for_kbit_training turns everything that is not quantised into fp32: embeddings, norms, head. What the layers hand on is then fp32 too and takes twice the bytes of bf16.".to_owned(),
        Cause::SmallStatesStayWide => "bitsandbytes keeps the optimizer state of tensors with fewer than 4,096 elements in fp32, which is more than the bf16 they had.".to_owned(),
        Cause::Pieces => "The tensors take no more; they lie otherwise, and the allocator has more free memory that it cannot hand out in one piece.".to_owned(),
        Cause::PeakElsewhere(at) => format!("The step needs the most during another phase ({}), in which none of what is saved is held.", phase(at)),
    }
    },
    at_peak: |[before, after], is_same| {
        if is_same {
            format!("Held at the peak ({before})")
        } else {
            format!("Held at the peak ({before}, then {after})")
        }
    },
    elsewhere: "Saved, but not held at the peak",
    in_phase: |tensors, phase| format!("{tensors} ({phase})"),
    column_tensors: "Tensors",
    column_difference: "Difference",
    others: "All others",
    sum: "Needs",
    provisional: "By what other plans needed, until both are simulated.",
};
