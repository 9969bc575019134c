//! Phi, by Microsoft.

use super::source::{CONFIG, LITGPT, PUBLISHED};

super::table::models! {
    group "Phi";
    "microsoft/phi-1_5", "Phi-1.5 1.4B", "2023-09", 1_418_270_720, LITGPT,
        r#"{"model_type":"phi","architectures":["PhiForCausalLM"],"hidden_size":2048,"num_hidden_layers":24,"num_attention_heads":32,"num_key_value_heads":32,"intermediate_size":8192,"vocab_size":51200,"max_position_embeddings":2048}"#;
    "microsoft/phi-2", "Phi-2 2.8B", "2023-12", 2_779_683_840, LITGPT,
        r#"{"model_type":"phi","architectures":["PhiForCausalLM"],"hidden_size":2560,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,"intermediate_size":10240,"vocab_size":51200,"max_position_embeddings":2048,"partial_rotary_factor":0.4,"resid_pdrop":0.1}"#;
    "microsoft/Phi-3-mini-4k-instruct", "Phi-3 mini 4k 3.8B", "2024-04", 3_821_079_552, LITGPT,
        r#"{"model_type":"phi3","architectures":["Phi3ForCausalLM"],"hidden_size":3072,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,"intermediate_size":8192,"vocab_size":32064,"max_position_embeddings":4096,"sliding_window":2047}"#;
    "microsoft/Phi-3.5-mini-instruct", "Phi-3.5 mini 3.8B", "2024-08", 3_821_079_552, LITGPT,
        r#"{"model_type":"phi3","architectures":["Phi3ForCausalLM"],"hidden_size":3072,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,"intermediate_size":8192,"vocab_size":32064,"max_position_embeddings":131072,"sliding_window":262144}"#,
        ["microsoft/Phi-3-mini-128k-instruct"];
    "microsoft/Phi-4-mini-instruct", "Phi-4 mini 3.8B", "2025-02", 3_836_021_760, LITGPT,
        r#"{"model_type":"phi3","architectures":["Phi3ForCausalLM"],"hidden_size":3072,"num_hidden_layers":32,"num_attention_heads":24,"num_key_value_heads":8,"intermediate_size":8192,"vocab_size":200064,"max_position_embeddings":131072,"sliding_window":262144,"partial_rotary_factor":0.75,"tie_word_embeddings":true}"#,
        ["microsoft/Phi-4-mini-reasoning"];
    "microsoft/Phi-3-medium-4k-instruct", "Phi-3 medium 4k 14B", "2024-05", 13_960_238_080, PUBLISHED,
        r#"{"model_type":"phi3","architectures":["Phi3ForCausalLM"],"hidden_size":5120,"num_hidden_layers":40,"num_attention_heads":40,"num_key_value_heads":10,"intermediate_size":17920,"vocab_size":32064,"max_position_embeddings":4096,"sliding_window":2047}"#;
    "microsoft/phi-4", "Phi-4 14B", "2024-12", 14_659_507_200, LITGPT,
        r#"{"model_type":"phi3","architectures":["Phi3ForCausalLM"],"hidden_size":5120,"num_hidden_layers":40,"num_attention_heads":40,"num_key_value_heads":10,"intermediate_size":17920,"vocab_size":100352,"max_position_embeddings":16384,"sliding_window":null}"#,
        ["microsoft/Phi-4-reasoning", "microsoft/Phi-4-reasoning-plus"];
    "microsoft/Phi-3.5-MoE-instruct", "Phi-3.5 MoE 42B-A6.6B", "2024-08", 41_873_153_344 / 6_640_999_744, CONFIG,
        r#"{"model_type":"phimoe","architectures":["PhimoeForCausalLM"],"hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":6400,"vocab_size":32064,"max_position_embeddings":131072,"num_local_experts":16,"num_experts_per_tok":2,"attention_bias":true,"lm_head_bias":true,"sliding_window":131072}"#;
}
