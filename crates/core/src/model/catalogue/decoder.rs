//! Further decoders of the Llama generation.

use super::source::{CONFIG, LITGPT, MLC, PUBLISHED, TRANSFORMERS};

super::table::models! {
    group "SmolLM";
    "HuggingFaceTB/SmolLM2-135M", "SmolLM2 135M", "2024-10", 134_515_008, LITGPT,
        r#"{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":576,"num_hidden_layers":30,"num_attention_heads":9,"num_key_value_heads":3,"intermediate_size":1536,"vocab_size":49152,"max_position_embeddings":8192,"tie_word_embeddings":true}"#,
        ["HuggingFaceTB/SmolLM2-135M-Instruct"];
    "HuggingFaceTB/SmolLM2-360M", "SmolLM2 360M", "2024-10", 361_821_120, LITGPT,
        r#"{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":960,"num_hidden_layers":32,"num_attention_heads":15,"num_key_value_heads":5,"intermediate_size":2560,"vocab_size":49152,"max_position_embeddings":8192,"tie_word_embeddings":true}"#,
        ["HuggingFaceTB/SmolLM2-360M-Instruct"];
    "HuggingFaceTB/SmolLM2-1.7B", "SmolLM2 1.7B", "2024-10", 1_711_376_384, LITGPT,
        r#"{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":2048,"num_hidden_layers":24,"num_attention_heads":32,"num_key_value_heads":32,"intermediate_size":8192,"vocab_size":49152,"max_position_embeddings":8192,"tie_word_embeddings":true}"#,
        ["HuggingFaceTB/SmolLM2-1.7B-Instruct"];
    "HuggingFaceTB/SmolLM3-3B", "SmolLM3 3B", "2025-07", 3_075_098_624, PUBLISHED,
        r#"{"model_type":"smollm3","architectures":["SmolLM3ForCausalLM"],"hidden_size":2048,"num_hidden_layers":36,"num_attention_heads":16,"num_key_value_heads":4,"intermediate_size":11008,"vocab_size":128256,"max_position_embeddings":65536,"tie_word_embeddings":true}"#,
        ["HuggingFaceTB/SmolLM3-3B-Base"];
    group "OLMo";
    "allenai/OLMo-2-0425-1B", "OLMo 2 1B", "2025-04", 1_484_916_736, PUBLISHED,
        r#"{"model_type":"olmo2","architectures":["Olmo2ForCausalLM"],"hidden_size":2048,"num_hidden_layers":16,"num_attention_heads":16,"num_key_value_heads":16,"intermediate_size":8192,"vocab_size":100352,"max_position_embeddings":4096}"#,
        ["allenai/OLMo-2-0425-1B-Instruct"];
    "allenai/OLMoE-1B-7B-0924", "OLMoE 7B-A1B", "2024-09", 6_919_161_856 / 1_282_017_280, PUBLISHED,
        r#"{"model_type":"olmoe","architectures":["OlmoeForCausalLM"],"hidden_size":2048,"num_hidden_layers":16,"num_attention_heads":16,"num_key_value_heads":16,"intermediate_size":1024,"vocab_size":50304,"max_position_embeddings":4096,"num_experts":64,"num_experts_per_tok":8}"#,
        ["allenai/OLMoE-1B-7B-0924-Instruct"];
    "allenai/Olmo-3-1025-7B", "Olmo 3 7B", "2025-11", 7_298_011_136, PUBLISHED,
        r#"{"model_type":"olmo3","architectures":["Olmo3ForCausalLM"],"hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,"intermediate_size":11008,"vocab_size":100278,"max_position_embeddings":65536,"sliding_window":4096}"#,
        ["allenai/Olmo-3-7B-Instruct", "allenai/Olmo-3-7B-Think"];
    "allenai/OLMo-2-1124-7B", "OLMo 2 7B", "2024-11", 7_298_617_344, LITGPT,
        r#"{"model_type":"olmo2","architectures":["Olmo2ForCausalLM"],"hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,"intermediate_size":11008,"vocab_size":100352,"max_position_embeddings":4096}"#,
        ["allenai/OLMo-2-1124-7B-Instruct"];
    "allenai/OLMo-2-1124-13B", "OLMo 2 13B", "2024-11", 13_716_198_400, LITGPT,
        r#"{"model_type":"olmo2","architectures":["Olmo2ForCausalLM"],"hidden_size":5120,"num_hidden_layers":40,"num_attention_heads":40,"num_key_value_heads":40,"intermediate_size":13824,"vocab_size":100352,"max_position_embeddings":4096}"#,
        ["allenai/OLMo-2-1124-13B-Instruct"];
    "allenai/Olmo-3-1125-32B", "Olmo 3 32B", "2025-11", 32_233_522_176, PUBLISHED,
        r#"{"model_type":"olmo3","architectures":["Olmo3ForCausalLM"],"hidden_size":5120,"num_hidden_layers":64,"num_attention_heads":40,"num_key_value_heads":8,"intermediate_size":27648,"vocab_size":100278,"max_position_embeddings":65536,"sliding_window":4096}"#,
        ["allenai/Olmo-3-32B-Think"];
    "allenai/OLMo-2-0325-32B", "OLMo 2 32B", "2025-03", 32_234_279_936, PUBLISHED,
        r#"{"model_type":"olmo2","architectures":["Olmo2ForCausalLM"],"hidden_size":5120,"num_hidden_layers":64,"num_attention_heads":40,"num_key_value_heads":8,"intermediate_size":27648,"vocab_size":100352,"max_position_embeddings":4096}"#,
        ["allenai/OLMo-2-0325-32B-Instruct"];
    group "Granite";
    "ibm-granite/granite-3.3-2b-base", "Granite 3.3 2B", "2025-04", 2_533_539_840, PUBLISHED,
        r#"{"model_type":"granite","architectures":["GraniteForCausalLM"],"hidden_size":2048,"num_hidden_layers":40,"num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":8192,"vocab_size":49159,"max_position_embeddings":131072,"embedding_multiplier":12.0,"residual_multiplier":0.22,"logits_scaling":8.0,"attention_multiplier":0.015625,"tie_word_embeddings":true}"#,
        ["ibm-granite/granite-3.3-2b-instruct"];
    "ibm-granite/granite-4.1-3b", "Granite 4.1 3B", "2026-04", 3_402_836_480, CONFIG,
        r#"{"model_type":"granite","architectures":["GraniteForCausalLM"],"hidden_size":2560,"num_hidden_layers":40,"num_attention_heads":40,"num_key_value_heads":8,"intermediate_size":8192,"vocab_size":100352,"max_position_embeddings":131072,"embedding_multiplier":12.0,"residual_multiplier":0.22,"logits_scaling":10.0,"attention_multiplier":0.015625,"tie_word_embeddings":true}"#;
    "ibm-granite/granite-3.3-8b-base", "Granite 3.3 8B", "2025-04", 8_170_864_640, PUBLISHED,
        r#"{"model_type":"granite","architectures":["GraniteForCausalLM"],"hidden_size":4096,"num_hidden_layers":40,"num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":12800,"vocab_size":49159,"max_position_embeddings":131072,"embedding_multiplier":12.0,"residual_multiplier":0.22,"logits_scaling":16.0,"attention_multiplier":0.0078125,"tie_word_embeddings":true}"#,
        ["ibm-granite/granite-3.3-8b-instruct"];
    "ibm-granite/granite-4.1-8b", "Granite 4.1 8B", "2026-04", 8_380_551_168, CONFIG,
        r#"{"model_type":"granite","architectures":["GraniteForCausalLM"],"hidden_size":4096,"num_hidden_layers":40,"num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":12800,"vocab_size":100352,"max_position_embeddings":131072,"embedding_multiplier":12.0,"residual_multiplier":0.22,"logits_scaling":16.0,"attention_multiplier":0.0078125,"tie_word_embeddings":true}"#;
    "ibm-granite/granite-4.1-30b", "Granite 4.1 30B", "2026-04", 28_865_728_512, CONFIG,
        r#"{"model_type":"granite","architectures":["GraniteForCausalLM"],"hidden_size":4096,"num_hidden_layers":64,"num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":32768,"vocab_size":100352,"max_position_embeddings":131072,"embedding_multiplier":12.0,"residual_multiplier":0.175,"logits_scaling":16.0,"attention_multiplier":0.0078125,"tie_word_embeddings":true}"#;
    group "Cohere";
    "CohereLabs/aya-expanse-8b", "Aya Expanse 8B", "2024-10", 8_028_033_024, PUBLISHED,
        r#"{"model_type":"cohere","architectures":["CohereForCausalLM"],"hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":14336,"vocab_size":256000,"max_position_embeddings":8192}"#,
        ["CohereForAI/aya-expanse-8b", "CohereLabs/aya-23-8B", "CohereForAI/aya-23-8B"];
    "CohereLabs/c4ai-command-r7b-12-2024", "Command R7B 12-2024", "2024-12", 8_028_033_024, CONFIG,
        r#"{"model_type":"cohere2","architectures":["Cohere2ForCausalLM"],"hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":14336,"vocab_size":256000,"max_position_embeddings":132096,"sliding_window":4096}"#,
        ["CohereForAI/c4ai-command-r7b-12-2024"];
    "CohereLabs/c4ai-command-r-08-2024", "Command R 08-2024 32B", "2024-08", 32_296_476_672, CONFIG,
        r#"{"model_type":"cohere","architectures":["CohereForCausalLM"],"hidden_size":8192,"num_hidden_layers":40,"num_attention_heads":64,"num_key_value_heads":8,"intermediate_size":24576,"vocab_size":256000,"max_position_embeddings":131072}"#,
        ["CohereForAI/c4ai-command-r-08-2024"];
    "CohereLabs/c4ai-command-r-v01", "Command R 35B", "2024-03", 34_980_831_232, TRANSFORMERS,
        r#"{"model_type":"cohere","architectures":["CohereForCausalLM"],"hidden_size":8192,"num_hidden_layers":40,"num_attention_heads":64,"num_key_value_heads":64,"intermediate_size":22528,"vocab_size":256000,"max_position_embeddings":8192}"#,
        ["CohereForAI/c4ai-command-r-v01"];
    "CohereLabs/c4ai-command-r-plus", "Command R+ 104B", "2024-04", 103_810_674_688, CONFIG,
        r#"{"model_type":"cohere","architectures":["CohereForCausalLM"],"hidden_size":12288,"num_hidden_layers":64,"num_attention_heads":96,"num_key_value_heads":8,"intermediate_size":33792,"vocab_size":256000,"max_position_embeddings":8192,"use_qk_norm":true}"#,
        ["CohereForAI/c4ai-command-r-plus"];
    group "StarCoder2";
    "bigcode/starcoder2-3b", "StarCoder2 3B", "2024-02", 3_030_371_328, CONFIG,
        r#"{"model_type":"starcoder2","architectures":["Starcoder2ForCausalLM"],"hidden_size":3072,"num_hidden_layers":30,"num_attention_heads":24,"num_key_value_heads":2,"intermediate_size":12288,"vocab_size":49152,"max_position_embeddings":16384,"sliding_window":4096,"attention_dropout":0.1,"residual_dropout":0.1,"embedding_dropout":0.1}"#;
    "bigcode/starcoder2-7b", "StarCoder2 7B", "2024-02", 7_173_923_840, CONFIG,
        r#"{"model_type":"starcoder2","architectures":["Starcoder2ForCausalLM"],"hidden_size":4608,"num_hidden_layers":32,"num_attention_heads":36,"num_key_value_heads":4,"intermediate_size":18432,"vocab_size":49152,"max_position_embeddings":16384,"sliding_window":4096,"attention_dropout":0.1,"residual_dropout":0.1,"embedding_dropout":0.1}"#;
    "bigcode/starcoder2-15b", "StarCoder2 15B", "2024-02", 15_957_889_024, CONFIG,
        r#"{"model_type":"starcoder2","architectures":["Starcoder2ForCausalLM"],"hidden_size":6144,"num_hidden_layers":40,"num_attention_heads":48,"num_key_value_heads":4,"intermediate_size":24576,"vocab_size":49152,"max_position_embeddings":16384,"sliding_window":4096,"attention_dropout":0.1,"residual_dropout":0.1,"embedding_dropout":0.1,"tie_word_embeddings":false}"#;
    group "StableLM";
    "stabilityai/stablelm-2-1_6b", "StableLM 2 1.6B", "2024-01", 1_644_515_328, MLC,
        r#"{"model_type":"stablelm","architectures":["StableLmForCausalLM"],"hidden_size":2048,"num_hidden_layers":24,"num_attention_heads":32,"num_key_value_heads":32,"intermediate_size":5632,"vocab_size":100352,"max_position_embeddings":4096,"use_qkv_bias":true}"#,
        ["stabilityai/stablelm-2-1_6b-chat", "stabilityai/stablelm-2-zephyr-1_6b"];
    "stabilityai/stablelm-3b-4e1t", "StableLM 3B 4E1T", "2023-09", 2_795_443_200, MLC,
        r#"{"model_type":"stablelm","architectures":["StableLmForCausalLM"],"hidden_size":2560,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,"intermediate_size":6912,"vocab_size":50304,"max_position_embeddings":4096}"#,
        ["stabilityai/stablelm-zephyr-3b"];
    group "Falcon";
    "tiiuae/falcon-7b", "Falcon 7B", "2023-05", 6_921_720_704, LITGPT,
        r#"{"model_type":"falcon","architectures":["FalconForCausalLM"],"hidden_size":4544,"num_hidden_layers":32,"num_attention_heads":71,"multi_query":true,"vocab_size":65024}"#,
        ["tiiuae/falcon-7b-instruct"];
    "tiiuae/Falcon3-7B-Base", "Falcon3 7B", "2024-12", 7_455_550_464, LITGPT,
        r#"{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":3072,"num_hidden_layers":28,"num_attention_heads":12,"num_key_value_heads":4,"head_dim":256,"intermediate_size":23040,"vocab_size":131072,"max_position_embeddings":32768}"#,
        ["tiiuae/Falcon3-7B-Instruct"];
    "tiiuae/falcon-40b", "Falcon 40B", "2023-05", 41_303_293_952, LITGPT,
        r#"{"model_type":"falcon","architectures":["FalconForCausalLM"],"hidden_size":8192,"num_hidden_layers":60,"num_attention_heads":128,"num_kv_heads":8,"new_decoder_architecture":true,"vocab_size":65024}"#,
        ["tiiuae/falcon-40b-instruct"];
}
