//! Evaluation between steps: whether it runs, and whether its logits are kept.

use headroom_core::plan::{Task, TrainerName};

use super::super::convert;
use super::super::draft::{Statement, strongest};
use super::Resolver;
use crate::syntax::Value;
use crate::trainers::{Fact, Topic};

impl Resolver {
    pub(super) fn evaluation(&mut self) {
        let kept = self.take(Fact::EvalSplit);
        let given = |statement: &Statement| is_given(&statement.node.value);
        let data = self.take(Fact::EvalData).filter(given).or(kept.clone().filter(given));
        let every = self.take(Fact::EvalSteps).filter(|statement| is_given(&statement.node.value));
        let strategy = self.eval_strategy();
        match self.named {
            // axolotl core/builders/base.py `_configure_save_and_eval_strategy`: nothing runs without data of its own.
            TrainerName::Axolotl => match (data, every) {
                (Some(_), Some(every)) => self.set("eval_strategy", "steps", &every),
                (Some(_), None) => self.set_strategy(strategy),
                (None, _) => self.ignored += 1,
            },
            // swift/arguments/sft_args.py `_init_eval_strategy`: as often as it saves, which it does after some steps.
            TrainerName::MsSwift => match (data, strategy) {
                (Some(_), Some(strategy)) => self.set_strategy(Some(strategy)),
                (Some(data), None) => self.set("eval_strategy", "steps", &data),
                // Before 3.6 one row in a hundred is kept back, unless the files say that none is.
                (None, strategy) if self.keeps_rows_back() => match kept {
                    Some(none) => self.set("eval_strategy", "no", &none),
                    None if strategy.is_some() => self.set_strategy(strategy),
                    None => self.default("eval_strategy", "steps"),
                },
                (None, _) => self.ignored += 1,
            },
            _ => self.set_strategy(strategy),
        }
        self.batch_of_evaluation();
        let evaluates = self.text_of("eval_strategy").is_some_and(|strategy| strategy != "no");
        if let Some((true, statement)) = self.flag(Fact::DoesEvaluate)
            && !evaluates
        {
            self.cannot_say(&statement, Topic::Evaluation);
        }
        self.kept_logits();
    }

    /// Whether ms-swift splits its data where nothing is said (`split_dataset_ratio` 0.01 before 3.6).
    fn keeps_rows_back(&self) -> bool {
        self.is_swift_before(3, 6)
    }

    /// ms-swift before 3.0 evaluates with the batch that it trains with (swift/llm/utils/argument.py `eval_batch_size`).
    fn batch_of_evaluation(&mut self) {
        const EVALUATED: &str = "per_device_eval_batch_size";
        let is_said = self.gathered.draft.sets.contains_key(EVALUATED);
        if self.is_swift_before(3, 0) && !is_said {
            let trained = self.gathered.draft.sets.get("per_device_train_batch_size").and_then(|stated| stated.last());
            let batch = trained.and_then(|(statement, _)| convert::whole(&statement.node));
            self.default(EVALUATED, batch.unwrap_or(1));
        }
    }

    /// `eval_strategy`; YAML reads `no` as false.
    fn eval_strategy(&mut self) -> Option<(String, Statement)> {
        let statement = self.take(Fact::EvalStrategy)?;
        let said = convert::text(&statement.node)?.to_ascii_lowercase();
        let name = if said == "false" { "no".to_owned() } else { said };
        Some((name, statement))
    }

    fn set_strategy(&mut self, strategy: Option<(String, Statement)>) {
        if let Some((name, statement)) = strategy {
            self.set("eval_strategy", name, &statement);
        }
    }

    /// transformers trainer.py `evaluate`: without `compute_metrics` the loss alone is computed. What reduces logits beforehand
    /// leaves no whole ones.
    fn kept_logits(&mut self) {
        let given = |resolver: &Self, fact: Fact| {
            let statement = strongest(resolver.gathered.draft.facts.get(&fact)?.iter())?;
            is_given(&statement.node.value).then(|| statement.clone())
        };
        let Some(metrics) = given(self, Fact::ComputesMetrics) else { return };
        let reduced = given(self, Fact::ReducesLogits).is_some();
        let loss_alone = self.flag(Fact::LossAlone).is_some_and(|(is_on, _)| is_on);
        if self.task == Task::Sft && !reduced && !loss_alone {
            self.set("compute_metrics", true, &metrics);
        } else {
            self.ignored += 1;
        }
    }
}

/// Whether a value says that there is something.
fn is_given(value: &Value) -> bool {
    match value {
        Value::Null | Value::Flag(false) | Value::Integer(0) => false,
        Value::Number(number) => *number > 0.0,
        Value::Text(text) => !matches!(text.as_str(), "" | "0" | "0.0" | "none" | "None" | "null" | "false" | "False"),
        Value::List(list) => !list.is_empty(),
        _ => true,
    }
}
