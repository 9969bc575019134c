//! The form: one section a subject, the rarely used last.

mod advanced;
mod choice_field;
mod combobox;
mod field;
mod gpu_picker;
mod lora;
mod model_picker;
mod models;
mod number_field;
mod own_config;
mod parallelism;
mod quantization;
mod rows;
mod switch_field;
mod tasks;
mod trainer;
mod training;

use leptos::prelude::*;

pub(crate) use field::FieldWords;

use crate::text::{Texts, text};

/// The whole form.
#[component]
pub(crate) fn Form() -> impl IntoView {
    view! {
        <form class="form" aria-labelledby="form-title" on:submit=|event| event.prevent_default()>
            <h2 id="form-title" class="visually-hidden">{text(|t| t.form_title)}</h2>
            <Section title=|t| t.section_trainer><trainer::TrainerFields/></Section>
            <Section title=|t| t.section_model><model_picker::ModelSection/></Section>
            <Section title=|t| t.section_hardware><gpu_picker::GpuSection/></Section>
            <Section title=|t| t.section_method><training::MethodSection/></Section>
            <Section title=|t| t.section_batch><training::BatchSection/></Section>
            <tasks::TaskSection/>
            <Section title=|t| t.section_savers><training::SaversSection/></Section>
            <Section title=|t| t.section_parallel><parallelism::ParallelSection/></Section>
            <advanced::Advanced/>
        </form>
    }
}

/// Fields under one heading.
#[component]
fn Section(title: fn(&'static Texts) -> &'static str, children: Children) -> impl IntoView {
    view! {
        <section class="form-section">
            <h3>{text(title)}</h3>
            <div class="fields">{children()}</div>
        </section>
    }
}
