//! What a text states, in figures.

use super::quantity::Amount;

/// Declares the formats: variant, name in JSON.
macro_rules! formats {
    ($($(#[$doc:meta])* $variant:ident = $name:literal;)+) => {
        /// What wrote a text.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Format { $($(#[$doc])* $variant),+ }
        impl Format {
            /// Every format.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
            /// Name in JSON.
            pub const fn name(self) -> &'static str { match self { $(Self::$variant => $name),+ } }
        }
    };
}

formats! {
    /// PyTorch's caching allocator on CUDA ran out.
    CudaOutOfMemory = "cuda_out_of_memory";
    /// The same on ROCm.
    HipOutOfMemory = "hip_out_of_memory";
    /// The same on Intel GPUs.
    XpuOutOfMemory = "xpu_out_of_memory";
    /// The same on Ascend.
    NpuOutOfMemory = "npu_out_of_memory";
    /// The same on Apple GPUs.
    MpsOutOfMemory = "mps_out_of_memory";
    /// The driver refused memory outside PyTorch's allocator.
    CudaError = "cuda_error";
    /// cuBLAS could not allocate its handle or workspace.
    CublasAllocFailed = "cublas_alloc_failed";
    /// NCCL could not allocate its buffers.
    NcclOutOfMemory = "nccl_out_of_memory";
    /// bitsandbytes could not allocate.
    BitsandbytesOutOfMemory = "bitsandbytes_out_of_memory";
    /// accelerate's `find_executable_batch_size` gave up.
    NoExecutableBatchSize = "no_executable_batch_size";
    /// DeepSpeed's `see_memory_usage`.
    DeepspeedMemoryUsage = "deepspeed_memory_usage";
    /// vLLM's allocator for engines that sleep got no memory from the driver.
    VllmCumem = "vllm_cumem";
    /// vLLM found too little for its cache or its share.
    Vllm = "vllm";
    /// What vLLM logs of its memory while it starts, without any error.
    VllmLog = "vllm";
    /// SGLang the same.
    Sglang = "sglang";
    /// JAX or TensorFlow (XLA).
    Xla = "xla_out_of_memory";
    /// The system ended a process for want of host memory, or refused it some.
    HostOutOfMemory = "host_out_of_memory";
    /// `nvidia-smi`'s table.
    NvidiaSmi = "nvidia_smi";
    /// `nvidia-smi -q`.
    NvidiaSmiQuery = "nvidia_smi_q";
    /// `nvidia-smi --query-gpu` or `--query-compute-apps`.
    NvidiaSmiCsv = "nvidia_smi_csv";
    /// `nvitop`.
    Nvitop = "nvitop";
    /// `free`: the host's memory.
    Free = "free";
    /// The Trainer's metrics with `skip_memory_metrics=False`.
    TrainerMetrics = "trainer_metrics";
    /// `gpustat`.
    Gpustat = "gpustat";
    /// `rocm-smi`.
    RocmSmi = "rocm_smi";
    /// `amd-smi`.
    AmdSmi = "amd_smi";
    /// `npu-smi info`.
    NpuSmi = "npu_smi";
    /// `xpu-smi`.
    XpuSmi = "xpu_smi";
    /// `torch.cuda.memory_summary()`.
    MemorySummary = "memory_summary";
    /// `torch.cuda.memory_stats()`.
    MemoryStats = "memory_stats";
    /// `torch.cuda.memory._dump_snapshot()`.
    MemorySnapshot = "memory_snapshot";
    /// A program's own report of its GPUs, a figure a line.
    Monitor = "monitor";
}

/// What an engine logs of its memory while it starts; `None` where it does not say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EngineFigures {
    /// What it may have of the GPU (`gpu_memory_utilization`), bytes.
    pub share_bytes: Option<u64>,
    /// Weights, bytes.
    pub weights_bytes: Option<u64>,
    /// Activations at the peak of its profile run, bytes.
    pub activation_bytes: Option<u64>,
    /// What is outside of PyTorch, bytes.
    pub non_torch_bytes: Option<u64>,
    /// CUDA graphs, bytes.
    pub graphs_bytes: Option<u64>,
    /// Cache of keys and values, bytes.
    pub kv_cache_bytes: Option<u64>,
    /// Cache that it says would keep it within its share, bytes.
    pub suggested_cache_bytes: Option<u64>,
    /// Tokens that the cache has room for.
    pub kv_cache_tokens: Option<u64>,
    /// Tokens of the longest request.
    pub request_tokens: Option<u64>,
    /// Such requests that the cache has room for at once, in hundredths.
    pub concurrency_hundredths: Option<u64>,
}

impl EngineFigures {
    /// All that it takes of the GPU, where weights and cache are stated, bytes.
    pub fn taken_bytes(&self) -> Option<u64> {
        let others = [self.activation_bytes, self.non_torch_bytes, self.graphs_bytes];
        let whole = self.weights_bytes?.saturating_add(self.kv_cache_bytes?);
        Some(others.into_iter().flatten().fold(whole, u64::saturating_add))
    }
}

/// A process that a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its number, where one is stated.
    pub pid: Option<u64>,
    /// Its name, where one is stated.
    pub name: Option<String>,
    /// Memory it has of the GPU, bytes.
    pub bytes: u64,
}

/// What one message or one GPU of a text states; `None` where it does not say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// What wrote it.
    pub format: Format,
    /// Line of the text that it begins on, from 1.
    pub line: usize,
    /// That line, as evidence, shortened.
    pub evidence: String,
    /// The rank that printed it.
    pub rank: Option<u64>,
    /// Number of the GPU.
    pub gpu_index: Option<u64>,
    /// Name of the GPU.
    pub gpu_name: Option<String>,
    /// The request that failed.
    pub tried: Option<Amount>,
    /// Memory of the GPU, bytes.
    pub total_bytes: Option<u64>,
    /// Of which free, bytes.
    pub free_bytes: Option<u64>,
    /// Of which used by anyone, bytes.
    pub used_bytes: Option<u64>,
    /// What the process that failed has in all, context and libraries included, bytes.
    pub process_bytes: Option<u64>,
    /// Number of the process that failed, where the text tells it from others.
    pub process_pid: Option<u64>,
    /// What other processes have, bytes.
    pub other_processes_bytes: Option<u64>,
    /// What PyTorch may take (`set_per_process_memory_fraction`), bytes.
    pub allowed_bytes: Option<u64>,
    /// Handed out by PyTorch, bytes.
    pub allocated: Option<Amount>,
    /// Of which in private pools (CUDA graphs), bytes.
    pub private_pool_bytes: Option<u64>,
    /// Taken from the device, not handed out, bytes.
    pub reserved_unallocated_bytes: Option<u64>,
    /// Taken from the device, bytes.
    pub reserved_bytes: Option<u64>,
    /// Most handed out so far, bytes.
    pub peak_allocated_bytes: Option<u64>,
    /// Most taken from the device so far, bytes.
    pub peak_reserved_bytes: Option<u64>,
    /// Host memory in use, bytes.
    pub host_used_bytes: Option<u64>,
    /// Host memory there is, bytes.
    pub host_total_bytes: Option<u64>,
    /// Times the allocator gave its cache back and tried once more.
    pub alloc_retries: Option<u64>,
    /// Requests that failed.
    pub ooms: Option<u64>,
    /// What an engine says of its start.
    pub engine: EngineFigures,
    /// Processes that are named, this one apart.
    pub processes: Vec<Process>,
    /// `expandable_segments:True` was set, as the text says.
    pub expandable: bool,
    /// Lines of the stack above the message, the innermost last: file and function.
    pub stack: Vec<String>,
}

/// A monitor's total counts what the driver keeps for itself too, up to 930 MiB; bytes.
pub(super) const KEPT_BY_DRIVER: u64 = 960 << 20;

impl Reading {
    /// Whether two texts may be of one GPU: its size is the same, up to what the driver keeps.
    pub(super) fn may_be_of(&self, other: &Self) -> bool {
        let totals = self.total_bytes.zip(other.total_bytes);
        totals.is_none_or(|(one, other)| one.abs_diff(other) <= KEPT_BY_DRIVER)
    }

    /// One that states nothing yet.
    pub fn new(format: Format, line: usize, evidence: &str) -> Self {
        Self {
            format,
            line,
            evidence: shortened(evidence),
            rank: None,
            gpu_index: None,
            gpu_name: None,
            tried: None,
            total_bytes: None,
            free_bytes: None,
            used_bytes: None,
            process_bytes: None,
            process_pid: None,
            other_processes_bytes: None,
            allowed_bytes: None,
            allocated: None,
            private_pool_bytes: None,
            reserved_unallocated_bytes: None,
            reserved_bytes: None,
            peak_allocated_bytes: None,
            peak_reserved_bytes: None,
            host_used_bytes: None,
            host_total_bytes: None,
            alloc_retries: None,
            ooms: None,
            engine: EngineFigures::default(),
            processes: Vec::new(),
            expandable: false,
            stack: Vec::new(),
        }
    }

    /// The figures with their names in JSON, those that are not stated left out.
    pub fn figures(&self) -> Vec<(&'static str, u64)> {
        let all = [
            ("gpu_index", self.gpu_index),
            ("tried_bytes", self.tried.map(|tried| tried.bytes)),
            ("total_bytes", self.total_bytes),
            ("free_bytes", self.free_bytes),
            ("used_bytes", self.used_bytes),
            ("process_bytes", self.process_bytes),
            ("other_processes_bytes", self.other_processes_bytes),
            ("allowed_bytes", self.allowed_bytes),
            ("allocated_bytes", self.allocated.map(|allocated| allocated.bytes)),
            ("private_pool_bytes", self.private_pool_bytes),
            ("reserved_unallocated_bytes", self.reserved_unallocated_bytes),
            ("reserved_bytes", self.reserved_bytes),
            ("peak_allocated_bytes", self.peak_allocated_bytes),
            ("peak_reserved_bytes", self.peak_reserved_bytes),
            ("host_used_bytes", self.host_used_bytes),
            ("host_total_bytes", self.host_total_bytes),
            ("alloc_retries", self.alloc_retries),
            ("ooms", self.ooms),
            ("rank", self.rank),
            ("share_bytes", self.engine.share_bytes),
            ("weights_bytes", self.engine.weights_bytes),
            ("activation_bytes", self.engine.activation_bytes),
            ("non_torch_bytes", self.engine.non_torch_bytes),
            ("graphs_bytes", self.engine.graphs_bytes),
            ("kv_cache_bytes", self.engine.kv_cache_bytes),
            ("suggested_cache_bytes", self.engine.suggested_cache_bytes),
            ("kv_cache_tokens", self.engine.kv_cache_tokens),
            ("request_tokens", self.engine.request_tokens),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    /// Whether the stack above the message ends in an engine that generates, and not in the training step.
    pub fn is_in_engine(&self) -> bool {
        /// Frames nearer to the failure say more than those far out.
        const INNERMOST: usize = 8;
        let is_of_engine = |frame: &String| frame.contains("vllm/") || frame.contains("sglang/");
        self.stack.iter().rev().take(INNERMOST).any(is_of_engine)
    }

    /// How much of the GPU is in use, as far as that is stated: the fullest of several GPUs is what matters.
    pub(super) fn in_use(&self) -> u64 {
        let by_free = self.total_bytes.zip(self.free_bytes).map(|(total, free)| total.saturating_sub(free));
        self.used_bytes.or(by_free).or(self.reserved_bytes).unwrap_or(0)
    }

    /// Taken from the device by PyTorch, stated or as the sum of what is stated, bytes.
    pub fn reserved(&self) -> Option<u64> {
        self.reserved_bytes.or_else(|| Some(self.allocated?.bytes.saturating_add(self.reserved_unallocated_bytes?)))
    }

    /// Taken from the device, not handed out, stated or as the difference of what is stated, bytes.
    pub fn unallocated(&self) -> Option<u64> {
        let difference = || self.reserved_bytes?.checked_sub(self.allocated?.bytes);
        self.reserved_unallocated_bytes.or_else(difference)
    }

    /// What the process has besides PyTorch's cache: context, kernels, NCCL; bytes.
    pub fn context_bytes(&self) -> Option<u64> {
        self.process_bytes?.checked_sub(self.reserved()?)
    }
}

/// Most characters of evidence.
const EVIDENCE: usize = 400;

/// `text` without control characters, cut where it is long.
pub(super) fn shortened(text: &str) -> String {
    let mut clean: String =
        text.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).take(EVIDENCE + 1).collect();
    if clean.chars().count() > EVIDENCE {
        clean = clean.chars().take(EVIDENCE - 1).chain(['…']).collect();
    }
    clean
}
