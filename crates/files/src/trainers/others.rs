//! Files and arguments of trainers whose step is not modelled: Unsloth Studio (studio/backend/assets/configs), NeMo Automodel (recipes),
//! FlagEmbedding (abc/finetune/*/AbsArguments.py).

use super::{As, Fact, Row, Topic, bears, nothing, says, sets};

pub(super) const STUDIO_ROWS: &[Row] = &[
    says("model", Fact::Model),
    says("training.training_type", Fact::Adapter),
    says("training.max_seq_length", Fact::Length),
    says("training.load_in_4bit", Fact::In4Bit),
    sets("training.batch_size", "per_device_train_batch_size", As::Whole),
    sets("training.gradient_accumulation_steps", "gradient_accumulation_steps", As::Whole),
    says("training.packing", Fact::Packing),
    says("training.gradient_checkpointing", Fact::Checkpointing),
    says("training.optim", Fact::Optimizer),
    bears("training.train_on_completions", Topic::Loss),
    sets("lora.lora_r", "lora.r", As::Whole),
    sets("lora.lora_alpha", "lora.lora_alpha", As::Real),
    sets("lora.lora_dropout", "lora.lora_dropout", As::Real),
    says("lora.target_modules", Fact::Targets),
    bears("lora.use_dora", Topic::Dora),
    says("lora.finetune_vision_layers", Fact::TunesVision),
    says("lora.finetune_language_layers", Fact::TunesLanguage),
    nothing("lora.use_rslora"),
    nothing("lora.use_loftq"),
    nothing("lora.vision_all_linear"),
    nothing("lora.finetune_attention_modules"),
    nothing("lora.finetune_mlp_modules"),
];

pub(super) const STUDIO_KNOWN: &str = "data logging inference audio_input training.output_dir training.num_epochs training.learning_rate \
    training.warmup_steps training.warmup_ratio training.max_steps training.save_steps training.weight_decay training.random_seed \
    training.trust_remote_code training.lr_scheduler_type training.eval_steps";

pub(super) const NEMO_ROWS: &[Row] = &[
    says("model.pretrained_model_name_or_path", Fact::Model),
    says("model.torch_dtype", Fact::Dtype),
    says("model.dtype", Fact::Dtype),
    says("model.attn_implementation", Fact::Attention),
    sets("model.use_liger_kernel", "use_liger_kernel", As::Flag),
    nothing("model._target_"),
    sets("step_scheduler.local_batch_size", "per_device_train_batch_size", As::Whole),
    says("step_scheduler.global_batch_size", Fact::GlobalBatch),
    says("distributed.strategy", Fact::Fsdp),
    nothing("distributed._target_"),
    says("distributed.dp_replicate_size", Fact::Replicas),
    says("distributed.activation_checkpointing", Fact::Checkpointing),
    bears("distributed.tp_size", Topic::Parallelism),
    bears("distributed.cp_size", Topic::Parallelism),
    bears("distributed.pp_size", Topic::Parallelism),
    bears("distributed.ep_size", Topic::Parallelism),
    nothing("distributed.sequence_parallel"),
    nothing("distributed.dp_size"),
    says("dataset.seq_length", Fact::Length),
    says("packed_sequence.packed_sequence_size", Fact::Length),
    says("packed_sequence.pack_size", Fact::Length),
    nothing("packed_sequence.max_length"),
    says("peft._target_", Fact::PeftClass),
    sets("peft.dim", "lora.r", As::Whole),
    sets("peft.alpha", "lora.lora_alpha", As::Real),
    sets("peft.dropout", "lora.lora_dropout", As::Real),
    says("peft.target_modules", Fact::Targets),
    says("peft.match_all_linear", Fact::TargetsAll),
    bears("peft.use_dora", Topic::Dora),
    says("optimizer._target_", Fact::OptimizerClass),
    sets("clip_grad_norm.max_norm", "max_grad_norm", As::Real),
    says("freeze_config.freeze_vision_tower", Fact::FreezesTower),
    says("freeze_config.freeze_language_model", Fact::FreezesLanguage),
    nothing("freeze_config.freeze_audio_tower"),
    bears("fp8", Topic::Fp8),
    bears("loss_fn._target_", Topic::Loss),
    sets("compile.enabled", "torch_compile", As::Flag),
    nothing("peft.use_triton"),
];

pub(super) const NEMO_KNOWN: &str = "recipe dist_env rng processor checkpoint dataloader validation_dataset validation_dataloader lr_scheduler wandb \
    compile.mode compile.fullgraph compile.dynamic compile.backend \
    dataset._target_ dataset.path_or_dataset dataset.dataset_name dataset.split dataset.tokenizer packed_sequence.pretokenize \
    packed_sequence.packing_ratio packed_sequence.drop_long_samples optimizer.betas optimizer.eps optimizer.lr optimizer.weight_decay \
    step_scheduler.ckpt_every_steps step_scheduler.val_every_steps step_scheduler.num_epochs step_scheduler.max_steps";

pub(super) const FLAG_ROWS: &[Row] = &[
    says("passage_max_len", Fact::Length),
    says("max_len", Fact::Length),
    bears("query_max_len", Topic::NoSetting),
    nothing("pad_to_multiple_of"),
    says("train_group_size", Fact::Passages),
    says("sentence_pooling_method", Fact::PoolingMethod),
    bears("sub_batch_size", Topic::Activations),
    bears("negatives_cross_device", Topic::Loss),
    bears("unified_finetuning", Topic::Loss),
    bears("use_self_distill", Topic::Loss),
    bears("knowledge_distillation", Topic::Loss),
    bears("use_mrl", Topic::Loss),
    sets("lora_rank", "lora.r", As::Whole),
];

pub(super) const FLAG_KNOWN: &str = "query_instruction_for_retrieval query_instruction_format passage_instruction_for_retrieval \
    passage_instruction_format query_instruction_for_rerank passage_instruction_for_rerank same_dataset_within_batch small_threshold \
    drop_threshold temperature normalize_embeddings normlized kd_loss_type shuffle_ratio max_example_num_per_dataset self_distill_start_step \
    pad_to_multiple_of sep_token query_max_length config_name token";
