//! What fields are called, in English.

use crate::{Fields, FurtherFields, field};

pub(super) const FIELDS: Fields = Fields {
    model: field("Model", "", "Type a name, or give the config.json of your own model below."),
    trainer: field(
        "Trainer",
        "",
        "Whose step runs. It decides the defaults, the loss, what is cast and what is kept.",
    ),
    trainer_version: field(
        "Trainer version",
        "",
        "The measured version whose step is estimated; empty: the newest.",
    ),
    task: field("Task", "", "What runs: it decides the head, the loss and whether anything is trained."),
    gpu: field("GPU", "", "Memory is what the driver reports, a little less than the box says."),
    num_gpus: field("Number of GPUs", "GPUs", "They share the batch by data parallelism."),
    method: field("Method", "", "Which weights are trained, and how the others are held."),
    batch: field("Batch per GPU", "sequences", "Sequences in one forward on one GPU; activations grow with it."),
    max_length: field(
        "Sequence length",
        "tokens",
        "Every sequence is counted at this length, prompt and answer together.",
    ),
};

pub(super) static FURTHER: FurtherFields = FurtherFields {
    num_labels: field("Labels", "classes", "Outputs of the classification head; 1 for a single score."),
    new_tokens: field("New tokens", "tokens", "Generated after the prompt; each one adds to the KV cache."),
    memory_gib: field("Memory of the GPU", "GiB", "What nvidia-smi prints as total, divided by 1024."),
    compute_capability: field(
        "Compute capability",
        "",
        "NVIDIA's number for the generation; it decides which attention kernels exist.",
    ),
    lora_r: field("LoRA rank", "", "Width of each adapter; twice the rank, twice the adapter."),
    lora_targets: field("Adapted modules", "", "Which linear layers get an adapter."),
    lora_dropout: field("LoRA dropout", "", "Above 0, a mask of each adapter's input is kept for backward."),
    lora_alpha: field("LoRA alpha", "", "Scales the adapter's output; does not change memory."),
    target_parameters: field(
        "Target parameters",
        "",
        "Parameters that are no linear layer, for instance mlp.experts.gate_up_proj and mlp.experts.down_proj; names separated by commas.",
    ),
    modules_to_save: field(
        "Modules trained in full",
        "",
        "Beside the adapters, for instance embed_tokens and lm_head; names separated by commas.",
    ),
    adapter_dtype: field(
        "Adapter dtype",
        "",
        "peft keeps adapters in fp32 over a half-precision base unless told otherwise.",
    ),
    lora_kernels: field("LoRA kernels", "", "axolotl runs adapted projections together, which keeps less."),
    bits: field("Bits", "bits", "Width of the frozen linear layers' weights."),
    quant_type: field("4-bit format", "", "Both take the same memory; nf4 keeps more quality."),
    double_quant: field("Double quantisation", "", "Quantises the scales too: about 0.37 bits a parameter less."),
    prepare_for_kbit_training: field(
        "Prepare for k-bit training",
        "",
        "peft's helper raises everything that is not quantised, embeddings and head included, to fp32.",
    ),
    fused_4bit_gemm: field(
        "Fused 4-bit matmul",
        "",
        "Newer bitsandbytes multiplies short inputs without a dequantised copy of the weight.",
    ),
    bnb_4bit_quant_storage: field(
        "4-bit storage dtype",
        "",
        "What 4-bit weights are packed into. FSDP shards them only in the dtype of the other weights.",
    ),
    precision: field("Precision", "", "The dtype the weights are loaded in, and autocast over it."),
    optim: field("Optimizer", "", "Decides how many bytes of state each trained parameter needs."),
    accumulation: field(
        "Gradient accumulation",
        "steps",
        "Forwards summed before the optimizer steps; costs time, hardly memory.",
    ),
    gradient_checkpointing: field(
        "Gradient checkpointing",
        "",
        "Keeps one tensor a layer and computes the rest again in backward: about a third more time.",
    ),
    activation_offloading: field(
        "Activation offloading",
        "",
        "What forward keeps waits in pinned host memory until backward; costs transfers over PCIe.",
    ),
    loss_implementation: field(
        "Loss",
        "",
        "What computes it, and whether logits of the whole vocabulary ever exist.",
    ),
    loss_type: field("Loss type", "", "GRPO's all take the same memory; chunked_nll takes far less than nll."),
    label_tokens: field(
        "Tokens in the loss",
        "tokens",
        "Of each sequence; empty: all. Fewer with completion_only_loss, and only these reach the head.",
    ),
    packing: field("Packing", "", "Documents are put together until they fill the sequence length."),
    packing_strategy: field(
        "Packing strategy",
        "",
        "bfd lays a batch end to end in one row, whose documents a mask or flash-attn keeps apart.",
    ),
    attn_implementation: field(
        "Attention",
        "",
        "Eager materialises the score matrix, so its memory grows with the square of the length.",
    ),
    use_liger_kernel: field(
        "Liger kernels",
        "",
        "Fuses norms and SwiGLU, and computes the loss in chunks where the trainer does not do so itself.",
    ),
    torch_compile: field(
        "torch.compile",
        "",
        "Inductor fuses operators and keeps less for backward; what it keeps is not modelled.",
    ),
    framework: field("Framework", "", "Who shards and synchronises; on one GPU it matters only for offload."),
    zero_stage: field("ZeRO stage", "", "What is sharded over the GPUs instead of copied to each."),
    offload_optimizer: field(
        "Optimizer state in host memory",
        "",
        "Frees the GPU, costs host memory and time on the PCIe bus.",
    ),
    offload_param: field(
        "Parameters in host memory",
        "",
        "Each layer is fetched when it is used; needs ZeRO stage 3.",
    ),
    padded_batch: field("Padded batch", "", "A padding mask reaches attention, which rules out some kernels."),
    logits_to_fp32: field(
        "Outputs to fp32",
        "",
        "accelerate converts a mixed-precision forward's outputs, logits included, to fp32.",
    ),
    expandable_segments: field(
        "Expandable segments",
        "",
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True maps memory page by page: far less is lost to fragmentation, at no cost worth naming.",
    ),
    keep_outputs: field(
        "Outputs kept",
        "",
        "The loop holds the model's outputs, so the logits live through backward and step.",
    ),
    attention_kernel: field(
        "SDPA kernel",
        "",
        "What scaled_dot_product_attention dispatches to; auto follows GPU, dtype, mask and length.",
    ),
    expand_kv_heads: field(
        "Repeat key/value heads",
        "",
        "Whether grouped keys and values are copied to all heads before attention.",
    ),
    enable_input_require_grads: field("Input gradients", "", "peft's hook that checkpointing with adapters needs."),
    max_grad_norm: field(
        "Gradient clipping",
        "",
        "Largest norm of all gradients together; 0 switches clipping off.",
    ),
    reduce_bucket_size: field(
        "Reduce bucket",
        "elements",
        "A number, default (DeepSpeed's own) or auto (as Hugging Face fills it in).",
    ),
    allgather_bucket_size: field("All-gather bucket", "elements", "A number, default or auto."),
    prefetch_bucket_size: field(
        "Prefetch bucket",
        "elements",
        "Stage 3 fetches this much ahead: a number, default or auto.",
    ),
    persistence_threshold: field(
        "Persistence threshold",
        "elements",
        "Stage 3 keeps smaller parameters on every GPU: a number, default or auto.",
    ),
    max_live_parameters: field(
        "Live parameters",
        "elements",
        "The most that stage 3 holds gathered: a number, default or auto.",
    ),
    sub_group_size: field(
        "Sub-group",
        "elements",
        "The optimizer steps group by group: a number, default or auto.",
    ),
    overlap_comm: field(
        "Overlap communication",
        "",
        "Reduces while backward runs, at the price of a second bucket.",
    ),
    contiguous_gradients: field("Contiguous gradients", "", "Copies gradients to one buffer as they come."),
    round_robin_gradients: field(
        "Round-robin gradients",
        "",
        "Spreads gradient copies over the ranks when the optimizer is offloaded.",
    ),
    grad_accum_dtype: field(
        "Gradient sums",
        "",
        "dtype in which ZeRO sums gradients: fp32 takes more memory than the weights' 16 bits.",
    ),
    pin_memory: field("Pinned host memory", "", "Locks the pages of offloaded tensors for faster copies."),
    reshard_after_forward: field(
        "Reshard after forward",
        "",
        "Frees gathered parameters between forward and backward.",
    ),
    param_dtype: field("Parameter dtype", "", "dtype in which FSDP gathers parameters."),
    reduce_dtype: field("Reduction dtype", "", "dtype in which FSDP reduces gradients."),
    cpu_offload: field("CPU offload", "", "FSDP keeps parameters, gradients and optimizer state in host memory."),
    wrap_embedding: field("Embedding wrapped", "", "The token embedding is sharded as a unit of its own."),
    bucket_cap_mb: field("DDP bucket", "MiB", "Gradients are reduced in buckets of this size."),
    gradient_as_bucket_view: field(
        "Gradients as bucket views",
        "",
        "Gradients live inside the buckets, not beside them.",
    ),
    static_graph: field("Static graph", "", "DDP assumes that every step uses the same parameters."),
    find_unused_parameters: field("Find unused parameters", "", "DDP looks for parameters that got no gradient."),
    cpu_ram_efficient_loading: field(
        "One process reads the weights",
        "",
        "accelerate's cpu_ram_efficient_loading: up to transformers 4 the first process alone reads the checkpoint.",
    ),
    sharding_strategy: field("Sharding strategy", "", "What FSDP1 shards, and when it frees what it gathered."),
    host_memory_gib: field(
        "Memory of the hosts",
        "GiB",
        "All machines together; empty: what machines with such GPUs usually have.",
    ),
    non_pytorch_memory_mib: field(
        "Non-PyTorch memory",
        "MiB",
        "CUDA context, kernels and NCCL of one process, as measured: what nvidia-smi shows for it less what PyTorch has reserved.",
    ),
    backward_prefetch: field(
        "Backward prefetch",
        "",
        "When FSDP1 gathers the next layer's parameters in backward.",
    ),
};
