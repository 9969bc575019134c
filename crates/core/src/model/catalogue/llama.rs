//! Llama and Muse, by Meta, and models of the second generation's shape.

use super::source::{AICONFIGURATOR, CONVERSION, LITGPT, TRANSFORMERS, TT_METAL};

super::table::models! {
    group "Llama 3";
    "meta-llama/Llama-3.2-1B", "Llama 3.2 1B", "2024-09", 1_235_814_400, LITGPT,
        r#"{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":2048,"num_hidden_layers":16,"num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":8192,"vocab_size":128256,"max_position_embeddings":131072,"head_dim":64,"tie_word_embeddings":true}"#,
        ["meta-llama/Llama-3.2-1B-Instruct"];
    "meta-llama/Llama-3.2-3B", "Llama 3.2 3B", "2024-09", 3_212_749_824, LITGPT,
        r#"{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":3072,"num_hidden_layers":28,"num_attention_heads":24,"num_key_value_heads":8,"intermediate_size":8192,"vocab_size":128256,"max_position_embeddings":131072,"head_dim":128,"tie_word_embeddings":true}"#,
        ["meta-llama/Llama-3.2-3B-Instruct"];
    "meta-llama/Meta-Llama-3-8B", "Llama 3 8B", "2024-04", 8_030_261_248, LITGPT,
        r#"{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":14336,"vocab_size":128256,"max_position_embeddings":8192}"#,
        ["meta-llama/Meta-Llama-3-8B-Instruct"];
    "meta-llama/Llama-3.1-8B", "Llama 3.1 8B", "2024-07", 8_030_261_248, LITGPT,
        r#"{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":14336,"vocab_size":128256,"max_position_embeddings":131072}"#,
        ["meta-llama/Llama-3.1-8B-Instruct", "meta-llama/Meta-Llama-3.1-8B", "meta-llama/Meta-Llama-3.1-8B-Instruct"];
    "meta-llama/Llama-3.2-11B-Vision-Instruct", "Llama 3.2 11B Vision", "2024-09", 10_670_220_835, CONVERSION,
        r#"{"model_type":"mllama","architectures":["MllamaForConditionalGeneration"],"text_config":{"model_type":"mllama_text_model","hidden_size":4096,"intermediate_size":14336,"num_hidden_layers":40,"num_attention_heads":32,"num_key_value_heads":8,"vocab_size":128256,"max_position_embeddings":131072,"cross_attention_layers":[3,8,13,18,23,28,33,38]},"vision_config":{"model_type":"mllama_vision_model","hidden_size":1280,"intermediate_size":5120,"num_hidden_layers":32,"num_global_layers":8,"attention_heads":16,"image_size":560,"patch_size":14,"max_num_tiles":4,"intermediate_layers_indices":[3,7,15,23,30],"vision_output_dim":7680},"tie_word_embeddings":false}"#,
        ["meta-llama/Llama-3.2-11B-Vision"];
    "meta-llama/Meta-Llama-3-70B", "Llama 3 70B", "2024-04", 70_553_706_496, LITGPT,
        r#"{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":8192,"num_hidden_layers":80,"num_attention_heads":64,"num_key_value_heads":8,"intermediate_size":28672,"vocab_size":128256,"max_position_embeddings":8192}"#,
        ["meta-llama/Meta-Llama-3-70B-Instruct"];
    "meta-llama/Llama-3.1-70B", "Llama 3.1 70B", "2024-07", 70_553_706_496, LITGPT,
        r#"{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":8192,"num_hidden_layers":80,"num_attention_heads":64,"num_key_value_heads":8,"intermediate_size":28672,"vocab_size":128256,"max_position_embeddings":131072}"#,
        ["meta-llama/Llama-3.1-70B-Instruct", "meta-llama/Meta-Llama-3.1-70B",
         "meta-llama/Meta-Llama-3.1-70B-Instruct"];
    "meta-llama/Llama-3.3-70B-Instruct", "Llama 3.3 70B", "2024-12", 70_553_706_496, LITGPT,
        r#"{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":8192,"num_hidden_layers":80,"num_attention_heads":64,"num_key_value_heads":8,"intermediate_size":28672,"vocab_size":128256,"max_position_embeddings":131072}"#;
    "meta-llama/Llama-3.2-90B-Vision-Instruct", "Llama 3.2 90B Vision", "2024-09", 88_593_355_323, TT_METAL,
        r#"{"model_type":"mllama","architectures":["MllamaForConditionalGeneration"],"text_config":{"model_type":"mllama_text_model","hidden_size":8192,"intermediate_size":28672,"num_hidden_layers":100,"num_attention_heads":64,"num_key_value_heads":8,"vocab_size":128256,"max_position_embeddings":131072,"cross_attention_layers":[3,8,13,18,23,28,33,38,43,48,53,58,63,68,73,78,83,88,93,98]},"vision_config":{"model_type":"mllama_vision_model","hidden_size":1280,"intermediate_size":5120,"num_hidden_layers":32,"num_global_layers":8,"attention_heads":16,"image_size":560,"patch_size":14,"max_num_tiles":4,"intermediate_layers_indices":[3,7,15,23,30],"vision_output_dim":7680},"tie_word_embeddings":false}"#,
        ["meta-llama/Llama-3.2-90B-Vision"];
    "meta-llama/Llama-3.1-405B", "Llama 3.1 405B", "2024-07", 405_853_388_800, LITGPT,
        r#"{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":16384,"num_hidden_layers":126,"num_attention_heads":128,"num_key_value_heads":8,"intermediate_size":53248,"vocab_size":128256,"max_position_embeddings":131072}"#,
        ["meta-llama/Llama-3.1-405B-Instruct", "meta-llama/Meta-Llama-3.1-405B",
         "meta-llama/Meta-Llama-3.1-405B-Instruct"];
    group "Llama 2";
    "TinyLlama/TinyLlama-1.1B-Chat-v1.0", "TinyLlama 1.1B", "2023-12", 1_100_048_384, LITGPT,
        r#"{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":2048,"num_hidden_layers":22,"num_attention_heads":32,"num_key_value_heads":4,"intermediate_size":5632,"vocab_size":32000,"max_position_embeddings":2048}"#,
        ["TinyLlama/TinyLlama_v1.1", "TinyLlama/TinyLlama-1.1B-intermediate-step-1431k-3T"];
    "meta-llama/Llama-2-7b-hf", "Llama 2 7B", "2023-07", 6_738_415_616, LITGPT,
        r#"{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,"intermediate_size":11008,"vocab_size":32000,"max_position_embeddings":4096}"#,
        ["meta-llama/Llama-2-7b-chat-hf", "lmsys/vicuna-7b-v1.5"];
    "codellama/CodeLlama-7b-hf", "Code Llama 7B", "2023-08", 6_738_546_688, LITGPT,
        r#"{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,"intermediate_size":11008,"vocab_size":32016,"max_position_embeddings":16384}"#,
        ["codellama/CodeLlama-7b-Instruct-hf"];
    "meta-llama/Llama-2-13b-hf", "Llama 2 13B", "2023-07", 13_015_864_320, LITGPT,
        r#"{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":5120,"num_hidden_layers":40,"num_attention_heads":40,"num_key_value_heads":40,"intermediate_size":13824,"vocab_size":32000,"max_position_embeddings":4096}"#,
        ["meta-llama/Llama-2-13b-chat-hf", "lmsys/vicuna-13b-v1.5"];
    "codellama/CodeLlama-13b-hf", "Code Llama 13B", "2023-08", 13_016_028_160, LITGPT,
        r#"{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":5120,"num_hidden_layers":40,"num_attention_heads":40,"num_key_value_heads":40,"intermediate_size":13824,"vocab_size":32016,"max_position_embeddings":16384}"#,
        ["codellama/CodeLlama-13b-Instruct-hf"];
    "codellama/CodeLlama-34b-hf", "Code Llama 34B", "2023-08", 33_743_970_304, LITGPT,
        r#"{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":8192,"num_hidden_layers":48,"num_attention_heads":64,"num_key_value_heads":8,"intermediate_size":22016,"vocab_size":32000,"max_position_embeddings":16384}"#,
        ["codellama/CodeLlama-34b-Instruct-hf"];
    "meta-llama/Llama-2-70b-hf", "Llama 2 70B", "2023-07", 68_976_648_192, LITGPT,
        r#"{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":8192,"num_hidden_layers":80,"num_attention_heads":64,"num_key_value_heads":8,"intermediate_size":28672,"vocab_size":32000,"max_position_embeddings":4096}"#,
        ["meta-llama/Llama-2-70b-chat-hf"];
    group "Llama 4";
    "meta-llama/Llama-4-Scout-17B-16E-Instruct", "Llama 4 Scout 109B-A17B", "2025-04", 108_641_793_536 / 18_044_827_136, AICONFIGURATOR,
        r#"{"model_type":"llama4","architectures":["Llama4ForConditionalGeneration"],"text_config":{"attention_chunk_size":8192,"head_dim":128,"hidden_size":5120,"intermediate_size":8192,"intermediate_size_mlp":16384,"max_position_embeddings":10485760,"model_type":"llama4_text","num_attention_heads":40,"num_experts_per_tok":1,"num_hidden_layers":48,"num_key_value_heads":8,"num_local_experts":16,"vocab_size":202048},"vision_config":{"model_type":"llama4_vision_model","hidden_size":1408,"intermediate_size":5632,"num_hidden_layers":34,"num_attention_heads":16,"image_size":336,"patch_size":14}}"#,
        ["meta-llama/Llama-4-Scout-17B-16E"];
    "meta-llama/Llama-4-Maverick-17B-128E-Instruct", "Llama 4 Maverick 400B-A17B", "2025-04", 401_583_781_376 / 18_056_623_616, AICONFIGURATOR,
        r#"{"model_type":"llama4","architectures":["Llama4ForConditionalGeneration"],"text_config":{"attention_chunk_size":8192,"head_dim":128,"hidden_size":5120,"intermediate_size":8192,"intermediate_size_mlp":16384,"max_position_embeddings":1048576,"model_type":"llama4_text","num_attention_heads":40,"num_experts_per_tok":1,"num_hidden_layers":48,"num_key_value_heads":8,"num_local_experts":128,"vocab_size":202048,"interleave_moe_layer_step":2,"use_qk_norm":false},"vision_config":{"model_type":"llama4_vision_model","hidden_size":1408,"intermediate_size":5632,"num_hidden_layers":34,"num_attention_heads":16,"image_size":336,"patch_size":14}}"#,
        ["meta-llama/Llama-4-Maverick-17B-128E"];
    group "Muse";
    "meta-models/Muse-Glimmer-30B", "Muse Glimmer 30B", "", 29_776_626_688, TRANSFORMERS,
        r#"{"model_type":"muse_glimmer","architectures":["MuseGlimmerForConditionalGeneration"],"text_config":{"model_type":"muse_glimmer_text","vocab_size":202048,"hidden_size":6656,"intermediate_size":19968,"num_hidden_layers":52,"num_attention_heads":32,"num_key_value_heads":2,"head_dim":128,"max_position_embeddings":131072,"sliding_window":2048,"tie_word_embeddings":false},"vision_config":{"model_type":"muse_glimmer_vision","patch_size":14,"pos_emb_height":32,"pos_emb_width":32,"num_attention_heads":16,"num_hidden_layers":50,"hidden_size":1536,"intermediate_size":8960,"patch_temporal":2,"merge_size":2},"out_hidden_size":6144,"projector_hidden_size":4096}"#;
    group "LLaVA";
    "llava-hf/llava-1.5-7b-hf", "LLaVA 1.5 7B", "2023-10", 7_063_427_072, CONVERSION,
        r#"{"model_type":"llava","architectures":["LlavaForConditionalGeneration"],"text_config":{"model_type":"llama","hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"intermediate_size":11008,"vocab_size":32064,"max_position_embeddings":4096},"vision_config":{"model_type":"clip_vision_model","hidden_size":1024,"intermediate_size":4096,"num_hidden_layers":24,"num_attention_heads":16,"image_size":336,"patch_size":14,"projection_dim":768,"vocab_size":32000},"tie_word_embeddings":false}"#;
}
