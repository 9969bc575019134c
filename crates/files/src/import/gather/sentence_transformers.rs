//! Scripts of sentence-transformers: embedding models, and rerankers (`CrossEncoder`).

use headroom_core::plan::{EmbeddingLoss, Pooling, Task, TrainerName};

use super::super::draft::{Rank, Statement};
use super::{Evidence, Gatherer};
use crate::syntax::{Entry, Node, Script, Span, Value};
use crate::trainers::{As, FROM_PRETRAINED, Fact, SENTENCE_TRANSFORMERS, SENTENCE_TRANSFORMERS_LOSS, Topic};

/// Losses of sentence-transformers 6.2 that hold something else than the two that a plan has
/// (sentence_transformer/losses, cross_encoder/losses).
const OTHER_LOSSES: [&str; 24] = [
    "MatryoshkaLoss",
    "Matryoshka2dLoss",
    "AdaptiveLayerLoss",
    "CoSENTLoss",
    "AnglELoss",
    "CosineSimilarityLoss",
    "ContrastiveLoss",
    "OnlineContrastiveLoss",
    "ContrastiveTensionLoss",
    "DenoisingAutoEncoderLoss",
    "DistillKLDivLoss",
    "EmbedDistillLoss",
    "GISTEmbedLoss",
    "CachedGISTEmbedLoss",
    "MarginMSELoss",
    "MegaBatchMarginLoss",
    "MultipleNegativesSymmetricRankingLoss",
    "CachedMultipleNegativesSymmetricRankingLoss",
    "BatchAllTripletLoss",
    "BatchHardTripletLoss",
    "BatchSemiHardTripletLoss",
    "BatchHardSoftMarginTripletLoss",
    "TripletLoss",
    "LambdaLoss",
];

/// A call by the last part of its name.
pub(super) struct Called<'a> {
    pub(super) file: usize,
    pub(super) span: Span,
    pub(super) class: &'a str,
    pub(super) arguments: &'a [Node],
    pub(super) keywords: &'a [Entry],
}

impl Gatherer<'_> {
    /// Takes a call of sentence-transformers; whether it is one.
    pub(super) fn sentence_transformers(&mut self, called: &Called<'_>) -> bool {
        match called.class {
            "SentenceTransformerTrainingArguments" => {
                self.embeds();
                self.found.python.training_arguments = true;
                self.take(called.file, called.keywords, &SENTENCE_TRANSFORMERS);
            }
            "CrossEncoderTrainingArguments" => {
                self.reranks();
                self.found.python.training_arguments = true;
                self.take(called.file, called.keywords, &SENTENCE_TRANSFORMERS);
            }
            "fit"
                if called
                    .keywords
                    .iter()
                    .any(|entry| matches!(entry.key.as_str(), "train_objectives" | "train_dataloader")) =>
            {
                self.found.python.fits = true;
                // sentence_transformer/fit_mixin.py: autocast is to fp16.
                let amp = called.keywords.iter().find(|entry| entry.key == "use_amp");
                if let Some(amp) = amp {
                    self.found.draft.say(Fact::Fp16, said(called, "use_amp", amp.node.clone()));
                }
            }
            "SentenceTransformerTrainer" => self.embeds(),
            "SentenceTransformer" => {
                self.embeds();
                self.loads(called);
            }
            "CrossEncoderTrainer" => self.reranks(),
            "CrossEncoder" => {
                self.reranks();
                self.loads(called);
                let labels = called.keywords.iter().find(|entry| entry.key == "num_labels");
                // cross_encoder/model.py: one label, where a checkpoint does not bring more.
                let one = Node { value: Value::Integer(1), span: called.span };
                let node = labels.map_or(one, |labels| labels.node.clone());
                self.set(called, "num_labels", ("num_labels", node), As::Whole);
            }
            "Pooling" => self.pooling(called),
            "MultipleNegativesRankingLoss" => self.ranks(called, EmbeddingLoss::MultipleNegativesRanking),
            "CachedMultipleNegativesRankingLoss" => self.ranks(called, EmbeddingLoss::CachedMultipleNegativesRanking),
            class if OTHER_LOSSES.contains(&class) => {
                let node = Node { value: Value::Text(class.to_owned()), span: called.span };
                self.found.draft.bear(said(called, class, node), Topic::Loss);
            }
            _ => return false,
        }
        true
    }

    /// `model.max_seq_length = 512`: the length that an embedding model cuts texts to.
    pub(super) fn longest_text(&mut self, file: usize, script: &Script) {
        let embeds = matches!(self.found.task, Some((Task::Embedding, _)));
        for attribute in
            script.attributes.iter().filter(|attribute| embeds && attribute.key.ends_with(".max_seq_length"))
        {
            let statement = Statement {
                file,
                key: attribute.key.clone(),
                span: attribute.span,
                node: attribute.node.clone(),
                rank: Rank::Script,
                tool: "sentence-transformers",
            };
            self.found.draft.say(Fact::Length, statement);
        }
    }

    fn embeds(&mut self) {
        self.trainer(TrainerName::Transformers, Evidence::Named);
        self.task(Task::Embedding, Evidence::Named);
    }

    /// A reranker is a classifier of one label.
    fn reranks(&mut self) {
        self.trainer(TrainerName::Transformers, Evidence::Named);
        self.task(Task::SequenceClassification, Evidence::Named);
    }

    fn ranks(&mut self, called: &Called<'_>, loss: EmbeddingLoss) {
        self.embeds();
        let node = Node { value: Value::Text(loss.name().to_owned()), span: called.span };
        self.set(called, "embedding.loss", (called.class, node), As::Lower);
        self.take(called.file, called.keywords, &SENTENCE_TRANSFORMERS_LOSS);
    }

    /// The model: the first argument, and what its `from_pretrained` is handed.
    fn loads(&mut self, called: &Called<'_>) {
        let named = called.keywords.iter().find(|entry| entry.key == "model_name_or_path").map(|entry| &entry.node);
        let model = called.arguments.first().or(named).filter(|node| matches!(node.value, Value::Text(_)));
        let Some(model) = model else { return };
        self.found.python.loads_model = true;
        self.found.draft.say(Fact::Model, said(called, called.class, model.clone()));
        let handed = called.keywords.iter().find(|entry| entry.key == "model_kwargs");
        if let Some(handed) = handed.filter(|entry| matches!(entry.node.value, Value::Map(_))) {
            self.take(called.file, handed.node.entries(), &FROM_PRETRAINED);
        }
    }

    /// `Pooling(width, pooling_mode="cls")`; earlier releases had a switch for each (sentence_transformer/modules/pooling.py).
    fn pooling(&mut self, called: &Called<'_>) {
        let is_on =
            |key: &str| called.keywords.iter().any(|entry| entry.key == key && entry.node.value == Value::Flag(true));
        let mode = called.keywords.iter().find(|entry| entry.key == "pooling_mode").and_then(|entry| entry.node.text());
        let pooling = match mode {
            Some("cls") => Pooling::Cls,
            Some("lasttoken") => Pooling::Last,
            Some("mean") => Pooling::Mean,
            Some(_) => return,
            None if is_on("pooling_mode_cls_token") => Pooling::Cls,
            None if is_on("pooling_mode_lasttoken") => Pooling::Last,
            None => Pooling::Mean,
        };
        let node = Node { value: Value::Text(pooling.name().to_owned()), span: called.span };
        self.set(called, "pooling", ("Pooling", node), As::Lower);
    }

    fn set(&mut self, called: &Called<'_>, field: &'static str, (key, node): (&str, Node), how: As) {
        self.found.draft.sets.entry(field).or_default().push((said(called, key, node), how));
    }
}

fn said(called: &Called<'_>, key: &str, node: Node) -> Statement {
    Statement {
        file: called.file,
        key: key.to_owned(),
        span: called.span,
        node,
        rank: Rank::Script,
        tool: "sentence-transformers",
    }
}
