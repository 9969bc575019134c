//! Mistral and Mixtral, by Mistral AI.

use super::source::{CONFIG, LITGPT, MLC, PUBLISHED, TRANSFORMERS, TT_METAL};

super::table::models! {
    group "Mistral";
    "mistralai/Mistral-7B-v0.1", "Mistral 7B v0.1", "2023-09", 7_241_732_096, LITGPT,
        r#"{"model_type":"mistral","architectures":["MistralForCausalLM"],"hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":14336,"vocab_size":32000,"max_position_embeddings":32768,"sliding_window":4096}"#,
        ["mistralai/Mistral-7B-Instruct-v0.1", "HuggingFaceH4/zephyr-7b-beta"];
    "mistralai/Mistral-7B-Instruct-v0.2", "Mistral 7B v0.2", "2023-12", 7_241_732_096, LITGPT,
        r#"{"model_type":"mistral","architectures":["MistralForCausalLM"],"hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":14336,"vocab_size":32000,"max_position_embeddings":32768,"sliding_window":null}"#;
    "mistralai/Mistral-7B-v0.3", "Mistral 7B v0.3", "2024-05", 7_248_023_552, LITGPT,
        r#"{"model_type":"mistral","architectures":["MistralForCausalLM"],"hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":14336,"vocab_size":32768,"max_position_embeddings":32768,"sliding_window":null}"#,
        ["mistralai/Mistral-7B-Instruct-v0.3"];
    "mistralai/Ministral-8B-Instruct-2410", "Ministral 8B", "2024-10", 8_019_808_256, PUBLISHED,
        r#"{"model_type":"mistral","architectures":["MistralForCausalLM"],"hidden_size":4096,"num_hidden_layers":36,"num_attention_heads":32,"num_key_value_heads":8,"head_dim":128,"intermediate_size":12288,"vocab_size":131072,"max_position_embeddings":32768,"sliding_window":32768}"#;
    "mistralai/Mistral-Nemo-Base-2407", "Mistral Nemo 12B", "2024-07", 12_247_782_400, PUBLISHED,
        r#"{"model_type":"mistral","architectures":["MistralForCausalLM"],"hidden_size":5120,"num_hidden_layers":40,"num_attention_heads":32,"num_key_value_heads":8,"head_dim":128,"intermediate_size":14336,"vocab_size":131072,"max_position_embeddings":131072,"sliding_window":null}"#,
        ["mistralai/Mistral-Nemo-Instruct-2407"];
    "mistralai/Codestral-22B-v0.1", "Codestral 22B", "2024-05", 22_247_282_688, CONFIG,
        r#"{"model_type":"mistral","architectures":["MistralForCausalLM"],"hidden_size":6144,"num_hidden_layers":56,"num_attention_heads":48,"num_key_value_heads":8,"intermediate_size":16384,"vocab_size":32768,"max_position_embeddings":32768,"sliding_window":null}"#,
        ["mistralai/Mistral-Small-Instruct-2409"];
    "mistralai/Mistral-Small-24B-Base-2501", "Mistral Small 3 24B", "2025-01", 23_572_403_200, PUBLISHED,
        r#"{"model_type":"mistral","architectures":["MistralForCausalLM"],"hidden_size":5120,"num_hidden_layers":40,"num_attention_heads":32,"num_key_value_heads":8,"head_dim":128,"intermediate_size":32768,"vocab_size":131072,"max_position_embeddings":32768,"sliding_window":null}"#,
        ["mistralai/Mistral-Small-24B-Instruct-2501", "mistralai/Magistral-Small-2506",
         "mistralai/Devstral-Small-2505", "mistralai/Magistral-Small-2507",
         "mistralai/Devstral-Small-2507"];
    "mistralai/Mixtral-8x7B-v0.1", "Mixtral 8x7B", "2023-12", 46_702_792_704 / 12_879_925_248, LITGPT,
        r#"{"model_type":"mixtral","architectures":["MixtralForCausalLM"],"hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":14336,"vocab_size":32000,"max_position_embeddings":32768,"num_local_experts":8,"num_experts_per_tok":2}"#,
        ["mistralai/Mixtral-8x7B-Instruct-v0.1"];
    "mistralai/Mistral-Large-Instruct-2411", "Mistral Large 2", "2024-11", 122_610_069_504, LITGPT,
        r#"{"model_type":"mistral","architectures":["MistralForCausalLM"],"hidden_size":12288,"num_hidden_layers":88,"num_attention_heads":96,"num_key_value_heads":8,"intermediate_size":28672,"vocab_size":32768,"max_position_embeddings":131072,"sliding_window":null}"#,
        ["mistralai/Mistral-Large-Instruct-2407"];
    "mistralai/Mixtral-8x22B-Instruct-v0.1", "Mixtral 8x22B", "2024-04", 140_630_071_296 / 39_161_468_928, LITGPT,
        r#"{"model_type":"mixtral","architectures":["MixtralForCausalLM"],"hidden_size":6144,"num_hidden_layers":56,"num_attention_heads":48,"num_key_value_heads":8,"intermediate_size":16384,"vocab_size":32768,"max_position_embeddings":65536,"num_local_experts":8,"num_experts_per_tok":2}"#;
    group "Mistral Small";
    "mistralai/Mistral-Small-3.1-24B-Instruct-2503", "Mistral Small 3.1/3.2 24B", "2025-03", 24_011_361_280, TT_METAL,
        r#"{"model_type":"mistral3","architectures":["Mistral3ForConditionalGeneration"],"text_config":{"model_type":"mistral","hidden_size":5120,"intermediate_size":32768,"num_hidden_layers":40,"num_attention_heads":32,"num_key_value_heads":8,"head_dim":128,"vocab_size":131072,"max_position_embeddings":131072,"tie_word_embeddings":false},"vision_config":{"model_type":"pixtral","hidden_size":1024,"intermediate_size":4096,"num_hidden_layers":24,"num_attention_heads":16,"head_dim":64,"image_size":1540,"patch_size":14},"spatial_merge_size":2,"tie_word_embeddings":false}"#,
        ["mistralai/Mistral-Small-3.1-24B-Base-2503",
         "mistralai/Mistral-Small-3.2-24B-Instruct-2506", "mistralai/Magistral-Small-2509"];
    group "Devstral";
    "mistralai/Devstral-Small-2-24B-Instruct-2512", "Devstral Small 2 24B", "2025-12", 24_011_361_280, TT_METAL,
        r#"{"model_type":"mistral3","architectures":["Mistral3ForConditionalGeneration"],"text_config":{"model_type":"ministral3","hidden_size":5120,"intermediate_size":32768,"num_hidden_layers":40,"num_attention_heads":32,"num_key_value_heads":8,"head_dim":128,"vocab_size":131072,"max_position_embeddings":393216,"tie_word_embeddings":false},"vision_config":{"model_type":"pixtral","hidden_size":1024,"intermediate_size":4096,"num_hidden_layers":24,"num_attention_heads":16,"head_dim":64,"image_size":1540,"patch_size":14},"spatial_merge_size":2,"tie_word_embeddings":false}"#;
    "mistralai/Devstral-2-123B-Instruct-2512", "Devstral 2 123B", "2025-12", 125_025_988_608, TT_METAL,
        r#"{"model_type":"ministral3","architectures":["Ministral3ForCausalLM"],"hidden_size":12288,"intermediate_size":28672,"num_hidden_layers":88,"num_attention_heads":96,"num_key_value_heads":8,"head_dim":128,"vocab_size":131072,"max_position_embeddings":262144,"tie_word_embeddings":false}"#;
    group "Ministral 3";
    "mistralai/Ministral-3-3B-Instruct-2512", "Ministral 3 3B", "2025-12", 3_849_090_048, MLC,
        r#"{"model_type":"mistral3","architectures":["Mistral3ForConditionalGeneration"],"text_config":{"model_type":"ministral3","hidden_size":3072,"intermediate_size":9216,"num_hidden_layers":26,"num_attention_heads":32,"num_key_value_heads":8,"head_dim":128,"vocab_size":131072,"max_position_embeddings":262144,"tie_word_embeddings":true},"vision_config":{"model_type":"pixtral","hidden_size":1024,"intermediate_size":4096,"num_hidden_layers":24,"num_attention_heads":16,"head_dim":64,"image_size":1540,"patch_size":14},"spatial_merge_size":2,"tie_word_embeddings":true}"#,
        ["mistralai/Ministral-3-3B-Base-2512", "mistralai/Ministral-3-3B-Reasoning-2512"];
    "mistralai/Ministral-3-8B-Instruct-2512", "Ministral 3 8B", "2025-12", 8_918_026_240, TRANSFORMERS,
        r#"{"model_type":"mistral3","architectures":["Mistral3ForConditionalGeneration"],"text_config":{"model_type":"ministral3","hidden_size":4096,"intermediate_size":14336,"num_hidden_layers":34,"num_attention_heads":32,"num_key_value_heads":8,"head_dim":128,"vocab_size":131072,"max_position_embeddings":262144,"tie_word_embeddings":false},"vision_config":{"model_type":"pixtral","hidden_size":1024,"intermediate_size":4096,"num_hidden_layers":24,"num_attention_heads":16,"head_dim":64,"image_size":1540,"patch_size":14},"spatial_merge_size":2,"tie_word_embeddings":false}"#,
        ["mistralai/Ministral-3-8B-Base-2512", "mistralai/Ministral-3-8B-Reasoning-2512"];
}
