//! gpt-oss, by OpenAI.

use super::source::CONFIG;

super::table::models! {
    group "gpt-oss";
    "openai/gpt-oss-20b", "gpt-oss 20B", "2025-08", 20_914_757_184 / 4_187_440_704, CONFIG,
        r#"{"model_type":"gpt_oss","architectures":["GptOssForCausalLM"],"hidden_size":2880,"num_hidden_layers":24,"num_attention_heads":64,"num_key_value_heads":8,"head_dim":64,"intermediate_size":2880,"vocab_size":201088,"max_position_embeddings":131072,"num_local_experts":32,"num_experts_per_tok":4,"sliding_window":128,"quantization_config":{"quant_method":"mxfp4"}}"#,
        ["openai/gpt-oss-safeguard-20b"];
    "openai/gpt-oss-120b", "gpt-oss 120B", "2025-08", 116_829_156_672 / 5_711_982_912, CONFIG,
        r#"{"model_type":"gpt_oss","architectures":["GptOssForCausalLM"],"hidden_size":2880,"num_hidden_layers":36,"num_attention_heads":64,"num_key_value_heads":8,"head_dim":64,"intermediate_size":2880,"vocab_size":201088,"max_position_embeddings":131072,"num_local_experts":128,"num_experts_per_tok":4,"sliding_window":128,"quantization_config":{"quant_method":"mxfp4"}}"#,
        ["openai/gpt-oss-safeguard-120b"];
}
