//! Notes beside an estimate, in English.

use headroom_core::job::ImageRule;
use headroom_core::memory::{EvaluationNeed, Guess, GuessReason, Note};
use headroom_core::units::{bytes_text, count_text};

use crate::named::{assumed_keys, launched_by};

pub(super) fn note(note: &Note) -> String {
    match note {
        Note::GenericModel { model_type, guess: Guess { low_percent, high_percent, .. } } => format!(
            "Headroom does not know the family “{model_type}” and read it as a Llama-like decoder: take every figure as a guess. A run needs {low_percent} to {high_percent} % of them. To know it, record the class from its code: python -m headroom.record (docs/own-models.md)."
        ),
        Note::AssumedKeys { keys } => format!(
            "The config.json does not say these, so the defaults of its class are assumed: {}.",
            assumed_keys(keys, ", ")
        ),
        Note::TextPart { of } => {
            format!("Only the text part of “{of}” is counted: its vision or audio towers are not.")
        }
        Note::EagerOnly { model_type } => {
            format!("transformers has no sdpa for “{model_type}”: attention runs eagerly and materialises its scores.")
        }
        Note::FamilyNotMeasured { model_type, guess: Guess { low_percent, high_percent, .. } } => format!(
            "The activations of “{model_type}” follow its code and were not compared with a measurement. A run needs {low_percent} to {high_percent} % of these figures; python/headroom_check.py measures one."
        ),
        Note::TorchScan { packages } if !packages.is_empty() => {
            let named: Vec<String> = packages.iter().map(|name| name.replace('_', "-")).collect();
            let keys: Vec<String> = packages.iter().map(|name| format!("software.{name}")).collect();
            format!(
                "State-space layers, linear attention and short convolutions are counted as they run where {} is not installed: partly or wholly in PyTorch's own operators. Set {} where it is: a step takes less then.",
                named.join(" or "),
                keys.join(" and ")
            )
        }
        Note::TorchScan { .. } => {
            "Its state-space or linear-attention layers are counted as PyTorch's own operators run them. With kernels for them (mamba-ssm, causal-conv1d, flash-linear-attention) a step takes less, by much with long sequences; that is not modelled yet."
                .to_owned()
        }
        Note::Liger { has_kernels: false, model_type } => {
            format!("liger-kernel has no kernels for “{model_type}”: use_liger_kernel changes nothing.")
        }
        Note::Liger { has_kernels: true, model_type } => {
            format!("Not all of liger-kernel's kernels for “{model_type}” are counted: a step takes less than said.")
        }
        Note::Fsdp2OffloadsAll => {
            "FSDP2 offloads all or nothing: CPUOffloadPolicy keeps parameters, gradients and optimizer state in host memory."
                .to_owned()
        }
        Note::QuantizedBaseNotSharded { storage: Some(dtype) } => format!(
            "The 4-bit base is not sharded: every GPU holds all of it. FSDP shards it with bnb_4bit_quant_storage={dtype}."
        ),
        Note::QuantizedBaseNotSharded { storage: None } => {
            "The quantised base is not sharded: every GPU holds all of it.".to_owned()
        }
        Note::PackedWeightsHeld => {
            "ZeRO-3 partitions the 4-bit base, but bitsandbytes keeps each weight that it was given until backward has ended: at the peak every GPU holds all of it. FSDP frees what it gathered."
                .to_owned()
        }
        Note::UnmatchedTargets { names } => format!(
            "The model has no module {}: peft passes over it without a word, and trains no adapter there.",
            names.join(", ")
        ),
        Note::ZeroOnOneGpu => "ZeRO on one GPU shards nothing: only offload saves memory there.".to_owned(),
        Note::GpuLacksBfloat16 => {
            "This GPU does not compute bf16 in hardware, and flash-attn does not run on it: consider float16."
                .to_owned()
        }
        Note::AttentionKernel { kernel } => {
            format!("Attention runs on the “{kernel}” kernel: GPU, dtype, mask or length rule out the flash kernel.")
        }
        Note::LongerThanPositions { max_position_embeddings } => {
            format!("The sequence is longer than the {max_position_embeddings} tokens the model was made for.")
        }
        Note::SleepIsCounted { bytes } => format!(
            "torch.cuda.max_memory_allocated and max_memory_reserved still count the sleeping vLLM's blocks ({}), though their pages are free: nvidia-smi shows what is held.",
            bytes_text(*bytes)
        ),
        Note::EngineNeedsMore { states, images } => {
            let what = match (states, images) {
                (true, true) => "the states of its recurrent layers and its profile run on images",
                (true, false) => "the states of its recurrent layers",
                (false, _) => "its profile run on images",
            };
            format!("vLLM's share has to hold more than is counted: {what}. Give it more than the least share that is named.")
        }
        Note::Images { model_type, sides, is_assumed, tiles, patches, positions, rule } => {
            images(model_type, sides.filter(|_| *is_assumed), [*tiles, *patches, *positions], *rule)
        }
        Note::ImagesNotCounted { is_modelled: true } => {
            "The model reads images, and none are counted: this is a step on text alone. Say how many a sample has (images.per_sample), and how large they are."
                .to_owned()
        }
        Note::ImagesNotCounted { is_modelled: false } => {
            "The model reads images, and none are counted: this is a step on text alone. Images are not modelled for this task yet, and take more."
                .to_owned()
        }
        Note::HostMemory { needed, usual, source } => format!(
            "Host memory: {} needed, and machines with such GPUs usually have {} at most ({source}).",
            bytes_text(*needed),
            bytes_text(*usual)
        ),
        Note::HostTooSmall { held, loading, copies, available } => format!(
            "Host memory: {} are kept there and loading takes {} ({copies} processes with a copy of the weights), of {}. The system kills such a run; locked pages cannot be swapped out.",
            bytes_text(*held),
            bytes_text(*loading),
            bytes_text(*available)
        ),
        Note::UnquantizedParts { bytes } => format!(
            "Embeddings, head, norms and what else is no linear layer (a mixture's stacked experts, unless they are quantised) are not quantised and take {}: 4 bits never save three quarters of the weights.",
            bytes_text(*bytes)
        ),
        Note::OtherVendor { gpu } => format!(
            "“{gpu}” is not NVIDIA's: its kernels, its allocator and its context are not modelled, and those of an NVIDIA GPU are counted. Take every figure as a guess."
        ),
        Note::Guess(guess) => self::guess(*guess),
        Note::Evaluation(need) => evaluation(*need),
        Note::NotMeasured { what } => {
            format!("Derived from the library's code and not yet compared with a measurement: {what}.")
        }
    }
}

/// What an image becomes: tiles, patches of each, and positions of the text.
fn images(
    model_type: &str,
    assumed: Option<(u64, u64)>,
    [tiles, patches, positions]: [u64; 3],
    rule: ImageRule,
) -> String {
    let assumed = assumed.map_or_else(String::new, |(height, width)| {
        format!("The plan does not say how large images are: {height} × {width} pixels are assumed. ")
    });
    let patches = match tiles {
        1 => format!("{patches} patches"),
        _ => format!("{tiles} tiles of {patches} patches"),
    };
    let rule = match rule {
        ImageRule::Checkpoints => String::new(),
        ImageRule::ClassDefaults => format!(
            " What the checkpoints of “{model_type}” say of image sizes is not known: transformers' defaults are assumed."
        ),
        ImageRule::Unknown => format!(
            " How the processor of “{model_type}” sizes images is not known: sides are rounded to whole patches, and nothing bounds them."
        ),
    };
    format!("{assumed}The vision tower sees an image as {patches}; it takes {positions} tokens of the text.{rule}")
}

/// What an evaluation takes beside what stands between steps, and what to do where that is too much.
fn evaluation(need: EvaluationNeed) -> String {
    let EvaluationNeed { batch_size, length, logits_bytes, bytes, fitting_batch_size, keeps_logits } = need;
    let batch = format!("{} × {} tokens", count_text(batch_size), count_text(length));
    let takes = match logits_bytes {
        0 => format!("An evaluation batch of {batch} makes no whole logits: its forward is not counted."),
        _ => format!(
            "An evaluation batch of {batch} takes {} for its logits: at least {} with weights and optimizer state.",
            bytes_text(logits_bytes),
            bytes_text(bytes)
        ),
    };
    let fix = match fitting_batch_size {
        _ if need.fits() => String::new(),
        0 => " Evaluation runs out of memory with any batch: choose shorter sequences or eval_strategy=no.".to_owned(),
        fitting => {
            format!(" Evaluation runs out of memory: per_device_eval_batch_size={fitting} is the most that may fit.")
        }
    };
    let metrics = if keeps_logits {
        " compute_metrics keeps the logits of every batch on the GPU: set eval_accumulation_steps=1, or reduce them with preprocess_logits_for_metrics."
    } else {
        ""
    };
    format!("{takes}{fix}{metrics}")
}

fn guess(guess: Guess) -> String {
    let Guess { low_percent, high_percent, reason } = guess;
    // The other reasons have notes of their own, with the class.
    let GuessReason::StandIn { by, step } = reason else { return String::new() };
    format!(
        "The step of {} is not modelled: these figures are those of {}. A run needs {low_percent} to {high_percent} % of them; take them as a guess.",
        launched_by(by),
        super::choices::trainer(step).label
    )
}
