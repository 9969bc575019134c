//! DeepSeek, and its distillations into other families.

use super::source::LITGPT;

super::models! {
    group "DeepSeek";
    "deepseek-ai/DeepSeek-R1-Distill-Llama-8B", "R1 Distill Llama 8B", 8_030_261_248, LITGPT,
        r#"{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":14336,"vocab_size":128256,"max_position_embeddings":131072}"#;
    "deepseek-ai/DeepSeek-R1-Distill-Llama-70B", "R1 Distill Llama 70B", 70_553_706_496, LITGPT,
        r#"{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":8192,"num_hidden_layers":80,"num_attention_heads":64,"num_key_value_heads":8,"intermediate_size":28672,"vocab_size":128256,"max_position_embeddings":131072}"#;
}
