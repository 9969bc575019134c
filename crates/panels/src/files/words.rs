//! What the panel says, in both languages.

use headroom_text::Language;

/// Every sentence of the panel.
pub(super) struct Words {
    pub(super) intro: &'static str,
    pub(super) close: &'static str,
    pub(super) read_tab: &'static str,
    pub(super) write_tab: &'static str,
    pub(super) box_label: &'static str,
    pub(super) placeholder: &'static str,
    pub(super) choose_files: &'static str,
    pub(super) or_drop: &'static str,
    pub(super) read: &'static str,
    pub(super) clear: &'static str,
    pub(super) given: &'static str,
    pub(super) remove: &'static str,
    pub(super) pasted: &'static str,
    pub(super) nothing: &'static str,
    pub(super) too_large: &'static str,
    pub(super) use_plan: &'static str,
    pub(super) used: &'static str,
    /// Asks for `num_gpus`.
    pub(super) how_many_gpus: &'static str,
    /// Asks for any other field.
    pub(super) not_said: &'static str,
    pub(super) understood: &'static str,
    pub(super) not_expressible: &'static str,
    pub(super) ignored: &'static str,
    pub(super) unknown: &'static str,
    pub(super) understood_count: &'static str,
    pub(super) not_text: &'static str,
    pub(super) findings: &'static str,
    pub(super) no_findings: &'static str,
    pub(super) fix: &'static str,
    pub(super) fixed_file: &'static str,
    pub(super) line: &'static str,
    pub(super) key: &'static str,
    pub(super) field: &'static str,
    pub(super) value: &'static str,
    pub(super) why: &'static str,
    pub(super) figures: &'static str,
    pub(super) figure: &'static str,
    pub(super) format: &'static str,
    pub(super) copy: &'static str,
    pub(super) copied: &'static str,
    pub(super) download: &'static str,
    pub(super) download_all: &'static str,
    pub(super) unsaid: &'static str,
    pub(super) no_task: &'static str,
    pub(super) quantised_fsdp2: &'static str,
    pub(super) nothing_to_write: &'static str,
    pub(super) error: &'static str,
    pub(super) warning: &'static str,
    pub(super) note: &'static str,
    pub(super) no_cause: &'static str,
    pub(super) changes_plan: &'static str,
    pub(super) change_plan: &'static str,
    pub(super) calibrate: &'static str,
    pub(super) step_beside_plan: &'static str,
    pub(super) requests: &'static str,
    pub(super) run: &'static str,
    pub(super) plan: &'static str,
    pub(super) only_run: &'static str,
    pub(super) only_plan: &'static str,
    pub(super) what: &'static str,
    pub(super) add: &'static str,
    /// What a figure of a reading is called.
    pub(super) named: fn(&str) -> &'static str,
    pub(super) from: fn(&str, usize) -> String,
}

/// The words of `language`.
pub(super) fn words(language: Language) -> &'static Words {
    match language {
        Language::English => &ENGLISH,
        Language::Chinese => &CHINESE,
    }
}

static ENGLISH: Words = Words {
    intro: "Paste or drop anything: a trainer's YAML, JSON or TOML, a Python script, a launch command, DeepSpeed's JSON, \
            accelerate's YAML, an error message, nvidia-smi, a memory snapshot. It is read in your browser and never leaves it.",
    close: "Close",
    read_tab: "Read files",
    write_tab: "Write files that run",
    box_label: "Text to read",
    placeholder: "accelerate launch --config_file fsdp.yaml train.py --per_device_train_batch_size 4\n\n\
                  torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.32 GiB. …",
    choose_files: "Choose files",
    or_drop: "or drop files anywhere on the page; several files make one plan",
    read: "Read",
    clear: "Clear",
    given: "Files to read together",
    remove: "Remove",
    pasted: "pasted text",
    nothing: "Paste a text or choose a file first.",
    too_large: "is too large to be read; cut it to the part that matters",
    use_plan: "Use this plan",
    used: "The plan on the page is now that of your files.",
    how_many_gpus: "How many GPUs train together?",
    not_said: "No file says this:",
    understood: "Understood",
    not_expressible: "Affects memory, not modelled",
    ignored: "settings need no memory",
    unknown: "Unknown to Headroom, may affect memory",
    understood_count: "settings understood",
    not_text: "is neither text nor a memory snapshot.",
    findings: "Findings",
    no_findings: "Nothing contradicts itself.",
    fix: "Fix",
    fixed_file: "Fixed file",
    line: "Line",
    key: "Key",
    field: "Field of the plan",
    value: "Value",
    why: "Why",
    figures: "What the text states",
    figure: "Figure",
    format: "Format",
    copy: "Copy",
    copied: "Copied",
    download: "Download",
    download_all: "Download all (zip)",
    unsaid: "These settings of the plan cannot be said in these files:",
    no_task: "This trainer has no such task; choose another format.",
    quantised_fsdp2: "This trainer refuses a quantised base under FSDP2 for this task; take FSDP1, DeepSpeed or DDP.",
    nothing_to_write: "The plan has nothing of this kind; choose another format.",
    error: "Error",
    warning: "Warning",
    note: "Note",
    no_cause: "Nothing beyond the figures.",
    changes_plan: "These files say how a run is launched, not what is run: they change the plan on the page.",
    change_plan: "Change the plan",
    calibrate: "Calibrate to this machine",
    step_beside_plan: "The run's last step beside the plan's",
    requests: "requests of the step, from first to last",
    run: "run",
    plan: "plan",
    only_run: "At its peak only the run holds",
    only_plan: "At its peak only the plan holds",
    what: "What it is",
    add: "Add another text",
    named: english,
    from: |file, line| format!("{file}, line {line}"),
};

static CHINESE: Words = Words {
    intro: "粘贴或拖入任何内容：训练框架的 YAML、JSON 或 TOML，Python 脚本，启动命令，DeepSpeed JSON，accelerate YAML，\
            报错信息，nvidia-smi，显存快照。全部在浏览器内读取，不会上传。",
    close: "关闭",
    read_tab: "读取文件",
    write_tab: "导出可运行的文件",
    box_label: "要读取的文本",
    placeholder: "accelerate launch --config_file fsdp.yaml train.py --per_device_train_batch_size 4\n\n\
                  torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.32 GiB. …",
    choose_files: "选择文件",
    or_drop: "或把文件拖到页面任意位置；多个文件合成一个方案",
    read: "读取",
    clear: "清空",
    given: "一起读取的文件",
    remove: "移除",
    pasted: "粘贴的文本",
    nothing: "请先粘贴文本或选择文件。",
    too_large: "过大，无法读取；请只保留相关部分",
    use_plan: "使用该方案",
    used: "页面上的方案已换成文件中的方案。",
    how_many_gpus: "共用多少块 GPU 训练？",
    not_said: "文件没有说明：",
    understood: "已识别",
    not_expressible: "影响显存，但方案中没有对应设置",
    ignored: "项设置与显存无关",
    unknown: "Headroom 不认识，可能影响显存",
    understood_count: "项设置已识别",
    not_text: "既不是文本，也不是显存快照。",
    findings: "发现的问题",
    no_findings: "没有自相矛盾之处。",
    fix: "修正",
    fixed_file: "修正后的文件",
    line: "行",
    key: "键",
    field: "方案字段",
    value: "值",
    why: "原因",
    figures: "文本中的数值",
    figure: "数值",
    format: "格式",
    copy: "复制",
    copied: "已复制",
    download: "下载",
    download_all: "全部下载（zip）",
    unsaid: "以下设置属于方案，但这些文件无法表达：",
    no_task: "该训练框架没有这种任务；请选择其他格式。",
    quantised_fsdp2: "该训练框架在此任务下不支持在 FSDP2 中使用量化基座；请改用 FSDP1、DeepSpeed 或 DDP。",
    nothing_to_write: "方案中没有这类内容；请选择其他格式。",
    error: "错误",
    warning: "警告",
    note: "提示",
    no_cause: "除数值外没有更多线索。",
    changes_plan: "这些文件只说明如何启动，没有说明训练什么：它们会修改页面上的方案。",
    change_plan: "修改方案",
    calibrate: "按本机校准",
    step_beside_plan: "实际运行的最后一步与方案的一步",
    requests: "一步内的显存请求，从先到后",
    run: "实际运行",
    plan: "方案",
    only_run: "只有实际运行在峰值时持有",
    only_plan: "只有方案在峰值时持有",
    what: "是什么",
    add: "再添加一段文本",
    named: chinese,
    from: |file, line| format!("{file} 第 {line} 行"),
};

fn english(figure: &str) -> &'static str {
    match figure {
        "gpu_index" => "GPU",
        "tried_bytes" => "Tried to allocate",
        "total_bytes" => "Total of the GPU",
        "free_bytes" => "Free",
        "used_bytes" => "In use",
        "process_bytes" => "This process",
        "other_processes_bytes" => "Other processes",
        "allowed_bytes" => "Allowed to this process",
        "allocated_bytes" => "Allocated by PyTorch",
        "private_pool_bytes" => "In private pools",
        "reserved_unallocated_bytes" => "Reserved, not allocated",
        "reserved_bytes" => "Reserved by PyTorch",
        "peak_allocated_bytes" => "Peak allocated",
        "peak_reserved_bytes" => "Peak reserved",
        "host_used_bytes" => "Host memory in use",
        "host_total_bytes" => "Host memory",
        "alloc_retries" => "Allocation retries",
        "ooms" => "Out-of-memory errors",
        "rank" => "Rank",
        _ => "",
    }
}

fn chinese(figure: &str) -> &'static str {
    match figure {
        "gpu_index" => "GPU",
        "tried_bytes" => "请求分配",
        "total_bytes" => "GPU 总量",
        "free_bytes" => "空闲",
        "used_bytes" => "已用",
        "process_bytes" => "本进程",
        "other_processes_bytes" => "其他进程",
        "allowed_bytes" => "本进程上限",
        "allocated_bytes" => "PyTorch 已分配",
        "private_pool_bytes" => "私有内存池",
        "reserved_unallocated_bytes" => "已保留未分配",
        "reserved_bytes" => "PyTorch 已保留",
        "peak_allocated_bytes" => "已分配峰值",
        "peak_reserved_bytes" => "已保留峰值",
        "host_used_bytes" => "主机内存已用",
        "host_total_bytes" => "主机内存总量",
        "alloc_retries" => "分配重试次数",
        "ooms" => "显存不足次数",
        "rank" => "Rank",
        _ => "",
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use headroom_files::diagnose::diagnose;

    use super::*;

    #[test]
    fn every_figure_that_a_text_can_state_has_a_name() {
        let text = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.32 GiB. GPU 0 has a total capacity of 23.64 GiB \
                    of which 1.20 GiB is free. Process 77 has 1.00 GiB memory in use. Including non-PyTorch memory, this process has \
                    21.44 GiB memory in use. 20.00 GiB allowed; Of the allocated memory 20.10 GiB is allocated by PyTorch, with \
                    1.00 GiB allocated in private pools (e.g., CUDA Graphs), and 861.20 MiB is reserved by PyTorch but unallocated.";
        let found = diagnose(text.as_bytes(), None).unwrap();
        let figures = found.readings[0].figures();
        assert!(figures.len() >= 8, "{figures:?}");
        for (name, _) in figures {
            assert!(!english(name).is_empty() && !chinese(name).is_empty(), "{name}");
        }
    }
}
