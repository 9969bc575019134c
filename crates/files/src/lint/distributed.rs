//! Processes, GPUs and sharding.

use headroom_core::plan::{Framework, Offload, TrainerName};

use super::{Linter, says};
use crate::finding::Kind;
use crate::import::convert;
use crate::trainers::Fact;

impl Linter<'_> {
    pub(super) fn distributed(&mut self) {
        self.one_process();
        self.ids();
        self.stages();
        self.batches();
    }

    /// `MULTI_GPU` with one process; accelerate then starts one process in a process group of one.
    fn one_process(&mut self) {
        let said = &self.imported.said;
        let Some(kind) = said.fact(Fact::DistributedType).cloned() else { return };
        let alone = said.fact(Fact::Processes).is_some_and(|count| convert::whole(&count.node) == Some(1));
        if says(&kind, &["MULTI_GPU"]) && alone {
            let fields = vec![("num_gpus", "1".to_owned())];
            self.at(Kind::MultiGpuOneProcess, &kind, Some("'NO'"), fields);
        }
    }

    fn ids(&mut self) {
        let said = &self.imported.said;
        let (Some(ids), Some(count)) = (said.fact(Fact::GpuIds).cloned(), said.fact(Fact::Processes).cloned()) else {
            return;
        };
        let names = convert::names(&ids.node);
        let listed = if names.is_empty() { convert::text(&ids.node).into_iter().collect() } else { names };
        let all = listed.iter().any(|name| name == "all");
        let (listed, processes) = (listed.len() as u64, convert::whole(&count.node).unwrap_or(0));
        if !all && listed > 0 && listed != processes {
            let fields = vec![("num_gpus", listed.to_string())];
            self.at(Kind::GpuIdsProcesses { listed, processes }, &count, Some(&listed.to_string()), fields);
        }
    }

    fn stages(&mut self) {
        let said = &self.imported.said;
        let stage = said.fact(Fact::ZeroStage).cloned();
        let device = |fact: Fact| {
            said.fact(fact)
                .filter(|device| convert::text(&device.node).is_some_and(|text| convert::device(&text) == "cpu"))
        };
        let optimizer = device(Fact::OptimizerDevice).cloned();
        let param = device(Fact::ParamDevice).cloned();
        let value = stage.as_ref().and_then(|stage| convert::whole(&stage.node)).unwrap_or(0);
        let is_deepspeed = self.plan.distributed.framework == Framework::Deepspeed
            && self.imported.trainer.0 != TrainerName::Verl.name();
        if !is_deepspeed {
            return;
        }
        if let Some(param) = param.filter(|_| value < 3) {
            match &stage {
                Some(stage) => self.at(
                    Kind::ParamOffloadStage { stage: value },
                    stage,
                    Some("3"),
                    vec![("zero_stage", "3".to_owned())],
                ),
                None => self.at(
                    Kind::ParamOffloadStage { stage: value },
                    &param,
                    Some("none"),
                    vec![("offload_param", "none".to_owned())],
                ),
            }
        } else if let Some(optimizer) = optimizer.filter(|_| value == 0) {
            match &stage {
                Some(stage) => {
                    self.at(Kind::OffloadWithoutStage, stage, Some("2"), vec![("zero_stage", "2".to_owned())])
                }
                None => self.at(
                    Kind::OffloadWithoutStage,
                    &optimizer,
                    Some("none"),
                    vec![("offload_optimizer", "none".to_owned())],
                ),
            }
        }
        let offloads = self.plan.offload_optimizer == Offload::Cpu || self.plan.offload_param == Offload::Cpu;
        if let Some(stage) = stage.filter(|_| value > 0 && self.plan.num_gpus == 1 && self.is_stated("num_gpus")) {
            let (text, fields) =
                if offloads { (None, Vec::new()) } else { (Some("0"), vec![("zero_stage", "0".to_owned())]) };
            self.at(Kind::ZeroOnOneGpu { stage: value, offloads }, &stage, text, fields);
        }
    }

    /// DeepSpeed's `train_batch_size`, and keys of its file that the Trainer compares with its own.
    fn batches(&mut self) {
        let said = &self.imported.said;
        let number = |fact: Fact| said.fact(fact).and_then(|statement| convert::whole(&statement.node));
        let plan = &self.plan;
        let (micro, steps, world) = (plan.per_device_train_batch_size, plan.gradient_accumulation_steps, plan.num_gpus);
        let product = micro.saturating_mul(steps).saturating_mul(world);
        let total = said.fact(Fact::GlobalBatch).filter(|statement| statement.tool == "deepspeed").cloned();
        let own = [
            (Fact::DeepspeedMicroBatch, "per_device_train_batch_size", micro),
            (Fact::Accumulation, "gradient_accumulation_steps", steps),
        ];
        let by_trainer =
            |field: &str| said.sets.contains_key(field) || self.imported.trainer.0 != TrainerName::Custom.name();
        let differing: Vec<_> = own
            .into_iter()
            .filter_map(|(fact, field, trainer)| {
                let value = number(fact)?;
                let statement = said.fact(fact).filter(|statement| statement.tool == "deepspeed")?;
                (value != trainer && by_trainer(field)).then(|| (statement.clone(), field, value, trainer))
            })
            .collect();
        for (statement, field, value, trainer) in differing {
            let kind = Kind::DeepspeedMismatch { field, value: value.to_string(), trainer: trainer.to_string() };
            self.at(kind, &statement, Some("\"auto\""), Vec::new());
        }
        let known = self.is_stated("num_gpus") || self.plan.num_gpus > 1;
        if let Some(statement) = total.filter(|_| known)
            && let Some(value) = convert::whole(&statement.node).filter(|value| *value != product)
        {
            self.at(
                Kind::BatchProduct { value, micro, steps, world },
                &statement,
                Some(&product.to_string()),
                Vec::new(),
            );
        }
    }
}
