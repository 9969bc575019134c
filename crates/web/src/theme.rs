//! Light and dark: as the system has it, or as the reader says.

use leptos::prelude::*;

use crate::address;

/// The reader's choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Theme {
    System,
    Light,
    Dark,
}

impl Theme {
    pub(crate) const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

    /// Value of `?theme=` and of `data-theme` on the root; none for the system's.
    pub(crate) const fn code(self) -> Option<&'static str> {
        match self {
            Self::System => None,
            Self::Light => Some("light"),
            Self::Dark => Some("dark"),
        }
    }
}

/// The choice; style sheets make of it what it comes to.
#[derive(Clone, Copy)]
pub(crate) struct Themes {
    pub(crate) choice: RwSignal<Theme>,
}

impl Themes {
    /// Reads the choice from the query, and marks the root element with it.
    pub(crate) fn follow() -> Self {
        let given = address::query("theme");
        let known = Theme::ALL.into_iter().find(|theme| theme.code() == given.as_deref());
        let choice = RwSignal::new(known.unwrap_or(Theme::System));
        Effect::new(move |_| {
            if let Some(root) = document().document_element() {
                // Setting an attribute of a fixed, valid name cannot fail.
                let _ = match choice.get().code() {
                    Some(code) => root.set_attribute("data-theme", code),
                    None => root.remove_attribute("data-theme"),
                };
            }
        });
        Self { choice }
    }

    pub(crate) fn choose(&self, theme: Theme) {
        self.choice.set(theme);
        address::set_query("theme", theme.code());
    }
}
