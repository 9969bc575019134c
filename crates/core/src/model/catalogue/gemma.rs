//! Gemma, by Google; of Gemma 3n and of Gemma 4 12B the text part.

use super::source::{AICONFIGURATOR, CONFIG, CONVERSION, FIXTURE, LITGPT, PUBLISHED, TRANSFORMERS};

super::table::models! {
    group "Gemma";
    "google/gemma-3-270m", "Gemma 3 270M", "2025-08", 268_098_176, PUBLISHED,
        r#"{"model_type":"gemma3_text","architectures":["Gemma3ForCausalLM"],"hidden_size":640,"num_hidden_layers":18,"num_attention_heads":4,"num_key_value_heads":1,"head_dim":256,"intermediate_size":2048,"vocab_size":262144,"max_position_embeddings":32768,"sliding_window":512}"#,
        ["google/gemma-3-270m-it", "google/functiongemma-270m-it"];
    "google/gemma-3-1b-pt", "Gemma 3 1B", "2025-03", 999_885_952, LITGPT,
        r#"{"model_type":"gemma3_text","architectures":["Gemma3ForCausalLM"],"hidden_size":1152,"num_hidden_layers":26,"num_attention_heads":4,"num_key_value_heads":1,"head_dim":256,"intermediate_size":6912,"vocab_size":262144,"max_position_embeddings":32768,"sliding_window":512}"#,
        ["google/gemma-3-1b-it"];
    "google/gemma-2b", "Gemma 2B", "2024-02", 2_506_172_416, LITGPT,
        r#"{"model_type":"gemma","architectures":["GemmaForCausalLM"],"hidden_size":2048,"num_hidden_layers":18,"num_attention_heads":8,"num_key_value_heads":1,"head_dim":256,"intermediate_size":16384,"vocab_size":256000,"max_position_embeddings":8192}"#,
        ["google/gemma-2b-it"];
    "google/gemma-2-2b", "Gemma 2 2B", "2024-07", 2_614_341_888, LITGPT,
        r#"{"model_type":"gemma2","architectures":["Gemma2ForCausalLM"],"hidden_size":2304,"num_hidden_layers":26,"num_attention_heads":8,"num_key_value_heads":4,"head_dim":256,"intermediate_size":9216,"vocab_size":256000,"max_position_embeddings":8192,"sliding_window":4096}"#,
        ["google/gemma-2-2b-it"];
    "google/gemma-3-4b-pt", "Gemma 3 4B", "2025-03", 4_300_079_472, CONFIG,
        r#"{"model_type":"gemma3","architectures":["Gemma3ForConditionalGeneration"],"text_config":{"model_type":"gemma3_text","hidden_size":2560,"num_hidden_layers":34,"num_attention_heads":8,"num_key_value_heads":4,"head_dim":256,"intermediate_size":10240,"vocab_size":262208,"max_position_embeddings":131072,"sliding_window":1024},"vision_config":{"model_type":"siglip_vision_model","hidden_size":1152,"intermediate_size":4304,"num_hidden_layers":27,"num_attention_heads":16,"patch_size":14,"image_size":896,"vision_use_head":false},"mm_tokens_per_image":256}"#,
        ["google/gemma-3-4b-it"];
    "google/gemma-7b", "Gemma 7B", "2024-02", 8_537_680_896, LITGPT,
        r#"{"model_type":"gemma","architectures":["GemmaForCausalLM"],"hidden_size":3072,"num_hidden_layers":28,"num_attention_heads":16,"num_key_value_heads":16,"head_dim":256,"intermediate_size":24576,"vocab_size":256000,"max_position_embeddings":8192}"#,
        ["google/gemma-7b-it", "google/codegemma-7b"];
    "google/gemma-2-9b", "Gemma 2 9B", "2024-06", 9_241_705_984, LITGPT,
        r#"{"model_type":"gemma2","architectures":["Gemma2ForCausalLM"],"hidden_size":3584,"num_hidden_layers":42,"num_attention_heads":16,"num_key_value_heads":8,"head_dim":256,"intermediate_size":14336,"vocab_size":256000,"max_position_embeddings":8192,"sliding_window":4096}"#,
        ["google/gemma-2-9b-it"];
    "google/gemma-3-12b-pt", "Gemma 3 12B", "2025-03", 12_187_325_040, CONFIG,
        r#"{"model_type":"gemma3","architectures":["Gemma3ForConditionalGeneration"],"text_config":{"model_type":"gemma3_text","hidden_size":3840,"num_hidden_layers":48,"num_attention_heads":16,"num_key_value_heads":8,"head_dim":256,"intermediate_size":15360,"vocab_size":262208,"max_position_embeddings":131072,"sliding_window":1024},"vision_config":{"model_type":"siglip_vision_model","hidden_size":1152,"intermediate_size":4304,"num_hidden_layers":27,"num_attention_heads":16,"patch_size":14,"image_size":896,"vision_use_head":false},"mm_tokens_per_image":256}"#,
        ["google/gemma-3-12b-it"];
    "google/gemma-2-27b", "Gemma 2 27B", "2024-06", 27_227_128_320, LITGPT,
        r#"{"model_type":"gemma2","architectures":["Gemma2ForCausalLM"],"hidden_size":4608,"num_hidden_layers":46,"num_attention_heads":32,"num_key_value_heads":16,"head_dim":128,"intermediate_size":36864,"vocab_size":256000,"max_position_embeddings":8192,"sliding_window":4096}"#,
        ["google/gemma-2-27b-it"];
    "google/gemma-3-27b-pt", "Gemma 3 27B", "2025-03", 27_432_406_640, CONFIG,
        r#"{"model_type":"gemma3","architectures":["Gemma3ForConditionalGeneration"],"text_config":{"model_type":"gemma3_text","hidden_size":5376,"num_hidden_layers":62,"num_attention_heads":32,"num_key_value_heads":16,"head_dim":128,"intermediate_size":21504,"vocab_size":262208,"max_position_embeddings":131072,"sliding_window":1024},"vision_config":{"model_type":"siglip_vision_model","hidden_size":1152,"intermediate_size":4304,"num_hidden_layers":27,"num_attention_heads":16,"patch_size":14,"image_size":896,"vision_use_head":false},"mm_tokens_per_image":256}"#,
        ["google/gemma-3-27b-it"];
    group "Gemma 4";
    "google/gemma-4-E2B-it", "Gemma 4 E2B", "", 5_104_297_504, CONVERSION,
        r#"{"model_type":"gemma4","architectures":["Gemma4ForConditionalGeneration"],"text_config":{"model_type":"gemma4_text","hidden_size":1536,"hidden_size_per_layer_input":256,"intermediate_size":6144,"num_hidden_layers":35,"num_attention_heads":8,"num_key_value_heads":1,"head_dim":256,"global_head_dim":512,"num_kv_shared_layers":20,"vocab_size":262144,"vocab_size_per_layer_input":262144,"max_position_embeddings":131072,"tie_word_embeddings":true,"layer_types":["sliding_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention","full_attention"],"use_double_wide_mlp":true,"final_logit_softcapping":30.0,"sliding_window":512},"vision_config":{"model_type":"gemma4_vision","use_clipped_linears":true,"hidden_size":768,"intermediate_size":3072,"num_hidden_layers":16,"num_attention_heads":12,"num_key_value_heads":12,"head_dim":64,"global_head_dim":64,"pooling_kernel_size":3,"patch_size":16,"position_embedding_size":10240},"audio_config":{"model_type":"gemma4_audio","hidden_size":1024,"num_hidden_layers":12,"num_attention_heads":8,"conv_kernel_size":5},"tie_word_embeddings":true}"#,
        ["google/gemma-4-E2B"];
    "google/gemma-4-E4B-it", "Gemma 4 E4B", "", 7_941_100_832, CONVERSION,
        r#"{"model_type":"gemma4","architectures":["Gemma4ForConditionalGeneration"],"text_config":{"model_type":"gemma4_text","hidden_size":2560,"hidden_size_per_layer_input":256,"intermediate_size":10240,"num_hidden_layers":42,"num_attention_heads":8,"num_key_value_heads":2,"head_dim":256,"global_head_dim":512,"num_kv_shared_layers":18,"vocab_size":262144,"vocab_size_per_layer_input":262144,"max_position_embeddings":131072,"final_logit_softcapping":30.0,"tie_word_embeddings":true},"vision_config":{"model_type":"gemma4_vision","use_clipped_linears":true,"hidden_size":768,"intermediate_size":3072,"num_hidden_layers":16,"num_attention_heads":12,"num_key_value_heads":12,"head_dim":64,"global_head_dim":64,"pooling_kernel_size":3,"patch_size":16,"position_embedding_size":10240},"audio_config":{"model_type":"gemma4_audio","hidden_size":1024,"num_hidden_layers":12,"num_attention_heads":8,"conv_kernel_size":5},"vision_soft_tokens_per_image":280,"tie_word_embeddings":true}"#,
        ["google/gemma-4-E4B"];
    "google/gemma-4-12B-it", "Gemma 4 12B (text part)", "", 11_907_350_272, FIXTURE,
        r#"{"model_type":"gemma4_unified","architectures":["Gemma4UnifiedForConditionalGeneration"],"text_config":{"model_type":"gemma4_unified_text","attention_k_eq_v":true,"final_logit_softcapping":30.0,"global_head_dim":512,"head_dim":256,"hidden_size":3840,"intermediate_size":15360,"max_position_embeddings":262144,"num_attention_heads":16,"num_global_key_value_heads":1,"num_hidden_layers":48,"num_key_value_heads":8,"num_kv_shared_layers":0,"sliding_window":1024,"vocab_size":262144},"tie_word_embeddings":true,"vision_config":{"model_type":"gemma4_unified_vision","mm_embed_dim":3840,"output_proj_dims":3840}}"#,
        ["google/gemma-4-12B"];
    "google/gemma-4-26B-A4B-it", "Gemma 4 26B-A4B", "", 25_805_933_872 / 4_395_322_672, AICONFIGURATOR,
        r#"{"model_type":"gemma4","architectures":["Gemma4ForConditionalGeneration"],"audio_config":null,"text_config":{"model_type":"gemma4_text","attention_k_eq_v":true,"enable_moe_block":true,"final_logit_softcapping":30.0,"global_head_dim":512,"head_dim":256,"hidden_size":2816,"hidden_size_per_layer_input":0,"intermediate_size":2112,"max_position_embeddings":262144,"moe_intermediate_size":704,"num_attention_heads":16,"num_experts":128,"num_global_key_value_heads":2,"num_hidden_layers":30,"num_key_value_heads":8,"num_kv_shared_layers":0,"sliding_window":1024,"top_k_experts":8,"use_bidirectional_attention":"vision","vocab_size":262144},"tie_word_embeddings":true,"vision_config":{"model_type":"gemma4_vision","hidden_size":1152,"intermediate_size":4304,"num_hidden_layers":27,"num_attention_heads":16,"num_key_value_heads":16,"head_dim":72,"global_head_dim":72,"default_output_length":280,"pooling_kernel_size":3,"standardize":true,"patch_size":16,"position_embedding_size":10240},"vision_soft_tokens_per_image":280}"#,
        ["google/gemma-4-26B-A4B"];
    "google/gemma-4-31B-it", "Gemma 4 31B", "", 31_273_086_512, AICONFIGURATOR,
        r#"{"model_type":"gemma4","architectures":["Gemma4ForConditionalGeneration"],"audio_config":null,"text_config":{"model_type":"gemma4_text","attention_k_eq_v":true,"final_logit_softcapping":30.0,"global_head_dim":512,"head_dim":256,"hidden_size":5376,"hidden_size_per_layer_input":0,"intermediate_size":21504,"max_position_embeddings":262144,"num_attention_heads":32,"num_global_key_value_heads":4,"num_hidden_layers":60,"num_key_value_heads":16,"num_kv_shared_layers":0,"sliding_window":1024,"use_bidirectional_attention":"vision","vocab_size":262144},"tie_word_embeddings":true,"vision_config":{"model_type":"gemma4_vision","hidden_size":1152,"intermediate_size":4304,"num_hidden_layers":27,"num_attention_heads":16,"num_key_value_heads":16,"head_dim":72,"global_head_dim":72,"default_output_length":280,"pooling_kernel_size":3,"standardize":true,"patch_size":16,"position_embedding_size":10240},"vision_soft_tokens_per_image":280}"#,
        ["google/gemma-4-31B"];
    group "Gemma 3n";
    "google/gemma-3n-E2B-it", "Gemma 3n E2B (text part)", "2025-06", 4_435_182_688, CONVERSION,
        r#"{"model_type":"gemma3n","architectures":["Gemma3nForConditionalGeneration"],"text_config":{"model_type":"gemma3n_text","hidden_size":2048,"num_hidden_layers":30,"num_attention_heads":8,"num_key_value_heads":2,"head_dim":256,"intermediate_size":8192,"vocab_size":262400,"vocab_size_per_layer_input":262144,"max_position_embeddings":32768,"sliding_window":512,"num_kv_shared_layers":10,"hidden_size_per_layer_input":256,"laurel_rank":64}}"#,
        ["google/gemma-3n-E2B"];
    "google/gemma-3n-E4B-it", "Gemma 3n E4B (text part)", "2025-06", 6_835_235_568, TRANSFORMERS,
        r#"{"model_type":"gemma3n","architectures":["Gemma3nForConditionalGeneration"],"text_config":{"model_type":"gemma3n_text","hidden_size":2048,"num_hidden_layers":35,"num_attention_heads":8,"num_key_value_heads":2,"head_dim":256,"intermediate_size":16384,"vocab_size":262400,"vocab_size_per_layer_input":262144,"max_position_embeddings":32768,"sliding_window":512,"num_kv_shared_layers":15,"hidden_size_per_layer_input":256,"laurel_rank":64}}"#,
        ["google/gemma-3n-E4B"];
    group "PaliGemma";
    "google/paligemma-3b-pt-224", "PaliGemma 3B 224", "2024-05", 2_923_466_480, CONVERSION,
        r#"{"model_type":"paligemma","architectures":["PaliGemmaForConditionalGeneration"],"text_config":{"model_type":"gemma","hidden_size":2048,"num_hidden_layers":18,"num_attention_heads":8,"num_key_value_heads":1,"head_dim":256,"intermediate_size":16384,"vocab_size":257216,"max_position_embeddings":8192},"vision_config":{"model_type":"siglip_vision_model","hidden_size":1152,"intermediate_size":4304,"num_hidden_layers":27,"num_attention_heads":16,"image_size":224,"patch_size":14,"vision_use_head":false},"projection_dim":2048,"tie_word_embeddings":true}"#,
        ["google/paligemma-3b-mix-224"];
}
