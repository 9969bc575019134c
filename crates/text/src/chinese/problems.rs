//! What is wrong with a plan, in Simplified Chinese.

use headroom_core::plan::{EngineNeed, Problem, ProblemKind};
use headroom_core::units::{bytes_text, count_text};

pub(super) fn problem(problem: &Problem) -> String {
    let Problem { field, kind } = problem;
    let near = |nearest: &Option<String>| {
        nearest.as_ref().map_or_else(String::new, |nearest| format!("（是否想写 {nearest}？）"))
    };
    match kind {
        ProblemKind::OutOfRange { value, min, max } => format!("{value} 不在 {min} 到 {max} 之间，请改为范围内的值。"),
        ProblemKind::NotOneOf { value, allowed, nearest } => {
            format!("{value} 不是可选值，可选：{}{}。", allowed.join("、"), near(nearest))
        }
        ProblemKind::WrongType { expected: "object" } => "这里应粘贴一个 JSON 对象。".to_owned(),
        ProblemKind::WrongType { expected } => format!("这里应填{}。", kind_of_value(expected)),
        ProblemKind::UnknownKey { nearest: None } => "未知的键，请删除。".to_owned(),
        ProblemKind::UnknownKey { nearest } => format!("未知的键{}。", near(nearest)),
        ProblemKind::UnknownModel { id, matches: 0, candidates } => {
            format!("目录里没有模型 {id}，请粘贴它的 config.json{}。", near_ones(candidates))
        }
        ProblemKind::UnknownGpu { id, matches: 0, candidates } => {
            format!("目录里没有显卡 {id}，请直接填写显存（GiB）{}。", near_ones(candidates))
        }
        ProblemKind::UnknownModel { id, matches, candidates } | ProblemKind::UnknownGpu { id, matches, candidates } => {
            let rest = if *matches > candidates.len() { format!("等 {matches} 个") } else { String::new() };
            format!("{id} 可以指 {}{rest}，请选择其中一个。", candidates.join("、"))
        }
        ProblemKind::BadConfig { key, why } => format!("config.json 的 {key} 有误：{why}。"),
        ProblemKind::NotRecorded { model_type, key, why } => format!(
            "这里不认识 {model_type} 这个模型类，也无法按 Llama 类模型读取它的配置（{key}：{why}）。请用 python -m headroom.record 录制，再把文件交给页面。"
        ),
        ProblemKind::ProgramNotFetched { model_type } => {
            format!("{model_type} 的前向计算记录尚未取到。记录与页面放在一起，请保持联网；若一直没有，请重新加载页面。")
        }
        ProblemKind::AudioNotModelled { model_type } => {
            format!("{model_type} 处理声音，而 Headroom 不计算音频模型，请选择文本模型或图文模型。")
        }
        ProblemKind::NoSuchModule { name, known } => {
            format!("模型里没有名为 {name} 的模块，可用的有：{}。", known.join("、"))
        }
        ProblemKind::NotDivisible { value, other, other_value, nearest } => {
            let nearest: Vec<String> = nearest.iter().map(ToString::to_string).collect();
            let choose =
                if nearest.is_empty() { String::new() } else { format!("，可改为 {}", nearest.join(" 或 ")) };
            let rule = match (field.as_str(), other.as_str()) {
                ("per_device_train_batch_size", _) => {
                    format!("乘以累积步数和卡数后，须为 {other_value}（每条提示的回答数）的倍数")
                }
                ("rollout.prompts", _) => format!("须为 {other_value}（{other}）的倍数"),
                (_, "per_device_train_batch_size") => format!("须为 {other_value}（{other}）的倍数或约数"),
                (_, "num_gpus") => format!("须能整除 {other_value}（num_gpus）"),
                _ => format!("须能整除生成批次的 {other_value} 条序列"),
            };
            format!("{value} {rule}{choose}。")
        }
        ProblemKind::Contradiction { other, fix } if fix.is_empty() => format!("与 {other} 矛盾，请把 {field} 留空。"),
        ProblemKind::Contradiction { other, fix } => format!("与 {other} 矛盾，请把 {field} 设为 {fix}。"),
        ProblemKind::EngineShare { need, least, shorter, in_16_bits } => {
            engine_share(need, least.as_deref(), shorter.as_ref(), in_16_bits.as_deref())
        }
        ProblemKind::NotModelled { value, modelled } => {
            format!("尚不支持估算 {value}，可选：{}。", modelled.join("、"))
        }
        ProblemKind::NotJson { line, column } => {
            format!("第 {line} 行第 {column} 列起不是合法的 JSON，请检查引号、逗号和括号。")
        }
        ProblemKind::TooLong { max_bytes } => format!("超过 {max_bytes} 字节，请缩短。"),
        ProblemKind::Missing => "尚未填写，请补上。".to_owned(),
        ProblemKind::Duplicate => "重复出现，请只保留一个。".to_owned(),
        ProblemKind::BadEscape => "链接在此处损坏，请重新复制完整的链接。".to_owned(),
        ProblemKind::UnknownVersion { value, newest } => {
            format!("未知的链接版本 {value}，已按版本 {newest} 读取；请用更新的 Headroom 打开。")
        }
    }
}

/// What may have been meant, where anything is near.
fn near_ones(candidates: &[String]) -> String {
    if candidates.is_empty() { String::new() } else { format!("（是否想写 {}？）", candidates.join("、")) }
}

/// [`ProblemKind::WrongType`] names what it expects in English.
fn kind_of_value(expected: &str) -> &str {
    match expected {
        "number" => "数字",
        "whole number" => "整数",
        "true or false" => " true 或 false",
        "text" => "文本",
        "list of models" => "模型列表",
        "JSON" => " JSON",
        "module names" => "模块名称",
        "version" => "版本号",
        "language tag" => "语言标签，例如 en 或 zh-Hans",
        other => other,
    }
}

/// Why vLLM does not start with a share, and with which it does.
fn engine_share(
    need: &EngineNeed,
    least: Option<&str>,
    shorter: Option<&(u64, String)>,
    in_16_bits: Option<&str>,
) -> String {
    let [requested, needed, free] = [need.requested, need.needed, need.free].map(bytes_text);
    let why = if need.requested > need.free {
        format!("显存的 {} 是 {requested}，而 vLLM 启动时只剩 {free} 可用", need.share)
    } else {
        format!("显存的 {} 是 {requested}，vLLM 用这么多启动不了", need.share)
    };
    let [weights, cache] = [need.weights, need.cache].map(bytes_text);
    let rest = bytes_text(need.needed.saturating_sub(need.weights).saturating_sub(need.cache));
    let parts = format!(
        "它至少需要 {needed}：权重 {weights}，一条 {} 个 token 序列的 KV 缓存 {cache}，试运行、CUDA Graph 和缓冲区 {rest}",
        count_text(need.longest)
    );
    let bounded = |(length, share): &(u64, String)| format!("若设 vllm_max_model_length 为 {length}，只需 {share}");
    match (least, shorter) {
        (Some(least), None) => format!("{why}。{parts}。请把占比设为 {least}。"),
        (Some(least), Some(shorter)) => format!("{why}。{parts}。请把占比设为 {least}；{}。", bounded(shorter)),
        (None, Some((length, share))) => {
            format!("{why}。{parts}。任何占比都不行，请把 vllm_max_model_length 设为 {length}，占比设为 {share}。")
        }
        (None, None) if in_16_bits.is_some() => format!(
            "{why}。{parts}。冻结权重以 float32 加载后只剩 {free}，任何占比都不行；请改为 bfloat16，占比设为 {}。",
            in_16_bits.unwrap_or_default()
        ),
        (None, None) => format!(
            "{why}。{parts}。训练模型占去之后只剩 {free}，任何占比都不行；请换更大的卡，或用 vllm_mode=server。"
        ),
    }
}
