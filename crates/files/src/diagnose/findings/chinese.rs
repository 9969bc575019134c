//! Findings in Chinese.

use headroom_core::units::{bytes_text, count_text};
use headroom_text::Language;

use super::causes::is_over_share;
use super::near::Nearest;
use super::recognise::{Class, Recognised};
use super::tried::{Change, Tried};
use super::{
    Kind, Library, Place, Replayed, Said, likely_own, off_per_mille, per_cent, share_in_hundredths, whole_mib,
};
use crate::diagnose::reading::{EngineFigures, Process};
use crate::snapshot::{Comparison, OfSize};

pub(super) fn said(kind: &Kind) -> Said {
    let (what, fix) = match kind {
        Kind::OtherProcesses { bytes, processes, decisive } => others(*bytes, processes, *decisive),
        Kind::Processes { bytes, processes } => asked_processes(*bytes, processes),
        Kind::UnexplainedUse { bytes } => (
            format!("有 {} 显存不是 PyTorch 和 CUDA 上下文占用的：还有别的进程在用这张卡。", bytes_text(*bytes)),
            "用 nvidia-smi 查看：不属于本次训练的进程可以结束，或让训练换一张卡。".to_owned(),
        ),
        Kind::Fragmentation { unallocated, tried, replayed } => fragmentation(*unallocated, *tried, *replayed),
        Kind::FailedRequest(recognised) => (recognised_text(recognised), class_fix(recognised.class).to_owned()),
        Kind::UnknownRequest { tried, is_shared_segment, nearest } => {
            unknown(*tried, *is_shared_segment, nearest.as_ref())
        }
        Kind::Full { allocated, total, tried } => full(*allocated, *total, *tried),
        Kind::LargerThanGpu { tried, total } => (
            format!("单次请求 {}，超过显卡的全部显存 {}。", bytes_text(*tried), bytes_text(*total)),
            "请减小这次请求对应的张量：减少单次的 token 数，换用其他注意力或损失实现，或用更多显卡切分。".to_owned(),
        ),
        Kind::ImpossibleSize => (
            "请求超过 1 EiB：是大小算错了，不是显存不够。".to_owned(),
            "请看它上面最先出现的错误，包括其他 rank 的：可能是集合通信失败，也可能是长度或形状来自损坏的数据。".to_owned(),
        ),
        Kind::RefusedThoughFree { tried, free } => (
            format!(
                "驱动拒绝了 {} 的请求，而当时显示有 {} 空闲：可能是作业、容器、WSL 或虚拟显卡的限额，也可能是另一个进程占用后已退出。",
                bytes_text(*tried),
                bytes_text(*free)
            ),
            "请检查该进程是否有显存限额，并在运行时观察监控。".to_owned(),
        ),
        Kind::Capped { allowed, total } => (
            format!(
                "set_per_process_memory_fraction 只允许使用 {}，而显卡有 {}。",
                bytes_text(*allowed),
                bytes_text(*total)
            ),
            "调大这个比例，或去掉这次调用。".to_owned(),
        ),
        Kind::Context { bytes, planned } => context(*bytes, *planned),
        Kind::Library { library, tried } => (library_text(*library, *tried), library_fix(*library).to_owned()),
        Kind::EngineCache { needed, available } => engine(*needed, *available),
        Kind::EngineShare { share, free, total } => engine_share(*share, *free, *total),
        Kind::EngineTokens { request, cache } => (
            format!("一个请求最长可达 {} 个 token，而推理引擎的缓存只能放下 {} 个。", count_text(*request), count_text(*cache)),
            format!("请把 max_model_len 调小到 {cache}，或调大 gpu_memory_utilization。"),
        ),
        Kind::EngineStart(figures) => engine_start(figures),
        Kind::EngineRequest { tried } => (
            format!("{} 的请求失败在负责生成的推理引擎里，不在训练步里：它的权重、CUDA graph 和缓存已占满显卡。", bytes_text(*tried)),
            "调小 gpu_memory_utilization（mem_fraction_static）或 max_num_seqs：推理引擎在运行期间一直占着它的缓存。".to_owned(),
        ),
        Kind::HostRanOut { bytes, planned } => host_ran_out(*bytes, *planned),
        Kind::HostTooSmall { held, loading, available } => (
            host_use(*held, *loading, *available),
            "用 device_map 加载或只在一个 rank 上加载，减少卸载，或换内存更大的机器。".to_owned(),
        ),
        Kind::Retries { retries, ooms } => (
            format!(
                "分配器清空缓存重试了 {retries} 次，仍有 {ooms} 次请求失败：显存已到极限，每次重试都会让 GPU 停顿。"
            ),
            "留出余量：减小 micro-batch，或设置 expandable_segments:True。".to_owned(),
        ),
        Kind::OtherGpu { stated, planned } => (
            format!("文本里的显卡有 {}，方案里的显卡有 {}。", bytes_text(*stated), bytes_text(*planned)),
            "请选择实际运行的显卡。".to_owned(),
        ),
        Kind::DoesNotFit { needed, there } => (
            format!("按方案，张量需要 {}，而显卡只能给出 {}。", bytes_text(*needed), bytes_text(*there)),
            "查看建议：那里有最快的可行办法。".to_owned(),
        ),
        Kind::Agrees { measured, estimated } => {
            (format!("实测 {}，方案估计 {}：两者一致。", bytes_text(*measured), bytes_text(*estimated)), String::new())
        }
        Kind::Differs { measured, estimated, tried } => {
            (format!("实测 {}，方案估计 {}。", bytes_text(*measured), bytes_text(*estimated)), explanations(tried))
        }
        Kind::Snapshot(comparison) => snapshot(comparison),
        Kind::SnapshotWithoutStep => (
            "快照里没有完整的一步：记录开始得太晚，或运行在第一步就结束了。".to_owned(),
            "在第一步之前调用 torch.cuda.memory._record_memory_history()，第三步之后再导出。".to_owned(),
        ),
        Kind::NoBatchSize => (
            "auto_find_batch_size 逐次减小批量，减到 1 仍然显存不足。".to_owned(),
            "要减的是与批量无关的部分：缩短序列、开启梯度检查点、改用 LoRA 或 4 位量化、做分片。建议中有最快的可行办法。".to_owned(),
        ),
        Kind::HiddenProcess => (
            "报错里本进程的占用为零或低于零：容器让 NVML 看不到这个进程，这个数字也不能说明有别的进程。".to_owned(),
            String::new(),
        ),
    };
    Said { what, fix }
}

fn others(bytes: u64, processes: &[Process], decisive: Option<bool>) -> (String, String) {
    let mut what = format!("其他进程占用了 {} 显存", bytes_text(bytes));
    let named: Vec<String> = processes.iter().take(3).map(process).collect();
    if !named.is_empty() {
        what.push_str(&format!("（{}）", named.join("，")));
    }
    what.push_str(match decisive {
        Some(true) => "：没有它们，这次请求就能满足。",
        Some(false) => "；即使没有它们，这次请求也会失败。",
        None => "。",
    });
    (what, "如果它们不属于本次训练，请结束它们，或用 CUDA_VISIBLE_DEVICES 换一张卡。".to_owned())
}

fn asked_processes(bytes: u64, processes: &[Process]) -> (String, String) {
    let own = likely_own(processes);
    if own.is_empty() {
        return (format!("卡上的进程占用了 {}。", bytes_text(bytes)), String::new());
    }
    let named = own.iter().map(|one| process(one)).collect::<Vec<_>>().join("，");
    let names = own.iter().map(|one| name(one)).collect::<Vec<_>>().join("、");
    let fix = format!(
        "{names} 是您的训练吗？是的话，这就是训练占用的显存，不需要结束任何进程。不是的话，同卡的训练能用的就少这么多，可用 \
         CUDA_VISIBLE_DEVICES 换一张卡。"
    );
    (format!("卡上的进程占用了 {}（{named}）。", bytes_text(bytes)), fix)
}

fn name(process: &Process) -> String {
    let name = process.name.as_deref().unwrap_or("进程");
    process.pid.map_or_else(|| name.to_owned(), |pid| format!("{name} {pid}"))
}

fn process(process: &Process) -> String {
    format!("{}：{}", name(process), bytes_text(process.bytes))
}

fn fragmentation(unallocated: u64, tried: Option<u64>, replayed: Option<Replayed>) -> (String, String) {
    let mut what = format!("PyTorch 已预留但未分配的显存有 {}", bytes_text(unallocated));
    if let Some(tried) = tried {
        what.push_str(&format!("，却满足不了 {} 的请求：这是碎片", bytes_text(tried)));
    }
    what.push('。');
    if let Some(Replayed { required, required_expandable, there }) = replayed {
        let runs = if required_expandable <= there { "可以运行" } else { "仍然不能运行" };
        what.push_str(&format!(
            "按回放，方案的张量需要 {}，使用可扩展段时需要 {}；这张卡能给出 {}，{runs}。",
            bytes_text(required),
            bytes_text(required_expandable),
            bytes_text(there)
        ));
    }
    (what, "在每个进程的环境里设置 PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True。".to_owned())
}

fn place(place: &Place) -> String {
    let texts = Language::Chinese.texts();
    let term = (texts.term)(place.term);
    let module = if place.module.is_empty() { String::new() } else { format!(" {}", place.module) };
    let phase = (texts.phase)(place.phase);
    match place.step {
        0 => format!("{term}{module}（加载时）"),
        1 => format!("{term}{module}（{phase}，第一步）"),
        _ => format!("{term}{module}（{phase}）"),
    }
}

fn in_plan(bytes: u64, tried: u64) -> String {
    let off =
        if bytes_text(bytes) == bytes_text(tried) { String::new() } else { format!("（{}）", off_by(bytes, tried)) };
    format!("在方案里为 {}{off}", bytes_text(bytes))
}

fn off_by(bytes: u64, tried: u64) -> String {
    let (off, is_more) = off_per_mille(bytes, tried);
    format!("{} {}%", if is_more { "大" } else { "小" }, per_cent(off))
}

fn recognised_text(recognised: &Recognised) -> String {
    let Recognised { bytes, tried, allocated_gap, is_predicted, is_in_stack, others, .. } = recognised;
    let request = bytes_text(*tried);
    let first = format!("{}：{}，{}", class(recognised.class), place(&recognised.place), in_plan(*bytes, *tried));
    let listed: Vec<String> =
        others.iter().map(|(other, bytes)| format!("{}，{}", place(other), in_plan(*bytes, *tried))).collect();
    let mut what = if others.is_empty() || recognised.is_told_apart() {
        format!("失败的 {request} 请求是{first}。")
    } else {
        let count = others.len() + 1;
        format!("失败的 {request} 请求与方案里的 {count} 个请求相符：{}；{}。", first.trim_start(), listed.join("；"))
    };
    if *is_predicted {
        what.push_str("方案在这张卡上的回放也失败在这里。");
    }
    if *is_in_stack {
        what.push_str("报错上方的调用栈也在这一部分。");
    }
    if let Some(gap) = allocated_gap.filter(|gap| *gap > 0) {
        what.push_str(&format!("报错时已分配的量与方案在此处的相差 {}。", bytes_text(gap)));
    }
    if !others.is_empty() && recognised.is_told_apart() {
        what.push_str(&format!("大小相近的还有：{}。", listed.join("；")));
    }
    what
}

fn class(class: Class) -> &'static str {
    match class {
        Class::Logits => " logits",
        Class::LogitsFp32 => " logits 的 fp32 副本",
        Class::Loss => "损失计算中由 logits 产生的张量",
        Class::AttentionScores => "注意力分数",
        Class::GatheredLayer => "聚合起来的一层参数",
        Class::Bucket => "通信桶",
        Class::OptimizerSetup => "优化器的初始化",
        Class::OptimizerFirstStep => "优化器的第一步",
        Class::OptimizerStep => "优化器更新",
        Class::Expert => "专家的张量",
        Class::Weights => "权重",
        Class::Gradient => "梯度",
        Class::KvCache => " KV 缓存",
        Class::Clipping => "梯度裁剪",
        Class::Activation => "激活值",
    }
}

fn class_fix(class: Class) -> &'static str {
    match class {
        Class::Logits | Class::LogitsFp32 | Class::Loss => {
            "用不生成完整 logits 的损失（use_liger_kernel、loss_implementation），或减小 micro-batch。"
        }
        Class::AttentionScores => "改用 attn_implementation=sdpa 或 flash_attention_2，两者都不生成分数矩阵。",
        Class::GatheredLayer => {
            "一次少聚合一些：调小 stage3_max_live_parameters、stage3_prefetch_bucket_size，或逐层包装。"
        }
        Class::Bucket => "调小通信桶：reduce_bucket_size、allgather_bucket_size、bucket_cap_mb。",
        Class::OptimizerFirstStep => "优化器状态从此常驻：改用 8-bit 或分页优化器、LoRA、分片（ZeRO、FSDP）或卸载。",
        Class::OptimizerSetup => {
            "把优化器卸载到内存（offload_optimizer），用更多 GPU 分片，或只训练适配器：DeepSpeed 在首次更新之前就建立 fp32 状态。"
        }
        Class::OptimizerStep => "改用不需要临时张量的 adamw_torch_fused，或 8-bit 优化器。",
        Class::Expert | Class::Activation => "减小 micro-batch 或长度，或打开 gradient_checkpointing。",
        Class::Weights => "用更少的位数加载（16 位，配合适配器可用 4 位），或对权重分片。",
        Class::Gradient => "对梯度分片（ZeRO-2、FSDP），或只训练适配器。",
        Class::KvCache => "一次少生成几条，或生成短一些。",
        Class::Clipping => "给裁剪的临时张量留出显存：减小 micro-batch 无济于事，分片有用。",
    }
}

fn unknown(bytes: u64, is_shared_segment: bool, nearest: Option<&Nearest>) -> (String, String) {
    let tried = bytes_text(bytes);
    if is_shared_segment {
        let what = format!("无法识别失败的请求：{tried} 是分配器为 1 MiB 或 10 MiB 以内的任何请求所取的段。");
        return (what, "显存此前已满：要看的是已分配的内容，而不是这次请求。".to_owned());
    }
    if nearest.is_some_and(|nearest| tried == bytes_text(nearest.bytes)) {
        let what = format!("无法识别失败的 {tried} 请求：任何方案都有许多这样小的请求。");
        return (what, "显存此前已满：要看的是已分配的内容，而不是这次请求。".to_owned());
    }
    let mut what = format!("无法识别失败的 {tried} 请求：方案里没有这样大小的请求。");
    if let Some(nearest) = nearest {
        let size = bytes_text(nearest.bytes);
        what.push_str(&format!("最接近的是{}，{size}（{}）。", place(&nearest.place), off_by(nearest.bytes, bytes)));
    }
    (what, "实际运行与方案不同：请核对 batch size、长度、精度和损失。".to_owned())
}

fn full(allocated: Option<u64>, total: Option<u64>, tried: u64) -> (String, String) {
    let what = match (total, allocated) {
        (Some(total), Some(allocated)) if allocated > total => format!(
            "{} 是张量，多于显卡的 {}：驱动把其余部分放在内存里（Windows 上会这样）。",
            bytes_text(allocated),
            bytes_text(total)
        ),
        (Some(total), Some(allocated)) => {
            format!("{} 的显卡已满：其中 {} 是张量。", bytes_text(total), bytes_text(allocated))
        }
        (Some(total), None) => format!("{} 的显卡已满。", bytes_text(total)),
        (None, _) => format!("显卡已没有 {} 可用。", bytes_text(tried)),
    };
    (what, "给出方案，Headroom 就能指出是哪个请求，以及最快的可行办法。".to_owned())
}

fn context(bytes: u64, planned: Option<u64>) -> (String, String) {
    let mut what = format!("该进程在 PyTorch 之外占用 {}：CUDA 上下文、内核、NCCL。", bytes_text(bytes));
    if let Some(planned) = planned {
        what.push_str(&format!("方案按 {} 计算。", bytes_text(planned)));
    }
    (what, format!("要按这台机器校准，请把 non_pytorch_memory_mib 设为 {}。", whole_mib(bytes)))
}

fn library_text(library: Library, tried: Option<u64>) -> String {
    let name = match library {
        Library::Cuda => "CUDA 驱动",
        Library::Cublas => "cuBLAS 或 cuDNN",
        Library::Nccl => "NCCL",
        Library::Bitsandbytes => "bitsandbytes",
        Library::VllmCumem => "vLLM 睡眠模式的分配器（cumem_allocator.cpp）",
    };
    let tried = tried.map(|tried| format!(" {} ", bytes_text(tried))).unwrap_or_default();
    format!("{name} 自己申请{tried}显存失败：显存已被 PyTorch 的缓存或其他进程占满。")
}

fn library_fix(library: Library) -> &'static str {
    match library {
        Library::Cuda => {
            "用 nvidia-smi 查看其他进程；限制 PyTorch 的占用（set_per_process_memory_fraction）或减少需求。"
        }
        Library::Cublas => "在 PyTorch 的缓存之外留出显存：减小 micro-batch。若显存并未用完，常见原因是下标越界。",
        Library::Nccl => "NCCL 在第一次集合通信时需要几百 MiB：留出这些显存，或调小 NCCL_BUFFSIZE。",
        Library::VllmCumem => {
            "引擎唤醒时要一次取回权重和缓存：先让训练侧清空缓存（torch.cuda.empty_cache），调小 gpu_memory_utilization，或在生成时卸载训练状态。"
        }
        Library::Bitsandbytes => "分页优化器还需要主机内存；否则减小 micro-batch。",
    }
}

fn engine(needed: Option<u64>, available: Option<u64>) -> (String, String) {
    let what = match (needed, available) {
        (Some(needed), Some(available)) => {
            format!("推理引擎需要 {}，只有 {}。", bytes_text(needed), bytes_text(available))
        }
        (None, Some(available)) => format!("留给推理引擎缓存的只有 {}。", bytes_text(available)),
        _ => "除去权重和激活值，没有显存留给推理引擎的缓存。".to_owned(),
    };
    let fix = "调大 gpu_memory_utilization（mem_fraction_static），调小 max_model_len，或释放卡上其他占用。";
    (what, fix.to_owned())
}

fn engine_share(share: u64, free: u64, total: Option<u64>) -> (String, String) {
    let of = total.map_or_else(String::new, |total| format!("（共 {}）", bytes_text(total)));
    let what = format!("推理引擎的份额是 {}，启动时空闲的只有 {}{of}。", bytes_text(share), bytes_text(free));
    let to = total.map_or_else(String::new, |total| format!("到 0.{:02}", share_in_hundredths(free, total).min(99)));
    (what, format!("请把 gpu_memory_utilization 调小{to}，或释放卡上其他占用。"))
}

fn engine_start(figures: &EngineFigures) -> (String, String) {
    let parts = [
        (figures.weights_bytes, "权重"),
        (figures.activation_bytes, "profile 时的激活"),
        (figures.non_torch_bytes, "PyTorch 之外"),
        (figures.graphs_bytes, "CUDA graph"),
        (figures.kv_cache_bytes, "KV 缓存"),
    ];
    let said = parts.iter().filter_map(|(bytes, what)| Some(format!("{what} {}", bytes_text((*bytes)?))));
    let mut what = format!("推理引擎启动时占用：{}", said.collect::<Vec<_>>().join("，"));
    if let Some(tokens) = figures.kv_cache_tokens {
        what.push_str(&format!("（{} 个 token）", count_text(tokens)));
    }
    what.push('。');
    if let (Some(hundredths), Some(tokens)) = (figures.concurrency_hundredths, figures.request_tokens) {
        let (whole, rest) = (hundredths / 100, hundredths % 100);
        what.push_str(&format!("可同时容纳 {whole}.{rest:02} 个长 {} token 的请求。", count_text(tokens)));
    }
    if let (Some(taken), Some(share)) = (figures.taken_bytes(), figures.share_bytes) {
        what.push_str(&format!("合计 {}，份额为 {}。", bytes_text(taken), bytes_text(share)));
    }
    let fix = match figures.suggested_cache_bytes {
        _ if !is_over_share(figures) => String::new(),
        Some(bytes) => format!("按引擎自己的计算，设置 --kv-cache-memory={bytes}，或调小 gpu_memory_utilization。"),
        None => "调小 gpu_memory_utilization：有一部分占用在份额之外。".to_owned(),
    };
    (what, fix)
}

fn host_use(held: u64, loading: u64, available: u64) -> String {
    format!(
        "按方案，主机内存常驻 {}，加载时需要 {}，共有 {}。",
        bytes_text(held),
        bytes_text(loading),
        bytes_text(available)
    )
}

fn host_ran_out(bytes: Option<u64>, planned: Option<(u64, u64, u64)>) -> (String, String) {
    let mut what = "耗尽的是主机内存而不是显存：系统结束了进程，或拒绝了它的申请。".to_owned();
    if let Some(bytes) = bytes {
        what.push_str(&format!("文本里的数字是 {}。", bytes_text(bytes)));
    }
    if let Some((held, loading, available)) = planned {
        what.push_str(&host_use(held, loading, available));
    }
    let fix = "只在一个 rank 上加载，减少卸载，调小 dataloader_num_workers，或增加内存；锁页内存不能换出到 swap。";
    (what, fix.to_owned())
}

fn explanations(tried: &[Tried]) -> String {
    if tried.is_empty() {
        return "没有哪个单项设置能解释差异：请核对模型、batch size 和版本。".to_owned();
    }
    let one = |tried: &Tried| format!("{}（{}）", change(&tried.change), bytes_text(tried.bytes));
    format!("可以由这些设置解释：{}。", tried.iter().map(one).collect::<Vec<_>>().join("；"))
}

fn change(change: &Change) -> String {
    match change {
        Change::Fields(fields) => {
            fields.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("，")
        }
        Change::SecondModel => "模型加载了两份".to_owned(),
        Change::Length { tokens } => format!("序列长 {} 个 token", count_text(*tokens)),
    }
}

fn snapshot(comparison: &Comparison) -> (String, String) {
    let Comparison { run_peak_bytes, plan_peak_bytes, run_requests, matched_requests, only_run, only_plan, .. } =
        comparison;
    let mut what = format!(
        "运行的最后一步峰值为 {}，方案为 {}；运行的 {} 次请求中有 {} 次在方案里有同样大小的。",
        bytes_text(*run_peak_bytes),
        bytes_text(*plan_peak_bytes),
        count_text(*run_requests as u64),
        count_text(*matched_requests as u64)
    );
    let list = |sizes: &[OfSize]| sizes.iter().take(5).map(of_size).collect::<Vec<_>>().join("；");
    if !only_run.is_empty() {
        what.push_str(&format!("峰值时只有运行持有：{}。", list(only_run)));
    }
    if !only_plan.is_empty() {
        what.push_str(&format!("峰值时只有方案持有：{}。", list(only_plan)));
    }
    (what, String::new())
}

fn of_size(one: &OfSize) -> String {
    let texts = Language::Chinese.texts();
    let mut text = format!("{} × {}", one.count, bytes_text(one.bytes));
    if let Some((term, module)) = one.terms.first() {
        text.push_str(&format!(" {}{}{module}", (texts.term)(*term), if module.is_empty() { "" } else { " " }));
    } else if let Some(frame) = one.stack.first() {
        text.push_str(&format!("，位于 {frame}"));
    }
    text
}
