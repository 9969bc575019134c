//! Chinese and English: GLM, Seed-OSS, InternLM, Yi, Baichuan.

use super::source::{AICONFIGURATOR, CONFIG, CONVERSION, FIXTURE, MLC, PUBLISHED, SLIME, TRANSFORMERS};

super::table::models! {
    group "GLM";
    "THUDM/chatglm3-6b", "ChatGLM3 6B", "2023-10", 6_243_584_000, MLC,
        r#"{"model_type":"chatglm","architectures":["ChatGLMModel"],"hidden_size":4096,"num_layers":28,"num_attention_heads":32,"kv_channels":128,"multi_query_attention":true,"multi_query_group_num":2,"ffn_hidden_size":13696,"padded_vocab_size":65024,"seq_length":8192,"add_qkv_bias":true,"add_bias_linear":false}"#,
        ["THUDM/chatglm2-6b", "zai-org/chatglm3-6b"];
    "zai-org/GLM-4-9B-0414", "GLM-4 9B 0414", "2025-04", 9_400_279_040, CONFIG,
        r#"{"model_type":"glm4","architectures":["Glm4ForCausalLM"],"hidden_size":4096,"num_hidden_layers":40,"num_attention_heads":32,"num_key_value_heads":2,"head_dim":128,"intermediate_size":13696,"vocab_size":151552,"max_position_embeddings":32768,"attention_bias":true}"#,
        ["THUDM/GLM-4-9B-0414", "THUDM/GLM-Z1-9B-0414", "zai-org/GLM-Z1-9B-0414"];
    "zai-org/GLM-4-32B-0414", "GLM-4 32B 0414", "2025-04", 32_566_081_536, CONFIG,
        r#"{"model_type":"glm4","architectures":["Glm4ForCausalLM"],"hidden_size":6144,"num_hidden_layers":61,"num_attention_heads":48,"num_key_value_heads":2,"head_dim":128,"intermediate_size":23040,"vocab_size":151552,"max_position_embeddings":32768,"attention_bias":false}"#,
        ["THUDM/GLM-4-32B-0414", "THUDM/GLM-Z1-32B-0414", "zai-org/GLM-Z1-32B-0414"];
    "zai-org/GLM-4.5-Air", "GLM-4.5 Air 107B-A12B", "2025-07", 106_852_245_504 / 13_424_123_904, CONFIG,
        r#"{"model_type":"glm4_moe","architectures":["Glm4MoeForCausalLM"],"hidden_size":4096,"num_hidden_layers":46,"num_attention_heads":96,"num_key_value_heads":8,"head_dim":128,"intermediate_size":10944,"vocab_size":151552,"max_position_embeddings":131072,"moe_intermediate_size":1408,"n_routed_experts":128,"n_shared_experts":1,"num_experts_per_tok":8,"first_k_dense_replace":1,"attention_bias":true}"#,
        ["zai-org/GLM-4.5-Air-Base"];
    group "Seed-OSS";
    "ByteDance-Seed/Seed-OSS-36B-Base", "Seed-OSS 36B", "2025-08", 36_151_104_512, PUBLISHED,
        r#"{"model_type":"seed_oss","architectures":["SeedOssForCausalLM"],"hidden_size":5120,"num_hidden_layers":64,"num_attention_heads":80,"num_key_value_heads":8,"head_dim":128,"intermediate_size":27648,"vocab_size":155136,"max_position_embeddings":524288}"#,
        ["ByteDance-Seed/Seed-OSS-36B-Instruct"];
    group "InternLM";
    "internlm/internlm2-1_8b", "InternLM2 1.8B", "2024-01", 1_889_110_016, PUBLISHED,
        r#"{"model_type":"internlm2","architectures":["InternLM2ForCausalLM"],"hidden_size":2048,"num_hidden_layers":24,"num_attention_heads":16,"num_key_value_heads":8,"intermediate_size":8192,"vocab_size":92544,"max_position_embeddings":32768,"bias":false}"#,
        ["internlm/internlm2-chat-1_8b", "internlm/internlm2_5-1_8b-chat"];
    "internlm/internlm2_5-7b", "InternLM2.5 7B", "2024-06", 7_737_708_544, PUBLISHED,
        r#"{"model_type":"internlm2","architectures":["InternLM2ForCausalLM"],"hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":14336,"vocab_size":92544,"max_position_embeddings":32768,"bias":false}"#,
        ["internlm/internlm2_5-7b-chat", "internlm/internlm2-7b", "internlm/internlm2-chat-7b"];
    "internlm/internlm2_5-20b", "InternLM2.5 20B", "2024-07", 19_861_149_696, PUBLISHED,
        r#"{"model_type":"internlm2","architectures":["InternLM2ForCausalLM"],"hidden_size":6144,"num_hidden_layers":48,"num_attention_heads":48,"num_key_value_heads":8,"intermediate_size":16384,"vocab_size":92544,"max_position_embeddings":32768,"bias":false}"#,
        ["internlm/internlm2_5-20b-chat", "internlm/internlm2-20b", "internlm/internlm2-chat-20b"];
    group "Yi";
    "01-ai/Yi-1.5-6B", "Yi 1.5 6B", "2024-05", 6_061_035_520, PUBLISHED,
        r#"{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":4,"intermediate_size":11008,"vocab_size":64000,"max_position_embeddings":4096}"#,
        ["01-ai/Yi-6B", "01-ai/Yi-6B-Chat", "01-ai/Yi-1.5-6B-Chat"];
    "01-ai/Yi-1.5-9B", "Yi 1.5 9B", "2024-05", 8_829_407_232, PUBLISHED,
        r#"{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":4096,"num_hidden_layers":48,"num_attention_heads":32,"num_key_value_heads":4,"intermediate_size":11008,"vocab_size":64000,"max_position_embeddings":4096}"#,
        ["01-ai/Yi-9B", "01-ai/Yi-1.5-9B-Chat"];
    "01-ai/Yi-1.5-34B", "Yi 1.5 34B", "2024-05", 34_388_917_248, PUBLISHED,
        r#"{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":7168,"num_hidden_layers":60,"num_attention_heads":56,"num_key_value_heads":8,"intermediate_size":20480,"vocab_size":64000,"max_position_embeddings":4096}"#,
        ["01-ai/Yi-34B", "01-ai/Yi-34B-Chat", "01-ai/Yi-1.5-34B-Chat"];
    group "Baichuan";
    "baichuan-inc/Baichuan2-7B-Base", "Baichuan2 7B", "2023-09", 7_505_973_248, MLC,
        r#"{"model_type":"baichuan","architectures":["BaichuanForCausalLM"],"hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"intermediate_size":11008,"vocab_size":125696,"max_position_embeddings":4096}"#,
        ["baichuan-inc/Baichuan2-7B-Chat"];
    "baichuan-inc/Baichuan2-13B-Base", "Baichuan2 13B", "2023-09", 13_896_668_160, CONFIG,
        r#"{"model_type":"baichuan","architectures":["BaichuanForCausalLM"],"hidden_size":5120,"num_hidden_layers":40,"num_attention_heads":40,"intermediate_size":13696,"vocab_size":125696,"model_max_length":4096}"#,
        ["baichuan-inc/Baichuan2-13B-Chat"];
    group "MiniMax";
    "MiniMaxAI/MiniMax-M2.5", "MiniMax-M2 229B-A11B", "", 228_689_748_992 / 11_030_537_216, AICONFIGURATOR,
        r#"{"model_type":"minimax_m2","architectures":["MiniMaxM2ForCausalLM"],"num_hidden_layers":62,"hidden_size":3072,"num_attention_heads":48,"num_key_value_heads":8,"head_dim":128,"intermediate_size":1536,"vocab_size":200064,"num_experts_per_tok":8,"num_local_experts":256,"max_position_embeddings":196608,"tie_word_embeddings":false,"mtp_transformer_layers":1,"shared_intermediate_size":0}"#,
        ["MiniMaxAI/MiniMax-M2", "MiniMaxAI/MiniMax-M2.1", "MiniMaxAI/MiniMax-M2.7"];
    "MiniMaxAI/MiniMax-M3", "MiniMax-M3 (text part)", "", 447_186_441_216 / 25_910_547_456, AICONFIGURATOR,
        r#"{"model_type":"minimax_m3_vl","architectures":["MiniMaxM3SparseForConditionalGeneration"],"text_config":{"model_type":"minimax_m3_vl_text","hidden_size":6144,"intermediate_size":3072,"dense_intermediate_size":12288,"num_hidden_layers":60,"num_attention_heads":64,"num_key_value_heads":4,"head_dim":128,"num_local_experts":128,"num_experts_per_tok":4,"n_shared_experts":1,"vocab_size":200064,"max_position_embeddings":1048576}}"#;
    group "GLM-4.5 and later";
    "zai-org/GLM-4.1V-9B-Thinking", "GLM-4.1V 9B", "2025-07", 10_292_777_472, TRANSFORMERS,
        r#"{"model_type":"glm4v","architectures":["Glm4vForConditionalGeneration"],"text_config":{"vocab_size":151552,"hidden_size":4096,"intermediate_size":13696,"num_hidden_layers":40,"num_attention_heads":32,"num_key_value_heads":2,"max_position_embeddings":32768,"model_type":"glm4v_text"},"vision_config":{"depth":24,"hidden_size":1536,"num_heads":12,"image_size":336,"patch_size":14,"spatial_merge_size":2,"temporal_patch_size":2,"out_hidden_size":4096,"intermediate_size":13696,"model_type":"glm4v_vision"},"tie_word_embeddings":false}"#,
        ["zai-org/GLM-4.1V-9B-Base"];
    "zai-org/GLM-4.7-Flash", "GLM-4.7-Flash 30B-A3B", "2026-01", 29_943_390_976 / 3_896_763_136, SLIME,
        r#"{"model_type":"glm4_moe_lite","architectures":["Glm4MoeLiteForCausalLM"],"vocab_size":154880,"hidden_size":2048,"intermediate_size":10240,"moe_intermediate_size":1536,"num_hidden_layers":47,"num_attention_heads":20,"num_key_value_heads":20,"n_shared_experts":1,"n_routed_experts":64,"kv_lora_rank":512,"q_lora_rank":768,"qk_rope_head_dim":64,"v_head_dim":256,"qk_nope_head_dim":192,"num_experts_per_tok":4,"tie_word_embeddings":false}"#;
    "zai-org/GLM-4.5V", "GLM-4.5V 106B-A12B", "2025-08", 107_743_695_360 / 14_315_573_760, SLIME,
        r#"{"model_type":"glm4v_moe","architectures":["Glm4vMoeForConditionalGeneration"],"text_config":{"vocab_size":151424,"hidden_size":4096,"intermediate_size":10944,"num_hidden_layers":46,"num_attention_heads":96,"num_key_value_heads":8,"max_position_embeddings":65536,"tie_word_embeddings":false,"moe_intermediate_size":1408,"num_experts_per_tok":8,"n_shared_experts":1,"n_routed_experts":128,"model_type":"glm4v_moe_text","head_dim":128},"vision_config":{"depth":24,"hidden_size":1536,"num_heads":12,"image_size":336,"patch_size":14,"spatial_merge_size":2,"temporal_patch_size":2,"out_hidden_size":4096,"intermediate_size":13696,"model_type":"glm4v_moe_vision"},"tie_word_embeddings":false}"#;
    "zai-org/GLM-4.5", "GLM-4.5 355B-A32B", "2025-07", 352_797_814_784 / 33_632_251_904, SLIME,
        r#"{"model_type":"glm4_moe","architectures":["Glm4MoeForCausalLM"],"vocab_size":151552,"hidden_size":5120,"intermediate_size":12288,"moe_intermediate_size":1536,"num_hidden_layers":92,"num_attention_heads":96,"num_key_value_heads":8,"head_dim":128,"n_shared_experts":1,"n_routed_experts":160,"num_experts_per_tok":8,"max_position_embeddings":131072,"tie_word_embeddings":false,"first_k_dense_replace":3,"attention_bias":true,"use_qk_norm":true}"#,
        ["zai-org/GLM-4.5-Base", "zai-org/GLM-4.6", "zai-org/GLM-4.7"];
    "zai-org/GLM-5.2", "GLM-5.2", "", 743_377_000_704 / 41_250_511_104, AICONFIGURATOR,
        r#"{"model_type":"glm_moe_dsa","architectures":["GlmMoeDsaForCausalLM"],"head_dim":64,"hidden_size":6144,"index_head_dim":128,"index_n_heads":32,"intermediate_size":12288,"kv_lora_rank":512,"max_position_embeddings":1048576,"moe_intermediate_size":2048,"n_routed_experts":256,"n_shared_experts":1,"num_attention_heads":64,"num_experts_per_tok":8,"num_hidden_layers":78,"num_key_value_heads":64,"num_nextn_predict_layers":1,"q_lora_rank":2048,"qk_head_dim":256,"qk_nope_head_dim":192,"qk_rope_head_dim":64,"tie_word_embeddings":false,"v_head_dim":256,"vocab_size":154880,"first_k_dense_replace":3,"index_topk_freq":4,"index_skip_topk_offset":3}"#;
    "zai-org/GLM-5", "GLM-5", "", 743_911_199_232 / 41_784_709_632, AICONFIGURATOR,
        r#"{"model_type":"glm_moe_dsa","architectures":["GlmMoeDsaForCausalLM"],"head_dim":64,"hidden_size":6144,"index_head_dim":128,"index_n_heads":32,"intermediate_size":12288,"kv_lora_rank":512,"max_position_embeddings":202752,"moe_intermediate_size":2048,"n_routed_experts":256,"n_shared_experts":1,"num_attention_heads":64,"num_experts_per_tok":8,"num_hidden_layers":78,"num_key_value_heads":64,"num_nextn_predict_layers":1,"q_lora_rank":2048,"qk_head_dim":256,"qk_nope_head_dim":192,"qk_rope_head_dim":64,"tie_word_embeddings":false,"v_head_dim":256,"vocab_size":154880,"first_k_dense_replace":3}"#,
        ["zai-org/GLM-5.1"];
    group "Kimi";
    "moonshotai/Moonlight-16B-A3B", "Moonlight 16B-A3B", "2025-02", 15_960_108_544 / 2_914_774_528, SLIME,
        r#"{"model_type":"deepseek_v3","architectures":["DeepseekV3ForCausalLM"],"hidden_size":2048,"num_hidden_layers":27,"num_attention_heads":16,"num_key_value_heads":16,"intermediate_size":11264,"moe_intermediate_size":1408,"vocab_size":163840,"max_position_embeddings":8192,"n_routed_experts":64,"n_shared_experts":2,"num_experts_per_tok":6,"first_k_dense_replace":1,"q_lora_rank":null,"kv_lora_rank":512,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128,"n_group":1,"topk_group":1}"#,
        ["moonshotai/Moonlight-16B-A3B-Instruct"];
    "moonshotai/Kimi-Linear-48B-A3B-Instruct", "Kimi Linear 48B-A3B", "2025-10", 49_133_074_464 / 3_494_852_640, TRANSFORMERS,
        r#"{"model_type":"kimi_linear","architectures":["KimiLinearForCausalLM"],"vocab_size":163840,"hidden_size":2304,"intermediate_size":9216,"moe_intermediate_size":1024,"num_hidden_layers":27,"num_attention_heads":32,"num_key_value_heads":32,"num_shared_experts":1,"kv_lora_rank":512,"qk_rope_head_dim":64,"v_head_dim":128,"qk_nope_head_dim":128,"num_expert_group":1,"num_experts_per_token":8,"tie_word_embeddings":false,"num_experts":256,"linear_head_dim":128,"linear_num_heads":32,"qk_head_dim":192,"head_dim":64}"#,
        ["moonshotai/Kimi-Linear-48B-A3B-Base"];
    "moonshotai/Kimi-K2-Instruct", "Kimi K2 1T-A32B", "2025-07", 1_026_408_209_408 / 32_861_477_888, AICONFIGURATOR,
        r#"{"model_type":"deepseek_v3","architectures":["DeepseekV3ForCausalLM"],"hidden_size":7168,"intermediate_size":18432,"kv_lora_rank":512,"max_position_embeddings":131072,"moe_intermediate_size":2048,"n_routed_experts":384,"n_shared_experts":1,"num_attention_heads":64,"num_experts_per_tok":8,"num_hidden_layers":61,"num_key_value_heads":64,"num_nextn_predict_layers":0,"q_lora_rank":1536,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"tie_word_embeddings":false,"v_head_dim":128,"vocab_size":163840,"first_k_dense_replace":1}"#,
        ["moonshotai/Kimi-K2-Base", "moonshotai/Kimi-K2-Instruct-0905", "moonshotai/Kimi-K2-Thinking"];
    "moonshotai/Kimi-K2.5", "Kimi K2.5 (text part)", "2026-01", 1_026_408_209_408 / 32_861_477_888, AICONFIGURATOR,
        r#"{"model_type":"kimi_k25","architectures":["KimiK25ForConditionalGeneration"],"text_config":{"model_type":"deepseek_v3","hidden_size":7168,"num_hidden_layers":61,"num_attention_heads":64,"num_key_value_heads":64,"intermediate_size":18432,"moe_intermediate_size":2048,"vocab_size":163840,"max_position_embeddings":262144,"n_routed_experts":384,"n_shared_experts":1,"num_experts_per_tok":8,"first_k_dense_replace":1,"q_lora_rank":1536,"kv_lora_rank":512,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128,"n_group":1,"topk_group":1},"tie_word_embeddings":false}"#,
        ["moonshotai/Kimi-K2.6"];
    group "Hunyuan";
    "tencent/Hunyuan-4B-Instruct", "Hunyuan 4B", "2025-08", 4_221_757_440, FIXTURE,
        r#"{"model_type":"hunyuan_v1_dense","architectures":["HunYuanDenseV1ForCausalLM"],"hidden_size":3072,"intermediate_size":8192,"num_hidden_layers":36,"num_attention_heads":32,"num_key_value_heads":8,"head_dim":128,"vocab_size":120818,"max_position_embeddings":262144,"tie_word_embeddings":true}"#,
        ["tencent/Hunyuan-4B-Pretrain"];
    "tencent/Hunyuan-7B-Instruct", "Hunyuan 7B", "2025-08", 7_504_568_320, FIXTURE,
        r#"{"model_type":"hunyuan_v1_dense","architectures":["HunYuanDenseV1ForCausalLM"],"hidden_size":4096,"intermediate_size":14336,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"head_dim":128,"vocab_size":128167,"max_position_embeddings":262144,"tie_word_embeddings":true}"#,
        ["tencent/Hunyuan-7B-Pretrain"];
    "tencent/Hunyuan-A13B-Instruct", "Hunyuan A13B 80B-A13B", "2025-06", 80_393_183_232 / 12_747_448_320, FIXTURE,
        r#"{"model_type":"hunyuan_v1_moe","architectures":["HunYuanMoEV1ForCausalLM"],"hidden_size":4096,"intermediate_size":3072,"moe_intermediate_size":3072,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"head_dim":128,"num_experts":64,"num_shared_expert":1,"vocab_size":128167,"tie_word_embeddings":true,"moe_topk":8}"#,
        ["tencent/Hunyuan-A13B-Pretrain"];
    group "ERNIE 4.5";
    "baidu/ERNIE-4.5-0.3B-PT", "ERNIE 4.5 0.3B", "2025-06", 360_748_032, TRANSFORMERS,
        r#"{"model_type":"ernie4_5","architectures":["Ernie4_5ForCausalLM"],"vocab_size":103424,"hidden_size":1024,"intermediate_size":3072,"num_hidden_layers":18,"num_attention_heads":16,"num_key_value_heads":2,"head_dim":128,"tie_word_embeddings":true,"max_position_embeddings":131072}"#,
        ["baidu/ERNIE-4.5-0.3B-Base-PT"];
    "baidu/ERNIE-4.5-21B-A3B-PT", "ERNIE 4.5 21B-A3B", "2025-06", 21_825_437_888 / 3_352_150_208, TRANSFORMERS,
        r#"{"model_type":"ernie4_5_moe","architectures":["Ernie4_5_MoeForCausalLM"],"vocab_size":103424,"hidden_size":2560,"intermediate_size":12288,"num_hidden_layers":28,"num_attention_heads":20,"num_key_value_heads":4,"moe_intermediate_size":1536,"moe_num_experts":64,"moe_num_shared_experts":2,"tie_word_embeddings":true,"max_position_embeddings":131072}"#,
        ["baidu/ERNIE-4.5-21B-A3B-Base-PT", "baidu/ERNIE-4.5-21B-A3B-Thinking"];
    group "Ling";
    "inclusionAI/Ling-3.0-Flash", "Ling 3.0 Flash", "", 124_414_191_072 / 5_505_672_672, TRANSFORMERS,
        r#"{"model_type":"bailing_hybrid","architectures":["BailingHybridForCausalLM"],"vocab_size":157184,"hidden_size":2560,"intermediate_size":6144,"moe_intermediate_size":768,"num_hidden_layers":42,"num_attention_heads":32,"num_key_value_heads":32,"num_shared_experts":1,"kv_lora_rank":512,"qk_rope_head_dim":64,"v_head_dim":128,"qk_nope_head_dim":128,"num_expert_group":8,"num_experts_per_token":8,"tie_word_embeddings":false,"num_nextn_predict_layers":1,"num_experts":512,"head_dim":64,"short_conv_kernel_size":4,"layer_group_size":6,"linear_head_dim":128,"linear_num_heads":32,"qk_head_dim":192,"mlp_layer_types":["dense","dense","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse","sparse"]}"#;
    group "InternVL3.5";
    "OpenGVLab/InternVL3_5-1B-HF", "InternVL3.5 1B", "2025-08", 1_060_897_792, CONVERSION,
        r#"{"model_type":"internvl","architectures":["InternVLForConditionalGeneration"],"text_config":{"model_type":"qwen3","hidden_size":1024,"intermediate_size":3072,"num_hidden_layers":28,"num_attention_heads":16,"num_key_value_heads":8,"head_dim":128,"vocab_size":151936,"max_position_embeddings":40960,"tie_word_embeddings":false},"vision_config":{"model_type":"internvl_vision","hidden_size":1024,"intermediate_size":4096,"num_attention_heads":16,"num_hidden_layers":24,"attention_bias":true,"image_size":[448,448],"patch_size":[14,14]},"tie_word_embeddings":false}"#;
    "OpenGVLab/InternVL3_5-2B-HF", "InternVL3.5 2B", "2025-08", 2_348_347_392, CONVERSION,
        r#"{"model_type":"internvl","architectures":["InternVLForConditionalGeneration"],"text_config":{"model_type":"qwen3","hidden_size":2048,"intermediate_size":6144,"num_hidden_layers":28,"num_attention_heads":16,"num_key_value_heads":8,"head_dim":128,"vocab_size":151936,"max_position_embeddings":40960,"tie_word_embeddings":false},"vision_config":{"model_type":"internvl_vision","hidden_size":1024,"intermediate_size":4096,"num_attention_heads":16,"num_hidden_layers":24,"attention_bias":true,"image_size":[448,448],"patch_size":[14,14]},"tie_word_embeddings":false}"#;
    "OpenGVLab/InternVL3_5-4B-HF", "InternVL3.5 4B", "2025-08", 4_732_489_216, CONVERSION,
        r#"{"model_type":"internvl","architectures":["InternVLForConditionalGeneration"],"text_config":{"model_type":"qwen3","hidden_size":2560,"intermediate_size":9728,"num_hidden_layers":36,"num_attention_heads":32,"num_key_value_heads":8,"head_dim":128,"vocab_size":151936,"max_position_embeddings":40960,"tie_word_embeddings":false},"vision_config":{"model_type":"internvl_vision","hidden_size":1024,"intermediate_size":4096,"num_attention_heads":16,"num_hidden_layers":24,"attention_bias":true,"image_size":[448,448],"patch_size":[14,14]},"tie_word_embeddings":false}"#;
    "OpenGVLab/InternVL3_5-8B-HF", "InternVL3.5 8B", "2025-08", 8_528_318_464, CONVERSION,
        r#"{"model_type":"internvl","architectures":["InternVLForConditionalGeneration"],"text_config":{"model_type":"qwen3","hidden_size":4096,"intermediate_size":12288,"num_hidden_layers":36,"num_attention_heads":32,"num_key_value_heads":8,"head_dim":128,"vocab_size":151936,"max_position_embeddings":40960,"tie_word_embeddings":false},"vision_config":{"model_type":"internvl_vision","hidden_size":1024,"intermediate_size":4096,"num_attention_heads":16,"num_hidden_layers":24,"attention_bias":true,"image_size":[448,448],"patch_size":[14,14]},"tie_word_embeddings":false}"#;
    "OpenGVLab/InternVL3_5-14B-HF", "InternVL3.5 14B", "2025-08", 15_119_523_840, CONVERSION,
        r#"{"model_type":"internvl","architectures":["InternVLForConditionalGeneration"],"text_config":{"model_type":"qwen3","hidden_size":5120,"intermediate_size":17408,"num_hidden_layers":40,"num_attention_heads":40,"num_key_value_heads":8,"head_dim":128,"vocab_size":151936,"max_position_embeddings":40960,"tie_word_embeddings":false},"vision_config":{"model_type":"internvl_vision","hidden_size":1024,"intermediate_size":4096,"num_attention_heads":16,"num_hidden_layers":24,"attention_bias":true,"image_size":[448,448],"patch_size":[14,14]},"tie_word_embeddings":false}"#;
    group "MiMo";
    "XiaomiMiMo/MiMo-V2-Flash", "MiMo-V2-Flash", "", 308_778_768_832 / 15_445_924_288, AICONFIGURATOR,
        r#"{"model_type":"mimo_v2_flash","architectures":["MiMoV2FlashForCausalLM"],"num_hidden_layers":48,"hidden_size":4096,"num_attention_heads":64,"num_key_value_heads":4,"head_dim":192,"v_head_dim":128,"intermediate_size":16384,"vocab_size":152576,"max_position_embeddings":262144,"sliding_window_size":128,"attention_chunk_size":128,"swa_num_attention_heads":64,"swa_num_key_value_heads":8,"swa_head_dim":192,"swa_v_head_dim":128,"moe_intermediate_size":2048,"n_routed_experts":256,"n_shared_experts":null,"num_experts_per_tok":8,"tie_word_embeddings":false,"sliding_window":128}"#;
}
