//! Encoder-decoders: T5, its version 1.1 with what was tuned from it, and mT5.
//!
//! A checkpoint whose file says `"tie_word_embeddings": false` holds embedding and head, which transformers 5.23 then leaves apart though its
//! class would tie them (modeling_utils.py `tie_weights`): both count.

use super::source::CONFIG;

super::table::models! {
    group "T5";
    "google-t5/t5-small", "T5 small", "2019-10", 60_506_624, CONFIG,
        r#"{"model_type":"t5","architectures":["T5ForConditionalGeneration"],"is_encoder_decoder":true,"d_model":512,"d_kv":64,"d_ff":2048,"num_layers":6,"num_decoder_layers":6,"num_heads":8,"vocab_size":32128,"dropout_rate":0.1,"relative_attention_num_buckets":32}"#,
        ["t5-small"];
    "google/flan-t5-small", "Flan-T5 small", "2022-10", 76_961_152, CONFIG,
        r#"{"model_type":"t5","architectures":["T5ForConditionalGeneration"],"is_encoder_decoder":true,"d_model":512,"d_kv":64,"d_ff":1024,"num_layers":8,"num_decoder_layers":8,"num_heads":6,"vocab_size":32128,"dropout_rate":0.1,"relative_attention_num_buckets":32,"feed_forward_proj":"gated-gelu","tie_word_embeddings":false}"#,
        ["google/t5-v1_1-small"];
    "google-t5/t5-base", "T5 base", "2019-10", 222_903_552, CONFIG,
        r#"{"model_type":"t5","architectures":["T5ForConditionalGeneration"],"is_encoder_decoder":true,"d_model":768,"d_kv":64,"d_ff":3072,"num_layers":12,"num_decoder_layers":12,"num_heads":12,"vocab_size":32128,"dropout_rate":0.1,"relative_attention_num_buckets":32}"#,
        ["t5-base"];
    "google/flan-t5-base", "Flan-T5 base", "2022-10", 247_577_856, CONFIG,
        r#"{"model_type":"t5","architectures":["T5ForConditionalGeneration"],"is_encoder_decoder":true,"d_model":768,"d_kv":64,"d_ff":2048,"num_layers":12,"num_decoder_layers":12,"num_heads":12,"vocab_size":32128,"dropout_rate":0.1,"relative_attention_num_buckets":32,"feed_forward_proj":"gated-gelu","tie_word_embeddings":false}"#,
        ["google/t5-v1_1-base"];
    "google-t5/t5-large", "T5 large", "2019-10", 737_668_096, CONFIG,
        r#"{"model_type":"t5","architectures":["T5ForConditionalGeneration"],"is_encoder_decoder":true,"d_model":1024,"d_kv":64,"d_ff":4096,"num_layers":24,"num_decoder_layers":24,"num_heads":16,"vocab_size":32128,"dropout_rate":0.1,"relative_attention_num_buckets":32}"#,
        ["t5-large"];
    "google/flan-t5-large", "Flan-T5 large", "2022-10", 783_150_080, CONFIG,
        r#"{"model_type":"t5","architectures":["T5ForConditionalGeneration"],"is_encoder_decoder":true,"d_model":1024,"d_kv":64,"d_ff":2816,"num_layers":24,"num_decoder_layers":24,"num_heads":16,"vocab_size":32128,"dropout_rate":0.1,"relative_attention_num_buckets":32,"feed_forward_proj":"gated-gelu","tie_word_embeddings":false}"#,
        ["google/t5-v1_1-large"];
    "google/flan-t5-xl", "Flan-T5 XL", "2022-10", 2_849_757_184, CONFIG,
        r#"{"model_type":"t5","architectures":["T5ForConditionalGeneration"],"is_encoder_decoder":true,"d_model":2048,"d_kv":64,"d_ff":5120,"num_layers":24,"num_decoder_layers":24,"num_heads":32,"vocab_size":32128,"dropout_rate":0.1,"relative_attention_num_buckets":32,"feed_forward_proj":"gated-gelu","tie_word_embeddings":false}"#,
        ["google/t5-v1_1-xl"];
    "google-t5/t5-3b", "T5 3B", "2019-10", 2_851_598_336, CONFIG,
        r#"{"model_type":"t5","architectures":["T5ForConditionalGeneration"],"is_encoder_decoder":true,"d_model":1024,"d_kv":128,"d_ff":16384,"num_layers":24,"num_decoder_layers":24,"num_heads":32,"vocab_size":32128,"dropout_rate":0.1,"relative_attention_num_buckets":32}"#,
        ["t5-3b"];
    "google/flan-t5-xxl", "Flan-T5 XXL", "2022-10", 11_135_332_352, CONFIG,
        r#"{"model_type":"t5","architectures":["T5ForConditionalGeneration"],"is_encoder_decoder":true,"d_model":4096,"d_kv":64,"d_ff":10240,"num_layers":24,"num_decoder_layers":24,"num_heads":64,"vocab_size":32128,"dropout_rate":0.1,"relative_attention_num_buckets":32,"feed_forward_proj":"gated-gelu","tie_word_embeddings":false}"#,
        ["google/t5-v1_1-xxl"];
    group "mT5";
    "google/mt5-small", "mT5 small", "2020-10", 300_176_768, CONFIG,
        r#"{"model_type":"mt5","architectures":["MT5ForConditionalGeneration"],"is_encoder_decoder":true,"d_model":512,"d_kv":64,"d_ff":1024,"num_layers":8,"num_decoder_layers":8,"num_heads":6,"vocab_size":250112,"dropout_rate":0.1,"relative_attention_num_buckets":32,"feed_forward_proj":"gated-gelu","tie_word_embeddings":false}"#;
    "google/mt5-base", "mT5 base", "2020-10", 582_401_280, CONFIG,
        r#"{"model_type":"mt5","architectures":["MT5ForConditionalGeneration"],"is_encoder_decoder":true,"d_model":768,"d_kv":64,"d_ff":2048,"num_layers":12,"num_decoder_layers":12,"num_heads":12,"vocab_size":250112,"dropout_rate":0.1,"relative_attention_num_buckets":32,"feed_forward_proj":"gated-gelu","tie_word_embeddings":false}"#;
    "google/mt5-large", "mT5 large", "2020-10", 1_229_581_312, CONFIG,
        r#"{"model_type":"mt5","architectures":["MT5ForConditionalGeneration"],"is_encoder_decoder":true,"d_model":1024,"d_kv":64,"d_ff":2816,"num_layers":24,"num_decoder_layers":24,"num_heads":16,"vocab_size":250112,"dropout_rate":0.1,"relative_attention_num_buckets":32,"feed_forward_proj":"gated-gelu","tie_word_embeddings":false}"#;
}
