//! The plan as files: each with its text, to copy or to download.

use headroom_core::plan::Plan;
use headroom_files::export::{self, Export, Format, Refused};
use headroom_text::Language;

use crate::html::{button, escaped};
use crate::words::Words;

/// What was written, or why nothing.
pub(crate) struct Written(Result<Export, Refused>);

/// Writes `plan`.
pub(crate) fn written(plan: &Plan, format: Format, language: Language) -> Written {
    Written(export::export(plan, format, language))
}

/// What a list calls a format.
pub(crate) const fn label(format: Format, language: Language) -> &'static str {
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
    /// Name and text of the file in `place`.
    pub(crate) fn file(&self, place: usize) -> Option<(String, String)> {
        let file = self.0.as_ref().ok()?.files.get(place)?;
        Some((file.name.clone(), file.text.clone()))
    }

    /// Every file in one archive.
    pub(crate) fn archive(&self) -> Vec<u8> {
        self.0.as_ref().map(|export| export::zip(&export.files)).unwrap_or_default()
    }

    pub(crate) fn html(&self, words: &Words) -> String {
        let export = match &self.0 {
            Ok(export) => export,
            Err(refused) => {
                let why = match refused {
                    Refused::NoSuchTask(_) => words.no_task,
                    Refused::QuantisedFsdp2(_) => words.quantised_fsdp2,
                    Refused::Nothing(_) => words.nothing_to_write,
                };
                return format!("<p role=\"alert\">{}</p>", escaped(why));
            }
        };
        let mut out = String::new();
        if export.files.len() > 1 {
            out += &format!("<div class=\"files-actions\">{}</div>", button("primary", "zip", words.download_all));
        }
        if !export.unsaid.is_empty() {
            let fields: String = export.unsaid.iter().map(|field| format!("<li><code>{field}</code></li>")).collect();
            out += &format!(
                "<details class=\"files-unsaid\"><summary>{} {}</summary><ul>{fields}</ul></details>",
                escaped(words.unsaid),
                export.unsaid.len()
            );
        }
        for (at, file) in export.files.iter().enumerate() {
            out += &file_html(words, at, &file.name, &file.text);
        }
        out
    }
}

/// A file with its text and what one can do with it.
pub(crate) fn file_html(words: &Words, place: usize, name: &str, text: &str) -> String {
    format!(
        "<section class=\"files-file\"><div class=\"files-actions\"><h3><code>{}</code></h3>{}{}</div><pre tabindex=\"0\">{}</pre></section>",
        escaped(name),
        button("", &format!("copy:{place}"), words.copy),
        button("", &format!("download:{place}"), words.download),
        escaped(text)
    )
}
