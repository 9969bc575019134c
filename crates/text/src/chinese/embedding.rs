//! Snippets for other pages, in Chinese.

use headroom_core::link::View;

use crate::embedding::EmbeddingTexts;

pub(super) const EMBEDDING: EmbeddingTexts = EmbeddingTexts {
    button: "嵌入",
    title: "把这个方案放进你的文档",
    intro: "在读者的浏览器中计算：无需账号，不用 Cookie，不保存任何数据。",
    view: "显示",
    views: |view| match view {
        View::Verdict => "仅结论",
        View::Comparison => "训练方法与切分方式对比",
        View::Phases => "一步之内的显存变化",
        View::Map => "批量与长度",
        View::Table => "每个字节的去向",
    },
    inputs: "读者可以修改",
    element: "页面元素",
    element_help: "跟随所在页面的配色和语言，高度自动适应。同一页面的所有方案共用一个脚本。",
    frame: "内嵌框架",
    frame_help: "用于不允许脚本的页面。",
    picture: "图片",
    picture_help: "适合 README：SVG 文件，数字以文本形式写在其中。加 --png 则输出 PNG。",
    markdown: "Markdown",
    copy: "复制",
    copied: "已复制",
    preview: "预览",
};
