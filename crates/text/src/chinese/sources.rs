//! 其他来源的模型。

use crate::sources::SourceTexts;

pub(super) static TEXTS: SourceTexts = SourceTexts {
    hub_id: "Hugging Face 模型 ID",
    hub_load: "从 Hugging Face 加载",
    hub_help: "点击后，浏览器会向 huggingface.co 请求该模型的 config.json 和参数量，除此之外不发送任何内容。",
    hub_invalid: "请按 所有者/名称 填写，例如 Qwen/Qwen3-4B：只能用字母、数字、-、_ 和点。",
    hub_loading: |id| format!("正在从 huggingface.co 获取 {id}……"),
    hub_gated: |id| {
        format!(
            "{id} 需要授权、未公开或不存在：没有账号时 huggingface.co 不提供它。请先在那里同意条款，下载 config.json 后粘贴到上面。"
        )
    },
    hub_missing: |id| format!("huggingface.co 上没有 {id} 的 config.json。请检查 ID，或把 config.json 粘贴到上面。"),
    hub_offline: "无法连接 huggingface.co。请检查网络后再试，或把 config.json 粘贴到上面。",
    hub_failed: |id, status| {
        format!("huggingface.co 对 {id} 返回了 {status}。请稍后再试，或把 config.json 粘贴到上面。")
    },
    hub_same: |total| format!("Hugging Face 标注的参数量为 {total}，与这里读取的一致。"),
    hub_differs: |total, read| {
        format!(
            "Hugging Face 标注的参数量为 {total}，这里读取为 {read}：其他组成部分、共享权重的副本或量化权重都会造成差异。"
        )
    },
    hub_no_total: "Hugging Face 没有标注它的参数量。",

    record_title: |class| format!("{class} 尚未录制"),
    record_how: "可以在自己的电脑上录制它的代码：需要 Python、PyTorch 和 transformers，不需要显卡，也不需要权重。在 Headroom 源码的 python 目录下运行：",
    record_own: "如果是你自己写的 PyTorch 模块，请给出含有 build 函数的 Python 文件（build 应返回什么，见源码中的 docs/own-models.md）：",
    record_take: "然后把文件交给这里：粘贴内容、选择文件，或拖到这个框里。文件会先经过检查，只留在本页，关闭后即消失，不会发送到任何地方。",
    record_text: "录制文件",
    record_use: "使用这份录制",
    record_empty: "请先粘贴录制文件的内容。",
    record_unwanted: "这是录制文件，不是 config.json。请先填入该模型的 config.json，页面随后会给出放入录制文件的地方。",
    record_wrong: |place, why| format!("这份录制无法使用：{place}：{why}。请用上面的命令重新录制。"),
    record_other: |theirs, ours| format!("这份录制属于 {theirs}，而配置属于 {ours}。请录制 {ours}。"),
};
