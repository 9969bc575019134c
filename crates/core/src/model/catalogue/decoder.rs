//! Further decoders of the Llama generation.

use super::source::LITGPT;

super::models! {
    group "SmolLM";
    "HuggingFaceTB/SmolLM2-135M", "SmolLM2 135M", 134_515_008, LITGPT,
        r#"{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":576,"num_hidden_layers":30,"num_attention_heads":9,"num_key_value_heads":3,"intermediate_size":1536,"vocab_size":49152,"max_position_embeddings":8192,"tie_word_embeddings":true}"#,
        ["HuggingFaceTB/SmolLM2-135M-Instruct"];
    "HuggingFaceTB/SmolLM2-360M", "SmolLM2 360M", 361_821_120, LITGPT,
        r#"{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":960,"num_hidden_layers":32,"num_attention_heads":15,"num_key_value_heads":5,"intermediate_size":2560,"vocab_size":49152,"max_position_embeddings":8192,"tie_word_embeddings":true}"#,
        ["HuggingFaceTB/SmolLM2-360M-Instruct"];
    "HuggingFaceTB/SmolLM2-1.7B", "SmolLM2 1.7B", 1_711_376_384, LITGPT,
        r#"{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":2048,"num_hidden_layers":24,"num_attention_heads":32,"num_key_value_heads":32,"intermediate_size":8192,"vocab_size":49152,"max_position_embeddings":8192,"tie_word_embeddings":true}"#,
        ["HuggingFaceTB/SmolLM2-1.7B-Instruct"];
    group "OLMo 2";
    "allenai/OLMo-2-1124-7B", "OLMo 2 7B", 7_298_617_344, LITGPT,
        r#"{"model_type":"olmo2","architectures":["Olmo2ForCausalLM"],"hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,"intermediate_size":11008,"vocab_size":100352,"max_position_embeddings":4096}"#,
        ["allenai/OLMo-2-1124-7B-Instruct"];
    "allenai/OLMo-2-1124-13B", "OLMo 2 13B", 13_716_198_400, LITGPT,
        r#"{"model_type":"olmo2","architectures":["Olmo2ForCausalLM"],"hidden_size":5120,"num_hidden_layers":40,"num_attention_heads":40,"num_key_value_heads":40,"intermediate_size":13824,"vocab_size":100352,"max_position_embeddings":4096}"#,
        ["allenai/OLMo-2-1124-13B-Instruct"];
    group "Falcon";
    "tiiuae/falcon-7b", "Falcon 7B", 6_921_720_704, LITGPT,
        r#"{"model_type":"falcon","architectures":["FalconForCausalLM"],"hidden_size":4544,"num_hidden_layers":32,"num_attention_heads":71,"multi_query":true,"vocab_size":65024}"#,
        ["tiiuae/falcon-7b-instruct"];
    "tiiuae/Falcon3-7B-Base", "Falcon3 7B", 7_455_550_464, LITGPT,
        r#"{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":3072,"num_hidden_layers":28,"num_attention_heads":12,"num_key_value_heads":4,"head_dim":256,"intermediate_size":23040,"vocab_size":131072,"max_position_embeddings":32768}"#,
        ["tiiuae/Falcon3-7B-Instruct"];
    "tiiuae/falcon-40b", "Falcon 40B", 41_303_293_952, LITGPT,
        r#"{"model_type":"falcon","architectures":["FalconForCausalLM"],"hidden_size":8192,"num_hidden_layers":60,"num_attention_heads":128,"num_kv_heads":8,"new_decoder_architecture":true,"vocab_size":65024}"#,
        ["tiiuae/falcon-40b-instruct"];
}
