//! Bounds of images that are said in positions of the text.

use headroom_core::model;
use headroom_core::plan::TrainerName;
use serde_json::Value as Json;

use super::super::convert;
use super::super::draft::{Rank, Statement};
use super::Resolver;
use crate::trainers::{As, ENVIRONMENT, Fact, SIZES_OF_IMAGES, Topic};

const FIELD: &str = "images.max_pixels";

impl Resolver {
    /// `IMAGE_MAX_TOKEN_NUM`: a position stands for a square of patches that are merged. Where both are exported, `MAX_PIXELS` is not
    /// read (swift/model/models/qwen.py `compat_qwen_vl_utils`).
    pub(super) fn images(&mut self) {
        self.variables_of_images();
        let Some((tokens, statement)) = self.whole(Fact::ImageTokens) else { return };
        let Some(side) = self.pixels_of_a_position() else {
            self.cannot_say(&statement, Topic::Vision);
            return;
        };
        let pixels = tokens.saturating_mul(side).saturating_mul(side);
        let stated = self.gathered.draft.sets.remove(FIELD).unwrap_or_default();
        let (exported, asked): (Vec<(Statement, As)>, Vec<_>) =
            stated.into_iter().partition(|(said, _)| said.rank == Rank::Environment);
        self.ignored += exported.len();
        // The trainer's own bound scales an image before its processor sees it: the smaller of the two counts.
        let of_trainer = asked.iter().filter_map(|(said, _)| convert::whole(&said.node)).min();
        if of_trainer.is_some_and(|most| most <= pixels) {
            self.ignored += 1;
            self.gathered.draft.sets.insert(FIELD, asked);
        } else {
            self.ignored += asked.len();
            self.set(FIELD, pixels, &statement);
        }
    }

    /// Variables of images say nothing of a model of text; short names are what they are to ms-swift alone.
    fn variables_of_images(&mut self) {
        let sees = self.may_have_tower();
        let by_name = |key: &str| SIZES_OF_IMAGES.iter().any(|ending| key.ends_with(ending));
        let is_read = |said: &Statement| sees && (self.named == TrainerName::MsSwift || by_name(&said.key));
        let bears = &mut self.gathered.draft.bears;
        let before = bears.len();
        bears.retain(|(said, topic)| *topic != Topic::Vision || said.tool != ENVIRONMENT.tool || is_read(said));
        self.ignored += before - bears.len();
    }

    /// Pixels of the side of what becomes one position, of the classes whose processor is Qwen's.
    fn pixels_of_a_position(&self) -> Option<u64> {
        let config = match self.fields.get("model.config") {
            Some(config) => config.clone(),
            None => serde_json::from_str(model::find(self.text_of("model")?)?.config).ok()?,
        };
        let is_of_qwen = config.get("model_type").and_then(Json::as_str).is_some_and(|class| class.starts_with("qwen"));
        // Of a model that hears too the tower's config is one level deeper.
        let parts = [Some(&config), config.get("thinker_config")].into_iter().flatten();
        let tower = parts.filter_map(|part| part.get("vision_config")).next().filter(|_| is_of_qwen)?;
        let whole = |key: &str| tower.get(key).and_then(Json::as_u64);
        whole("patch_size")?.checked_mul(whole("spatial_merge_size")?)
    }
}
