//! A recorded model's blocks as the step calls them: what runs before a layer, the layer, and what blocks leave for each other.

use super::super::super::autograd::{ElementType, Tensor};
use super::super::super::weights::RecordedBlock;
use super::super::ForwardContext;
use super::super::scope::Scope;
use super::Runner;
use super::modules::OnEmbedding;
use crate::job::AttentionKernel;
use crate::model::{Code, RESIDUAL, Value, Way};

/// Runs the operators between this layer and the one before, outside its module; what they make waits in the scope. Gives
/// back what the layer is called with, where that is not `x`.
pub(in crate::memory) fn run_between(context: &ForwardContext, block: &RecordedBlock, x: &Tensor) -> Option<Tensor> {
    let code = code(context, block, Some(x))?;
    if code.pre.is_empty() {
        return None;
    }
    let mut runner = Runner::new(context, block, code, Some(x));
    runner.run(&code.pre, None);
    let mut called_with = None;
    for (name, value) in &code.ahead {
        let Some(given) = runner.read(*value) else { continue };
        if name != RESIDUAL {
            context.scope.borrow_mut().put(name, given);
            continue;
        }
        if let Value::Numbered(number) = value
            && *number < code.takes.len()
        {
            // Tokens are embedded here, behind the tower; a program has it in front.
            given.order_as_new();
        }
        // The layer's own operators read it as what they are called with.
        if let Value::Numbered(number) = value {
            runner.values.get_mut(*number).into_iter().for_each(|place| drop(place.take()));
        }
        called_with = Some(given);
    }
    let made = (0..).zip(runner.values).skip(code.takes.len());
    // The layer is called with what its own operators read.
    let is_read = |number: usize| code.read_by_layer.contains(&number);
    let waiting = made.filter(|(number, _)| is_read(*number));
    let waiting = waiting.filter_map(|(number, value)| Some((Scope::waiting(number), value?)));
    waiting.for_each(|(name, value)| context.scope.borrow_mut().put(&name, value));
    called_with
}

/// Runs a block over `x`, which the first lacks; gives back the residual stream. `on_embedding` runs the module of
/// embeddings, whose number it comes with.
pub(in crate::memory) fn run_recorded(
    context: &ForwardContext,
    block: &RecordedBlock,
    x: Option<&Tensor>,
    on_embedding: Option<(usize, OnEmbedding<'_>)>,
) -> Option<Tensor> {
    let code = code(context, block, x)?;
    let mut runner = Runner::new(context, block, code, x);
    for number in code.takes.len()..code.values {
        let waiting = context.scope.borrow_mut().take(&Scope::waiting(number));
        runner.set(number, waiting);
    }
    for (name, value) in &code.ahead {
        let (Value::Numbered(number), true) = (value, name == RESIDUAL) else { continue };
        runner.set(*number, x.cloned());
        // What came out of the layer before is nothing to this one, unless it is called with just that.
        runner
            .values
            .first_mut()
            .filter(|_| *number != 0 && code.takes.first().is_some_and(|name| name == RESIDUAL))
            .into_iter()
            .for_each(|place| drop(place.take()));
    }
    runner.run(&code.ops, on_embedding);
    let mut out = None;
    for (name, value) in &code.gives {
        let Some(value) = runner.read(*value) else { continue };
        if name == RESIDUAL {
            out = Some(value);
        } else {
            context.scope.borrow_mut().put(name, value);
        }
    }
    out
}

fn code<'a>(context: &ForwardContext, block: &'a RecordedBlock, x: Option<&Tensor>) -> Option<&'a Code> {
    let stream = x.map_or(context.loaded, Tensor::element);
    let way = Way {
        is_eager: context.kernel == AttentionKernel::Eager,
        is_wide: stream == ElementType::F32,
        kernels: context.kernels,
    };
    Some(block.block()?.code(way))
}

/// What the call of `block` takes as arguments.
pub(in crate::memory) fn arguments(context: &ForwardContext, block: &RecordedBlock, x: &Tensor) -> Scope {
    let code = code(context, block, Some(x));
    let takes = code.map_or(&[][..], |code| code.takes.as_slice()).iter().enumerate();
    let read = takes.filter(|(number, _)| code.is_some_and(|code| code.read_by_layer.contains(number)));
    context.scope.borrow().arguments(&read.map(|(_, name)| name.as_str()).collect::<Vec<_>>())
}
