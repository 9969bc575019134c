//! Keys and values of one sequence: what each kind of attention keeps of a token.

use crate::model::Model;

/// How keys and values are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheLayout {
    /// Keys and values of every key-value head, as transformers' caches keep them.
    Expanded,
    /// Latent attention keeps the compressed vector and the rotated part, shared by all heads, as vLLM and SGLang do
    /// (arXiv:2405.04434, section 2.1).
    Compressed,
}

/// Bytes of keys and values that one more token takes in all layers, windows not yet full; `width` bytes a number.
///
/// Multi-head, grouped and multi-query attention: 2 x L x k x d x width.
pub fn kv_bytes_per_token(model: &Model, layout: CacheLayout, width: u64) -> u64 {
    kv_bytes_per_sequence(model, layout, width, 1)
}

/// Bytes of keys and values of one sequence of `length` tokens: layers with a sliding window keep that many at most.
pub fn kv_bytes_per_sequence(model: &Model, layout: CacheLayout, width: u64, length: u64) -> u64 {
    // A layer that runs again has a cache for each time.
    let layers = model.layers.iter().enumerate().map(|(place, run)| {
        let attention = &run.layer.attention;
        let kept = attention.sliding_window.map_or(length, |window| length.min(window));
        let bytes =
            attention.cached_numbers(layout == CacheLayout::Compressed).saturating_mul(kept).saturating_mul(width);
        bytes.saturating_mul(model.calls(place))
    });
    layers.fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use serde_json::json;

    fn model(config: serde_json::Value) -> Model {
        Model::from_config("test", &config).unwrap()
    }

    #[test]
    fn grouped_heads_count_once() {
        let llama = model(json!({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
            "num_attention_heads": 32, "num_key_value_heads": 8}));
        // 2 x 32 x 8 x 128 x 2 bytes.
        assert_eq!(kv_bytes_per_token(&llama, CacheLayout::Expanded, 2), 131_072);
        assert_eq!(kv_bytes_per_sequence(&llama, CacheLayout::Expanded, 2, 20_480), 2_684_354_560);
        assert_eq!(kv_bytes_per_token(&llama, CacheLayout::Compressed, 1), 65_536);
    }

    #[test]
    fn latent_attention_keeps_one_vector_for_all_heads() {
        let deepseek = model(json!({"model_type": "deepseek_v3", "num_hidden_layers": 61, "kv_lora_rank": 512,
            "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128, "num_attention_heads": 128}));
        assert_eq!(kv_bytes_per_token(&deepseek, CacheLayout::Compressed, 2), 61 * 576 * 2);
        assert_eq!(kv_bytes_per_token(&deepseek, CacheLayout::Expanded, 2), 61 * 128 * (192 + 128) * 2);
    }

    #[test]
    fn windows_stop_growing() {
        let gemma = model(json!({"model_type": "gemma3_text", "num_hidden_layers": 34, "sliding_window": 1024,
            "num_key_value_heads": 4, "head_dim": 256}));
        let (short, long) = (1024, 8192);
        let of = |length| kv_bytes_per_sequence(&gemma, CacheLayout::Expanded, 2, length);
        // Every sixth of 34 layers sees everything: 5 layers grow, 29 do not.
        assert_eq!(of(long) - of(short), 5 * 2 * 4 * 256 * 2 * (long - short));
    }
}
