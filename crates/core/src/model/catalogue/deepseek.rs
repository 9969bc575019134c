//! DeepSeek, and its distillations into other families.

use super::source::{AICONFIGURATOR, AICONFIGURATOR_NVFP4, DEEPSEEK_V3, LITGPT, MLC, PUBLISHED};

super::table::models! {
    group "DeepSeek";
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B", "R1 Distill Qwen 1.5B", "2025-01", 1_777_088_000, PUBLISHED,
        r#"{"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"hidden_size":1536,"num_hidden_layers":28,"num_attention_heads":12,"num_key_value_heads":2,"intermediate_size":8960,"vocab_size":151936,"max_position_embeddings":131072}"#;
    "deepseek-ai/deepseek-coder-6.7b-base", "DeepSeek Coder 6.7B", "2023-10", 6_740_512_768, PUBLISHED,
        r#"{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,"intermediate_size":11008,"vocab_size":32256,"max_position_embeddings":16384}"#,
        ["deepseek-ai/deepseek-coder-6.7b-instruct"];
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "R1 Distill Qwen 7B", "2025-01", 7_615_616_512, PUBLISHED,
        r#"{"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"hidden_size":3584,"num_hidden_layers":28,"num_attention_heads":28,"num_key_value_heads":4,"intermediate_size":18944,"vocab_size":152064,"max_position_embeddings":131072}"#;
    "deepseek-ai/DeepSeek-R1-Distill-Llama-8B", "R1 Distill Llama 8B", "2025-01", 8_030_261_248, LITGPT,
        r#"{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":14336,"vocab_size":128256,"max_position_embeddings":131072}"#;
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-14B", "R1 Distill Qwen 14B", "2025-01", 14_770_033_664, PUBLISHED,
        r#"{"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"hidden_size":5120,"num_hidden_layers":48,"num_attention_heads":40,"num_key_value_heads":8,"intermediate_size":13824,"vocab_size":152064,"max_position_embeddings":131072}"#;
    "deepseek-ai/DeepSeek-V2-Lite", "DeepSeek V2 Lite 16B", "2024-05", 15_706_484_224 / 2_661_150_208, MLC,
        r#"{"model_type":"deepseek_v2","architectures":["DeepseekV2ForCausalLM"],"hidden_size":2048,"num_hidden_layers":27,"num_attention_heads":16,"num_key_value_heads":16,"intermediate_size":10944,"vocab_size":102400,"max_position_embeddings":163840,"moe_intermediate_size":1408,"n_routed_experts":64,"n_shared_experts":2,"num_experts_per_tok":6,"first_k_dense_replace":1,"q_lora_rank":null,"kv_lora_rank":512,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128}"#,
        ["deepseek-ai/DeepSeek-V2-Lite-Chat", "deepseek-ai/DeepSeek-Coder-V2-Lite-Base",
         "deepseek-ai/DeepSeek-Coder-V2-Lite-Instruct"];
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-32B", "R1 Distill Qwen 32B", "2025-01", 32_763_876_352, PUBLISHED,
        r#"{"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"hidden_size":5120,"num_hidden_layers":64,"num_attention_heads":40,"num_key_value_heads":8,"intermediate_size":27648,"vocab_size":152064,"max_position_embeddings":131072}"#;
    "deepseek-ai/DeepSeek-R1-Distill-Llama-70B", "R1 Distill Llama 70B", "2025-01", 70_553_706_496, LITGPT,
        r#"{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":8192,"num_hidden_layers":80,"num_attention_heads":64,"num_key_value_heads":8,"intermediate_size":28672,"vocab_size":128256,"max_position_embeddings":131072}"#;
    "deepseek-ai/DeepSeek-V2", "DeepSeek V2 236B", "2024-05", 235_741_434_880 / 21_375_800_320, PUBLISHED,
        r#"{"model_type":"deepseek_v2","architectures":["DeepseekV2ForCausalLM"],"hidden_size":5120,"num_hidden_layers":60,"num_attention_heads":128,"num_key_value_heads":128,"intermediate_size":12288,"vocab_size":102400,"max_position_embeddings":163840,"moe_intermediate_size":1536,"n_routed_experts":160,"n_shared_experts":2,"num_experts_per_tok":6,"first_k_dense_replace":1,"q_lora_rank":1536,"kv_lora_rank":512,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128}"#,
        ["deepseek-ai/DeepSeek-V2-Chat", "deepseek-ai/DeepSeek-V2.5"];
    "deepseek-ai/DeepSeek-V3", "DeepSeek V3 671B", "2024-12", 671_026_404_352 / 37_552_282_624, DEEPSEEK_V3,
        r#"{"model_type":"deepseek_v3","architectures":["DeepseekV3ForCausalLM"],"hidden_size":7168,"num_hidden_layers":61,"num_attention_heads":128,"num_key_value_heads":128,"intermediate_size":18432,"vocab_size":129280,"max_position_embeddings":163840,"moe_intermediate_size":2048,"n_routed_experts":256,"n_shared_experts":1,"num_experts_per_tok":8,"first_k_dense_replace":3,"q_lora_rank":1536,"kv_lora_rank":512,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128}"#,
        ["deepseek-ai/DeepSeek-V3-Base", "deepseek-ai/DeepSeek-V3-0324", "deepseek-ai/DeepSeek-V3.1",
         "deepseek-ai/DeepSeek-V3.1-Base"];
    "deepseek-ai/DeepSeek-R1", "DeepSeek R1 671B", "2025-01", 671_026_404_352 / 37_552_282_624, DEEPSEEK_V3,
        r#"{"model_type":"deepseek_v3","architectures":["DeepseekV3ForCausalLM"],"hidden_size":7168,"num_hidden_layers":61,"num_attention_heads":128,"num_key_value_heads":128,"intermediate_size":18432,"vocab_size":129280,"max_position_embeddings":163840,"moe_intermediate_size":2048,"n_routed_experts":256,"n_shared_experts":1,"num_experts_per_tok":8,"first_k_dense_replace":3,"q_lora_rank":1536,"kv_lora_rank":512,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128}"#,
        ["deepseek-ai/DeepSeek-R1-0528"];
    group "DeepSeek V3.2";
    "deepseek-ai/DeepSeek-V3.2", "DeepSeek-V3.2", "", 671_877_929_216 / 38_403_807_488, AICONFIGURATOR,
        r#"{"model_type":"deepseek_v32","architectures":["DeepseekV32ForCausalLM"],"hidden_size":7168,"index_head_dim":128,"index_n_heads":64,"intermediate_size":18432,"kv_lora_rank":512,"max_position_embeddings":163840,"moe_intermediate_size":2048,"n_routed_experts":256,"n_shared_experts":1,"num_attention_heads":128,"num_experts_per_tok":8,"num_hidden_layers":61,"num_key_value_heads":128,"num_nextn_predict_layers":1,"q_lora_rank":1536,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"tie_word_embeddings":false,"v_head_dim":128,"vocab_size":129280,"first_k_dense_replace":3}"#;
    group "DeepSeek V4";
    "deepseek-ai/DeepSeek-V4-Flash", "DeepSeek V4 Flash 284B", "", 284_332_230_231 / 13_799_622_231, AICONFIGURATOR_NVFP4,
        r#"{"model_type":"deepseek_v4","architectures":["DeepseekV4ForCausalLM"],"hidden_size":4096,"num_hidden_layers":43,"num_attention_heads":64,"num_key_value_heads":1,"head_dim":512,"vocab_size":129280,"max_position_embeddings":1048576,"moe_intermediate_size":2048,"n_routed_experts":256,"n_shared_experts":1,"num_experts_per_tok":6,"num_hash_layers":3,"num_nextn_predict_layers":1,"q_lora_rank":1024,"o_lora_rank":1024,"o_groups":8,"qk_rope_head_dim":64,"index_head_dim":128,"index_n_heads":64,"index_topk":512,"sliding_window":128,"hc_mult":4,"tie_word_embeddings":false,"compress_ratios":[0,0,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,0]}"#,
        ["deepseek-ai/DeepSeek-V4-Flash-Base"];
    "deepseek-ai/DeepSeek-V4-Pro", "DeepSeek V4 Pro 1.6T", "", 1_572_997_179_491 / 49_779_058_787, AICONFIGURATOR_NVFP4,
        r#"{"model_type":"deepseek_v4","architectures":["DeepseekV4ForCausalLM"],"hidden_size":7168,"num_hidden_layers":61,"num_attention_heads":128,"num_key_value_heads":1,"head_dim":512,"vocab_size":129280,"max_position_embeddings":1048576,"moe_intermediate_size":3072,"n_routed_experts":384,"n_shared_experts":1,"num_experts_per_tok":6,"num_hash_layers":3,"num_nextn_predict_layers":1,"q_lora_rank":1536,"o_lora_rank":1024,"o_groups":16,"qk_rope_head_dim":64,"index_head_dim":128,"index_n_heads":64,"index_topk":1024,"sliding_window":128,"hc_mult":4,"tie_word_embeddings":false,"compress_ratios":[128,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,128,4,0]}"#;
}
