//! Qwen, by Alibaba.

use super::source::{AICONFIGURATOR, CONFIG, LITGPT, MLC, PUBLISHED, TENSORRT_LLM};

super::table::models! {
    group "Qwen3";
    "Qwen/Qwen3-0.6B", "Qwen3 0.6B", "2025-04", 596_049_920, LITGPT,
        r#"{"model_type":"qwen3","architectures":["Qwen3ForCausalLM"],"hidden_size":1024,"num_hidden_layers":28,"num_attention_heads":16,"num_key_value_heads":8,"head_dim":128,"intermediate_size":3072,"vocab_size":151936,"max_position_embeddings":40960,"tie_word_embeddings":true}"#,
        ["Qwen/Qwen3-0.6B-Base"];
    "Qwen/Qwen3-1.7B", "Qwen3 1.7B", "2025-04", 1_720_574_976, LITGPT,
        r#"{"model_type":"qwen3","architectures":["Qwen3ForCausalLM"],"hidden_size":2048,"num_hidden_layers":28,"num_attention_heads":16,"num_key_value_heads":8,"head_dim":128,"intermediate_size":6144,"vocab_size":151936,"max_position_embeddings":40960,"tie_word_embeddings":true}"#,
        ["Qwen/Qwen3-1.7B-Base"];
    "Qwen/Qwen3-4B", "Qwen3 4B", "2025-04", 4_022_468_096, LITGPT,
        r#"{"model_type":"qwen3","architectures":["Qwen3ForCausalLM"],"hidden_size":2560,"num_hidden_layers":36,"num_attention_heads":32,"num_key_value_heads":8,"head_dim":128,"intermediate_size":9728,"vocab_size":151936,"max_position_embeddings":40960,"tie_word_embeddings":true}"#,
        ["Qwen/Qwen3-4B-Base", "Qwen/Qwen3-4B-Instruct-2507", "Qwen/Qwen3-4B-Thinking-2507"];
    "Qwen/Qwen3-8B", "Qwen3 8B", "2025-04", 8_190_735_360, LITGPT,
        r#"{"model_type":"qwen3","architectures":["Qwen3ForCausalLM"],"hidden_size":4096,"num_hidden_layers":36,"num_attention_heads":32,"num_key_value_heads":8,"head_dim":128,"intermediate_size":12288,"vocab_size":151936,"max_position_embeddings":40960}"#,
        ["Qwen/Qwen3-8B-Base", "deepseek-ai/DeepSeek-R1-0528-Qwen3-8B"];
    "Qwen/Qwen3-14B", "Qwen3 14B", "2025-04", 14_768_307_200, LITGPT,
        r#"{"model_type":"qwen3","architectures":["Qwen3ForCausalLM"],"hidden_size":5120,"num_hidden_layers":40,"num_attention_heads":40,"num_key_value_heads":8,"head_dim":128,"intermediate_size":17408,"vocab_size":151936,"max_position_embeddings":40960}"#,
        ["Qwen/Qwen3-14B-Base"];
    "Qwen/Qwen3-30B-A3B", "Qwen3 30B-A3B", "2025-04", 30_532_122_624 / 3_353_032_704, PUBLISHED,
        r#"{"model_type":"qwen3_moe","architectures":["Qwen3MoeForCausalLM"],"hidden_size":2048,"num_hidden_layers":48,"num_attention_heads":32,"num_key_value_heads":4,"head_dim":128,"intermediate_size":6144,"vocab_size":151936,"max_position_embeddings":40960,"moe_intermediate_size":768,"num_experts":128,"num_experts_per_tok":8,"norm_topk_prob":true}"#,
        ["Qwen/Qwen3-30B-A3B-Base", "Qwen/Qwen3-30B-A3B-Instruct-2507", "Qwen/Qwen3-30B-A3B-Thinking-2507"];
    "Qwen/Qwen3-Coder-30B-A3B-Instruct", "Qwen3 Coder 30B-A3B", "2025-07", 30_532_122_624 / 3_353_032_704, PUBLISHED,
        r#"{"model_type":"qwen3_moe","architectures":["Qwen3MoeForCausalLM"],"hidden_size":2048,"num_hidden_layers":48,"num_attention_heads":32,"num_key_value_heads":4,"head_dim":128,"intermediate_size":5472,"vocab_size":151936,"max_position_embeddings":262144,"moe_intermediate_size":768,"num_experts":128,"num_experts_per_tok":8,"norm_topk_prob":true}"#;
    "Qwen/Qwen3-32B", "Qwen3 32B", "2025-04", 32_762_123_264, LITGPT,
        r#"{"model_type":"qwen3","architectures":["Qwen3ForCausalLM"],"hidden_size":5120,"num_hidden_layers":64,"num_attention_heads":64,"num_key_value_heads":8,"head_dim":128,"intermediate_size":25600,"vocab_size":151936,"max_position_embeddings":40960}"#;
    "Qwen/Qwen3-235B-A22B", "Qwen3 235B-A22B", "2025-04", 235_093_634_560 / 22_190_763_520, PUBLISHED,
        r#"{"model_type":"qwen3_moe","architectures":["Qwen3MoeForCausalLM"],"hidden_size":4096,"num_hidden_layers":94,"num_attention_heads":64,"num_key_value_heads":4,"head_dim":128,"intermediate_size":12288,"vocab_size":151936,"max_position_embeddings":40960,"moe_intermediate_size":1536,"num_experts":128,"num_experts_per_tok":8,"norm_topk_prob":true}"#,
        ["Qwen/Qwen3-235B-A22B-Instruct-2507", "Qwen/Qwen3-235B-A22B-Thinking-2507"];
    "Qwen/Qwen3-Coder-480B-A35B-Instruct", "Qwen3 Coder 480B-A35B", "2025-07", 480_154_875_392 / 35_474_765_312, AICONFIGURATOR,
        r#"{"model_type":"qwen3_moe","architectures":["Qwen3MoeForCausalLM"],"head_dim":128,"hidden_size":6144,"intermediate_size":8192,"max_position_embeddings":262144,"moe_intermediate_size":2560,"num_attention_heads":96,"num_experts":160,"num_experts_per_tok":8,"num_hidden_layers":62,"num_key_value_heads":8,"shared_expert_intermediate_size":0,"tie_word_embeddings":false,"vocab_size":151936}"#;
    group "Qwen2.5";
    "Qwen/Qwen2.5-0.5B", "Qwen2.5 0.5B", "2024-09", 494_032_768, LITGPT,
        r#"{"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"hidden_size":896,"num_hidden_layers":24,"num_attention_heads":14,"num_key_value_heads":2,"intermediate_size":4864,"vocab_size":151936,"max_position_embeddings":32768,"tie_word_embeddings":true}"#,
        ["Qwen/Qwen2.5-0.5B-Instruct", "Qwen/Qwen2.5-Coder-0.5B", "Qwen/Qwen2.5-Coder-0.5B-Instruct"];
    "Qwen/Qwen2.5-1.5B", "Qwen2.5 1.5B", "2024-09", 1_543_714_304, LITGPT,
        r#"{"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"hidden_size":1536,"num_hidden_layers":28,"num_attention_heads":12,"num_key_value_heads":2,"intermediate_size":8960,"vocab_size":151936,"max_position_embeddings":131072,"tie_word_embeddings":true}"#,
        ["Qwen/Qwen2.5-1.5B-Instruct", "Qwen/Qwen2.5-Math-1.5B", "Qwen/Qwen2.5-Math-1.5B-Instruct"];
    "Qwen/Qwen2.5-Coder-1.5B", "Qwen2.5 Coder 1.5B", "2024-09", 1_543_714_304, LITGPT,
        r#"{"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"hidden_size":1536,"num_hidden_layers":28,"num_attention_heads":12,"num_key_value_heads":2,"intermediate_size":8960,"vocab_size":151936,"max_position_embeddings":32768,"tie_word_embeddings":true}"#,
        ["Qwen/Qwen2.5-Coder-1.5B-Instruct"];
    "Qwen/Qwen2.5-3B", "Qwen2.5 3B", "2024-09", 3_085_938_688, LITGPT,
        r#"{"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"hidden_size":2048,"num_hidden_layers":36,"num_attention_heads":16,"num_key_value_heads":2,"intermediate_size":11008,"vocab_size":151936,"max_position_embeddings":32768,"tie_word_embeddings":true}"#,
        ["Qwen/Qwen2.5-3B-Instruct", "Qwen/Qwen2.5-Coder-3B", "Qwen/Qwen2.5-Coder-3B-Instruct"];
    "Qwen/Qwen2.5-7B", "Qwen2.5 7B", "2024-09", 7_615_616_512, LITGPT,
        r#"{"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"hidden_size":3584,"num_hidden_layers":28,"num_attention_heads":28,"num_key_value_heads":4,"intermediate_size":18944,"vocab_size":152064,"max_position_embeddings":131072}"#,
        ["Qwen/Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-Math-7B", "Qwen/Qwen2.5-Math-7B-Instruct"];
    "Qwen/Qwen2.5-Coder-7B", "Qwen2.5 Coder 7B", "2024-09", 7_615_616_512, LITGPT,
        r#"{"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"hidden_size":3584,"num_hidden_layers":28,"num_attention_heads":28,"num_key_value_heads":4,"intermediate_size":18944,"vocab_size":152064,"max_position_embeddings":32768}"#,
        ["Qwen/Qwen2.5-Coder-7B-Instruct"];
    "Qwen/Qwen2.5-14B", "Qwen2.5 14B", "2024-09", 14_770_033_664, LITGPT,
        r#"{"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"hidden_size":5120,"num_hidden_layers":48,"num_attention_heads":40,"num_key_value_heads":8,"intermediate_size":13824,"vocab_size":152064,"max_position_embeddings":131072}"#,
        ["Qwen/Qwen2.5-14B-Instruct"];
    "Qwen/Qwen2.5-Coder-14B", "Qwen2.5 Coder 14B", "2024-11", 14_770_033_664, LITGPT,
        r#"{"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"hidden_size":5120,"num_hidden_layers":48,"num_attention_heads":40,"num_key_value_heads":8,"intermediate_size":13824,"vocab_size":152064,"max_position_embeddings":32768}"#,
        ["Qwen/Qwen2.5-Coder-14B-Instruct"];
    "Qwen/Qwen2.5-32B", "Qwen2.5 32B", "2024-09", 32_763_876_352, LITGPT,
        r#"{"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"hidden_size":5120,"num_hidden_layers":64,"num_attention_heads":40,"num_key_value_heads":8,"intermediate_size":27648,"vocab_size":152064,"max_position_embeddings":131072}"#,
        ["Qwen/Qwen2.5-32B-Instruct", "Qwen/QwQ-32B"];
    "Qwen/Qwen2.5-Coder-32B", "Qwen2.5 Coder 32B", "2024-11", 32_763_876_352, LITGPT,
        r#"{"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"hidden_size":5120,"num_hidden_layers":64,"num_attention_heads":40,"num_key_value_heads":8,"intermediate_size":27648,"vocab_size":152064,"max_position_embeddings":32768}"#,
        ["Qwen/Qwen2.5-Coder-32B-Instruct"];
    "Qwen/Qwen2.5-72B", "Qwen2.5 72B", "2024-09", 72_706_203_648, LITGPT,
        r#"{"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"hidden_size":8192,"num_hidden_layers":80,"num_attention_heads":64,"num_key_value_heads":8,"intermediate_size":29568,"vocab_size":152064,"max_position_embeddings":131072}"#,
        ["Qwen/Qwen2.5-72B-Instruct", "Qwen/Qwen2.5-Math-72B", "Qwen/Qwen2.5-Math-72B-Instruct"];
    group "Qwen2 and Qwen1.5";
    "Qwen/Qwen2-0.5B-Instruct", "Qwen2 0.5B", "2024-06", 494_032_768, MLC,
        r#"{"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"hidden_size":896,"num_hidden_layers":24,"num_attention_heads":14,"num_key_value_heads":2,"intermediate_size":4864,"vocab_size":151936,"max_position_embeddings":32768,"tie_word_embeddings":true}"#,
        ["Qwen/Qwen2-0.5B"];
    "Qwen/Qwen2-1.5B-Instruct", "Qwen2 1.5B", "2024-06", 1_543_714_304, MLC,
        r#"{"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"hidden_size":1536,"num_hidden_layers":28,"num_attention_heads":12,"num_key_value_heads":2,"intermediate_size":8960,"vocab_size":151936,"max_position_embeddings":32768,"tie_word_embeddings":true}"#,
        ["Qwen/Qwen2-1.5B"];
    "Qwen/Qwen1.5-1.8B", "Qwen1.5 1.8B", "2024-02", 1_836_828_672, CONFIG,
        r#"{"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"hidden_size":2048,"num_hidden_layers":24,"num_attention_heads":16,"num_key_value_heads":16,"intermediate_size":5504,"vocab_size":151936,"max_position_embeddings":32768}"#,
        ["Qwen/Qwen1.5-1.8B-Chat"];
    "Qwen/Qwen2-7B-Instruct", "Qwen2 7B", "2024-06", 7_615_616_512, MLC,
        r#"{"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"hidden_size":3584,"num_hidden_layers":28,"num_attention_heads":28,"num_key_value_heads":4,"intermediate_size":18944,"vocab_size":152064,"max_position_embeddings":32768}"#,
        ["Qwen/Qwen2-7B"];
    "Qwen/Qwen1.5-7B", "Qwen1.5 7B", "2024-02", 7_721_324_544, PUBLISHED,
        r#"{"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,"intermediate_size":11008,"vocab_size":151936,"max_position_embeddings":32768}"#,
        ["Qwen/Qwen1.5-7B-Chat"];
    "Qwen/Qwen1.5-MoE-A2.7B-Chat", "Qwen1.5 MoE 14B-A2.7B", "2024-03", 14_315_784_192 / 2_689_173_504, MLC,
        r#"{"model_type":"qwen2_moe","architectures":["Qwen2MoeForCausalLM"],"hidden_size":2048,"num_hidden_layers":24,"num_attention_heads":16,"num_key_value_heads":16,"intermediate_size":5632,"vocab_size":151936,"max_position_embeddings":32768,"moe_intermediate_size":1408,"shared_expert_intermediate_size":5632,"num_experts":60,"num_experts_per_tok":4}"#,
        ["Qwen/Qwen1.5-MoE-A2.7B"];
    "Qwen/Qwen2-57B-A14B", "Qwen2 57B-A14B", "2024-06", 57_408_658_944 / 14_249_270_784, TENSORRT_LLM,
        r#"{"model_type":"qwen2_moe","architectures":["Qwen2MoeForCausalLM"],"hidden_size":3584,"num_hidden_layers":28,"num_attention_heads":28,"num_key_value_heads":4,"intermediate_size":18944,"vocab_size":151936,"max_position_embeddings":131072,"moe_intermediate_size":2560,"shared_expert_intermediate_size":20480,"num_experts":64,"num_experts_per_tok":8}"#,
        ["Qwen/Qwen2-57B-A14B-Instruct"];
    "Qwen/Qwen2-72B", "Qwen2 72B", "2024-06", 72_706_203_648, CONFIG,
        r#"{"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"hidden_size":8192,"num_hidden_layers":80,"num_attention_heads":64,"num_key_value_heads":8,"intermediate_size":29568,"vocab_size":152064,"max_position_embeddings":131072}"#,
        ["Qwen/Qwen2-72B-Instruct"];
}
