//! What the tensors of a recorded block count as.

use super::super::super::autograd::{ElementType, Keeps, Label, Made, Operator, Shape, Sym};
use super::super::super::term::Term;
use super::Runner;
use crate::model::{Action, Op, Region, Value};

impl Runner<'_> {
    /// What the tensor at `place` of an operator's outputs counts as.
    pub(super) fn label(&self, op: &Op, operator: &Operator, place: usize) -> Label {
        let kept = op.kept.get(place).copied().unwrap_or(true) || self.is_passed_on(op.first + place);
        let shape = self.shape_made(operator, place);
        let made = operator.outputs.get(place).map(|output| output.made);
        let is_upcast = operator.kernel.is_cast() && made == Some(Made::Of(ElementType::F32));
        let is_scores = op.region == Region::Attention && of_each_token_with_each(&shape);
        // Scores are as large whether backward reads them or not, and a request that fails is one for scores.
        if !kept && (!is_scores || is_upcast) {
            return self.context.passing();
        }
        let term = match op.region {
            // The mask is the second of what `native_dropout` gives.
            _ if operator.kernel.is_dropout() && place == 1 => Term::DropoutMasks,
            _ if is_scores => Term::AttentionScores,
            Region::Attention if self.weighs.is_some_and(|weighs| weighs <= op.first) => Term::AttentionOutput,
            Region::Norm if is_upcast => Term::NormInputs,
            Region::Norm | Region::NormOutput if shape.width() == 1 => Term::NormStatistics,
            // Numbers of positions.
            Region::Rotary | Region::Embedding if made == Some(Made::Of(ElementType::I64)) => Term::BatchInputs,
            region => Term::of_region(region, false),
        };
        self.context.label(term, self.module_name(op))
    }

    /// What autocast's copy in fp32 of an operator's input at `place` counts as: it passes, or backward reads it
    /// (`pow` of GPT-2's activation).
    pub(super) fn label_of_copy(&self, op: &Op, place: usize) -> Label {
        let Action::Operator(operator) = &op.action else { return self.context.passing() };
        let saves = operator.place.iter().flat_map(|node| &node.saves);
        let is_saved = saves.into_iter().any(|kept| *kept == Keeps::Input(place));
        if !is_saved || !matches!(op.region, Region::FeedForward | Region::Experts) {
            return self.context.passing();
        }
        self.context.label(Term::of_region(op.region, false), self.module_name(op))
    }

    /// The last operator that reads scores and makes none: what is behind it is attention's output.
    pub(super) fn weighing_operator(&self) -> Option<usize> {
        let mut of_scores = vec![false; self.code.values];
        let mut weighs = None;
        for op in self.code.ops.iter().filter(|op| op.region == Region::Attention) {
            let Action::Operator(operator) = &op.action else { continue };
            let is_scores = |place| of_each_token_with_each(&self.shape_made(operator, place));
            let makes_scores = (0..operator.outputs.len()).any(is_scores);
            let is_read = |input: &Value| match input {
                Value::Numbered(number) => of_scores.get(*number) == Some(&true),
                Value::Parameter(..) => false,
            };
            if !makes_scores && op.inputs.iter().any(is_read) {
                weighs = Some(op.first);
            }
            for place in (0..operator.outputs.len()).filter(|_| makes_scores) {
                of_scores.get_mut(op.first + place).into_iter().for_each(|scores| *scores = true);
            }
        }
        weighs
    }

    /// Whether value `number` stands in the place of a copy that the recording has made of it: of keys that no head shares.
    fn is_passed_on(&self, number: usize) -> bool {
        let reads = |op: &&Op| op.inputs.contains(&Value::Numbered(number));
        !self.passing.is_empty() && self.code.ops.iter().filter(reads).any(|op| self.passing.contains(&op.first))
    }

    fn shape_made(&self, operator: &Operator, place: usize) -> Shape {
        operator.outputs.get(place).map_or(Shape::SCALAR, |output| self.sizes.shape(output.shape))
    }

    fn module_name(&self, op: &Op) -> &str {
        let name = op.module.and_then(|module| Some(self.block.block()?.modules.get(module)?.name.as_str()));
        name.unwrap_or_default()
    }
}

/// Whether a shape has a number for each token that asks and each that answers: scores, or what is made of them. A sink of
/// attention answers as a token more.
fn of_each_token_with_each(shape: &Shape) -> bool {
    let [.., asks, answers] = shape.symbols() else { return false };
    let answering = [Sym::S.into(), Sym::PromptAndAnswer.into(), Sym::SPlusOne.into()];
    *asks == Sym::S.into() && answering.contains(answers)
}
