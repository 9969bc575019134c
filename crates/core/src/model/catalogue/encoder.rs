//! Encoders: BERT, RoBERTa and their kin, counted with their masked-language-model head.

use super::source::{CONFIG, FIXTURE, PUBLISHED, TRANSFORMERS};

super::table::models! {
    group "BERT";
    "distilbert/distilbert-base-uncased", "DistilBERT base uncased", "2019-10", 66_985_530, CONFIG,
        r#"{"model_type":"distilbert","architectures":["DistilBertForMaskedLM"],"dim":768,"n_layers":6,"n_heads":12,"hidden_dim":3072,"vocab_size":30522,"max_position_embeddings":512}"#,
        ["distilbert-base-uncased"];
    "google-bert/bert-base-chinese", "BERT base Chinese", "2018-11", 102_290_312, CONFIG,
        r#"{"model_type":"bert","architectures":["BertForMaskedLM"],"hidden_size":768,"num_hidden_layers":12,"num_attention_heads":12,"intermediate_size":3072,"vocab_size":21128,"max_position_embeddings":512}"#,
        ["bert-base-chinese"];
    "hfl/chinese-roberta-wwm-ext", "Chinese RoBERTa-wwm-ext", "2019-09", 102_290_312, CONFIG,
        r#"{"model_type":"bert","architectures":["BertForMaskedLM"],"hidden_size":768,"num_hidden_layers":12,"num_attention_heads":12,"intermediate_size":3072,"vocab_size":21128,"max_position_embeddings":512}"#,
        ["hfl/chinese-bert-wwm-ext"];
    "google-bert/bert-base-cased", "BERT base cased", "2018-10", 108_340_804, CONFIG,
        r#"{"model_type":"bert","architectures":["BertForMaskedLM"],"hidden_size":768,"num_hidden_layers":12,"num_attention_heads":12,"intermediate_size":3072,"vocab_size":28996,"max_position_embeddings":512}"#,
        ["bert-base-cased"];
    "google-bert/bert-base-uncased", "BERT base uncased", "2018-10", 109_514_298, TRANSFORMERS,
        r#"{"model_type":"bert","architectures":["BertForMaskedLM"],"hidden_size":768,"num_hidden_layers":12,"num_attention_heads":12,"intermediate_size":3072,"vocab_size":30522,"max_position_embeddings":512}"#,
        ["bert-base-uncased", "BAAI/bge-base-en-v1.5", "intfloat/e5-base-v2"];
    "hfl/chinese-roberta-wwm-ext-large", "Chinese RoBERTa-wwm-ext large", "2019-09", 325_545_608, CONFIG,
        r#"{"model_type":"bert","architectures":["BertForMaskedLM"],"hidden_size":1024,"num_hidden_layers":24,"num_attention_heads":16,"intermediate_size":4096,"vocab_size":21128,"max_position_embeddings":512}"#;
    "google-bert/bert-large-uncased", "BERT large uncased", "2018-10", 335_174_458, CONFIG,
        r#"{"model_type":"bert","architectures":["BertForMaskedLM"],"hidden_size":1024,"num_hidden_layers":24,"num_attention_heads":16,"intermediate_size":4096,"vocab_size":30522,"max_position_embeddings":512}"#,
        ["bert-large-uncased", "BAAI/bge-large-en-v1.5", "intfloat/e5-large-v2"];
    group "RoBERTa";
    "FacebookAI/roberta-base", "RoBERTa base", "2019-07", 124_697_433, PUBLISHED,
        r#"{"model_type":"roberta","architectures":["RobertaForMaskedLM"],"hidden_size":768,"num_hidden_layers":12,"num_attention_heads":12,"intermediate_size":3072,"vocab_size":50265,"max_position_embeddings":514,"type_vocab_size":1}"#,
        ["roberta-base"];
    "FacebookAI/xlm-roberta-base", "XLM-RoBERTa base", "2019-11", 278_295_186, PUBLISHED,
        r#"{"model_type":"xlm-roberta","architectures":["XLMRobertaForMaskedLM"],"hidden_size":768,"num_hidden_layers":12,"num_attention_heads":12,"intermediate_size":3072,"vocab_size":250002,"max_position_embeddings":514,"type_vocab_size":1}"#,
        ["xlm-roberta-base", "intfloat/multilingual-e5-base"];
    "FacebookAI/roberta-large", "RoBERTa large", "2019-07", 355_412_057, PUBLISHED,
        r#"{"model_type":"roberta","architectures":["RobertaForMaskedLM"],"hidden_size":1024,"num_hidden_layers":24,"num_attention_heads":16,"intermediate_size":4096,"vocab_size":50265,"max_position_embeddings":514,"type_vocab_size":1}"#,
        ["roberta-large"];
    "FacebookAI/xlm-roberta-large", "XLM-RoBERTa large", "2019-11", 560_142_482, PUBLISHED,
        r#"{"model_type":"xlm-roberta","architectures":["XLMRobertaForMaskedLM"],"hidden_size":1024,"num_hidden_layers":24,"num_attention_heads":16,"intermediate_size":4096,"vocab_size":250002,"max_position_embeddings":514,"type_vocab_size":1}"#,
        ["xlm-roberta-large", "intfloat/multilingual-e5-large"];
    group "Embedding models";
    "sentence-transformers/all-MiniLM-L6-v2", "all-MiniLM-L6-v2", "2021-08", 22_744_506, CONFIG,
        r#"{"model_type":"bert","architectures":["BertForMaskedLM"],"hidden_size":384,"intermediate_size":1536,"num_hidden_layers":6,"num_attention_heads":12,"vocab_size":30522,"max_position_embeddings":512}"#,
        ["cross-encoder/ms-marco-MiniLM-L6-v2"];
    "BAAI/bge-m3", "BGE-M3", "2024-01", 568_006_802, CONFIG,
        r#"{"model_type":"xlm-roberta","architectures":["XLMRobertaForMaskedLM"],"hidden_size":1024,"intermediate_size":4096,"num_hidden_layers":24,"num_attention_heads":16,"vocab_size":250002,"max_position_embeddings":8194,"type_vocab_size":1}"#;
    "BAAI/bge-reranker-v2-m3", "BGE reranker v2 m3", "2024-03", 568_006_802, CONFIG,
        r#"{"model_type":"xlm-roberta","architectures":["XLMRobertaForMaskedLM"],"hidden_size":1024,"intermediate_size":4096,"num_hidden_layers":24,"num_attention_heads":16,"vocab_size":250002,"max_position_embeddings":8194,"type_vocab_size":1}"#;
    group "ModernBERT";
    "answerdotai/ModernBERT-base", "ModernBERT base", "2024-12", 149_655_232, TRANSFORMERS,
        r#"{"model_type":"modernbert","architectures":["ModernBertForMaskedLM"],"hidden_size":768,"intermediate_size":1152,"num_hidden_layers":22,"num_attention_heads":12,"vocab_size":50368,"max_position_embeddings":8192}"#,
        ["Alibaba-NLP/gte-modernbert-base", "Alibaba-NLP/gte-reranker-modernbert-base"];
    "answerdotai/ModernBERT-large", "ModernBERT large", "2024-12", 395_881_664, FIXTURE,
        r#"{"model_type":"modernbert","architectures":["ModernBertForMaskedLM"],"hidden_size":1024,"intermediate_size":2624,"num_hidden_layers":28,"num_attention_heads":16,"vocab_size":50368,"max_position_embeddings":8192}"#;
}
