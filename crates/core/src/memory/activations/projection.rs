//! Linear layers: plain, quantised, with an adapter.

use super::super::autograd::{
    ElementType, Shape, Sym, Tensor, add, cast, contiguous, custom, dims, dropout, linear, mul_scalar,
};
use super::super::term::Term;
use super::super::weights::{Adapter, BaseWeight, Projection};
use super::ForwardContext;

impl Projection {
    /// Its tensors that are parameters, its adapter's too.
    pub(in crate::memory) fn parameters(&self) -> Vec<&Tensor> {
        let weight = match &self.weight {
            BaseWeight::Plain(weight) => Some(weight),
            BaseWeight::FourBit { sharded, .. } | BaseWeight::EightBit { sharded, .. } => sharded.as_ref(),
        };
        let adapter = self.adapter.iter().flat_map(|adapter| [&adapter.a, &adapter.b]);
        weight.into_iter().chain(&self.bias).chain(adapter).collect()
    }

    /// Runs the layer; `label` names its output.
    pub(in crate::memory) fn run(&self, context: &ForwardContext, x: &Tensor, term: Term) -> Tensor {
        match &self.adapter {
            None => self.run_base(context, x, term),
            // peft reads `lora_A.weight.dtype` in the forward of the adapted module, which makes A a parameter of that
            // module too (`register_external_parameter` in DeepSpeed's `ZeROOrderedDict`).
            Some(adapter) => {
                context.module(&self.name, &[&adapter.a], x, |x| self.run_adapted(context, adapter, x, term))
            }
        }
    }

    fn run_adapted(&self, context: &ForwardContext, adapter: &Adapter, x: &Tensor, term: Term) -> Tensor {
        let label = context.label(term, &self.name);
        let width = (self.sym, self.d_out);
        let base = self.run_base(context, x, term);
        match self.weight {
            BaseWeight::Plain(_) => {
                // peft/tuners/lora/layer.py, Linear.forward.
                let element = base.element();
                let x = cast(x, adapter.read_as, context.label(Term::AdapterActivations, &self.name));
                let update = adapter.run(context, &x, &self.name, width);
                let sum = add(&base, &update, label);
                drop((update, base));
                cast(&sum, element, label)
            }
            BaseWeight::FourBit { .. } | BaseWeight::EightBit { .. } => {
                // peft/tuners/lora/bnb.py: a defensive clone for 4 bit, and no cast of x while autocast is on.
                let base = match self.weight {
                    BaseWeight::FourBit { .. } => {
                        let clone = contiguous(&base, base.shape(), label, false);
                        drop(base);
                        clone
                    }
                    _ => base,
                };
                let converts = !*context.autocast.borrow();
                let element = base.element();
                let x = if converts {
                    cast(x, adapter.read_as, context.label(Term::AdapterActivations, &self.name))
                } else {
                    x.clone()
                };
                let mut update = adapter.run(context, &x, &self.name, width);
                if converts {
                    update = cast(&update, element, label);
                }
                add(&base, &update, label)
            }
        }
    }

    fn run_base(&self, context: &ForwardContext, x: &Tensor, term: Term) -> Tensor {
        let label = context.label(term, &self.name);
        let width = (self.sym, self.d_out);
        match &self.weight {
            BaseWeight::Plain(weight) => {
                let mut parameters = vec![weight];
                parameters.extend(&self.bias);
                context.module(&self.name, &parameters, x, |x| {
                    // C++ evaluates the casts of its arguments from the last to the first.
                    let bias = self.bias.as_ref().map(|bias| context.cast_weight(bias, &self.name));
                    let weight = context.cast_weight(weight, &self.name);
                    let x = context.cast_input(x);
                    linear(&x, &weight, bias.as_ref(), width, label)
                })
            }
            BaseWeight::FourBit { nested, sharded, .. } => {
                let run = |x: &Tensor| {
                    let element = x.element();
                    let x = cast(x, context.half, context.passing());
                    let out = self.four_bit(context, &x, *nested, term);
                    cast(&out, element, label)
                };
                self.run_sharded(context, sharded.as_ref(), x, |x| {
                    let out = run(x);
                    // `ctx.tensors = (None, B)` (autograd/_functions.py MatMul4Bit), where A needs a gradient.
                    let keeps = context.tape.grad_enabled() && !context.without_graph.get() && x.requires_grad();
                    if let (Some(modules), Some(packed)) = (context.zero3.as_ref().filter(|_| keeps), sharded) {
                        modules.hold_in_graph(packed);
                    }
                    out
                })
            }
            BaseWeight::EightBit { sharded, .. } => {
                self.run_sharded(context, sharded.as_ref(), x, |x| {
                    let out = self.eight_bit(context, x, term);
                    // `self.weight.data = self.state.CB` (nn/modules.py Linear8bitLt.forward).
                    if let (Some(modules), Some(numbers)) = (&context.zero3, sharded) {
                        modules.replace_data(numbers);
                    }
                    out
                })
            }
        }
    }

    /// Runs a quantised layer, a module of its own where its numbers are sharded.
    fn run_sharded(
        &self,
        context: &ForwardContext,
        numbers: Option<&Tensor>,
        x: &Tensor,
        run: impl FnOnce(&Tensor) -> Tensor,
    ) -> Tensor {
        let Some(numbers) = numbers else { return run(x) };
        let parameters: Vec<&Tensor> = std::iter::once(numbers).chain(&self.bias).collect();
        context.module(&self.name, &parameters, x, run)
    }

    /// bitsandbytes MatMul4Bit: saves nothing but the packed weight; dequantises it in forward (unless the fused kernel
    /// serves) and again in backward.
    fn four_bit(&self, context: &ForwardContext, x: &Tensor, nested: bool, term: Term) -> Tensor {
        let label = context.label(term, &self.name);
        let fused = context.fused_gemm.serves(x.shape().rows().elements(), (self.d_out, self.d_in));
        let weight = dims(&[(Sym::DOut, self.d_out), (Sym::DIn, self.d_in)]);
        let blocks = dims(&[(Sym::WeightBlocks, self.d_out.saturating_mul(self.d_in) / 64)]);
        let shape = x.shape().last(self.sym, self.d_out);
        let x_shape = x.shape();
        let dequantized = context.label(Term::DequantizedWeights, &self.name);
        let mut inputs = vec![x];
        inputs.extend(&self.bias);
        let has_bias = self.bias.is_some();
        custom(
            &context.tape,
            &inputs,
            |_| {
                if fused {
                    return Tensor::new(&context.tape, label, shape, x.element());
                }
                let (scales, weight) =
                    dequantize(&context.tape, dequantized, blocks, weight, x.element(), nested, false);
                let out = Tensor::new(&context.tape, label, shape, x.element());
                if has_bias {
                    context.tape.bias_matmul_workspace();
                } else {
                    context.tape.matmul_workspace();
                }
                drop((weight, scales));
                out
            },
            move |call| {
                let element = call.grad.element();
                let (scales, weight) =
                    dequantize(call.tape, dequantized, blocks, weight, ElementType::Half, nested, true);
                drop(scales);
                let weight = if element == ElementType::Half { weight } else { cast(&weight, element, dequantized) };
                let grad = call.grad_like(x_shape, element).into_view();
                call.tape.matmul_workspace();
                drop(weight);
                if has_bias { [Some(grad), None].into() } else { [Some(grad)].into() }
            },
        )
    }

    /// bitsandbytes LLM.int8() (autograd/_functions.py MatMul8bitLt): the input is quantised row by row from a copy in fp16,
    /// multiplied as int8 into int32, dequantised to fp16 and converted; backward dequantises the weight to the input's dtype.
    ///
    /// The input is kept as `ctx.tensors`, not by `save_for_backward`: no checkpoint drops it but one whose first
    /// forward records no graph, and it is freed with the graph, not where the operator's backward has run.
    fn eight_bit(&self, context: &ForwardContext, x: &Tensor, term: Term) -> Tensor {
        let label = context.label(term, &self.name);
        let dequantized = context.label(Term::DequantizedWeights, &self.name);
        let shape = x.shape().last(self.sym, self.d_out);
        let (x_shape, element) = (x.shape(), x.element());
        let weight = dims(&[(Sym::DOut, self.d_out), (Sym::DIn, self.d_in)]);
        let passing = context.passing();
        let kept = (!context.without_graph.get()).then(|| x.detach());
        let is_fp16 = context.float16 && element == ElementType::Half;
        custom(
            &context.tape,
            &[x],
            |_| {
                let new = |shape, element| Tensor::new(&context.tape, passing, shape, element);
                let half = (!is_fp16).then(|| new(x_shape, ElementType::Half));
                let statistics = new(x_shape.last(Sym::One, 1), ElementType::F32);
                let rows = new(x_shape, ElementType::Byte);
                // `A.abs() >= threshold`, for the columns that hold outliers.
                let magnitudes = new(x_shape, ElementType::Half);
                let outliers = new(x_shape, ElementType::Byte);
                drop((magnitudes, outliers, half));
                let product = new(shape, ElementType::I32);
                let out = Tensor::new(&context.tape, label, shape, ElementType::Half);
                let converted = (!is_fp16).then(|| Tensor::new(&context.tape, label, shape, element));
                drop((product, statistics, rows));
                converted.unwrap_or(out)
            },
            move |call| {
                let _kept = &kept;
                let copy = Tensor::new(call.tape, dequantized, weight, element);
                let grad = call.grad_like(x_shape, element).into_view();
                call.tape.matmul_workspace();
                drop(copy);
                [Some(grad)].into()
            },
        )
    }
}

/// Materialises a 4-bit weight, its scales first: with `nested` they are dequantised, then shifted by their offset, in place
/// in functional.py `dequantize_4bit`, into a second tensor in the forward's fallback.
fn dequantize(
    tape: &std::rc::Rc<super::super::autograd::Tape>,
    label: super::super::autograd::Label,
    blocks: Shape,
    weight: Shape,
    element: ElementType,
    nested: bool,
    backward: bool,
) -> (Vec<Tensor>, Tensor) {
    let scales = (0..if !nested {
        0
    } else if backward {
        1
    } else {
        2
    })
        .map(|_| Tensor::new(tape, label, blocks, ElementType::F32))
        .collect();
    (scales, Tensor::new(tape, label, weight, element))
}

impl Adapter {
    /// `lora_B(lora_A(dropout(x))) * scaling`.
    fn run(&self, context: &ForwardContext, x: &Tensor, name: &str, width: (Sym, u64)) -> Tensor {
        let activations = context.label(Term::AdapterActivations, name);
        let dropped = if context.training {
            dropout(x, self.dropout, context.label(Term::DropoutMasks, name), activations)
        } else {
            x.clone()
        };
        let low = adapter_matmul(context, &dropped, &self.a, (Sym::R, self.r), name);
        drop(dropped);
        let high = adapter_matmul(context, &low, &self.b, width, name);
        drop(low);
        mul_scalar(&high, context.passing())
    }
}

fn adapter_matmul(context: &ForwardContext, x: &Tensor, weight: &Tensor, width: (Sym, u64), name: &str) -> Tensor {
    let run = |x: &Tensor, weight: &Tensor| {
        let weight = context.cast_weight(weight, name);
        let x = if *context.autocast.borrow() {
            cast(x, context.half, context.label(Term::AdapterActivations, name))
        } else {
            x.clone()
        };
        linear(&x, &weight, None, width, context.label(Term::AdapterActivations, name))
    };
    match &context.groups {
        Some(groups) => groups.run_matrix(weight, x, run),
        None => context.module(name, &[weight], x, |x| run(x, weight)),
    }
}
