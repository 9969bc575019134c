//! Chinese and English: GLM, Seed-OSS, InternLM, Yi, Baichuan.

use super::source::{CONFIG, MLC, PUBLISHED};

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
}
