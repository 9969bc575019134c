//! What is typed and what is chosen.

use headroom_view::History;

use super::{Reader, found};

const BATCH: &str = "per_device_train_batch_size";

#[test]
fn what_does_not_make_sense_stays_as_typed_with_the_fix_beside_it() {
    let mut reader = Reader::open("v=1");
    reader.does("type per_device_train_batch_size", "eight");
    assert_eq!(reader.value(BATCH), "eight");
    assert!(reader.is_invalid(BATCH));
    let said = reader.described(BATCH);
    assert!(said.contains("Write a whole number here") && said.contains("last good value stays in use"), "{said}");
    assert_eq!(reader.address, None);

    reader.does("type per_device_train_batch_size", "0");
    assert!(reader.described(BATCH).contains("0 is outside 1 to 65536"));
    // What is typed elsewhere takes nothing away.
    reader.does("type max_length", "4096");
    assert_eq!(reader.value(BATCH), "0");

    reader.does("type per_device_train_batch_size", "8");
    assert_eq!(reader.value(BATCH), "8");
    assert!(!reader.is_invalid(BATCH));
    assert!(!reader.described(BATCH).contains("outside"));
    assert!(reader.fragment().contains("per_device_train_batch_size=8"));
    assert_eq!(reader.address.map(|address| address.history), Some(History::Drag(BATCH.to_owned())));
}

#[test]
fn numbers_may_be_grouped_and_stay_so_until_they_change_elsewhere() {
    let mut reader = Reader::open("v=1");
    reader.does("type max_length", "8,192");
    assert_eq!(reader.value("max_length"), "8,192");
    assert!(!reader.is_invalid("max_length"));
    assert!(reader.fragment().contains("max_length=8192"));
    reader.does("stop max_length 1024,2048,4096", "1");
    assert_eq!(reader.value("max_length"), "2048");
    reader.does("type max_length", "many");
    reader.does("follow", "v=1&max_length=512");
    assert_eq!(reader.value("max_length"), "512");
    assert!(!reader.is_invalid("max_length"));
}

#[test]
fn a_slider_goes_from_stop_to_stop_and_stands_where_the_number_is() {
    let mut reader = Reader::open("v=1&gradient_accumulation_steps=1");
    let slider = |reader: &Reader| {
        let is_it = |element: &headroom_view::Element| {
            element.attribute("data-type").is_some_and(|action| action.starts_with("stop gradient_accumulation_steps "))
        };
        found(&reader.form, &is_it).expect("the slider is there").clone()
    };
    let first = slider(&reader);
    assert_eq!(first.attribute("value"), Some("0"));
    assert_eq!(first.attribute("data-style"), Some("--filled:0.0%"));
    let action = first.attribute("data-type").unwrap_or_default().to_owned();
    reader.does(&action, "4");
    assert_eq!(reader.value("gradient_accumulation_steps"), "16");
    assert_eq!(slider(&reader).attribute("data-style"), Some("--filled:50.0%"));
    // Between two stops: at the next.
    reader.does("type gradient_accumulation_steps", "17");
    assert_eq!(slider(&reader).attribute("value"), Some("5"));
    // No such stop.
    reader.does(&action, "99");
    assert_eq!(reader.value("gradient_accumulation_steps"), "17");
}

#[test]
fn a_choice_says_what_it_took_along_and_takes_it_back() {
    let mut reader = Reader::open("v=1&num_gpus=8&zero_stage=2&offload_optimizer=cpu");
    reader.does("choose distributed.framework", "ddp");
    let said = reader.adjusted();
    for part in ["Changed with it", "zero_stage 2 → 0", "offload_optimizer cpu → none"] {
        assert!(said.contains(part), "{said}");
    }
    // DDP has neither.
    assert!(reader.field("zero_stage").is_none() && reader.field("offload_optimizer").is_none());
    assert_eq!(reader.address.as_ref().map(|address| &address.history), Some(&History::Step));
    reader.does("undo-adjusted", "");
    assert_eq!(reader.adjusted(), "");
    assert_eq!(reader.chosen("distributed.framework").attribute("value"), Some("deepspeed"));
    assert!(reader.field("zero_stage").is_some() && reader.field("offload_optimizer").is_some());
    // There is nothing more to take back.
    let before = reader.fragment().to_owned();
    reader.does("undo-adjusted", "");
    assert_eq!(reader.fragment(), before);
}

#[test]
fn a_task_brings_its_fields_and_what_must_change_with_it() {
    let mut reader = Reader::open("v=1");
    reader.does("choose task", "grpo");
    assert!(reader.adjusted().contains("per_device_train_batch_size 1 → 8"), "{}", reader.adjusted());
    assert_eq!(reader.value(BATCH), "8");
    assert!(reader.field("rollout.num_generations").is_some() && reader.field("max_length").is_none());
    assert!(reader.field("rollout.vllm_gpu_memory_utilization").is_none());
    reader.does("choose rollout.engine", "vllm");
    assert!(reader.field("rollout.vllm_gpu_memory_utilization").is_some());
    // Without a weight there is no reference to choose.
    assert!(reader.field("reference.kind").is_none());
    reader.does("type beta", "0.04");
    assert!(reader.field("reference.kind").is_some());
    reader.does("choose task", "sft");
    assert!(reader.seen("group-task").is_none());
}

#[test]
fn a_value_that_nothing_makes_possible_is_not_shown_as_chosen() {
    let mut reader = Reader::open("v=1&gpu=t4");
    reader.does("choose attn_implementation", "flash_attention_2");
    assert_eq!(reader.chosen("attn_implementation").attribute("value"), Some("sdpa"));
    assert!(reader.adjusted().contains("flash_attention_2 → sdpa"), "{}", reader.adjusted());
}

#[test]
fn switches_write_the_values_of_their_field() {
    let mut reader = Reader::open("v=1&num_gpus=4&zero_stage=2");
    reader.does("switch offload_optimizer cpu none", "true");
    assert!(reader.fragment().contains("offload_optimizer=cpu"));
    assert!(reader.input("offload_optimizer").attribute("checked").is_some());
    reader.does("switch offload_optimizer cpu none", "false");
    assert!(reader.input("offload_optimizer").attribute("checked").is_none());
}

#[test]
fn weights_and_autocast_are_one_choice() {
    let mut reader = Reader::open("v=1&torch_dtype=bfloat16");
    reader.does("pick-pair", "1");
    assert_eq!(reader.chosen("torch_dtype").attribute("value"), Some("1"));
    assert!(reader.fragment().contains("torch_dtype=float32") && reader.fragment().contains("mixed_precision=bf16"));
}

#[test]
fn lora_targets_can_be_named_even_where_the_names_are_a_usual_set() {
    const TARGETS: &str = "lora.target_modules";
    let mut reader = Reader::open("v=1&method=lora");
    assert_eq!(reader.chosen(TARGETS).attribute("value"), Some("all-linear"));
    reader.does("choose-targets", "attention");
    assert_eq!(reader.chosen(TARGETS).attribute("value"), Some("attention"));
    reader.does("choose-targets", "names");
    assert_eq!(reader.chosen(TARGETS).attribute("value"), Some("names"));
    let names = |reader: &Reader| {
        let input = reader.seen("field-lora-target_modules-names").expect("names are typed");
        input.attribute("value").unwrap_or_default().to_owned()
    };
    assert_eq!(names(&reader), "q_proj,k_proj,v_proj,o_proj");
    reader.does("type lora.target_modules", "q_proj, v_proj");
    assert_eq!(names(&reader), "q_proj, v_proj");
    assert!(reader.fragment().contains("q_proj,v_proj"), "{}", reader.fragment());
    // The wish goes with the adapters.
    reader.does("choose-targets", "all-linear");
    reader.does("choose-targets", "names");
    reader.does("choose method", "full");
    reader.does("choose method", "lora");
    reader.does("choose-targets", "attention");
    assert!(reader.seen("field-lora-target_modules-names").is_none());
}
