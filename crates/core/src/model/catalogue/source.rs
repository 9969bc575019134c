//! Where figures come from. Every total was counted anew: the class built from the config on the meta device by transformers 5.23.

/// Figures as LitGPT holds them, each beside a link to the model's `config.json`.
pub(super) const LITGPT: &str = "LitGPT, litgpt/config.py; counted with transformers 5.23";
/// Class defaults and figures from the documentation of the class.
pub(super) const TRANSFORMERS: &str = "class defaults and conversion tables of transformers 5.23, counted with it";
