//! Words that no first view shows: each part of them is a constant that a function of its own names.

use crate::accuracy::AccuracyTexts;
use crate::embedding::EmbeddingTexts;
use crate::fields::FurtherFields;
use crate::gallery::GalleryTexts;
use crate::options::OptionTexts;
use crate::sources::SourceTexts;
use crate::tasks::TaskTexts;
use crate::texts::Texts;

impl Texts {
    /// What fields beside the essential ones are called.
    pub fn further_fields(&self) -> &'static FurtherFields {
        (self.further_fields)()
    }

    /// Preference and reinforcement.
    pub fn tasks(&self) -> &'static TaskTexts {
        (self.tasks)()
    }

    /// Plans in other pages.
    pub fn embedding(&self) -> &'static EmbeddingTexts {
        (self.embedding)()
    }

    /// Scenarios.
    pub fn gallery(&self) -> &'static GalleryTexts {
        (self.gallery)()
    }

    /// Tiers, solutions, the map, two plans side by side.
    pub fn options(&self) -> &'static OptionTexts {
        (self.options)()
    }

    /// Measured steps.
    pub fn accuracy(&self) -> &'static AccuracyTexts {
        (self.accuracy)()
    }

    /// Where models come from that the catalogue does not have.
    pub fn sources(&self) -> &'static SourceTexts {
        (self.sources)()
    }
}
