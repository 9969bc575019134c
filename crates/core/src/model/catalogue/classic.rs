//! GPT-2 and the decoders of its time.

use super::source::{CONFIG, LITGPT, MLC, OPT_PAPER, PUBLISHED, TRANSFORMERS};

super::table::models! {
    group "GPT-2";
    "openai-community/gpt2", "GPT-2 124M", "2019-02", 124_439_808, MLC,
        r#"{"model_type":"gpt2","architectures":["GPT2LMHeadModel"],"n_embd":768,"n_layer":12,"n_head":12,"vocab_size":50257,"n_positions":1024}"#,
        ["gpt2"];
    "openai-community/gpt2-medium", "GPT-2 medium 355M", "2019-05", 354_823_168, MLC,
        r#"{"model_type":"gpt2","architectures":["GPT2LMHeadModel"],"n_embd":1024,"n_layer":24,"n_head":16,"vocab_size":50257,"n_positions":1024}"#,
        ["gpt2-medium"];
    "openai-community/gpt2-large", "GPT-2 large 774M", "2019-08", 774_030_080, CONFIG,
        r#"{"model_type":"gpt2","architectures":["GPT2LMHeadModel"],"n_embd":1280,"n_layer":36,"n_head":20,"vocab_size":50257,"n_positions":1024}"#,
        ["gpt2-large"];
    "openai-community/gpt2-xl", "GPT-2 XL 1.6B", "2019-11", 1_557_611_200, CONFIG,
        r#"{"model_type":"gpt2","architectures":["GPT2LMHeadModel"],"n_embd":1600,"n_layer":48,"n_head":25,"vocab_size":50257,"n_positions":1024}"#,
        ["gpt2-xl"];
    group "Pythia and GPT-NeoX";
    "EleutherAI/pythia-70m", "Pythia 70M", "2023-02", 70_426_624, LITGPT,
        r#"{"model_type":"gpt_neox","architectures":["GPTNeoXForCausalLM"],"hidden_size":512,"num_hidden_layers":6,"num_attention_heads":8,"intermediate_size":2048,"vocab_size":50304,"max_position_embeddings":2048}"#,
        ["EleutherAI/pythia-70m-deduped"];
    "EleutherAI/pythia-160m", "Pythia 160M", "2023-02", 162_322_944, LITGPT,
        r#"{"model_type":"gpt_neox","architectures":["GPTNeoXForCausalLM"],"hidden_size":768,"num_hidden_layers":12,"num_attention_heads":12,"intermediate_size":3072,"vocab_size":50304,"max_position_embeddings":2048}"#,
        ["EleutherAI/pythia-160m-deduped"];
    "EleutherAI/pythia-410m", "Pythia 410M", "2023-02", 405_334_016, LITGPT,
        r#"{"model_type":"gpt_neox","architectures":["GPTNeoXForCausalLM"],"hidden_size":1024,"num_hidden_layers":24,"num_attention_heads":16,"intermediate_size":4096,"vocab_size":50304,"max_position_embeddings":2048}"#,
        ["EleutherAI/pythia-410m-deduped"];
    "EleutherAI/pythia-1b", "Pythia 1B", "2023-03", 1_011_781_632, LITGPT,
        r#"{"model_type":"gpt_neox","architectures":["GPTNeoXForCausalLM"],"hidden_size":2048,"num_hidden_layers":16,"num_attention_heads":8,"intermediate_size":8192,"vocab_size":50304,"max_position_embeddings":2048}"#,
        ["EleutherAI/pythia-1b-deduped"];
    "EleutherAI/pythia-1.4b", "Pythia 1.4B", "2023-02", 1_414_647_808, LITGPT,
        r#"{"model_type":"gpt_neox","architectures":["GPTNeoXForCausalLM"],"hidden_size":2048,"num_hidden_layers":24,"num_attention_heads":16,"intermediate_size":8192,"vocab_size":50304,"max_position_embeddings":2048}"#,
        ["EleutherAI/pythia-1.4b-deduped"];
    "EleutherAI/pythia-2.8b", "Pythia 2.8B", "2023-02", 2_775_208_960, LITGPT,
        r#"{"model_type":"gpt_neox","architectures":["GPTNeoXForCausalLM"],"hidden_size":2560,"num_hidden_layers":32,"num_attention_heads":32,"intermediate_size":10240,"vocab_size":50304,"max_position_embeddings":2048}"#,
        ["EleutherAI/pythia-2.8b-deduped"];
    "EleutherAI/pythia-6.9b", "Pythia 6.9B", "2023-02", 6_857_302_016, LITGPT,
        r#"{"model_type":"gpt_neox","architectures":["GPTNeoXForCausalLM"],"hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"intermediate_size":16384,"vocab_size":50432,"max_position_embeddings":2048}"#,
        ["EleutherAI/pythia-6.9b-deduped"];
    "EleutherAI/pythia-12b", "Pythia 12B", "2023-02", 11_846_072_320, LITGPT,
        r#"{"model_type":"gpt_neox","architectures":["GPTNeoXForCausalLM"],"hidden_size":5120,"num_hidden_layers":36,"num_attention_heads":40,"intermediate_size":20480,"vocab_size":50688,"max_position_embeddings":2048}"#,
        ["EleutherAI/pythia-12b-deduped"];
    "EleutherAI/gpt-neox-20b", "GPT-NeoX 20B", "2022-04", 20_554_567_680, TRANSFORMERS,
        r#"{"model_type":"gpt_neox","architectures":["GPTNeoXForCausalLM"],"hidden_size":6144,"num_hidden_layers":44,"num_attention_heads":64,"intermediate_size":24576,"vocab_size":50432,"max_position_embeddings":2048}"#;
    group "OPT";
    "facebook/opt-125m", "OPT 125M", "2022-05", 125_239_296, OPT_PAPER,
        r#"{"model_type":"opt","architectures":["OPTForCausalLM"],"hidden_size":768,"num_hidden_layers":12,"num_attention_heads":12,"ffn_dim":3072,"word_embed_proj_dim":768,"vocab_size":50272,"max_position_embeddings":2048}"#;
    "facebook/opt-350m", "OPT 350M", "2022-05", 331_196_416, OPT_PAPER,
        r#"{"model_type":"opt","architectures":["OPTForCausalLM"],"hidden_size":1024,"num_hidden_layers":24,"num_attention_heads":16,"ffn_dim":4096,"word_embed_proj_dim":512,"vocab_size":50272,"max_position_embeddings":2048,"do_layer_norm_before":false}"#;
    "facebook/opt-1.3b", "OPT 1.3B", "2022-05", 1_315_758_080, OPT_PAPER,
        r#"{"model_type":"opt","architectures":["OPTForCausalLM"],"hidden_size":2048,"num_hidden_layers":24,"num_attention_heads":32,"ffn_dim":8192,"word_embed_proj_dim":2048,"vocab_size":50272,"max_position_embeddings":2048}"#;
    "facebook/opt-2.7b", "OPT 2.7B", "2022-05", 2_651_596_800, OPT_PAPER,
        r#"{"model_type":"opt","architectures":["OPTForCausalLM"],"hidden_size":2560,"num_hidden_layers":32,"num_attention_heads":32,"ffn_dim":10240,"word_embed_proj_dim":2560,"vocab_size":50272,"max_position_embeddings":2048}"#;
    "facebook/opt-6.7b", "OPT 6.7B", "2022-05", 6_658_473_984, OPT_PAPER,
        r#"{"model_type":"opt","architectures":["OPTForCausalLM"],"hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"ffn_dim":16384,"word_embed_proj_dim":4096,"vocab_size":50272,"max_position_embeddings":2048}"#;
    "facebook/opt-13b", "OPT 13B", "2022-05", 12_853_473_280, OPT_PAPER,
        r#"{"model_type":"opt","architectures":["OPTForCausalLM"],"hidden_size":5120,"num_hidden_layers":40,"num_attention_heads":40,"ffn_dim":20480,"word_embed_proj_dim":5120,"vocab_size":50272,"max_position_embeddings":2048}"#;
    group "BLOOM";
    "bigscience/bloom-560m", "BLOOM 560M", "2022-05", 559_214_592, PUBLISHED,
        r#"{"model_type":"bloom","architectures":["BloomForCausalLM"],"hidden_size":1024,"n_layer":24,"n_head":16,"vocab_size":250880}"#,
        ["bigscience/bloomz-560m"];
    "bigscience/bloom-1b7", "BLOOM 1.7B", "2022-05", 1_722_408_960, PUBLISHED,
        r#"{"model_type":"bloom","architectures":["BloomForCausalLM"],"hidden_size":2048,"n_layer":24,"n_head":16,"vocab_size":250880}"#,
        ["bigscience/bloomz-1b7"];
    "bigscience/bloom-3b", "BLOOM 3B", "2022-05", 3_002_557_440, PUBLISHED,
        r#"{"model_type":"bloom","architectures":["BloomForCausalLM"],"hidden_size":2560,"n_layer":30,"n_head":32,"vocab_size":250880}"#,
        ["bigscience/bloomz-3b"];
    "bigscience/bloom-7b1", "BLOOM 7.1B", "2022-05", 7_069_016_064, PUBLISHED,
        r#"{"model_type":"bloom","architectures":["BloomForCausalLM"],"hidden_size":4096,"n_layer":30,"n_head":32,"vocab_size":250880}"#,
        ["bigscience/bloomz-7b1"];
    group "GPT-J";
    "EleutherAI/gpt-j-6b", "GPT-J 6B", "2021-06", 6_050_882_784, TRANSFORMERS,
        r#"{"model_type":"gptj","architectures":["GPTJForCausalLM"],"n_embd":4096,"n_layer":28,"n_head":16,"rotary_dim":64,"vocab_size":50400,"n_positions":2048}"#;
}
