//! Notes in English.

use headroom_core::memory::Note;
use headroom_core::units::{bytes_text, count_text};

/// `note` as a sentence.
pub(super) fn text(note: &Note) -> String {
    match note {
        Note::GenericModel { model_type } => {
            format!("The family {model_type} is unknown and was read as a Llama-like decoder: its figures are a guess.")
        }
        Note::AssumedKeys { keys } => {
            let keys: Vec<_> = keys.iter().map(|assumed| format!("{} = {}", assumed.key, assumed.value)).collect();
            format!("The config does not say these, so its class's defaults were assumed: {}.", keys.join(", "))
        }
        Note::TextPart { of } => format!("Only the text part of {of} is counted: its vision or audio towers are not."),
        Note::EagerOnly { model_type } => {
            format!("transformers has no sdpa for {model_type}: attention runs eagerly and writes its scores out.")
        }
        Note::FamilyNotMeasured { model_type } => {
            format!("The activations of {model_type} follow its code and were not compared with a measurement.")
        }
        Note::ZeroOnOneCard => "ZeRO on one card shards nothing.".to_owned(),
        Note::CardLacksBfloat16 => {
            "This card does not multiply bfloat16 in hardware; float16 is what it is fast at.".to_owned()
        }
        Note::AttentionKernel { kernel } => {
            format!("This card has no flash kernel for this plan; attention runs the {kernel} kernel.")
        }
        Note::LongerThanPositions { max_position_embeddings } => {
            format!(
                "The sequence is longer than the {} tokens the model was made for.",
                count_text(*max_position_embeddings)
            )
        }
        Note::HostMemory { needed, usual, source } => {
            format!(
                "Host memory: {} needed; machines with such GPUs usually have {} at most ({source}).",
                bytes_text(*needed),
                bytes_text(*usual)
            )
        }
        Note::UnquantizedParts { bytes } => {
            format!("Embeddings, head and norms stay unquantised: {} of the weights.", bytes_text(*bytes))
        }
        Note::NotMeasured { what } => {
            format!("Derived from the library's code and not compared with a measurement: {what}.")
        }
    }
}
