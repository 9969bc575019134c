//! How models are loaded, and what is done with them.

use headroom_core::model;
use headroom_core::plan::{Method, QuantStorage, TrainerName};

use super::{Linter, says};
use crate::finding::{Finding, Kind};
use crate::import::{Launcher, convert};
use crate::syntax::Value;
use crate::trainers::Fact;

impl Linter<'_> {
    pub(super) fn loading(&mut self) {
        self.device_map();
        self.loaded_twice();
        self.full_of_quantized();
        self.cache();
        self.quantized_shards();
    }

    /// `device_map="auto"` spreads layers over every GPU that the process sees.
    fn device_map(&mut self) {
        let Some(map) = self.imported.said.fact(Fact::DeviceMap).cloned() else { return };
        if !says(&map, &["auto", "balanced", "balanced_low_0", "sequential"]) {
            return;
        }
        let processes = self.plan.num_gpus;
        let launched = matches!(
            self.imported.launcher,
            Some(Launcher::Accelerate | Launcher::Torchrun | Launcher::Deepspeed | Launcher::Trl | Launcher::Axolotl)
        );
        let python = self.imported.trainer.0 != TrainerName::Axolotl.name()
            && self.imported.trainer.0 != TrainerName::MsSwift.name();
        let one = if python { "{\"\": 0}" } else { "null" };
        let each = if python { "{\"\": int(os.environ[\"LOCAL_RANK\"])}" } else { "null" };
        if processes > 1 {
            self.at(Kind::DeviceMapDistributed { processes }, &map, Some(each), Vec::new());
        } else if launched || self.imported.said.fact(Fact::DistributedType).is_some() || self.sees_several() {
            self.at(Kind::DeviceMapSpreads, &map, Some(one), vec![("num_gpus", "1".to_owned())]);
        }
    }

    fn sees_several(&self) -> bool {
        let visible = self.imported.said.fact(Fact::VisibleGpus);
        visible.is_some_and(|visible| convert::text(&visible.node).is_some_and(|text| text.contains(',')))
    }

    /// Two loads of one model are two models.
    fn loaded_twice(&mut self) {
        let loads = &self.imported.loads;
        let mut found = Vec::new();
        for (place, load) in loads.iter().enumerate() {
            let Some(Value::Text(name)) = load.model.as_ref().map(|model| &model.value) else { continue };
            let earlier = loads[..place]
                .iter()
                .find(|other| other.model.as_ref().is_some_and(|model| model.value == Value::Text(name.clone())));
            if let Some(earlier) = earlier {
                // Two bytes a weight: the dtype that published weights are in.
                let known = model::resolve(name).ok().and_then(model::find);
                let bytes = known.map(|known| known.param_count.saturating_mul(2));
                let kind = Kind::ModelTwice { name: name.clone(), line: earlier.span.line, bytes };
                found.push(Finding::at(kind, load.file, load.span));
            }
        }
        self.findings.extend(found);
    }

    /// Quantised weights have no gradients.
    fn full_of_quantized(&mut self) {
        // A file that was not given may say that adapters train.
        let partly = self.imported.findings.iter().any(|finding| matches!(finding.kind, Kind::MissingFile { .. }));
        if self.plan.method != Method::Full || partly {
            return;
        }
        let said = &self.imported.said;
        let on = |fact: Fact| {
            let statement = said.fact(fact)?;
            let bits = fact == Fact::Bits && convert::whole(&statement.node).is_some_and(|bits| bits > 0);
            (bits || convert::flag(&statement.node) == Some(true)).then(|| statement.clone())
        };
        if let Some(statement) = [Fact::In4Bit, Fact::In8Bit, Fact::Bits].into_iter().find_map(on) {
            let fields = vec![("method", "qlora".to_owned())];
            self.at(Kind::FullOfQuantized, &statement, None, fields);
        }
    }

    /// The cache of generation under recomputation.
    fn cache(&mut self) {
        let Some(cache) = self.imported.use_cache.clone() else { return };
        if self.plan.gradient_checkpointing && convert::flag(&cache.node) == Some(true) {
            self.at(Kind::CheckpointingUseCache, &cache, Some("False"), Vec::new());
        }
    }

    /// FSDP shards what has the group's dtype: bytes stay whole.
    fn quantized_shards(&mut self) {
        let plan = &self.plan;
        let four = plan.method == Method::Qlora && plan.quantization.bits == 4;
        let bytes = plan.quantization.bnb_4bit_quant_storage == QuantStorage::Uint8;
        if !(plan.distributed.framework.is_fsdp() && four && bytes) {
            return;
        }
        let said = &self.imported.said;
        let place = [Fact::In4Bit, Fact::Bits].into_iter().find_map(|fact| said.fact(fact)).cloned();
        if let Some(statement) = place {
            let dtype = plan.torch_dtype.name();
            let fields = vec![("quantization.bnb_4bit_quant_storage", dtype.to_owned())];
            self.at(Kind::QuantizedNotSharded { dtype }, &statement, None, fields);
        }
    }
}
