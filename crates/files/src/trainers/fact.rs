//! How values become those of fields, and what keys say that several fields follow from.

/// How a value becomes that of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum As {
    /// A whole number.
    Whole,
    /// A number.
    Real,
    /// A switch.
    Flag,
    /// A switch, or a word for a kind of it that no plan has.
    FlagOrKind,
    /// A switch turned round.
    NotFlag,
    /// A text.
    Text,
    /// A number format: `bf16`, `torch.bfloat16`, `half`.
    Dtype,
    /// Names of modules: a list, or a text with commas.
    Names,
    /// Names of modules or all of them: `all`, `all-linear`.
    Targets,
    /// An optimizer by any of its names.
    Optimizer,
    /// `cpu`, `none`; nvme counts as cpu.
    Device,
    /// DeepSpeed's sizes: a number or `auto`.
    Bucket,
    /// A switch that moves to host memory.
    DeviceSwitch,
    /// A level, of which 0 is off.
    Level,
    /// Attention by any of its names.
    Attention,
    /// How documents are packed, by any of the names it has had.
    PackingStrategy,
    /// A text in lower case.
    Lower,
}

/// What keys say that no single field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fact {
    /// The model by name or path.
    Model,
    /// A whole adapter configuration's base model, if nothing else names one.
    BaseModel,
    /// `full`, `lora`, `qlora`, `freeze`, and what else trains.
    Adapter,
    /// A switch that trains all weights.
    FullTuning,
    /// Adapters are used (`use_peft`, a `LoraConfig`).
    UsesAdapters,
    /// Rank of adapters in the text's part, 0 for none (InternVL).
    LanguageRank,
    /// Modules with adapters, or all of them.
    Targets,
    /// All linear modules get adapters.
    TargetsAll,
    /// The MLP's modules get adapters too (torchtune).
    TargetsMlp,
    /// `load_in_4bit`.
    In4Bit,
    /// `load_in_8bit`.
    In8Bit,
    /// Bits of the base.
    Bits,
    /// What quantises: `bnb`, `gptq`, `hqq`.
    QuantMethod,
    /// bf16 autocast.
    Bf16,
    /// fp16 autocast.
    Fp16,
    /// Weights in bf16 without autocast (LLaMA-Factory's `pure_bf16`, axolotl's `bfloat16`).
    PureBf16,
    /// Weights in fp16 without autocast (axolotl's `float16`).
    PureFp16,
    /// accelerate's `mixed_precision`.
    Precision,
    /// dtype of the weights.
    Dtype,
    /// Gradient checkpointing: a switch, or a word for a kind of it.
    Checkpointing,
    /// The switch turned round.
    NoCheckpointing,
    /// Checkpointing by FSDP.
    FsdpCheckpointing,
    /// A DeepSpeed configuration: a path, a shipped name, or the settings.
    Deepspeed,
    /// `ZeRO` stage.
    ZeroStage,
    /// Where the optimizer state lives.
    OptimizerDevice,
    /// Where the parameters live.
    ParamDevice,
    /// What compiles.
    Dynamo,
    /// A command beside the run serves a vLLM for it.
    ServesVllm,
    /// FSDP's options: `full_shard auto_wrap offload`, or a switch.
    Fsdp,
    /// Settings of FSDP, or a file of them.
    FsdpConfig,
    /// 1 or 2.
    FsdpVersion,
    /// `FULL_SHARD`, `1`, or FSDP2's switch.
    Reshard,
    /// Copies of the model that FSDP shards.
    Replicas,
    /// GPUs that share out one of them.
    ShardSize,
    /// Parameters rest in host memory.
    FsdpOffload,
    /// A script's switch that moves to the host what its stage of ZeRO can (DeepSpeed-Chat).
    ScriptOffload,
    /// accelerate's `distributed_type`.
    DistributedType,
    /// A flag that chooses DeepSpeed.
    UsesDeepspeed,
    /// A flag that chooses FSDP.
    UsesFsdp,
    /// A flag that chooses several GPUs.
    MultiGpu,
    /// Processes of all machines together.
    Processes,
    /// Processes of each machine.
    ProcessesPerMachine,
    /// Machines.
    Machines,
    /// Processes that a cluster starts a program in.
    Tasks,
    /// GPUs that programs see.
    VisibleGpus,
    /// The GPU by name.
    Gpu,
    /// GPUs that a container, pod or job has.
    GivenGpus,
    /// GPUs that accelerate uses.
    GpuIds,
    /// DeepSpeed's `localhost:0,1`.
    Include,
    /// What is trained or run: `sft`, `dpo`, `rm`.
    Stage,
    /// LLaMA-Factory's `pref_loss` makes DPO's stage another.
    PreferenceLoss,
    /// Flash attention's switch.
    FlashSwitch,
    /// `sdpa`'s switch.
    SdpaSwitch,
    /// Plain attention's switch.
    EagerSwitch,
    /// Attention by name.
    Attention,
    /// Packing.
    Packing,
    /// Packing that keeps documents apart.
    NeatPacking,
    /// axolotl's `plugins`.
    Plugins,
    /// Unsloth within another trainer.
    Unsloth,
    /// `PYTORCH_CUDA_ALLOC_CONF`.
    Allocator,
    /// `device_map`.
    DeviceMap,
    /// The reference model.
    ReferenceModel,
    /// Whether a copy of the model is the reference beside adapters.
    CopiesReference,
    /// Log-probabilities of the reference computed before training.
    Precomputed,
    /// The reward model.
    RewardModel,
    /// The value model.
    ValueModel,
    /// A switch that uses vLLM.
    UsesVllm,
    /// The rollout engine by name.
    Engine,
    /// Rollout engines, of GPUs of their own (OpenRLHF).
    Engines,
    /// All models share their GPUs (OpenRLHF).
    ColocatesAll,
    /// Policy and reference do.
    ColocatesReference,
    /// GPUs of the reference alone.
    ReferenceGpus,
    /// GaLore's switch.
    Galore,
    /// GaLore by layers.
    GaloreLayerwise,
    /// APOLLO's switch.
    Apollo,
    /// APOLLO by layers.
    ApolloLayerwise,
    /// The optimizer by name.
    Optimizer,
    /// DeepSpeed's own optimizer.
    DeepspeedOptimizer,
    /// Sequences in one forward, as DeepSpeed has them.
    DeepspeedMicroBatch,
    /// Sequences of a step on all GPUs together.
    GlobalBatch,
    /// Accumulation, as accelerate and DeepSpeed have it.
    Accumulation,
    /// Clipping, as accelerate and DeepSpeed have it.
    Clipping,
    /// DeepSpeed's `bf16.enabled`.
    DeepspeedBf16,
    /// DeepSpeed's `fp16.enabled`.
    DeepspeedFp16,
    /// Length of sequences.
    Length,
    /// Longest instruction of a script that cuts instruction and answer each by itself (qlora.py).
    SourceLength,
    /// Longest answer of such a script.
    TargetLength,
    /// Whose adapters are taken, where a trainer takes those of several.
    TunerBackend,
    /// The device of an engine that answers beside the trainers.
    EngineDevice,
    /// How many engines answer beside the trainers.
    EngineWorkers,
    /// Prompts of a step on all GPUs together (verl); of a supervised run sequences.
    Prompts,
    /// Prompts of one update on all GPUs together (verl).
    MiniBatch,
    /// Sequences of one forward on all GPUs together (verl, of earlier releases).
    MicroBatchOfAll,
    /// Sequences of one pass for log-probabilities on all GPUs together (verl, of earlier releases).
    LogprobBatchOfAll,
    /// Passages beside each query, the right one among them (FlagEmbedding).
    Passages,
    /// How an embedding model makes its vector (FlagEmbedding).
    PoolingMethod,
    /// The class that makes adapters (NeMo Automodel).
    PeftClass,
    /// The module that an optimizer is a class of (verl).
    OptimizerModule,
    /// The class (verl).
    OptimizerClass,
    /// Whether the class runs fused (verl, torchtune).
    OptimizerFused,
    /// A loss by name.
    Loss,
    /// Adapters' number format follows the base (`autocast_adapter_dtype`).
    AutocastAdapters,
    /// Cut cross-entropy.
    CutLoss,
    /// Liger's parts: the fused loss.
    LigerLoss,
    /// Liger's parts: the kernels.
    LigerKernels,
    /// Whether a config file is an adapter of weights that train.
    ConfigFile,
    /// `prepare_model_for_kbit_training` was called.
    Prepared,
    /// KL's weight or reference's use (verl).
    UsesReference,
    /// verl: the reference's KL is part of the reward.
    KlInReward,
    /// verl: the advantage estimator says which method it is.
    Estimator,
    /// torchtune's builder of a model.
    Component,
    /// A switch of `fp8`.
    Fp8,
    /// Transformers' model class: a classifier.
    Classifier,
    /// The tower that sees images stays as it is.
    FreezesTower,
    /// Whether the GPU has bf16, as a trainer has printed it.
    HasBf16,
    /// Most positions that an image takes in the text.
    ImageTokens,
    /// What joins the tower and the text stays as it is.
    FreezesProjector,
    /// The text's own part stays as it is.
    FreezesLanguage,
    /// Names that modules which stay as they are begin with (ms-swift).
    FreezesModules,
    /// A script's switch that trains the tower.
    TrainsTower,
    /// A script's switch that trains what joins tower and text.
    TrainsProjector,
    /// A script's switch that trains the text's part.
    TrainsLanguage,
    /// When a trainer evaluates.
    EvalStrategy,
    /// Steps between evaluations, or evaluations of an epoch.
    EvalSteps,
    /// Data to evaluate on, or its share.
    EvalData,
    /// The part of the data that is kept back to evaluate with, where none is given.
    EvalSplit,
    /// A switch that evaluates, once training has ended where nothing says when.
    DoesEvaluate,
    /// A function that computes metrics from whole logits.
    ComputesMetrics,
    /// A function that reduces logits before they are kept.
    ReducesLogits,
    /// Evaluation computes the loss alone.
    LossAlone,
    /// Unsloth's switch for adapters in tower and projector.
    TunesVision,
    /// Unsloth's switch for adapters in the text's part.
    TunesLanguage,
}
