//! The pages beside the planner in English.

use crate::guide::{AccuracyPage, Entry, Guide, Section};

const fn entry(id: &'static str, word: &'static str, meaning: &'static str) -> Entry {
    Entry { id, word, meaning }
}

const fn section(title: &'static str, paragraphs: &'static [&'static str]) -> Section {
    Section { title, paragraphs }
}

pub(crate) static GUIDE: Guide = Guide {
    how_title: "How it works",
    how: &[
        section(
            "For whom",
            &[
                "You have just met CUDA out of memory: enter the run as it was, or paste its command, configuration file or traceback. The tab Fix says what to change first, and what that costs in time.",
                "You are choosing a method or a GPU: the tab Compare sets full fine-tuning, LoRA and QLoRA beside each other under every way to shard them. Limits says how far batch and length go.",
                "Your GPU is hardly used: Fix says what to raise, and by how much.",
                "You want to understand a figure: Memory names every allocation at the peak with its formula.",
            ],
        ),
        section(
            "The step is run, not estimated by a rule",
            &[
                "The model's forward code runs here on tensors that are only sizes. Each operator allocates what PyTorch's allocates and saves what PyTorch's saves for backward; then the graph runs backwards in autograd's order, gradients are clipped and the optimizer steps. Trainers, adapters, quantisation, checkpointing and sharding act where they do in the real step.",
                "So nothing states what is alive when: it follows. The peak is the maximum over the phases of a step, never the sum of everything.",
            ],
        ),
        section(
            "PyTorch's allocator is replayed",
            &[
                "Whether a step fits is decided by the caching allocator: it rounds requests, keeps freed blocks and cannot move what is in use. Every request of three steps is run through a model of it, on ever smaller GPUs, until the step no longer runs. The smallest on which it does is what the verdict says is needed, with the CUDA context beside it.",
                "The figure has a range: below its low end nothing can run, above its high end the allocator never has to give anything back.",
            ],
        ),
        section(
            "Times are rough, ratios are not",
            &[
                "How long a step takes is added up from matmuls, memory traffic and communication. The absolute figure can be off by a factor; the ratio of two plans on the same GPU is what to read.",
            ],
        ),
        section(
            "Nothing leaves your browser",
            &[
                "There is no server, no account and no telemetry. The plan lives in the part of the address after #, which browsers never send. Files that you paste or drop are read on your machine and never executed.",
            ],
        ),
    ],
    glossary_title: "Glossary",
    glossary_intro: "The words of this page, and the letters of its formulas.",
    entries: &[
        entry(
            "word-activation",
            "Activations",
            "Tensors that the forward pass makes and backward needs again. They grow with batch × length, and are what gradient checkpointing saves.",
        ),
        entry("word-adapter", "Adapter", "A pair of small matrices beside a frozen weight: what LoRA trains."),
        entry("word-allocated", "Allocated", "Bytes in live tensors: torch.cuda.memory_allocated."),
        entry(
            "word-allocator",
            "Caching allocator",
            "PyTorch's own memory manager on the GPU. It takes segments from the driver, cuts them into blocks, and keeps what is freed for the next request.",
        ),
        entry(
            "word-autocast",
            "Autocast",
            "Matmuls run in 16 bits while the weights stay in 32: the cast copies cost memory, too.",
        ),
        entry("word-batch", "b · batch", "Sequences in one forward pass on one GPU: per_device_train_batch_size."),
        entry(
            "word-checkpointing",
            "Gradient checkpointing",
            "Keep only each layer's input, and run the layer once more in backward. Less memory, about a third more computing.",
        ),
        entry("word-context", "CUDA context", "What driver and libraries take on the GPU before the first tensor."),
        entry(
            "word-ddp",
            "DDP",
            "Every GPU holds the whole model and its own part of the batch; gradients are averaged.",
        ),
        entry(
            "word-expandable",
            "Expandable segments",
            "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True: segments that can grow, so that less is lost to fragmentation.",
        ),
        entry(
            "word-fragmentation",
            "Fragmentation",
            "Memory that is free, but in pieces too small for the next request.",
        ),
        entry(
            "word-fsdp",
            "FSDP",
            "PyTorch's sharding of weights, gradients and optimizer states: each layer is gathered when it is used.",
        ),
        entry(
            "word-fused-head",
            "Fused LM head",
            "The last projection and the loss computed chunk by chunk, so that the logits never exist as a whole.",
        ),
        entry(
            "word-gradient",
            "Gradients",
            "One number for each trained parameter, from backward to the optimizer step.",
        ),
        entry(
            "word-accumulation",
            "Gradient accumulation",
            "Several micro-batches before one optimizer step: a larger effective batch at the memory of a small one.",
        ),
        entry("word-headroom", "Headroom", "What the GPU has beyond what the step needs."),
        entry("word-kv-cache", "KV cache", "Keys and values kept while text is generated."),
        entry("word-letter-a", "a · attention heads", "num_attention_heads of the model's config."),
        entry("word-letter-d", "d · head dimension", "Width of one attention head."),
        entry("word-letter-h", "h · hidden size", "Width of the residual stream: hidden_size."),
        entry(
            "word-letter-k",
            "k · key-value heads",
            "num_key_value_heads: fewer than a under grouped-query attention.",
        ),
        entry("word-letter-l", "L · layers", "num_hidden_layers."),
        entry("word-letter-s", "s · sequence length", "Tokens in one sequence: max_length."),
        entry("word-letter-v", "V · vocabulary", "vocab_size: the logits are b × s × V numbers."),
        entry(
            "word-logits",
            "Logits",
            "The scores of every token of the vocabulary at every position. With a large vocabulary often the largest single tensor.",
        ),
        entry(
            "word-lora",
            "LoRA",
            "Train adapters only; the base model is frozen and needs neither gradients nor optimizer states.",
        ),
        entry(
            "word-micro-batch",
            "Micro-batch",
            "What goes through one forward pass; several of them make a step under accumulation.",
        ),
        entry(
            "word-offload",
            "Offload",
            "Keep optimizer states or weights in host memory and bring them to the GPU when they are used.",
        ),
        entry(
            "word-optimizer-state",
            "Optimizer states",
            "What the optimizer keeps for each trained parameter: two more numbers with AdamW.",
        ),
        entry(
            "word-overhead",
            "Overhead",
            "What the GPU gives up besides tensors: CUDA context, rounding, fragmentation, communication libraries.",
        ),
        entry("word-peak", "Peak", "The moment of the step at which most memory is in use: what has to fit."),
        entry("word-phase", "Phase", "A part of the step: load, forward, loss, backward, clipping, optimizer step."),
        entry(
            "word-qlora",
            "QLoRA",
            "LoRA over a base model quantised to 4 bits. Its weights are small, but each matmul unpacks one into 16 bits for a moment.",
        ),
        entry(
            "word-required",
            "Required",
            "Bytes of the smallest GPU on which the step runs, the CUDA context apart. What the verdict stands on.",
        ),
        entry(
            "word-reserved",
            "Reserved",
            "Bytes of the allocator's segments where memory never runs short: torch.cuda.memory_reserved.",
        ),
        entry(
            "word-zero",
            "ZeRO 1, 2, 3",
            "DeepSpeed's sharding over GPUs: of optimizer states (1), gradients as well (2), weights as well (3).",
        ),
    ],
    accuracy: AccuracyPage {
        title: "Accuracy",
        lead: |steps, on_gpus| {
            format!(
                "{steps} training steps were measured and compared with what this page says of the same plans; {on_gpus} of them on real GPUs."
            )
        },
        summary_title: "All measured steps",
        column_figure: "Figure",
        column_steps: "Steps",
        column_median: "Median error",
        column_95: "95 % within",
        column_worst: "Worst under-estimate",
        by_allocator: "Counted by PyTorch's allocator, no GPU",
        on_gpus: "Measured on real GPUs",
        sections: &[
            section(
                "How these figures were obtained",
                &[
                    "Most steps were run with the real libraries — PyTorch, transformers, TRL, peft, bitsandbytes, DeepSpeed — and PyTorch's own CUDA caching allocator, with kernels that compute nothing. The allocator counts what it would on a GPU. An estimate that names the very same tensors agrees to the byte, which is why so many errors are 0.00 %: the allocator is deterministic, and so is the replay.",
                    "Steps on real GPUs add what nobody controls: the driver, other processes, library versions, and how their authors measured. They are listed apart, and err more. Runs that others published are not in this table: the versions that they ran are only partly known. The validation report has them.",
                    "A step enters the table before the page is made to agree with it, and no formula has a factor that was tuned.",
                ],
            ),
            section(
                "Check it on your own run",
                &[
                    "Add the callback from the tab Run (Export, “Memory check”) to your trainer. It prints allocated, reserved and peak memory beside this estimate after the first steps. Compare the second step or later: the optimizer's states do not exist before.",
                    "A difference above a few per cent means that something in the run is not in the plan: another attention kernel, another version, a second model, evaluation. Please report it with the line that the callback prints.",
                ],
            ),
        ],
        near_title: "Steps nearest to your plan",
        not_near: "Fix the plan's settings to see which measured steps are near it.",
    },
};
