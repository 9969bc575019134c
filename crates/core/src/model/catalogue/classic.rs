//! GPT-2 and the decoders of its time.

use super::source::{LITGPT, TRANSFORMERS};

super::models! {
    group "GPT-2";
    "openai-community/gpt2", "GPT-2 124M", 124_439_808, TRANSFORMERS,
        r#"{"model_type":"gpt2","architectures":["GPT2LMHeadModel"],"n_embd":768,"n_layer":12,"n_head":12,"vocab_size":50257,"n_positions":1024}"#,
        ["gpt2"];
    "openai-community/gpt2-medium", "GPT-2 medium 355M", 354_823_168, TRANSFORMERS,
        r#"{"model_type":"gpt2","architectures":["GPT2LMHeadModel"],"n_embd":1024,"n_layer":24,"n_head":16,"vocab_size":50257,"n_positions":1024}"#,
        ["gpt2-medium"];
    "openai-community/gpt2-large", "GPT-2 large 774M", 774_030_080, TRANSFORMERS,
        r#"{"model_type":"gpt2","architectures":["GPT2LMHeadModel"],"n_embd":1280,"n_layer":36,"n_head":20,"vocab_size":50257,"n_positions":1024}"#,
        ["gpt2-large"];
    "openai-community/gpt2-xl", "GPT-2 XL 1.6B", 1_557_611_200, TRANSFORMERS,
        r#"{"model_type":"gpt2","architectures":["GPT2LMHeadModel"],"n_embd":1600,"n_layer":48,"n_head":25,"vocab_size":50257,"n_positions":1024}"#,
        ["gpt2-xl"];
    group "Pythia and GPT-NeoX";
    "EleutherAI/pythia-70m", "Pythia 70M", 70_426_624, LITGPT,
        r#"{"model_type":"gpt_neox","architectures":["GPTNeoXForCausalLM"],"hidden_size":512,"num_hidden_layers":6,"num_attention_heads":8,"intermediate_size":2048,"vocab_size":50304,"max_position_embeddings":2048}"#,
        ["EleutherAI/pythia-70m-deduped"];
    "EleutherAI/pythia-160m", "Pythia 160M", 162_322_944, LITGPT,
        r#"{"model_type":"gpt_neox","architectures":["GPTNeoXForCausalLM"],"hidden_size":768,"num_hidden_layers":12,"num_attention_heads":12,"intermediate_size":3072,"vocab_size":50304,"max_position_embeddings":2048}"#,
        ["EleutherAI/pythia-160m-deduped"];
    "EleutherAI/pythia-410m", "Pythia 410M", 405_334_016, LITGPT,
        r#"{"model_type":"gpt_neox","architectures":["GPTNeoXForCausalLM"],"hidden_size":1024,"num_hidden_layers":24,"num_attention_heads":16,"intermediate_size":4096,"vocab_size":50304,"max_position_embeddings":2048}"#,
        ["EleutherAI/pythia-410m-deduped"];
    "EleutherAI/pythia-1b", "Pythia 1B", 1_011_781_632, LITGPT,
        r#"{"model_type":"gpt_neox","architectures":["GPTNeoXForCausalLM"],"hidden_size":2048,"num_hidden_layers":16,"num_attention_heads":8,"intermediate_size":8192,"vocab_size":50304,"max_position_embeddings":2048}"#,
        ["EleutherAI/pythia-1b-deduped"];
    "EleutherAI/pythia-1.4b", "Pythia 1.4B", 1_414_647_808, LITGPT,
        r#"{"model_type":"gpt_neox","architectures":["GPTNeoXForCausalLM"],"hidden_size":2048,"num_hidden_layers":24,"num_attention_heads":16,"intermediate_size":8192,"vocab_size":50304,"max_position_embeddings":2048}"#,
        ["EleutherAI/pythia-1.4b-deduped"];
    "EleutherAI/pythia-2.8b", "Pythia 2.8B", 2_775_208_960, LITGPT,
        r#"{"model_type":"gpt_neox","architectures":["GPTNeoXForCausalLM"],"hidden_size":2560,"num_hidden_layers":32,"num_attention_heads":32,"intermediate_size":10240,"vocab_size":50304,"max_position_embeddings":2048}"#,
        ["EleutherAI/pythia-2.8b-deduped"];
    "EleutherAI/pythia-6.9b", "Pythia 6.9B", 6_857_302_016, LITGPT,
        r#"{"model_type":"gpt_neox","architectures":["GPTNeoXForCausalLM"],"hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"intermediate_size":16384,"vocab_size":50432,"max_position_embeddings":2048}"#,
        ["EleutherAI/pythia-6.9b-deduped"];
    "EleutherAI/pythia-12b", "Pythia 12B", 11_846_072_320, LITGPT,
        r#"{"model_type":"gpt_neox","architectures":["GPTNeoXForCausalLM"],"hidden_size":5120,"num_hidden_layers":36,"num_attention_heads":40,"intermediate_size":20480,"vocab_size":50688,"max_position_embeddings":2048}"#,
        ["EleutherAI/pythia-12b-deduped"];
    "EleutherAI/gpt-neox-20b", "GPT-NeoX 20B", 20_554_567_680, TRANSFORMERS,
        r#"{"model_type":"gpt_neox","architectures":["GPTNeoXForCausalLM"],"hidden_size":6144,"num_hidden_layers":44,"num_attention_heads":64,"intermediate_size":24576,"vocab_size":50432,"max_position_embeddings":2048}"#;
}
