//! Further decoders of the Llama generation.

use super::source::{
    AICONFIGURATOR, CONFIG, EXECUTORCH, FIXTURE, LITGPT, MEGATRON_BRIDGE, MLC, PUBLISHED, TRANSFORMERS, TT_METAL,
};

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
    group "Nemotron";
    "nvidia/Nemotron-H-8B-Base-8K", "Nemotron-H 8B", "2025-03", 8_100_852_736, AICONFIGURATOR,
        r#"{"model_type":"nemotron_h","architectures":["NemotronHForCausalLM"],"hidden_size":4096,"intermediate_size":21504,"num_attention_heads":32,"num_key_value_heads":8,"head_dim":128,"vocab_size":131072,"ssm_state_size":128,"mamba_num_heads":128,"mamba_head_dim":64,"chunk_size":128,"tie_word_embeddings":false,"max_position_embeddings":8192,"layers_block_type":["linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","full_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","full_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","full_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","full_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp"]}"#,
        ["nvidia/Nemotron-H-8B-Reasoning-128K"];
    "nvidia/NVIDIA-Nemotron-Nano-9B-v2", "Nemotron Nano 9B v2", "2025-08", 8_888_227_328, FIXTURE,
        r#"{"model_type":"nemotron_h","architectures":["NemotronHForCausalLM"],"hidden_size":4480,"intermediate_size":15680,"num_attention_heads":40,"num_key_value_heads":8,"head_dim":128,"vocab_size":131072,"ssm_state_size":128,"mamba_num_heads":128,"mamba_head_dim":80,"chunk_size":128,"tie_word_embeddings":false,"layers_block_type":["linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","full_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","full_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","full_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","full_attention","mlp","linear_attention","mlp","linear_attention","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp"]}"#,
        ["nvidia/NVIDIA-Nemotron-Nano-9B-v2-Base"];
    "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "Nemotron 3 Nano 30B-A3B", "", 31_577_937_344 / 3_580_073_408, AICONFIGURATOR,
        r#"{"model_type":"nemotron_h","architectures":["NemotronHForCausalLM"],"chunk_size":128,"head_dim":128,"hidden_size":2688,"intermediate_size":1856,"mamba_head_dim":64,"mamba_num_heads":64,"max_position_embeddings":262144,"moe_intermediate_size":1856,"moe_shared_expert_intermediate_size":3712,"n_routed_experts":128,"n_shared_experts":1,"num_attention_heads":32,"num_experts_per_tok":6,"num_hidden_layers":52,"num_key_value_heads":2,"ssm_state_size":128,"tie_word_embeddings":false,"vocab_size":131072,"layers_block_type":["linear_attention","moe","linear_attention","moe","linear_attention","full_attention","moe","linear_attention","moe","linear_attention","moe","linear_attention","full_attention","moe","linear_attention","moe","linear_attention","moe","linear_attention","full_attention","moe","linear_attention","moe","linear_attention","moe","linear_attention","full_attention","moe","linear_attention","moe","linear_attention","moe","linear_attention","full_attention","moe","linear_attention","moe","linear_attention","moe","linear_attention","moe","linear_attention","full_attention","moe","linear_attention","moe","linear_attention","moe","linear_attention","moe","linear_attention","moe"]}"#,
        ["nvidia/NVIDIA-Nemotron-3.5-Lightning-30B-A3B-BF16"];
    "nvidia/Nemotron-H-56B-Base-8K", "Nemotron-H 56B", "", 56_324_350_464, AICONFIGURATOR,
        r#"{"model_type":"nemotron_h","architectures":["NemotronHForCausalLM"],"attention_head_dim":128,"chunk_size":128,"hidden_size":8192,"intermediate_size":32768,"mamba_head_dim":64,"mamba_num_heads":256,"max_position_embeddings":8192,"num_attention_heads":64,"num_hidden_layers":118,"num_key_value_heads":8,"ssm_state_size":256,"tie_word_embeddings":false,"time_step_rank":512,"vocab_size":131072,"layers_block_type":["linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","full_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","full_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","full_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","full_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","full_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","full_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","full_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","full_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","full_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","full_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp","linear_attention","mlp"]}"#;
    "nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-BF16", "Nemotron 3 Super 120B-A12B", "", 120_668_687_360 / 12_770_216_960, AICONFIGURATOR,
        r#"{"model_type":"nemotron_h","architectures":["NemotronHForCausalLM"],"chunk_size":128,"head_dim":128,"hidden_size":4096,"intermediate_size":2688,"mamba_head_dim":64,"mamba_num_heads":128,"max_position_embeddings":262144,"moe_intermediate_size":2688,"moe_latent_size":1024,"moe_shared_expert_intermediate_size":5376,"moe_shared_expert_overlap":false,"n_routed_experts":512,"n_shared_experts":1,"num_attention_heads":32,"num_experts_per_tok":22,"num_hidden_layers":88,"num_key_value_heads":2,"num_nextn_predict_layers":1,"ssm_state_size":128,"tie_word_embeddings":false,"vocab_size":131072,"layers_block_type":["linear_attention","moe","linear_attention","moe","linear_attention","moe","linear_attention","full_attention","moe","linear_attention","moe","linear_attention","moe","linear_attention","moe","linear_attention","full_attention","moe","linear_attention","moe","linear_attention","moe","linear_attention","moe","linear_attention","full_attention","moe","linear_attention","moe","linear_attention","moe","linear_attention","moe","linear_attention","moe","linear_attention","full_attention","moe","linear_attention","moe","linear_attention","moe","linear_attention","moe","linear_attention","moe","linear_attention","full_attention","moe","linear_attention","moe","linear_attention","moe","linear_attention","moe","linear_attention","moe","linear_attention","full_attention","moe","linear_attention","moe","linear_attention","moe","linear_attention","moe","linear_attention","moe","linear_attention","full_attention","moe","linear_attention","moe","linear_attention","moe","linear_attention","moe","linear_attention","full_attention","moe","linear_attention","moe","linear_attention","moe","linear_attention","moe","linear_attention","moe"]}"#;
    group "EXAONE";
    "LGAI-EXAONE/EXAONE-4.0-32B", "EXAONE 4.0 32B", "2025-07", 32_003_216_384, TT_METAL,
        r#"{"model_type":"exaone4","architectures":["Exaone4ForCausalLM"],"hidden_size":5120,"intermediate_size":27392,"num_hidden_layers":64,"num_attention_heads":40,"num_key_value_heads":8,"head_dim":128,"vocab_size":102400,"max_position_embeddings":131072,"tie_word_embeddings":false}"#;
    group "Granite 4.0";
    "ibm-granite/granite-4.0-h-1b", "Granite 4.0 H 1B", "2025-10", 1_461_538_368, FIXTURE,
        r#"{"model_type":"granitemoehybrid","architectures":["GraniteMoeHybridForCausalLM"],"hidden_size":1536,"intermediate_size":4096,"shared_intermediate_size":4096,"num_hidden_layers":40,"num_attention_heads":12,"num_key_value_heads":4,"vocab_size":100352,"num_local_experts":0,"num_experts_per_tok":0,"mamba_n_heads":48,"mamba_chunk_size":256,"max_position_embeddings":131072,"tie_word_embeddings":true,"layer_types":["mamba","mamba","mamba","mamba","mamba","attention","mamba","mamba","mamba","mamba","mamba","mamba","mamba","mamba","mamba","attention","mamba","mamba","mamba","mamba","mamba","mamba","mamba","mamba","mamba","attention","mamba","mamba","mamba","mamba","mamba","mamba","mamba","mamba","mamba","attention","mamba","mamba","mamba","mamba"],"mamba_d_state":128}"#,
        ["ibm-granite/granite-4.0-h-1b-base"];
    "ibm-granite/granite-4.0-micro", "Granite 4.0 Micro 3B", "2025-10", 3_402_836_480, FIXTURE,
        r#"{"model_type":"granitemoehybrid","architectures":["GraniteMoeHybridForCausalLM"],"hidden_size":2560,"intermediate_size":8192,"shared_intermediate_size":8192,"num_hidden_layers":40,"num_attention_heads":40,"num_key_value_heads":8,"vocab_size":100352,"num_local_experts":0,"num_experts_per_tok":0,"max_position_embeddings":131072,"tie_word_embeddings":true,"layer_types":["attention","attention","attention","attention","attention","attention","attention","attention","attention","attention","attention","attention","attention","attention","attention","attention","attention","attention","attention","attention","attention","attention","attention","attention","attention","attention","attention","attention","attention","attention","attention","attention","attention","attention","attention","attention","attention","attention","attention","attention"]}"#,
        ["ibm-granite/granite-4.0-micro-base"];
    "ibm-granite/granite-4.0-h-tiny", "Granite 4.0 H Tiny 7B-A1B", "2025-10", 6_939_037_248 / 1_465_470_528, FIXTURE,
        r#"{"model_type":"granitemoehybrid","architectures":["GraniteMoeHybridForCausalLM"],"hidden_size":1536,"intermediate_size":512,"shared_intermediate_size":1024,"num_hidden_layers":40,"num_attention_heads":12,"num_key_value_heads":4,"vocab_size":100352,"num_local_experts":64,"num_experts_per_tok":6,"mamba_n_heads":48,"mamba_chunk_size":256,"max_position_embeddings":131072,"tie_word_embeddings":true,"layer_types":["mamba","mamba","mamba","mamba","mamba","attention","mamba","mamba","mamba","mamba","mamba","mamba","mamba","mamba","mamba","attention","mamba","mamba","mamba","mamba","mamba","mamba","mamba","mamba","mamba","attention","mamba","mamba","mamba","mamba","mamba","mamba","mamba","mamba","mamba","attention","mamba","mamba","mamba","mamba"],"mamba_d_state":128}"#,
        ["ibm-granite/granite-4.0-h-tiny-base"];
    "ibm-granite/granite-4.0-h-small", "Granite 4.0 H Small 32B-A9B", "2025-10", 32_207_337_984 / 8_803_121_664, FIXTURE,
        r#"{"model_type":"granitemoehybrid","architectures":["GraniteMoeHybridForCausalLM"],"hidden_size":4096,"intermediate_size":768,"shared_intermediate_size":1536,"num_hidden_layers":40,"num_attention_heads":32,"num_key_value_heads":8,"vocab_size":100352,"num_local_experts":72,"num_experts_per_tok":10,"mamba_n_heads":128,"mamba_chunk_size":256,"max_position_embeddings":131072,"tie_word_embeddings":true,"layer_types":["mamba","mamba","mamba","mamba","mamba","attention","mamba","mamba","mamba","mamba","mamba","mamba","mamba","mamba","mamba","attention","mamba","mamba","mamba","mamba","mamba","mamba","mamba","mamba","mamba","attention","mamba","mamba","mamba","mamba","mamba","mamba","mamba","mamba","mamba","attention","mamba","mamba","mamba","mamba"],"mamba_d_state":128}"#,
        ["ibm-granite/granite-4.0-h-small-base"];
    group "LFM2";
    "LiquidAI/LFM2-350M", "LFM2 350M", "2025-07", 354_483_968, EXECUTORCH,
        r#"{"model_type":"lfm2","architectures":["Lfm2ForCausalLM"],"hidden_size":1024,"intermediate_size":6656,"num_hidden_layers":16,"num_attention_heads":16,"num_key_value_heads":8,"vocab_size":65536,"max_position_embeddings":128000,"tie_word_embeddings":true,"layer_types":["conv","conv","full_attention","conv","conv","full_attention","conv","conv","full_attention","conv","full_attention","conv","full_attention","conv","full_attention","conv"]}"#,
        ["LiquidAI/LFM2.5-350M"];
    "LiquidAI/LFM2-700M", "LFM2 700M", "2025-07", 742_489_344, EXECUTORCH,
        r#"{"model_type":"lfm2","architectures":["Lfm2ForCausalLM"],"hidden_size":1536,"intermediate_size":6912,"num_hidden_layers":16,"num_attention_heads":24,"num_key_value_heads":8,"vocab_size":65536,"max_position_embeddings":128000,"tie_word_embeddings":true,"block_auto_adjust_ff_dim":false,"layer_types":["conv","conv","full_attention","conv","conv","full_attention","conv","conv","full_attention","conv","full_attention","conv","full_attention","conv","full_attention","conv"]}"#;
    "LiquidAI/LFM2-1.2B", "LFM2 1.2B", "2025-07", 1_170_340_608, TT_METAL,
        r#"{"model_type":"lfm2","architectures":["Lfm2ForCausalLM"],"hidden_size":2048,"intermediate_size":12288,"num_hidden_layers":16,"num_attention_heads":32,"num_key_value_heads":8,"vocab_size":65536,"max_position_embeddings":128000,"tie_word_embeddings":true,"layer_types":["conv","conv","full_attention","conv","conv","full_attention","conv","conv","full_attention","conv","full_attention","conv","full_attention","conv","full_attention","conv"]}"#,
        ["LiquidAI/LFM2.5-1.2B-Instruct", "LiquidAI/LFM2.5-1.2B-Base", "LiquidAI/LFM2.5-1.2B-Thinking"];
    "LiquidAI/LFM2-2.6B", "LFM2 2.6B", "2025-09", 2_569_272_320, FIXTURE,
        r#"{"model_type":"lfm2","architectures":["Lfm2ForCausalLM"],"hidden_size":2048,"intermediate_size":10752,"num_hidden_layers":30,"num_attention_heads":32,"num_key_value_heads":8,"vocab_size":65536,"max_position_embeddings":128000,"tie_word_embeddings":true,"block_auto_adjust_ff_dim":false,"layer_types":["conv","conv","full_attention","conv","conv","full_attention","conv","conv","conv","full_attention","conv","conv","conv","full_attention","conv","conv","conv","full_attention","conv","conv","conv","full_attention","conv","conv","full_attention","conv","conv","full_attention","conv","conv"]}"#;
    "LiquidAI/LFM2-8B-A1B", "LFM2 8B-A1B", "2025-10", 8_339_929_856 / 1_557_740_288, TRANSFORMERS,
        r#"{"model_type":"lfm2_moe","architectures":["Lfm2MoeForCausalLM"],"vocab_size":65536,"hidden_size":2048,"intermediate_size":7168,"moe_intermediate_size":1792,"num_hidden_layers":24,"num_attention_heads":32,"num_key_value_heads":8,"num_dense_layers":2,"num_experts":32,"num_experts_per_tok":4,"use_expert_bias":true,"max_position_embeddings":128000,"tie_word_embeddings":true,"layer_types":["conv","conv","full_attention","conv","conv","conv","full_attention","conv","conv","conv","full_attention","conv","conv","conv","full_attention","conv","conv","conv","full_attention","conv","conv","full_attention","conv","conv"]}"#;
    "LiquidAI/LFM2.5-8B-A1B", "LFM2.5 8B-A1B", "", 8_467_856_128 / 1_685_666_560, FIXTURE,
        r#"{"model_type":"lfm2_moe","architectures":["Lfm2MoeForCausalLM"],"vocab_size":128000,"hidden_size":2048,"intermediate_size":7168,"moe_intermediate_size":1792,"num_hidden_layers":24,"num_attention_heads":32,"num_key_value_heads":8,"num_dense_layers":2,"num_experts":32,"num_experts_per_tok":4,"use_expert_bias":true,"max_position_embeddings":128000,"tie_word_embeddings":true,"layer_types":["conv","conv","full_attention","conv","conv","conv","full_attention","conv","conv","conv","full_attention","conv","conv","conv","full_attention","conv","conv","conv","full_attention","conv","conv","full_attention","conv","conv"]}"#;
    group "Falcon-H1";
    "tiiuae/Falcon-H1-0.5B-Base", "Falcon-H1 0.5B", "2025-05", 521_411_104, MEGATRON_BRIDGE,
        r#"{"model_type":"falcon_h1","architectures":["FalconH1ForCausalLM"],"hidden_size":1024,"intermediate_size":2048,"num_hidden_layers":36,"num_attention_heads":8,"num_key_value_heads":2,"head_dim":64,"vocab_size":32784,"mamba_n_heads":24,"mamba_chunk_size":128,"max_position_embeddings":16384,"tie_word_embeddings":false,"mamba_d_ssm":1536,"mamba_d_head":64,"mamba_d_state":128}"#,
        ["tiiuae/Falcon-H1-0.5B-Instruct"];
    "tiiuae/Falcon-H1-1.5B-Base", "Falcon-H1 1.5B", "2025-05", 1_554_789_760, FIXTURE,
        r#"{"model_type":"falcon_h1","architectures":["FalconH1ForCausalLM"],"hidden_size":2048,"intermediate_size":4608,"num_hidden_layers":24,"num_attention_heads":8,"num_key_value_heads":2,"head_dim":128,"vocab_size":65537,"mamba_n_heads":48,"mamba_chunk_size":128,"max_position_embeddings":131072,"tie_word_embeddings":false,"mamba_d_ssm":3072,"mamba_d_head":64}"#,
        ["tiiuae/Falcon-H1-1.5B-Instruct"];
    "tiiuae/Falcon-H1-3B-Base", "Falcon-H1 3B", "2025-05", 3_149_256_192, FIXTURE,
        r#"{"model_type":"falcon_h1","architectures":["FalconH1ForCausalLM"],"hidden_size":2560,"intermediate_size":6144,"num_hidden_layers":32,"num_attention_heads":10,"num_key_value_heads":2,"head_dim":128,"vocab_size":65536,"mamba_n_heads":32,"mamba_chunk_size":128,"max_position_embeddings":131072,"tie_word_embeddings":false,"mamba_d_ssm":4096,"mamba_d_head":128}"#,
        ["tiiuae/Falcon-H1-3B-Instruct"];
    "tiiuae/Falcon-H1-7B-Base", "Falcon-H1 7B", "2025-05", 7_585_513_568, FIXTURE,
        r#"{"model_type":"falcon_h1","architectures":["FalconH1ForCausalLM"],"hidden_size":3072,"intermediate_size":12288,"num_hidden_layers":44,"num_attention_heads":12,"num_key_value_heads":2,"head_dim":128,"vocab_size":130048,"mamba_n_heads":24,"mamba_chunk_size":128,"max_position_embeddings":262144,"tie_word_embeddings":false,"mamba_d_ssm":3072,"mamba_d_head":128}"#,
        ["tiiuae/Falcon-H1-7B-Instruct"];
    group "Jamba";
    "ai21labs/Jamba-v0.1", "Jamba 52B-A12B", "2024-03", 51_570_323_328 / 12_110_311_296, TRANSFORMERS,
        r#"{"model_type":"jamba","architectures":["JambaForCausalLM"],"vocab_size":65536,"tie_word_embeddings":false,"hidden_size":4096,"intermediate_size":14336,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"max_position_embeddings":262144,"num_experts_per_tok":2,"num_experts":16,"expert_layer_period":2,"expert_layer_offset":1,"mamba_dt_rank":256}"#;
    group "LFM3";
    "LiquidAI/LFM3-1.7B", "LFM3 1.7B", "", 1_728_801_536, TRANSFORMERS,
        r#"{"model_type":"lfm3","architectures":["Lfm3ForCausalLM"],"vocab_size":128000,"hidden_size":2048,"intermediate_size":7680,"num_hidden_layers":24,"num_attention_heads":16,"num_key_value_heads":4,"max_position_embeddings":128000,"tie_word_embeddings":true,"head_dim":128}"#;
    group "SmolVLM";
    "HuggingFaceTB/SmolVLM2-500M-Video-Instruct", "SmolVLM2 500M", "2025-02", 507_482_304, FIXTURE,
        r#"{"model_type":"smolvlm","architectures":["SmolVLMForConditionalGeneration"],"text_config":{"model_type":"llama","hidden_size":960,"intermediate_size":2560,"num_hidden_layers":32,"num_attention_heads":15,"num_key_value_heads":5,"head_dim":64,"vocab_size":49280,"max_position_embeddings":8192,"tie_word_embeddings":false},"vision_config":{"model_type":"smolvlm_vision","hidden_size":768,"intermediate_size":3072,"num_hidden_layers":12,"num_attention_heads":12,"image_size":512,"patch_size":16},"tie_word_embeddings":false,"scale_factor":4}"#;
    group "Mamba";
    "state-spaces/mamba-130m-hf", "Mamba 130M", "2023-12", 129_135_360, FIXTURE,
        r#"{"model_type":"mamba","architectures":["MambaForCausalLM"],"hidden_size":768,"num_hidden_layers":24,"intermediate_size":1536,"state_size":16,"conv_kernel":4,"time_step_rank":48,"vocab_size":50280}"#;
    "state-spaces/mamba-1.4b-hf", "Mamba 1.4B", "2023-12", 1_372_178_432, FIXTURE,
        r#"{"model_type":"mamba","architectures":["MambaForCausalLM"],"hidden_size":2048,"num_hidden_layers":48,"intermediate_size":4096,"state_size":16,"conv_kernel":4,"time_step_rank":128,"vocab_size":50280}"#;
    "state-spaces/mamba-2.8b-hf", "Mamba 2.8B", "2023-12", 2_768_345_600, FIXTURE,
        r#"{"model_type":"mamba","architectures":["MambaForCausalLM"],"hidden_size":2560,"num_hidden_layers":64,"intermediate_size":5120,"state_size":16,"conv_kernel":4,"time_step_rank":160,"vocab_size":50280}"#;
    "mistralai/Mamba-Codestral-7B-v0.1", "Mamba Codestral 7B", "2024-07", 7_285_403_648, TRANSFORMERS,
        r#"{"model_type":"mamba2","architectures":["Mamba2ForCausalLM"],"hidden_size":4096,"num_hidden_layers":64,"state_size":128,"num_heads":128,"head_dim":64,"n_groups":8,"conv_kernel":4,"expand":2,"vocab_size":32768,"tie_word_embeddings":false}"#;
}
