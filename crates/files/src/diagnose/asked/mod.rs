//! What a text leaves open of the run that it is of: nothing is compared with a plan that no one gave.

mod source;
mod stated;

use headroom_core::gpu::{self, Gpu, Vendor};
use headroom_core::units::{bytes_text, count_text};

use super::Said;
use super::reading::{Format, KEPT_BY_DRIVER, Reading};
use crate::finding::Language;

pub use source::Source;
use stated::Stated;

/// What has to be known of a run before its requests can be named, and what its text already says of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// Keys of a plan, as links write them, that the text does not say.
    pub missing: Vec<&'static str>,
    /// GPUs that it can have run on, the likeliest first; one where the text names it.
    pub gpus: Vec<&'static Gpu>,
    /// Memory of the GPU by the text, bytes.
    pub total_bytes: Option<u64>,
    /// Whose code the stack runs through.
    pub source: Option<Source>,
    /// What the command and the settings above the failure say.
    stated: Stated,
}

/// Most GPUs of one size that are offered.
const MOST_GPUS: usize = 12;

/// PyTorch's total is what the driver leaves, and drivers differ by up to 200 MiB ([`gpu::MemoryFigure`]); bytes.
const DRIVERS_DIFFER: u64 = 256 << 20;

impl Asked {
    /// What `readings` leave open.
    pub(super) fn of(readings: &[Reading], text: &str) -> Self {
        let mut gpus = gpus(readings);
        let source = readings.iter().find_map(|reading| source::of(&reading.stack)).or_else(|| source::of_text(text));
        let stated = if text.is_empty() { Stated::default() } else { stated::of(text, gpus.len() != 1) };
        if let Some(named) = gpus.iter().find(|gpu| Some(gpu.id.as_ref()) == stated.gpu.as_deref()) {
            gpus = vec![*named];
        }
        let is_stated = |key: &str| stated.fields.iter().any(|(field, _)| *field == key);
        let is_open = |key: &&str| match *key {
            "gpu" => gpus.len() != 1,
            "num_gpus" => readings.iter().any(is_of_several) && !is_stated(key),
            "trainer" => source.is_none() && stated.trainer.is_none(),
            "task" => false,
            key => !is_stated(key),
        };
        const KEYS: [&str; 7] =
            ["model", "gpu", "num_gpus", "trainer", "method", "per_device_train_batch_size", "max_length"];
        let total_bytes = of_the_run(readings).and_then(|reading| reading.total_bytes);
        Self { missing: KEYS.into_iter().filter(is_open).collect(), gpus, total_bytes, source, stated }
    }

    /// Fields of a plan that the text says, with their values as links write them.
    pub fn edits(&self) -> Vec<(&'static str, String)> {
        let gpu = self.gpus.first().filter(|_| self.gpus.len() == 1).map(|gpu| ("gpu", gpu.id.to_string()));
        let source = self.source.as_ref();
        let trainer = source.map(|source| source.trainer).or(self.stated.trainer);
        let trainer = trainer.map(|trainer| ("trainer.name", trainer.to_owned()));
        let task = source.and_then(|source| source.task).map(|task| ("task", task.to_owned()));
        gpu.into_iter().chain(trainer).chain(task).chain(self.stated.fields.iter().cloned()).collect()
    }

    /// That nothing is compared, and what to give.
    pub fn said(&self, language: Language) -> Said {
        match language {
            Language::English => Said {
                what: "No plan of this run is given, so nothing is compared with one.".to_owned(),
                fix: format!(
                    "For a comparison, and for a way to fit, say what the text does not: {}.",
                    self.missing.join(", ")
                ),
            },
            Language::Chinese => Said {
                what: "还没有给出这次训练的方案，所以没有与任何方案比较。".to_owned(),
                fix: format!("要与训练比较并得到可行办法，请补充文本里没有的内容：{}。", self.missing.join("、")),
            },
        }
    }

    /// What the text says of the GPU.
    pub fn gpu_said(&self, language: Language) -> Option<String> {
        let count = count_text(self.gpus.len() as u64);
        let first = self.gpus.first()?;
        let total = self.total_bytes.map(bytes_text);
        Some(match (language, total) {
            (Language::English, Some(total)) if self.gpus.len() > 1 => {
                format!("The GPU has {total}: {count} GPUs are of that size. Which is it?")
            }
            (Language::Chinese, Some(total)) if self.gpus.len() > 1 => {
                format!("显卡有 {total}：这样大小的有 {count} 种。是哪一种？")
            }
            (Language::English, _) => format!("The GPU is {}.", first.name),
            (Language::Chinese, _) => format!("显卡是 {}。", first.name),
        })
    }

    /// What the stack says of the trainer.
    pub fn trainer_said(&self, language: Language) -> Option<String> {
        let Some(Source { trainer, file, .. }) = self.source.as_ref() else {
            let trainer = self.stated.trainer?;
            return Some(match language {
                Language::English => format!("The trainer is {trainer}, by its command or its banner."),
                Language::Chinese => format!("训练框架是 {trainer}（见文本中的命令或启动信息）。"),
            });
        };
        Some(match language {
            Language::English => format!("The trainer is {trainer}, by {file}; its version is not said."),
            Language::Chinese => format!("训练框架是 {trainer}（见 {file}），版本没有说明。"),
        })
    }
}

/// Several processes train: a launcher has put their rank before the line, or the stack is in code that shards.
fn is_of_several(reading: &Reading) -> bool {
    let shards = ["deepspeed/", "fully_sharded", "fsdp", "torch/distributed", "parallel/distributed.py"];
    reading.rank.is_some() || reading.stack.iter().any(|frame| shards.iter().any(|word| frame.contains(word)))
}

/// The GPUs that a text can be of: the one that it names, else all whose memory a program sees as the total that it states, and of
/// those the ones that a shortened name begins: `Tesla V100-SXM2...`.
pub(super) fn gpus(readings: &[Reading]) -> Vec<&'static Gpu> {
    // nvidia-smi of a GPU of another size is of another run.
    let first = of_the_run(readings);
    let readings: Vec<&Reading> =
        readings.iter().filter(|reading| first.is_none_or(|first| first.may_be_of(reading))).collect();
    let named = readings.iter().find_map(|reading| gpu::resolve(reading.gpu_name.as_deref()?).ok());
    if let Some(gpu) = named {
        return vec![gpu];
    }
    let of_size = first.and_then(|reading| Some((reading.format, reading.total_bytes?)));
    let mut found = of_size.map_or_else(Vec::new, |(format, total)| of_size_of(format, total));
    let shortened = readings.iter().find_map(|reading| reading.gpu_name.as_deref()?.strip_suffix("..."));
    if let Some(beginning) = shortened.map(plain)
        && found.iter().any(|gpu| plain(&gpu.name).starts_with(&beginning))
    {
        found.retain(|gpu| plain(&gpu.name).starts_with(&beginning));
    }
    found
}

/// The reading whose total is the run's: the one that failed, else the first.
fn of_the_run(readings: &[Reading]) -> Option<&Reading> {
    let mut with_total = readings.iter().filter(|reading| reading.total_bytes.is_some());
    with_total.clone().find(|reading| reading.tried.is_some()).or_else(|| with_total.next())
}

/// A GPU's name without its makers' words and signs.
fn plain(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let words = lower.split(|letter: char| !letter.is_ascii_alphanumeric());
    words.filter(|word| !["nvidia", "tesla", "geforce"].contains(word)).collect()
}

fn of_size_of(format: Format, total: u64) -> Vec<&'static Gpu> {
    let Some(vendor) = vendor(format) else { return Vec::new() };
    let below = if is_of_driver(format) { KEPT_BY_DRIVER } else { DRIVERS_DIFFER };
    let is_of_size = |gpu: &&Gpu| {
        let memory = gpu.memory_bytes();
        gpu.vendor == vendor && memory >= total.saturating_sub(below) && memory <= total.saturating_add(DRIVERS_DIFFER)
    };
    let mut found: Vec<&'static Gpu> = gpu::catalogue().iter().filter(is_of_size).collect();
    if found.is_empty() {
        // Windows' driver shows programs what it keeps on Linux too.
        let is_about = |gpu: &&Gpu| {
            let memory = gpu.memory_bytes();
            gpu.vendor == vendor && memory >= total.saturating_sub(KEPT_BY_DRIVER) && memory <= total
        };
        found = gpu::catalogue().iter().filter(is_about).collect();
    }
    found.sort_by_key(|gpu| gpu.memory_bytes().abs_diff(total));
    found.truncate(MOST_GPUS);
    found
}

/// Whose GPUs write such a text; `None` where it says none.
const fn vendor(format: Format) -> Option<Vendor> {
    match format {
        Format::HipOutOfMemory | Format::RocmSmi | Format::AmdSmi => Some(Vendor::Amd),
        Format::XpuOutOfMemory | Format::XpuSmi => Some(Vendor::Intel),
        Format::NpuOutOfMemory | Format::NpuSmi => Some(Vendor::Huawei),
        Format::MpsOutOfMemory | Format::HostOutOfMemory | Format::Free => None,
        _ => Some(Vendor::Nvidia),
    }
}

/// Whether the driver, and not a program, says what there is in all.
const fn is_of_driver(format: Format) -> bool {
    matches!(
        format,
        Format::NvidiaSmi | Format::NvidiaSmiQuery | Format::NvidiaSmiCsv | Format::Nvitop | Format::Gpustat
    )
}
