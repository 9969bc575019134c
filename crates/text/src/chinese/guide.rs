//! The pages beside the planner in Chinese.

use crate::guide::{AccuracyPage, Entry, Guide, Section};

const fn entry(id: &'static str, word: &'static str, meaning: &'static str) -> Entry {
    Entry { id, word, meaning }
}

const fn section(title: &'static str, paragraphs: &'static [&'static str]) -> Section {
    Section { title, paragraphs }
}

pub(crate) static GUIDE: Guide = Guide {
    how_title: "工作原理",
    how: &[
        section(
            "适合谁用",
            &[
                "刚遇到 CUDA out of memory：按当时的配置填写，或直接粘贴启动命令、配置文件、报错信息。“建议”页会给出首先该改什么，以及训练会慢多少。",
                "正在选训练方法或显卡：“对比”页把全参微调、LoRA、QLoRA 与各种切分方式放在一起比较；“上限”页给出批量和长度最多能到多少。",
                "显卡利用率很低：“建议”页会给出可以调大哪些参数、调到多少。",
                "想弄清某个数字的来历：“显存”页列出峰值时刻的每一笔分配及其公式。",
            ],
        ),
        section(
            "逐算子执行，而不是套公式",
            &[
                "模型的前向代码在这里以“只有尺寸的张量”执行：每个算子按 PyTorch 的方式申请显存，并保存反向传播所需的张量；随后按 autograd 的顺序执行反向、梯度裁剪和优化器更新。训练框架、适配器、量化、梯度检查点和切分都在真实训练中起作用的位置起作用。",
                "因此，某一时刻哪些张量存活是推导出来的，而不是假设出来的。峰值是一步之内各阶段的最大值，不是所有项之和。",
            ],
        ),
        section(
            "重放 PyTorch 的显存分配器",
            &[
                "能否放下最终取决于缓存分配器：它会对申请取整，会保留已释放的块，也无法移动正在使用的块。我们把三步训练的全部申请交给分配器模型，在越来越小的显卡上重放，直到放不下为止。能跑通的最小显存加上 CUDA 上下文，就是结论中的“所需显存”。",
                "该数字带有范围：低于下限一定跑不起来；高于上限时分配器从不需要归还显存。",
            ],
        ),
        section(
            "时间只看比值",
            &["单步时间由矩阵乘、访存和通信累加得出。绝对值可能有成倍的偏差，应当看同一显卡上两个方案的比值。"],
        ),
        section(
            "数据不离开浏览器",
            &[
                "没有服务器、没有账号、没有埋点。方案保存在网址 # 之后的部分，浏览器不会发送它。粘贴或拖入的文件只在本机读取，绝不执行。",
            ],
        ),
    ],
    glossary_title: "术语表",
    glossary_intro: "本页用到的术语，以及公式中的字母。",
    entries: &[
        entry(
            "word-activation",
            "激活值",
            "前向计算产生、反向还要用到的张量。随批量 × 长度增长，梯度检查点节省的就是它。",
        ),
        entry("word-adapter", "适配器", "冻结权重旁的一对小矩阵，LoRA 训练的就是它。"),
        entry("word-allocated", "已分配显存", "存活张量的字节数，即 torch.cuda.memory_allocated。"),
        entry(
            "word-allocator",
            "缓存分配器",
            "PyTorch 自己的显存管理器：向驱动申请大段显存，切成块使用，释放后留待下次申请。",
        ),
        entry("word-autocast", "autocast 自动混合精度", "权重保持 32 位，矩阵乘以 16 位计算；转换出的副本同样占显存。"),
        entry("word-batch", "b · 批量", "每张显卡一次前向处理的序列数，即 per_device_train_batch_size。"),
        entry(
            "word-checkpointing",
            "梯度检查点",
            "只保留每层的输入，反向时把该层重算一遍。省显存，计算量约增加三分之一。",
        ),
        entry("word-context", "CUDA 上下文", "第一个张量出现之前，驱动和各种库在显卡上占用的显存。"),
        entry("word-ddp", "DDP", "每张显卡保存完整模型，各处理一部分批量，梯度取平均。"),
        entry(
            "word-expandable",
            "可扩展段",
            "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True：显存段可以增长，从而减少碎片。",
        ),
        entry("word-fragmentation", "显存碎片", "空闲但过于零散、满足不了下一次申请的显存。"),
        entry("word-fsdp", "FSDP", "PyTorch 对权重、梯度和优化器状态的切分：用到哪一层就聚合哪一层。"),
        entry("word-fused-head", "融合 LM head", "最后的投影与损失分块计算，完整的 logits 从不出现。"),
        entry("word-gradient", "梯度", "每个被训练的参数对应一个数，从反向开始存在到优化器更新。"),
        entry("word-accumulation", "梯度累积", "多个微批量之后才更新一次：以小批量的显存得到大的等效批量。"),
        entry("word-headroom", "余量", "显卡显存超出所需的部分。"),
        entry("word-kv-cache", "KV 缓存", "生成文本时保留的键和值。"),
        entry("word-letter-a", "a · 注意力头数", "模型配置中的 num_attention_heads。"),
        entry("word-letter-d", "d · 头维度", "单个注意力头的宽度。"),
        entry("word-letter-h", "h · 隐藏维度", "残差流的宽度，即 hidden_size。"),
        entry("word-letter-k", "k · 键值头数", "num_key_value_heads；分组查询注意力下小于 a。"),
        entry("word-letter-l", "L · 层数", "num_hidden_layers。"),
        entry("word-letter-s", "s · 序列长度", "一条序列的 token 数，即 max_length。"),
        entry("word-letter-v", "V · 词表大小", "vocab_size；logits 共有 b × s × V 个数。"),
        entry("word-logits", "Logits", "每个位置上对整个词表的打分。词表大时往往是最大的单个张量。"),
        entry("word-lora", "LoRA", "只训练适配器；基座模型冻结，不需要梯度和优化器状态。"),
        entry("word-micro-batch", "微批量", "一次前向处理的数据；梯度累积时多个微批量构成一步。"),
        entry("word-offload", "卸载", "把优化器状态或权重放在主机内存中，用到时再搬到显卡。"),
        entry("word-optimizer-state", "优化器状态", "优化器为每个被训练的参数保存的数据，AdamW 是两个数。"),
        entry("word-overhead", "额外开销", "张量之外占用的显存：CUDA 上下文、取整、碎片、通信库。"),
        entry("word-peak", "峰值", "一步之中显存占用最多的时刻，放得下的就是它。"),
        entry("word-phase", "阶段", "一步的组成部分：加载、前向、损失、反向、梯度裁剪、优化器更新。"),
        entry("word-qlora", "QLoRA", "基座量化为 4 位的 LoRA。权重很小，但每次矩阵乘都要临时解成 16 位。"),
        entry("word-required", "所需显存", "能跑通的最小显卡的显存，不含 CUDA 上下文。结论以它为准。"),
        entry("word-reserved", "已保留显存", "显存充裕时分配器占用的段，即 torch.cuda.memory_reserved。"),
        entry("word-zero", "ZeRO 1、2、3", "DeepSpeed 在多卡间的切分：优化器状态（1），再加梯度（2），再加权重（3）。"),
    ],
    accuracy: AccuracyPage {
        title: "准确度",
        lead: |steps, on_gpus| {
            format!("共实测 {steps} 个训练步，并与本页对同一方案的估算比较；其中 {on_gpus} 个在真实显卡上测得。")
        },
        summary_title: "全部实测",
        column_figure: "指标",
        column_steps: "步数",
        column_median: "误差中位数",
        column_95: "95 % 在此以内",
        column_worst: "最大低估",
        by_allocator: "由 PyTorch 分配器计数，无显卡",
        on_gpus: "在真实显卡上测得",
        sections: &[
            section(
                "数据如何得来",
                &[
                    "多数训练步用真实的库（PyTorch、transformers、TRL、peft、bitsandbytes、DeepSpeed）和 PyTorch 自己的 CUDA 缓存分配器运行，只是内核不做计算；分配器的计数与在显卡上相同。只要估算列出的张量完全一致，结果就会精确到字节，因此许多误差是 0.00 %：分配器是确定性的，重放也是。",
                    "真实显卡上的测量还包含无法控制的因素：驱动、其他进程、库的版本以及测量方式。这些数据单独列出，误差也更大。他人发布的数据只知道部分版本信息，不在此表中，见验证报告。",
                    "每个训练步都先进入表格，再去查明不一致的原因；公式中没有任何调出来的系数。",
                ],
            ),
            section(
                "用自己的训练核对",
                &[
                    "把“运行”页（导出 → 显存检查）中的回调加到训练框架里，它会在最初几步之后打印已分配、已保留和峰值显存，并与本页的估算并列。请比较第二步及以后：在此之前优化器状态尚不存在。",
                    "相差超过百分之几，说明训练中有方案里没有的东西：另一种注意力实现、另一个版本、第二个模型、评估。欢迎附上回调打印的那一行反馈给我们。",
                ],
            ),
        ],
        near_title: "与你的方案最接近的实测",
        not_near: "先修正方案中的设置，才能看到与之接近的实测。",
    },
};
