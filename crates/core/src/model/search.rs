//! Models as people call them: labels, ids of copies, addresses, file names.

use std::sync::LazyLock;

use super::{CatalogueModel, catalogue, find};
use crate::search::{Called, Found, Hit, Index, Vocabulary};

#[rustfmt::skip]
const VOCABULARY: Vocabulary = Vocabulary {
    aliases: &[
        ("通义千问", " qwen "), ("千问", " qwen "), ("通义", " qwen "), ("阿里巴巴", " qwen "), ("阿里", " qwen "),
        ("智谱清言", " glm "), ("智谱", " glm "), ("书生·浦语", " internlm "), ("书生浦语", " internlm "), ("书生", " internlm "),
        ("浦语", " internlm "), ("百川智能", " baichuan "), ("百川", " baichuan "), ("深度求索", " deepseek "),
        ("零一万物", " yi "), ("零一", " yi "), ("字节跳动", " bytedance "), ("字节", " bytedance "), ("羊驼", " llama "),
        ("谷歌", " google "), ("微软", " microsoft "), ("大语言模型", " "), ("大模型", " "), ("模型", " "),
        ("对话版", " chat "), ("对话", " chat "), ("指令版", " instruct "), ("指令", " instruct "), ("基座", " base "),
    ],
    brands: &[],
    editions: &["instruct", "it", "chat", "base", "pt", "hf"],
    idle: &[
        "model", "gguf", "awq", "gptq", "bnb", "4bit", "8bit", "int4", "int8", "fp8", "fp16", "bf16", "nf4", "w4a16", "w8a8",
        "w8a16", "mlx", "exl2", "unsloth", "quantized", "dynamic", "safetensors", "instruction",
    ],
    units: &["b", "m"],
    implied: &[],
    has_memory: false,
};

/// What `text` means among the models of the catalogue: a name in any spelling, whoever's copy it is, or an address.
///
/// ```
/// use headroom_core::model;
/// assert_eq!(model::search("unsloth/Llama-3.1-8B-bnb-4bit").one(), Some("meta-llama/Llama-3.1-8B"));
/// assert_eq!(model::search("https://hf.co/Qwen/Qwen3-4B/tree/main").one(), Some("Qwen/Qwen3-4B"));
/// assert_eq!(model::search("Qwen2-Audio").one(), None);
/// ```
pub fn search(text: &str) -> Found {
    static INDEX: LazyLock<Index> = LazyLock::new(|| Index::new(VOCABULARY, catalogue().iter().map(called)));
    let path = path_of(text);
    let found = INDEX.search(name_of(&path));
    // An id means its own model, whatever else it is the beginning of.
    let known = known(&path);
    match known.and_then(|(id, model)| Some((id, catalogue().iter().position(|other| other.id == model.id)?))) {
        Some((id, place)) => found.with_one(Hit { place, id }),
        None => found,
    }
}

/// The id of the model that `text` means: its own, or one of [`CatalogueModel::also`].
///
/// # Errors
/// What it could mean, where that is not one model.
pub fn resolve(text: &str) -> Result<&'static str, Found> {
    if let Some((id, _)) = known(text.trim()) {
        return Ok(id);
    }
    let found = search(text);
    found.one().ok_or(found)
}

/// The id that `text` is, as the catalogue writes it, and its model.
fn known(text: &str) -> Option<(&'static str, &'static CatalogueModel)> {
    let model = find(text)?;
    let id = model.also.iter().find(|id| id.eq_ignore_ascii_case(text)).map_or(model.id, |id| *id);
    Some((id, model))
}

fn called(model: &'static CatalogueModel) -> Called {
    let ids = std::iter::once(model.id).chain(model.also.iter().copied());
    let owner = |id: &str| id.split_once('/').map_or(String::new(), |(owner, _)| owner.to_owned());
    Called {
        names: ids.map(|id| (name_of(id), id)).chain([(model.label, model.id)]).collect(),
        makers: owner(model.id),
        group: model.group,
        memory: Vec::new(),
    }
}

/// Longest text that is looked at, bytes.
const LONGEST: usize = 1024;

/// `owner/name` of an address of a hub, of the folder of a download, or `text` as it is.
fn path_of(text: &str) -> String {
    const PAGES: &[&str] = &["tree", "blob", "resolve", "raw", "commits", "discussions"];
    const HUBS: &[&str] = &["huggingface.co/", "hf.co/", "hf-mirror.com/", "modelscope.cn/", "modelscope.com/"];
    let text = text.trim();
    if text.len() > LONGEST {
        return text.to_owned();
    }
    if let Some((_, folder)) = text.split_once("models--") {
        return folder.split('/').next().unwrap_or(folder).replacen("--", "/", 1);
    }
    let lower = text.to_ascii_lowercase();
    // Lower case of ASCII keeps every place.
    let path = HUBS.iter().find_map(|hub| lower.find(hub).map(|at| &text[at + hub.len()..]));
    let Some(path) = path else { return text.trim_end_matches('/').to_owned() };
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let path = path.strip_prefix("models/").unwrap_or(path);
    let parts = path.split('/').filter(|part| !part.is_empty()).take_while(|part| !PAGES.contains(part));
    parts.take(2).collect::<Vec<_>>().join("/")
}

/// The name in a path, without its owner and without what only says how its weights are stored.
fn name_of(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    // `Q4_K_M`, `IQ2_XS`: kinds of llama.cpp's files, last in their names.
    let letters = name.as_bytes();
    let starts_kind = |at: &usize| {
        let kind = &letters[*at..];
        let kind = kind.strip_prefix(b"i").or(kind.strip_prefix(b"I")).unwrap_or(kind);
        b"-._ :".contains(&letters[at - 1])
            && matches!(kind, [letter, digit, ..] if letter.eq_ignore_ascii_case(&b'q') && digit.is_ascii_digit())
    };
    (1..letters.len()).find(starts_kind).map_or(name, |at| &name[..at])
}
