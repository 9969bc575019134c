//! Preference and reinforcement tasks in Simplified Chinese.

use headroom_core::memory::{ModelRole, Phase};
use headroom_core::plan::{InstanceRole, KvCacheDtype, ReferenceKind, RolloutEngine, Round, Task, VllmMode};
use headroom_core::units::count_text;

use super::terms;
use crate::labels::{ChoiceText, choice, field};
use crate::tasks::{TaskFields, TaskTexts};

pub(super) const TEXTS: TaskTexts = TaskTexts {
    section: "偏好与强化学习",
    rollout_group: "采样生成",
    fields: TaskFields {
        reference: field("参考模型", "", "训练时用来约束策略的冻结模型从哪里来。"),
        cpo_alpha: field("交叉熵权重", "", "设为 0 就不计算它，也省下一半 logits 的副本。"),
        beta: field("参考项权重", "", "设为 0 就不需要参考模型，也不占它的显存。"),
        num_generations: field("每条提示的回答数", "条", "组内比较奖励，必须能整除一轮生成的批量。"),
        prompts: field("每轮提示数", "条", "所有显卡合计；留空则由批量和累积步数决定。"),
        steps_per_generation: field("每轮前向次数", "次", "一轮生成切成多少个微批；留空则等于梯度累积步数。"),
        num_iterations: field("迭代次数", "次", "每轮回答用来更新几次（μ）。"),
        max_prompt_length: field("提示长度", "token", "每条提示都按这个长度计算。"),
        max_completion_length: field("回答长度", "token", "每条提示之后最多生成的 token 数。"),
        sequences_at_once: field("同时生成", "条", "单卡上并行生成的序列数；留空则为该卡分到的全部。"),
        engine: field("生成引擎", "", "由谁生成回答；vLLM 和 SGLang 会另存一份权重。"),
        vllm_mode: field("运行位置", "", "放在独立服务器上时，不占训练卡的显存。"),
        memory_share: field(
            "显存占比",
            "",
            "vLLM 按总显存计，含权重、缓存、CUDA Graph 和试运行；SGLang 按空闲显存计。取 0 到 1。",
        ),
        tensor_parallel_size: field("每个引擎的卡数", "张", "几张卡共同分担一份引擎权重和缓存。"),
        sleep_mode: field("训练时休眠", "", "更新策略期间，引擎交还权重和缓存占用的显存。"),
        max_model_length: field(
            "vLLM 最长序列",
            "token",
            "KV 缓存须容得下一条这么长的序列；留空则按训练器的做法，TRL 0.26 起为模型自身的最大长度。",
        ),
        kv_cache_dtype: field("KV 缓存精度", "", "fp8 能让每条序列的缓存减半。"),
        enforce_eager: field("不捕获 CUDA 图", "", "省下 CUDA 图占用的显存，生成会慢一些。"),
        use_liger_loss: field("Liger 损失", "", "分块计算损失，完整的 logits 不再出现。"),
        padding_free: field("无填充", "", "序列首尾相接，不再计算填充部分。"),
    },
    reference,
    engine,
    mode,
    kv_cache,

    models_group: "策略之外的模型",
    models_help: "奖励模型、裁判、模拟用户：全部冻结；与策略共用权重的只计一次。",
    value_model: "价值模型",
    model_number: |number| format!("模型 {number}"),
    add_model: "添加模型",
    remove: "移除",
    role_label: "角色",
    model_label: "模型",
    policys_model: "与策略相同",
    weights_label: "权重",
    weights_as_loaded: "按加载精度",
    shared_label: "与策略共用权重",
    host_label: "不运行时放在主机内存",
    instance_role,

    effective_pairs: |batch, steps, gpus, effective| format!("{batch} × {steps} × {gpus} = 每步 {effective} 对"),
    pairs_note: |sequences| format!("一对是两条序列：一次前向共 {sequences} 条。"),
    texts_note: |all, each| format!("批量按查询计，每个查询连同文档共 {each} 段文本：合计 {all} 段。"),
    round: |round| round_text(round),

    timeline_peak: |bytes, place| format!("{bytes} · {place}"),
    models_title: "卡上的模型",
    models_table: "以表格查看各模型",
    models_intro: "参与训练的每个模型的权重，取单卡上最多的时刻。",
    sharing_saves: |bytes| format!("共用权重共省下 {bytes}。"),
    column_role: "角色",
    column_weights: "权重",
    column_place: "位置",
    column_bytes: "占用显存",
    column_shared: "共用",
    model_role,
    on_gpu: "显卡",
    in_host: "不用时在主机内存",
    not_loaded: "不加载",
    shared_saving: |bytes| format!("与策略共用，省 {bytes}"),
    precomputed_saving: |bytes| format!("事先算好，省 {bytes}"),
    own_weights: "独立权重",
};

fn round_text(round: &Round) -> String {
    let Round { prompts, num_generations, sequences, sequences_per_gpu, sequences_at_once, forwards } = *round;
    let sequences = count_text(sequences);
    let mut said = format!("一轮生成：{prompts} 条提示 × {num_generations} 个回答 = {sequences} 条序列");
    if sequences_per_gpu.to_string() != sequences {
        said.push_str(&format!("，每卡 {sequences_per_gpu} 条"));
    }
    if sequences_at_once < sequences_per_gpu {
        said.push_str(&format!("，同时生成 {sequences_at_once} 条"));
    }
    format!("{said}；切成 {forwards} 个微批。")
}

fn reference(kind: ReferenceKind) -> ChoiceText {
    match kind {
        ReferenceKind::Auto => choice("自动", "LoRA 关闭适配器，其余另存一份"),
        ReferenceKind::Copy => choice("副本", "另一份冻结的模型"),
        ReferenceKind::AdapterDisabled => choice("关闭适配器", "即不带适配器的策略模型"),
        ReferenceKind::Precomputed => choice("预先计算", "训练前单独跑一遍"),
        ReferenceKind::None => choice("无", ""),
    }
}

fn engine(engine: RolloutEngine) -> ChoiceText {
    match engine {
        RolloutEngine::Generate => choice("generate", "transformers，直接用训练中的权重"),
        RolloutEngine::Vllm => choice("vLLM", "占用一定比例的显存"),
        RolloutEngine::Sglang => choice("SGLang", "占用一定比例的空闲显存"),
    }
}

fn mode(mode: VllmMode) -> ChoiceText {
    match mode {
        VllmMode::Colocate => choice("同卡", "与训练共用显卡"),
        VllmMode::Server => choice("服务器", "使用独立的显卡"),
    }
}

fn kv_cache(dtype: KvCacheDtype) -> ChoiceText {
    match dtype {
        KvCacheDtype::Auto => choice("自动", "与权重相同"),
        KvCacheDtype::Bfloat16 => choice("bf16", ""),
        KvCacheDtype::Fp8 => choice("fp8", "每个元素 1 字节"),
    }
}

fn instance_role(role: InstanceRole) -> &'static str {
    match role {
        InstanceRole::Value => "价值模型",
        InstanceRole::Reward => "奖励模型",
        InstanceRole::Judge => "裁判模型",
        InstanceRole::SimulatedUser => "模拟用户",
    }
}

fn model_role(role: ModelRole) -> &'static str {
    match role {
        ModelRole::Policy => "策略模型",
        ModelRole::Reference => "参考模型",
        ModelRole::Companion(role) => instance_role(role),
        ModelRole::Engine => "生成引擎",
    }
}

pub(super) fn peak(task: Task, phase: Phase) -> String {
    let name = terms::phase(phase);
    match (task, phase) {
        (Task::Grpo | Task::Rloo | Task::Ppo, Phase::Prefill | Phase::Decode) => {
            format!("峰值：采样生成中的{name}，而不是策略更新")
        }
        (Task::Grpo | Task::Rloo | Task::Ppo, Phase::Generation) => format!("峰值：{name}，而不是策略更新"),
        (
            Task::Grpo | Task::Rloo | Task::Ppo,
            Phase::Forward
            | Phase::Loss
            | Phase::LossBackward
            | Phase::Backward
            | Phase::GradientClipping
            | Phase::OptimizerStep,
        ) => format!("峰值：策略更新中的{name}，而不是采样生成"),
        (Task::Grpo | Task::Rloo | Task::Ppo, Phase::OldLogProbs | Phase::ReferenceForward | Phase::RewardForward) => {
            format!("峰值：{name}，在采样生成与策略更新之间")
        }
        _ => format!("峰值：{name}"),
    }
}
