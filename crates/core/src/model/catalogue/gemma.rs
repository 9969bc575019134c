//! Gemma, by Google; of Gemma 3 from 4B on, the text part.

use super::source::{CONFIG, CONVERSION, LITGPT, PUBLISHED};

super::table::models! {
    group "Gemma";
    "google/gemma-3-270m", "Gemma 3 270M", "2025-08", 268_098_176, PUBLISHED,
        r#"{"model_type":"gemma3_text","architectures":["Gemma3ForCausalLM"],"hidden_size":640,"num_hidden_layers":18,"num_attention_heads":4,"num_key_value_heads":1,"head_dim":256,"intermediate_size":2048,"vocab_size":262144,"max_position_embeddings":32768,"sliding_window":512}"#,
        ["google/gemma-3-270m-it"];
    "google/gemma-3-1b-pt", "Gemma 3 1B", "2025-03", 999_885_952, LITGPT,
        r#"{"model_type":"gemma3_text","architectures":["Gemma3ForCausalLM"],"hidden_size":1152,"num_hidden_layers":26,"num_attention_heads":4,"num_key_value_heads":1,"head_dim":256,"intermediate_size":6912,"vocab_size":262144,"max_position_embeddings":32768,"sliding_window":512}"#,
        ["google/gemma-3-1b-it"];
    "google/gemma-2b", "Gemma 2B", "2024-02", 2_506_172_416, LITGPT,
        r#"{"model_type":"gemma","architectures":["GemmaForCausalLM"],"hidden_size":2048,"num_hidden_layers":18,"num_attention_heads":8,"num_key_value_heads":1,"head_dim":256,"intermediate_size":16384,"vocab_size":256000,"max_position_embeddings":8192}"#,
        ["google/gemma-2b-it"];
    "google/gemma-2-2b", "Gemma 2 2B", "2024-07", 2_614_341_888, LITGPT,
        r#"{"model_type":"gemma2","architectures":["Gemma2ForCausalLM"],"hidden_size":2304,"num_hidden_layers":26,"num_attention_heads":8,"num_key_value_heads":4,"head_dim":256,"intermediate_size":9216,"vocab_size":256000,"max_position_embeddings":8192,"sliding_window":4096}"#,
        ["google/gemma-2-2b-it"];
    "google/gemma-3-4b-pt", "Gemma 3 4B (text part)", "2025-03", 3_880_263_168, CONFIG,
        r#"{"model_type":"gemma3_text","architectures":["Gemma3ForCausalLM"],"hidden_size":2560,"num_hidden_layers":34,"num_attention_heads":8,"num_key_value_heads":4,"head_dim":256,"intermediate_size":10240,"vocab_size":262208,"max_position_embeddings":131072,"sliding_window":1024}"#,
        ["google/gemma-3-4b-it"];
    "google/gemma-7b", "Gemma 7B", "2024-02", 8_537_680_896, LITGPT,
        r#"{"model_type":"gemma","architectures":["GemmaForCausalLM"],"hidden_size":3072,"num_hidden_layers":28,"num_attention_heads":16,"num_key_value_heads":16,"head_dim":256,"intermediate_size":24576,"vocab_size":256000,"max_position_embeddings":8192}"#,
        ["google/gemma-7b-it", "google/codegemma-7b"];
    "google/gemma-2-9b", "Gemma 2 9B", "2024-06", 9_241_705_984, LITGPT,
        r#"{"model_type":"gemma2","architectures":["Gemma2ForCausalLM"],"hidden_size":3584,"num_hidden_layers":42,"num_attention_heads":16,"num_key_value_heads":8,"head_dim":256,"intermediate_size":14336,"vocab_size":256000,"max_position_embeddings":8192,"sliding_window":4096}"#,
        ["google/gemma-2-9b-it"];
    "google/gemma-3-12b-pt", "Gemma 3 12B (text part)", "2025-03", 11_766_034_176, CONFIG,
        r#"{"model_type":"gemma3_text","architectures":["Gemma3ForCausalLM"],"hidden_size":3840,"num_hidden_layers":48,"num_attention_heads":16,"num_key_value_heads":8,"head_dim":256,"intermediate_size":15360,"vocab_size":262208,"max_position_embeddings":131072,"sliding_window":1024}"#,
        ["google/gemma-3-12b-it"];
    "google/gemma-3-27b-pt", "Gemma 3 27B (text part)", "2025-03", 27_009_346_304, CONFIG,
        r#"{"model_type":"gemma3_text","architectures":["Gemma3ForCausalLM"],"hidden_size":5376,"num_hidden_layers":62,"num_attention_heads":32,"num_key_value_heads":16,"head_dim":128,"intermediate_size":21504,"vocab_size":262208,"max_position_embeddings":131072,"sliding_window":1024}"#,
        ["google/gemma-3-27b-it"];
    "google/gemma-2-27b", "Gemma 2 27B", "2024-06", 27_227_128_320, LITGPT,
        r#"{"model_type":"gemma2","architectures":["Gemma2ForCausalLM"],"hidden_size":4608,"num_hidden_layers":46,"num_attention_heads":32,"num_key_value_heads":16,"head_dim":128,"intermediate_size":36864,"vocab_size":256000,"max_position_embeddings":8192,"sliding_window":4096}"#,
        ["google/gemma-2-27b-it"];
    group "Gemma 4";
    "google/gemma-4-E2B-it", "Gemma 4 E2B", "", 5_104_297_504, CONVERSION,
        r#"{"model_type":"gemma4","architectures":["Gemma4ForConditionalGeneration"],"text_config":{"model_type":"gemma4_text","hidden_size":1536,"hidden_size_per_layer_input":256,"intermediate_size":6144,"num_hidden_layers":35,"num_attention_heads":8,"num_key_value_heads":1,"head_dim":256,"global_head_dim":512,"num_kv_shared_layers":20,"vocab_size":262144,"vocab_size_per_layer_input":262144,"max_position_embeddings":131072,"tie_word_embeddings":true,"layer_types":["sliding_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention","full_attention"],"use_double_wide_mlp":true,"final_logit_softcapping":30.0,"sliding_window":512},"vision_config":{"model_type":"gemma4_vision","hidden_size":768,"intermediate_size":3072,"num_hidden_layers":16,"num_attention_heads":12,"num_key_value_heads":12,"head_dim":64,"global_head_dim":64,"pooling_kernel_size":3,"patch_size":16,"position_embedding_size":10240},"audio_config":{"model_type":"gemma4_audio","hidden_size":1024,"num_hidden_layers":12,"num_attention_heads":8,"conv_kernel_size":5},"tie_word_embeddings":true}"#,
        ["google/gemma-4-E2B"];
}
