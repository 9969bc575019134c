//! The plan as files: each with its text, to copy or to download.

use headroom_core::plan::Plan;
use headroom_files::export::{self, Export, Format, Refused};
use headroom_text::Language;
use headroom_view::escape;

use super::html::download;
use super::words::Words;
use crate::page::Page;

/// What was written, or why nothing.
pub(super) struct Written(Result<Export, Refused>);

/// Writes `plan`.
pub(super) fn written(plan: &Plan, format: Format, language: Language) -> Written {
    Written(export::export(plan, format, language))
}

/// What a list calls a format.
pub(super) const fn label(format: Format, language: Language) -> &'static str {
    let chinese = matches!(language, Language::Chinese);
    match format {
        Format::All if chinese => "当前方案所需的全部文件",
        Format::All => "Everything this plan's trainer needs",
        Format::Deepspeed => "DeepSpeed JSON",
        Format::Accelerate => "accelerate YAML",
        Format::Transformers if chinese => "transformers.Trainer 脚本",
        Format::Transformers => "transformers.Trainer script",
        Format::Trl if chinese => "TRL 脚本",
        Format::Trl => "TRL script",
        Format::TrlYaml if chinese => "trl 命令的 YAML",
        Format::TrlYaml => "YAML of the trl command",
        Format::LlamaFactory => "LLaMA-Factory YAML",
        Format::Axolotl => "axolotl YAML",
        Format::MsSwift if chinese => "ms-swift 命令",
        Format::MsSwift => "ms-swift command",
        Format::Unsloth if chinese => "Unsloth 脚本",
        Format::Unsloth => "Unsloth script",
        Format::Verl if chinese => "verl 命令",
        Format::Verl => "verl command",
        Format::Peft => "peft LoraConfig",
        Format::Bitsandbytes => "BitsAndBytesConfig",
        Format::Launch if chinese => "环境变量与启动命令",
        Format::Launch => "Environment and launch command",
        Format::Callback if chinese => "显存检查回调",
        Format::Callback => "Memory-check callback",
        Format::Markdown if chinese => "方案与估算（Markdown）",
        Format::Markdown => "Plan and estimate as Markdown",
        Format::Json if chinese => "方案（JSON）",
        Format::Json => "Plan as JSON",
        Format::Csv if chinese => "估算（CSV）",
        Format::Csv => "Estimate as CSV",
    }
}

impl Written {
    pub(super) fn html(&self, page: &Page, words: &Words) -> String {
        let export = match &self.0 {
            Ok(export) => export,
            Err(refused) => {
                let why = match refused {
                    Refused::NoSuchTask(_) => words.no_task,
                    Refused::QuantisedFsdp2(_) => words.quantised_fsdp2,
                    Refused::Nothing(_) => words.nothing_to_write,
                };
                return format!("<p role=\"alert\">{}</p>", escape(why));
            }
        };
        let mut out = String::new();
        if export.files.len() > 1 {
            out += &format!(
                "<div class=\"files-actions\">{}</div>",
                download("primary", "headroom.zip", &export::zip(&export.files), words.download_all)
            );
        }
        if !export.unsaid.is_empty() {
            let fields: String = export.unsaid.iter().map(|field| format!("<li><code>{field}</code></li>")).collect();
            out += &format!(
                "<details class=\"files-unsaid\"><summary>{} {}</summary><ul>{fields}</ul></details>",
                escape(words.unsaid),
                export.unsaid.len()
            );
        }
        for file in &export.files {
            out += &file_html(page, words, &file.name, &file.text);
        }
        out
    }
}

/// A file with its text and what one can do with it.
pub(super) fn file_html(page: &Page, words: &Words, name: &str, text: &str) -> String {
    format!(
        "<section class=\"files-file\"><div class=\"files-actions\"><h3><code>{}</code></h3>{}{}</div><pre tabindex=\"0\">{}</pre></section>",
        escape(name),
        copy(page, words, text),
        download("", name, text.as_bytes(), words.download),
        escape(text)
    )
}

/// A button that copies `text`, or shows it to be copied by hand where the browser refuses.
fn copy(page: &Page, words: &Words, text: &str) -> String {
    format!(
        "<button type=\"button\" data-do=\"@copy\" data-copy=\"{}\" data-done=\"{}\" data-by-hand=\"{}\">\
         <span aria-live=\"polite\">{}</span></button>",
        escape(text),
        escape(words.copied),
        escape(page.texts.copy_by_hand),
        escape(words.copy)
    )
}
