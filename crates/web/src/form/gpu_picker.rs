//! The GPU and how many.

use headroom_core::gpu::{self, Gpu, Vendor};
use headroom_core::plan::GpuChoice;
use headroom_core::units::gib_text;
use leptos::prelude::*;

use super::combobox::{Combobox, Item};
use super::number_field::NumberField;
use crate::app::show_result;
use crate::state::State;
use crate::text::{Texts, text, texts};

/// Memory sizes that GPUs have, GiB.
const MEMORIES: &[u64] = &[4, 6, 8, 10, 11, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 141, 180, 192, 256, 288];
/// Numbers of GPUs that people use.
const COUNTS: &[u64] = &[1, 2, 3, 4, 6, 8, 16, 24, 32, 48, 64, 96, 128, 256, 512];
/// Value of the line for a GPU that is not in the catalogue; no catalogue id has a space.
const CUSTOM: &str = "custom GPU";

/// GPU, its memory if it is the reader's own, and how many.
#[component]
pub(super) fn GpuSection() -> impl IntoView {
    let plan = State::of_page().plan();
    let custom = Memo::new(move |_| matches!(plan.read().gpu, GpuChoice::Custom { .. }));
    view! {
        <GpuPicker/>
        <Show when=move || custom.get()>
            <div class="subfields">
                <NumberField name="gpu.memory_gib" words=|t| &t.fields.memory_gib stops=MEMORIES/>
                <NumberField name="gpu.compute_capability" words=|t| &t.fields.compute_capability/>
            </div>
        </Show>
        <NumberField name="num_gpus" words=|t| &t.fields.num_gpus stops=COUNTS/>
        // Model and GPU are often all that is to be chosen: the keyboard need not go through the rest of the form.
        <button type="button" class="skip-form" on:click=move |_| show_result()>{text(|t| t.skip_to_result)}</button>
    }
}

/// The catalogue, and last the GPU that is not in it.
#[component]
fn GpuPicker() -> impl IntoView {
    let state = State::of_page();
    let plan = state.plan();
    let texts = texts();
    let items = Memo::new(move |_| {
        let texts = texts.get();
        let custom = Item {
            value: CUSTOM.to_owned(),
            label: texts.custom_gpu.to_owned(),
            detail: String::new(),
            group: (texts.segment)(gpu::Segment::Custom).to_owned(),
        };
        gpu::catalogue().iter().map(|gpu| item(gpu, texts)).chain([custom]).collect()
    });
    let chosen = Signal::derive(move || match &plan.read().gpu {
        GpuChoice::Catalogue(id) => gpu::find(id).map_or_else(|| id.clone(), |gpu| gpu.name.to_string()),
        GpuChoice::Custom { name: Some(name), .. } => name.clone(),
        GpuChoice::Custom { name: None, .. } => texts.get().custom_gpu.to_owned(),
    });
    let choose = Callback::new(move |text: String| {
        if text == CUSTOM {
            // The memory of the GPU chosen before, to start from.
            let memory = match &plan.read_untracked().gpu {
                GpuChoice::Catalogue(id) => gpu::find(id).map_or(24, |gpu| gpu.memory_mib.div_ceil(1024)),
                GpuChoice::Custom { memory_gib, .. } => *memory_gib as u64,
            };
            // Within the field's range, as every GPU of the catalogue is.
            state.choose_value("gpu.memory_gib", &memory.to_string());
        } else {
            state.choose_value("gpu", &text);
        }
    });
    view! {
        <Combobox
            name="gpu"
            words=|t| &t.fields.gpu
            items
            search=gpu::search
            no_match=|t| t.no_gpu_match
            last_stays=true
            chosen
            choose
        />
    }
}

fn item(gpu: &Gpu, texts: &Texts) -> Item {
    Item {
        value: gpu.id.to_string(),
        label: gpu.name.to_string(),
        detail: format!("{} GiB", gib_text(gpu.memory_bytes())),
        group: format!("{} · {}", maker(gpu.vendor), (texts.segment)(gpu.segment)),
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
