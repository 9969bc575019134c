//! dtypes of a recorded block's operators that are not the recording's: autocast's, and those of modules that stay in fp32.

use super::super::super::autograd::{ElementType, Tensor, cast};
use super::super::super::weights::OwnerWeights;
use super::Runner;
use crate::model::{Autocast, Op, Value};

impl Runner<'_> {
    /// An operator's tensors as autocast hands them to it.
    pub(super) fn cast(&self, op: &Op, read: &[Value], inputs: Vec<Tensor>) -> Vec<Tensor> {
        if !*self.context.autocast.borrow() {
            return inputs;
        }
        // Before PyTorch 2.12 autocast left RMSNorm as it was. What has a weight in fp32 beside 16 bits ran as its single operators then,
        // and is counted here as it runs since.
        let is_narrow = inputs.iter().all(|x| x.element() == self.context.half);
        let name = || op.module.and_then(|module| Some(self.block.block()?.modules.get(module)?.name.as_str()));
        let one = |(place, (value, x)): (usize, (&Value, Tensor))| match (op.cast, value) {
            _ if !x.element().is_floating() || x.element() == ElementType::F64 => x,
            (Autocast::Lower, Value::Parameter(..)) => self.context.cast_weight(&x, name().unwrap_or_default()),
            (Autocast::Lower, Value::Numbered(_)) => self.context.cast_input(&x),
            (Autocast::WideNorm, _) if !self.context.widens_rms_norm && is_narrow => x,
            (Autocast::Wide | Autocast::WideNorm, _) => cast(&x, ElementType::F32, self.label_of_copy(op, place)),
            (Autocast::Passes | Autocast::WideResult, _) => x,
        };
        read.iter().zip(inputs).enumerate().map(one).collect()
    }

    /// The dtype that a cast takes of another tensor: it may be freed by then, as `input_dtype = hidden_states.dtype` outlives what
    /// `hidden_states` was. A quantised weight's is none that anything is cast to.
    pub(super) fn dtype_taken(&self, op: &Op) -> Option<ElementType> {
        let element = match op.like? {
            Value::Numbered(number) => self.elements.get(number).copied().flatten(),
            Value::Parameter(module, place) => match self.block.owners.get(module)? {
                OwnerWeights::Linear(projection) if place == 0 => {
                    projection.parameters().first().map(|weight| weight.element())
                }
                OwnerWeights::Linear(projection) => projection.bias.as_ref().map(Tensor::element),
                OwnerWeights::Bare(own) => own.get(place)?.as_ref().map(|bare| bare.tensor.element()),
                OwnerWeights::Experts(_) => None,
            },
        };
        element.filter(|element| element.is_floating())
    }

    /// What a module that a float16 model keeps in fp32 reads: the class casts it to the dtype of the module's weight, which under
    /// autocast is fp32 beside hidden states in 16 bits (modeling_t5.py `T5DenseActDense.forward`, `hidden_states.to(self.wo.weight.dtype)`;
    /// autocast then casts it back). The name that held the hidden states is the copy's from there.
    pub(super) fn cast_for_kept(&mut self, op: &Op, module: usize, x: Tensor) -> Tensor {
        let keeps = &self.block.of.program.keeps;
        let name =
            self.block.block().and_then(|block| block.modules.get(module)).map_or("", |owner| owner.name.as_str());
        if !keeps.iter().any(|kept| name.rsplit('.').next() == Some(kept)) {
            return x;
        }
        let weight = self.read(Value::Parameter(module, 0)).filter(|weight| weight.element().is_floating());
        let Some(element) = weight.map(|weight| weight.element()).filter(|element| *element != x.element()) else {
            return x;
        };
        let wide = cast(&x, element, self.context.passing());
        drop(x);
        if let Some(Value::Numbered(number)) = op.inputs.first()
            && op.frees.contains(number)
        {
            self.values.get_mut(*number).into_iter().for_each(|place| drop(place.take()));
        }
        wide
    }

    /// dtype that a cast takes of values, right behind a softmax that autocast has run in fp32: a projection has made these in 16 bits
    /// (modeling_gpt2.py `eager_attention_forward`, `attn_weights.type(value.dtype)`).
    pub(super) fn of_probabilities(&self, op: &Op) -> Option<ElementType> {
        let Some(Value::Numbered(read)) = op.inputs.first() else { return None };
        let is_softmax = |made: &&Op| made.first == *read && made.is_softmax();
        let runs_wide = *self.context.autocast.borrow() && self.code.ops.iter().any(|made| is_softmax(&made));
        runs_wide.then_some(self.context.half)
    }

    /// dtype of zeros in the place of a position bias: that of queries (modeling_t5.py `T5Attention.forward`), which a projection
    /// under autocast has made in 16 bits.
    pub(super) fn bias_of_zeros(&self, op: &Op) -> Option<ElementType> {
        let is_bias = op.makes_zeros() && self.block.of.program.reads_sources && *self.context.autocast.borrow();
        is_bias.then_some(self.context.half)
    }
}
