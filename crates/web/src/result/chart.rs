//! A picture of the charts crate on the page: as wide as its place, with a legend in HTML.

use headroom_charts::{Look, Orientation, Palette, Picture, Texts as ChartTexts, swatch_class};
use headroom_core::memory::Category;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::ResizeObserver;

use crate::text::{Texts, texts};

/// Width of the element, pixels, kept up to date; 0 until it is known.
pub(crate) fn width_of(element: NodeRef<html::Div>) -> Signal<u32> {
    /// Widths are rounded down to this many pixels, so that a window being resized draws fewer pictures.
    const GRAIN: u32 = 8;
    let width = RwSignal::new(0);
    Effect::new(move |_| {
        let Some(element) = element.get() else { return };
        let measured = element.clone();
        let measure = move || {
            let pixels = u32::try_from(measured.client_width()).unwrap_or_default();
            let pixels = pixels / GRAIN * GRAIN;
            if width.get_untracked() != pixels {
                width.set(pixels);
            }
        };
        measure();
        let on_resize = Closure::<dyn Fn()>::new(measure);
        let Ok(observer) = ResizeObserver::new(on_resize.as_ref().unchecked_ref()) else { return };
        observer.observe(&element);
        let kept = StoredValue::new_local((observer, on_resize));
        on_cleanup(move || kept.with_value(|(observer, _)| observer.disconnect()));
    });
    width.into()
}

/// How pictures look on the page.
pub(crate) fn look(texts: &Texts, title: &str, capacity: String, width: u32, height: u32) -> Look {
    Look {
        width,
        height,
        orientation: Orientation::Auto,
        palette: Palette::Classes,
        texts: ChartTexts::of(texts, title.to_owned(), capacity),
    }
}

/// The picture; screen readers get the table beside it instead.
#[component]
pub(crate) fn Drawing(picture: Memo<Picture>) -> impl IntoView {
    view! { <div class="drawing" aria-hidden="true" inner_html=move || picture.read().svg.clone()></div> }
}

/// Which colour is which category.
#[component]
pub(super) fn Legend(categories: Memo<Vec<Category>>) -> impl IntoView {
    let texts = texts();
    view! {
        <ul class="legend">
            <For each=move || categories.get() key=|category| *category let:category>
                <li>
                    <span class=format!("swatch {}", swatch_class(category))></span>
                    {move || (texts.get().category)(category)}
                </li>
            </For>
        </ul>
    }
}
