//! Trainer, rarely used rows, models beside the policy; and what holds for every field.

use headroom_text::Language;
use headroom_view::Element;

use super::{Reader, each, found, text_of};
use crate::form::act;
use crate::state::State;

const TRL: &str =
    "v=1&trainer=trl&trainer_version=1.16.0&mixed_precision=bf16&torch_dtype=float32&gradient_checkpointing=true";

/// Plans that between them show every field.
pub(super) const PLANS: [&str; 12] = [
    "",
    TRL,
    "v=1&num_gpus=4&method=qlora&trainer=trl&trainer_version=1.16.0&mixed_precision=bf16&packing=true",
    "v=1&trainer=axolotl&method=lora&num_gpus=8&framework=fsdp1",
    "v=1&num_gpus=8&framework=fsdp2",
    "v=1&num_gpus=8&framework=ddp",
    "v=1&task=inference&gpu_memory_gib=24",
    "v=1&task=embedding&embedding_loss=cached_multiple_negatives_ranking",
    "v=1&task=ppo&reward_models=judge,reward",
    "v=1&task=grpo&num_gpus=2&engine=vllm&beta=0.04&reward_models=reward",
    "v=1&images=1&freeze=vision_tower",
    "v=1&eval_strategy=epoch",
];

#[test]
fn a_newcomer_starts_with_a_trainers_newest_version() {
    let mut reader = Reader::open("");
    assert_eq!(reader.chosen("trainer.name").attribute("value"), Some("trl"));
    assert_eq!(reader.chosen("trainer.version").attribute("value"), Some("1.16.0"));
    assert!(reader.option("trainer.name", "unsloth").attribute("disabled").is_some());
    reader.does("choose-version", "1.0.0");
    assert!(reader.fragment().contains("trainer=trl") && reader.fragment().contains("trainer_version=1.0.0"));
    assert_eq!(reader.chosen("trainer.version").attribute("value"), Some("1.0.0"));
}

#[test]
fn another_trainer_brings_its_defaults_and_leaves_what_was_chosen() {
    let checkpointing = |reader: &Reader| reader.input("gradient_checkpointing").attribute("checked").is_some();
    let mut reader = Reader::open("");
    reader.does("type per_device_train_batch_size", "3");
    reader.does("choose-trainer", "custom");
    assert!(reader.field("trainer.version").is_none());
    assert!(!checkpointing(&reader));
    assert_eq!(reader.value("per_device_train_batch_size"), "3");
    assert!(reader.adjusted().contains("gradient_checkpointing"), "{}", reader.adjusted());
    reader.does("undo-adjusted", "");
    assert_eq!(reader.chosen("trainer.name").attribute("value"), Some("trl"));
    assert!(checkpointing(&reader));
}

#[test]
fn the_loss_says_what_the_trainer_takes_and_offers_what_it_has() {
    let mut reader = Reader::open("");
    let open = |reader: &Reader| text_of(reader.chosen("loss_implementation"));
    assert_eq!(open(&reader), "as the trainer decides · Fused LM head");
    assert!(reader.option("loss_implementation", "full_logits").attribute("hidden").is_some());
    reader.does("choose-version", "1.6.0");
    assert_eq!(open(&reader), "as the trainer decides · Full logits");
    assert!(reader.option("loss_implementation", "full_logits").attribute("hidden").is_none());
    assert_eq!(text_of(reader.chosen("loss_type")), "as the trainer decides · nll");
    reader.does("choose loss_type", "chunked_nll");
    assert_eq!(open(&reader), "as the trainer decides · chunked_nll");

    let mut reader = Reader::open("");
    reader.does("choose task", "grpo");
    assert_eq!(text_of(reader.chosen("loss_type")), "as the trainer decides · dapo");
    assert!(reader.option("loss_type", "chunked_nll").attribute("hidden").is_some());
}

#[test]
fn rows_come_and_go_with_what_gives_them_meaning() {
    let mut reader = Reader::open(TRL);
    assert!(reader.field("padding_free").is_some() && reader.field("packing_strategy").is_none());
    reader.does("switch packing true false", "true");
    assert!(reader.field("padding_free").is_none());
    reader.does("choose packing_strategy", "wrapped");
    assert!(reader.field("padding_free").is_some());
    assert!(reader.fragment().contains("packing_strategy=wrapped"));
    reader.does("type label_tokens", "0");
    assert!(reader.described("label_tokens").contains("0 is outside 1 to"));

    let mut reader = Reader::open(PLANS[2]);
    assert!(reader.field("quantization.bnb_4bit_quant_storage").is_none());
    reader.does("choose distributed.framework", "fsdp1");
    // FSDP1 cannot flatten bytes.
    assert_eq!(reader.chosen("quantization.bnb_4bit_quant_storage").attribute("value"), Some("bfloat16"));
    assert_eq!(text_of(reader.chosen("distributed.backward_prefetch")), "as the trainer decides · NO_PREFETCH");
    assert_eq!(text_of(reader.chosen("distributed.sharding_strategy")), "as the trainer decides · FULL_SHARD");
    reader.does("choose distributed.framework", "fsdp2");
    assert!(reader.field("distributed.sharding_strategy").is_none());
    assert!(reader.field("distributed.reshard_after_forward").is_some());
    // Parameters beside linear layers, where there are experts.
    assert!(Reader::open("v=1&model=Qwen/Qwen3-4B&method=lora").field("lora.target_parameters").is_none());
    assert!(Reader::open("v=1&model=Qwen/Qwen3-30B-A3B&method=lora").field("lora.target_parameters").is_some());
}

#[test]
fn a_model_that_sees_images_asks_for_them_beside_the_length() {
    // What is folded is not in the form.
    let folded = |model: &str| {
        let mut reader = Reader::folded(&format!("v=1&method=lora&max_length=2048&model={model}"));
        for class in ["qwen2_5_vl", "qwen2_5_vl_text"] {
            reader.does(&format!("fetched programs/{class}.json"), &crate::reader::program(class));
        }
        reader
    };
    assert!(folded("Qwen/Qwen3-4B").field("images.per_sample").is_none());
    let mut reader = folded("Qwen/Qwen2.5-VL-7B-Instruct");
    assert_eq!(reader.value("images.per_sample"), "");
    assert!(reader.field("images.height").is_none());
    reader.does("type images.per_sample", "2");
    for name in ["images.height", "images.width", "images.max_pixels"] {
        assert!(reader.field(name).is_some(), "{name}");
    }
    // 1,369 positions each, by the assumed size.
    assert!(reader.described("max_length").contains("2738"), "{}", reader.described("max_length"));
    reader.does("type images.height", "448");
    assert!(!reader.is_invalid("max_length"));
}

#[test]
fn an_embedding_models_fields_come_with_its_task() {
    let mut reader = Reader::open("v=1&model=google-bert/bert-base-uncased&per_device_train_batch_size=8");
    assert!(reader.field("pooling").is_none());
    reader.does("choose task", "embedding");
    for name in ["pooling", "embedding.loss", "embedding.num_negatives"] {
        assert!(reader.field(name).is_some(), "{name}");
    }
    assert!(reader.field("embedding.mini_batch_size").is_none());
    reader.does("choose embedding.loss", "cached_multiple_negatives_ranking");
    assert!(reader.field("embedding.mini_batch_size").is_some());
    reader.does("choose pooling", "cls");
    reader.does("type embedding.num_negatives", "3");
    assert!(
        reader
            .fragment()
            .contains("task=embedding&pooling=cls&embedding_loss=cached_multiple_negatives_ranking&num_negatives=3")
    );
    assert!(
        text_of(found(&reader.form, &|element| element.attribute("class") == Some("effective")).expect("the batch"))
            .contains("5 texts")
    );
}

#[test]
fn what_is_rarely_touched_opens_where_a_problem_is() {
    let is_open = |reader: &Reader| {
        let is_it = |element: &Element| element.attribute("data-toggle") == Some("open form-advanced");
        found(&reader.form, &is_it).expect("the section is there").attribute("open").is_some()
    };
    assert!(!is_open(&Reader::folded("v=1")));
    let reader = Reader::folded("v=1&num_gpus=8&framework=fsdp1&sharding_strategy=hybrid_shard&dp_replicate_size=3");
    assert!(is_open(&reader));
    assert!(reader.is_invalid("distributed.dp_replicate_size"));
    let replicated = Reader::folded("v=1&num_gpus=8&framework=fsdp1&dp_replicate_size=2");
    assert!(replicated.is_invalid("distributed.sharding_strategy"));
}

#[test]
fn a_model_beside_the_policy_is_added_shared_and_removed() {
    let mut reader =
        Reader::open("v=1&task=grpo&num_generations=4&per_device_train_batch_size=4&steps_per_generation=1");
    reader.does("add-companion", "");
    reader.does("companion reward_models.0 role", "judge");
    let role = reader.seen("field-reward_models-0-role").expect("a role");
    let is_chosen = |element: &Element| element.attribute("selected").is_some();
    assert_eq!(found(&role.clone().into(), &is_chosen).and_then(|option| option.attribute("value")), Some("judge"));
    assert!(reader.seen("field-reward_models-0-bits").is_some());
    reader.does("companion reward_models.0 shared", "true");
    assert!(reader.seen("field-reward_models-0-bits").is_none());
    // Another model cannot have the policy's weights.
    reader.does("companion reward_models.0 model", "Qwen/Qwen3-8B");
    assert!(reader.seen("field-reward_models-0-bits").is_some());
    reader.does("remove-companion 5", "");
    assert!(reader.seen("field-reward_models-0-role").is_some());
    reader.does("remove-companion 0", "");
    assert!(reader.seen("field-reward_models-0-role").is_none());
    assert!(!reader.fragment().contains("reward_models"));
}

#[test]
fn every_field_has_its_words_and_siblings_are_told_apart() {
    for language in ["en", "zh"] {
        for plan in PLANS {
            let reader = Reader::open_in(plan, language);
            let mut names = 0;
            each(&reader.form, &mut |element| {
                let mut keys: Vec<&str> = super::children(element).map(|child| child.key.as_str()).collect();
                keys.retain(|key| !key.is_empty());
                let all = keys.len();
                keys.sort_unstable();
                keys.dedup();
                assert_eq!(keys.len(), all, "{plan}: {keys:?}");
                if matches!(element.tag.as_ref(), "label" | "legend" | "option" | "h3" | "h4") {
                    names += 1;
                    assert!(!text_of(element).trim().is_empty(), "{plan}: {element:?}");
                }
            });
            assert!(names > 40, "{plan}");
        }
    }
}

#[test]
fn every_action_of_the_form_is_known() {
    let mut known = 0;
    for plan in PLANS {
        each(&Reader::open(plan).form, &mut |element| {
            for attribute in ["data-do", "data-set", "data-type"] {
                let Some(action) = element.attribute(attribute).filter(|action| !action.starts_with('@')) else {
                    continue;
                };
                let (verb, about) = action.split_once(' ').unwrap_or((action, ""));
                let mut state = State::open("https://example.org/", plan, Language::English);
                let value = element.attribute("value").unwrap_or_default();
                assert!(act(&mut state, verb, about, value), "{action}");
                known += 1;
            }
        });
    }
    assert!(known > 300, "{known}");
}

#[test]
fn the_form_speaks_chinese() {
    let reader = Reader::open_in(TRL, "zh");
    assert!(reader.form.to_text().contains("激活值卸载"));
    assert_eq!(text_of(reader.chosen("loss_implementation")), "由训练器决定 · 融合输出头");
}
