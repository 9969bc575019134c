//! Notes beside an estimate, in Simplified Chinese.

use headroom_core::job::ImageRule;
use headroom_core::memory::{EvaluationNeed, Guess, GuessReason, Note};
use headroom_core::units::{bytes_text, count_text};

use crate::named::{assumed_keys, launched_by};

pub(super) fn note(note: &Note) -> String {
    match note {
        Note::GenericModel { model_type, guess: Guess { low_percent, high_percent, .. } } => format!(
            "不认识“{model_type}”这一模型家族，已按类似 Llama 的解码器读取：所有数字都是推测，实际需要约为其 {low_percent}% 到 {high_percent}%。要得到准确数字，请用 python -m headroom.record 从代码录制该模型类（docs/own-models.md）。"
        ),
        Note::AssumedKeys { keys } => {
            format!("config.json 没有写明以下各项，按该模型类的默认值计算：{}。", assumed_keys(keys, "、"))
        }
        Note::TextPart { of } => format!("只计算“{of}”的文本部分，不含视觉或音频编码器。"),
        Note::EagerOnly { model_type } => {
            format!("transformers 的“{model_type}”不支持 sdpa：注意力以 eager 方式计算，会完整存下注意力分数矩阵。")
        }
        Note::FamilyNotMeasured { model_type, guess: Guess { low_percent, high_percent, .. } } => format!(
            "“{model_type}”的激活值按其代码推导，尚未与实测对照；实际需要约为这些数字的 {low_percent}% 到 {high_percent}%，可用 python/headroom_check.py 实测。"
        ),
        Note::TorchScan { packages } if !packages.is_empty() => {
            let named: Vec<String> = packages.iter().map(|name| name.replace('_', "-")).collect();
            let keys: Vec<String> = packages.iter().map(|name| format!("software.{name}")).collect();
            format!(
                "状态空间层、线性注意力和短卷积按未安装 {} 的情形计算，部分或全部由 PyTorch 自带算子执行。若已安装，请设置 {}，显存会更少。",
                named.join("、"),
                keys.join("、")
            )
        }
        Note::TorchScan { .. } => {
            "状态空间层或线性注意力层按 PyTorch 自带算子计算。若安装了对应的内核（mamba-ssm、causal-conv1d、flash-linear-attention），显存会更少，序列越长差距越大；这种情形尚未建模。".to_owned()
        }
        Note::Liger { has_kernels: false, model_type } => {
            format!("liger-kernel 没有“{model_type}”的内核：use_liger_kernel 不起作用。")
        }
        Note::Liger { has_kernels: true, model_type } => {
            format!("liger-kernel 用于“{model_type}”的内核未全部计入：实际占用更少。")
        }
        Note::Fsdp2OffloadsAll => {
            "FSDP2 要么全部卸载，要么不卸载：CPUOffloadPolicy 把参数、梯度和优化器状态都放在主机内存。".to_owned()
        }
        Note::QuantizedBaseNotSharded { storage: Some(dtype) } => {
            format!("4 位基座没有分片，每张卡都存一整份；设置 bnb_4bit_quant_storage={dtype} 后 FSDP 会对其分片。")
        }
        Note::QuantizedBaseNotSharded { storage: None } => "量化后的基座没有分片，每张卡都存一整份。".to_owned(),
        Note::PackedWeightsHeld => {
            "ZeRO-3 会切分 4 位基座，但 bitsandbytes 会把拿到的每个权重保留到反向结束：峰值时每张卡都存一整份。FSDP 会释放聚合来的权重。".to_owned()
        }
        Note::UnmatchedTargets { names } => {
            format!("模型没有名为 {} 的模块：peft 会直接跳过，不报错，也不在那里训练适配器。", names.join("、"))
        }
        Note::ZeroOnOneGpu => "单卡上的 ZeRO 没有可分片的内容，只有卸载才能省显存。".to_owned(),
        Note::GpuLacksBfloat16 => "这张卡没有 bf16 硬件支持，也无法运行 flash-attn，可以考虑 float16。".to_owned(),
        Note::AttentionKernel { kernel } => {
            format!("注意力使用“{kernel}”内核：显卡、精度、掩码或长度不允许使用 flash 内核。")
        }
        Note::LongerThanPositions { max_position_embeddings } => {
            format!("序列长度超过了模型设计的 {max_position_embeddings} 个 token。")
        }
        Note::SleepIsCounted { bytes } => format!(
            "vLLM 休眠时，torch.cuda.max_memory_allocated 和 max_memory_reserved 仍会计入它的 {}，而这些显存页其实已经释放；实际占用以 nvidia-smi 为准。",
            bytes_text(*bytes)
        ),
        Note::EngineNeedsMore { states, images } => {
            let what = match (states, images) {
                (true, true) => "循环层的状态，以及启动时对图像的试运行",
                (true, false) => "循环层的状态",
                (false, _) => "启动时对图像的试运行",
            };
            format!("vLLM 的显存份额还需容纳未计入的部分：{what}。请给得比所列最小份额更多。")
        }
        Note::Images { model_type, sides, is_assumed, tiles, patches, positions, rule } => {
            images(model_type, sides.filter(|_| *is_assumed), [*tiles, *patches, *positions], *rule)
        }
        Note::ImagesNotCounted { is_modelled: true } => {
            "该模型可以读图像，但这里没有计入图像：只按纯文本的一步估算。请填写每个样本的图像数（images.per_sample）和图像尺寸。"
                .to_owned()
        }
        Note::ImagesNotCounted { is_modelled: false } => {
            "该模型可以读图像，但这里没有计入图像：只按纯文本的一步估算。该任务尚不支持图像建模，带图像时需要更多显存。".to_owned()
        }
        Note::HostMemory { needed, usual, source } => format!(
            "主机内存需要 {}，而配这种显卡的机器通常最多只有 {}（{source}）。",
            bytes_text(*needed),
            bytes_text(*usual)
        ),
        Note::HostTooSmall { held, loading, copies, available } => format!(
            "主机内存：常驻 {}，加载时需要 {}（{copies} 个进程各持有一份权重），而主机共有 {}。这样的任务会被系统杀掉，锁页内存也无法换出。",
            bytes_text(*held),
            bytes_text(*loading),
            bytes_text(*available)
        ),
        Note::UnquantizedParts { bytes } => {
            format!(
                "词嵌入、输出头、归一化层等非线性层的部分（包括未另行量化的 MoE 堆叠专家）不会量化，占 {}：4 位量化省不到权重的四分之三。",
                bytes_text(*bytes)
            )
        }
        Note::OtherVendor { gpu } => {
            format!("“{gpu}”不是 NVIDIA 显卡：其算子、显存分配器与上下文尚未建模，这里按 NVIDIA 显卡计算，所有数字请当作推测。")
        }
        Note::Guess(guess) => self::guess(*guess),
        Note::Evaluation(need) => evaluation(*need),
        Note::NotMeasured { what } => format!("由库代码推导得出，尚未与实测对照：{what}。"),
    }
}

/// What an image becomes: tiles, patches of each, and positions of the text.
fn images(
    model_type: &str,
    assumed: Option<(u64, u64)>,
    [tiles, patches, positions]: [u64; 3],
    rule: ImageRule,
) -> String {
    let assumed = assumed
        .map_or_else(String::new, |(height, width)| format!("方案没有给出图像尺寸，按 {height} × {width} 像素计算。"));
    let patches = match tiles {
        1 => format!("{patches} 个 patch"),
        _ => format!("{tiles} 个切块，每块 {patches} 个 patch"),
    };
    let rule = match rule {
        ImageRule::Checkpoints => String::new(),
        ImageRule::ClassDefaults => {
            format!("“{model_type}”的权重仓库如何规定图像尺寸尚不清楚，这里采用 transformers 的默认值。")
        }
        ImageRule::Unknown => {
            format!("“{model_type}”的处理器如何缩放图像尚不清楚：边长取整到完整的 patch，不设上下限。")
        }
    };
    format!("{assumed}视觉塔把一张图像看作 {patches}，它在文本中占 {positions} 个 token。{rule}")
}

/// What an evaluation takes beside what stands between steps, and what to do where that is too much.
fn evaluation(need: EvaluationNeed) -> String {
    let EvaluationNeed { batch_size, length, logits_bytes, bytes, fitting_batch_size, keeps_logits } = need;
    let batch = format!("{} × {} token", count_text(batch_size), count_text(length));
    let takes = match logits_bytes {
        0 => format!("每个评估批次为 {batch}，不产生完整的 logits；评估的前向没有计入。"),
        _ => format!(
            "每个评估批次为 {batch}，logits 占 {}，连同权重和优化器状态至少需要 {}。",
            bytes_text(logits_bytes),
            bytes_text(bytes)
        ),
    };
    let fix = match fitting_batch_size {
        _ if need.fits() => String::new(),
        0 => "无论批次多大，评估都会显存不足：请缩短序列，或设 eval_strategy=no。".to_owned(),
        fitting => format!("评估会显存不足：per_device_eval_batch_size 最多可设为 {fitting}。"),
    };
    let metrics = if keeps_logits {
        "compute_metrics 会把每个批次的 logits 都留在显卡上：请设 eval_accumulation_steps=1，或用 preprocess_logits_for_metrics 先行压缩。"
    } else {
        ""
    };
    format!("{takes}{fix}{metrics}")
}

fn guess(guess: Guess) -> String {
    let Guess { low_percent, high_percent, reason } = guess;
    // 其他原因各有带模型类名的说明。
    let GuessReason::StandIn { by, step } = reason else { return String::new() };
    format!(
        "尚未建模 {} 的训练步，这里按{}估算；实际需要约为估算值的 {low_percent}% 到 {high_percent}%，请当作推测。",
        launched_by(by),
        super::choices::trainer(step).label
    )
}
