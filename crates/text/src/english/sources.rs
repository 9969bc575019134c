//! Models from elsewhere in English.

use crate::sources::SourceTexts;

pub(super) static TEXTS: SourceTexts = SourceTexts {
    hub_id: "Hugging Face id",
    hub_load: "Load from Hugging Face",
    hub_help: "When you press it your browser asks huggingface.co for the model's config.json and its number of parameters. Nothing else is sent.",
    hub_invalid: "Write the id as owner/name, such as Qwen/Qwen3-4B: letters, digits, - _ and dots.",
    hub_loading: |id| format!("Fetching {id} from huggingface.co…"),
    hub_gated: |id| {
        format!(
            "{id} is gated, private, or not there: huggingface.co does not give it without an account. Accept its terms there, download its \
             config.json and paste it above."
        )
    },
    hub_missing: |id| format!("huggingface.co has no config.json of {id}. Check the id, or paste a config.json above."),
    hub_offline: "huggingface.co could not be reached. Check your connection and press again, or paste a config.json above.",
    hub_failed: |id, status| {
        format!("huggingface.co answered {status} for {id}. Press again later, or paste a config.json above.")
    },
    hub_same: |total| format!("Hugging Face counts {total} parameters: as many as are read here."),
    hub_differs: |total, read| {
        format!(
            "Hugging Face counts {total} parameters, {read} are read here: further parts, copies of tied weights or quantised weights make \
             such a difference."
        )
    },
    hub_no_total: "Hugging Face states no number of parameters for it.",

    record_title: |class| format!("{class} has not been recorded yet"),
    record_how: "Its code can be recorded on your machine, with Python, PyTorch and transformers; it needs no GPU and no weights. In the folder python of \
                 Headroom's source:",
    record_own: "If the class is a PyTorch module of your own, give the Python file whose function build makes it; docs/own-models.md in the \
                 source says what build returns:",
    record_take: "Then give the file here: paste it, choose it, or drop it on this box. It is checked, stays in this page until you close it, and \
                  goes nowhere.",
    record_text: "Recorded program",
    record_use: "Use this program",
    record_empty: "Paste the text of the recorded file first.",
    record_unwanted: "This is a recorded program, not a config.json. Enter its model's config.json first; the page then asks for the program.",
    record_wrong: |place, why| {
        format!("This is no program that can be used: {place}: {why}. Record it anew with the command above.")
    },
    record_other: |theirs, ours| format!("This program is of {theirs}, and the config is of {ours}. Record {ours}."),
};
