//! The GPU and how many.

use headroom_core::gpu::{self, Gpu, Vendor};
use headroom_core::plan::{GpuChoice, Plan};
use headroom_core::units::gib_text;
use headroom_text::Texts;
use headroom_view::{Element, el};

use super::combobox::{self, Item, Picker};
use super::number::{slid, typed};
use crate::page::Page;
use crate::pieces::button;
use crate::state::State;

/// Memory sizes that GPUs have, GiB.
const MEMORIES: &[u64] = &[4, 6, 8, 10, 11, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 141, 180, 192, 256, 288];
/// Numbers of GPUs that people use.
const COUNTS: &[u64] = &[1, 2, 3, 4, 6, 8, 16, 24, 32, 48, 64, 96, 128, 256, 512];
/// Value of the line for a GPU that is not in the catalogue; no catalogue id has a space.
const CUSTOM: &str = "custom GPU";

/// GPU, its memory if it is the reader's own, and how many.
pub(super) fn fields(page: &Page) -> Vec<Element> {
    let mut fields = vec![combobox::draw(page, 1)];
    if matches!(page.plan().gpu, GpuChoice::Custom { .. }) {
        let own = vec![slid(page, "gpu.memory_gib", MEMORIES), typed(page, "gpu.compute_capability")];
        fields.push(el("div").key("own-gpu").class("subfields").with_all(own));
    }
    fields.push(slid(page, "num_gpus", COUNTS));
    // Model, method and GPU are often all that is to be chosen: the keyboard need not go through the rest of the form.
    fields.push(button("@show-result", page.texts.skip_to_result).key("skip").class("skip-form"));
    fields
}

/// The catalogue, and last the GPU that is not in it.
pub(super) const PICKER: Picker =
    Picker { name: "gpu", items, search: gpu::search, no_match: |t| t.no_gpu_match, last_stays: true, chosen, choose };

fn items(texts: &'static Texts) -> Vec<Item> {
    let custom = Item {
        value: CUSTOM.to_owned(),
        label: texts.custom_gpu.to_owned(),
        detail: String::new(),
        group: (texts.segment)(gpu::Segment::Custom).to_owned(),
    };
    gpu::catalogue().iter().map(|gpu| item(gpu, texts)).chain([custom]).collect()
}

fn chosen(texts: &'static Texts, plan: &Plan) -> String {
    match &plan.gpu {
        GpuChoice::Catalogue(id) => gpu::find(id).map_or_else(|| id.clone(), |gpu| gpu.name.to_string()),
        GpuChoice::Custom { name: Some(name), .. } => name.clone(),
        GpuChoice::Custom { name: None, .. } => texts.custom_gpu.to_owned(),
    }
}

fn choose(state: &mut State, text: &str) {
    if text != CUSTOM {
        return state.choose_value("gpu", text);
    }
    // The memory of the GPU chosen before, to start from.
    let memory = match &state.plan().gpu {
        GpuChoice::Catalogue(id) => gpu::find(id).map_or(24, |gpu| gpu.memory_mib.div_ceil(1024)),
        GpuChoice::Custom { memory_gib, .. } => *memory_gib as u64,
    };
    // Within the field's range, as every GPU of the catalogue is.
    state.choose_value("gpu.memory_gib", &memory.to_string());
}

fn item(gpu: &Gpu, texts: &Texts) -> Item {
    Item {
        value: gpu.id.to_string(),
        label: gpu.name.to_string(),
        detail: gib_text(gpu.memory_bytes()) + " GiB",
        group: [maker(gpu.vendor), " · ", (texts.segment)(gpu.segment)].concat(),
    }
}

/// Makers go by the same name in every language.
const fn maker(vendor: Vendor) -> &'static str {
    match vendor {
        Vendor::Nvidia => "NVIDIA",
        Vendor::Amd => "AMD",
        Vendor::Intel => "Intel",
        Vendor::Huawei => "Huawei",
        Vendor::Custom => "",
    }
}
