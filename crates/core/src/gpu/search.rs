//! GPUs as people call them.

use std::sync::LazyLock;

use super::{Gpu, Segment, Vendor, catalogue, find};
use crate::search::{Called, Found, Hit, Index, Meaning, Vocabulary};
use crate::units::MIB;

/// Sizes that makers print on the box, GB: a program sees somewhat less.
const SIZES: &[u64] =
    &[4, 6, 8, 10, 11, 12, 16, 20, 24, 32, 40, 48, 64, 80, 94, 96, 128, 141, 144, 180, 186, 192, 256, 288];

#[rustfmt::skip]
const VOCABULARY: Vocabulary = Vocabulary {
    aliases: &[
        ("英伟达", " nvidia "), ("华为", " huawei "), ("昇腾", " ascend "), ("升腾", " ascend "),
        ("英特尔", " intel "), ("超威", " amd "), ("泰坦", " titan "), ("笔记本电脑", " laptop "), ("笔记本", " laptop "),
        ("移动版", " laptop "), ("移动端", " laptop "), ("显卡", " "), ("显存", " "), ("单卡", " "), ("卡", " "), ("版", " "),
        ("notebook", "laptop"), ("mobile", "laptop"),
        // The socket of a generation: there is one for each GPU.
        ("sxm2", "sxm"), ("sxm3", "sxm"), ("sxm4", "sxm"), ("sxm5", "sxm"),
        // A V100 with a higher clock.
        ("v100s", "v100"),
    ],
    brands: &[
        "nvidia", "geforce", "rtx", "gtx", "tesla", "amd", "radeon", "rx", "instinct", "pro", "ai", "intel", "arc", "ascend",
        "data", "center", "gpu",
    ],
    editions: &[],
    idle: &[
        "gpu", "gpus", "card", "cards", "graphics", "generation", "gen", "edition", "founders", "workstation", "server", "vram",
        "memory", "hbm2", "hbm2e", "hbm3", "hbm3e", "gddr6", "gddr6x", "gddr7", "oem",
    ],
    units: &["gb"],
    implied: &["blackwell"],
    has_memory: true,
};

/// What `text` means among the GPUs of the catalogue: a name in any spelling, a memory size, or both.
///
/// ```
/// use headroom_core::gpu;
/// assert_eq!(gpu::search("RTX4090 24G").one(), Some("rtx-4090"));
/// assert_eq!(gpu::search("h100").matches(), 3);
/// ```
pub fn search(text: &str) -> Found {
    static INDEX: LazyLock<Index> = LazyLock::new(|| Index::new(VOCABULARY, catalogue().iter().map(called)));
    // An id means its own GPU, whatever else it is the beginning of.
    let is = |name: &str| name.eq_ignore_ascii_case(text.trim());
    if let Some(place) = catalogue().iter().position(|gpu| is(&gpu.id) || is(&gpu.name)) {
        return INDEX.search(text).with_one(Hit { place, id: &catalogue()[place].id });
    }
    let found = INDEX.search(text);
    let is_counted = found.meaning == Meaning::Nothing || text.contains(['*', '×']);
    match without_count(text).filter(|_| is_counted).map(|gpu| INDEX.search(gpu)) {
        // A plan has its number of GPUs elsewhere, and it must not be lost.
        Some(found) if found.meaning == Meaning::One => Found { meaning: Meaning::Several, is_clear: false, ..found },
        Some(found) => found,
        None => found,
    }
}

/// `text` without a number of GPUs: `8xH100`, `4090*2`.
fn without_count(text: &str) -> Option<&str> {
    const TIMES: [char; 4] = ['x', 'X', '*', '×'];
    let text = text.trim();
    let digits = |letter: char| letter.is_ascii_digit();
    let before = text.trim_start_matches(digits);
    let after = text.trim_end_matches(digits);
    let first = before.trim_start().strip_prefix(TIMES).filter(|_| before.len() < text.len());
    let last = after.trim_end().strip_suffix(TIMES).filter(|_| after.len() < text.len());
    // The `x` of `rtx` is no sign.
    let last = last.filter(|rest| !rest.ends_with(|letter: char| letter.is_ascii_alphabetic()));
    // Of `4090*2` the shorter is the number.
    first.into_iter().chain(last).map(str::trim).max_by_key(|rest| rest.len()).filter(|rest| !rest.is_empty())
}

/// The GPU that `text` means.
///
/// # Errors
/// What it could mean, where that is not one GPU.
pub fn resolve(text: &str) -> Result<&'static Gpu, Found> {
    if let Some(gpu) = find(text.trim()) {
        return Ok(gpu);
    }
    let found = search(text);
    found.one().and_then(find).ok_or(found)
}

fn called(gpu: &'static Gpu) -> Called {
    let makers = match (gpu.vendor, gpu.segment) {
        (Vendor::Nvidia, Segment::DataCentre) => "nvidia tesla datacenter",
        (Vendor::Nvidia, Segment::Workstation) => "nvidia quadro rtx",
        (Vendor::Nvidia, _) => "nvidia geforce rtx gtx",
        (Vendor::Amd, _) => "amd radeon instinct",
        (Vendor::Intel, _) => "intel arc",
        (Vendor::Huawei, _) => "huawei ascend npu atlas",
        (Vendor::Custom, _) => "",
    };
    Called {
        names: vec![(&gpu.id, &gpu.id), (&gpu.name, &gpu.id)],
        makers: makers.to_owned(),
        group: "",
        memory: sizes(gpu.memory_mib),
    }
}

/// The sizes that a GPU with so much visible memory goes by, GB: the box's, and what it has in whole GiB.
fn sizes(memory_mib: u64) -> Vec<u64> {
    const MIB_PER_GIB: u64 = (1 << 30) / MIB;
    let printed = SIZES.iter().copied().find(|size| size * MIB_PER_GIB >= memory_mib);
    let nearest = (memory_mib + MIB_PER_GIB / 2) / MIB_PER_GIB;
    printed.into_iter().chain([nearest]).collect()
}
