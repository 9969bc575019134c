//! Blocks: stretches of the forward as operators in order.

use std::collections::BTreeSet;

use headroom_torch::Operator;

use super::Region;
use super::signs::Sign;

/// A stretch of the forward: what runs before the layers, a layer, or what runs behind them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Block {
    pub(crate) modules: Vec<Owner>,
    /// As it runs with attention in one kernel.
    pub(crate) fused: Code,
    /// As it runs with eager attention, where that differs.
    pub(crate) eager: Option<Code>,
    /// Both as they run where the residual stream is in fp32, where that differs.
    pub(super) wide: Option<Code>,
    pub(super) wide_eager: Option<Code>,
    /// As it runs with kernels of packages, where that differs; what needs more of them comes first.
    pub(super) kernels: Vec<WithKernels>,
}

/// A block's code with the kernels of packages, and on a residual stream in fp32, where that differs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WithKernels {
    pub(super) needs: KernelPackages,
    pub(super) narrow: Code,
    pub(super) wide: Option<Code>,
}

/// Packages whose kernels transformers calls where they are installed, one function at a time (`integrations/hub_kernels.py`
/// `use_kernel_func_from_hub_with_fallback`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct KernelPackages {
    /// flash-linear-attention: the delta rule of linear attention.
    pub(crate) flash_linear_attention: bool,
    /// causal-conv1d: the short convolution of state-space layers and linear attention.
    pub(crate) causal_conv1d: bool,
    /// mamba-ssm: state-space layers.
    pub(crate) mamba_ssm: bool,
}

impl KernelPackages {
    /// Those of `self` that `installed` lacks.
    pub(crate) fn without(self, installed: Self) -> Self {
        Self {
            flash_linear_attention: self.flash_linear_attention && !installed.flash_linear_attention,
            causal_conv1d: self.causal_conv1d && !installed.causal_conv1d,
            mamba_ssm: self.mamba_ssm && !installed.mamba_ssm,
        }
    }

    /// Those of either.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            flash_linear_attention: self.flash_linear_attention || other.flash_linear_attention,
            causal_conv1d: self.causal_conv1d || other.causal_conv1d,
            mamba_ssm: self.mamba_ssm || other.mamba_ssm,
        }
    }
}

/// What decides which of a block's codes runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Way {
    /// Attention is eager.
    pub(crate) is_eager: bool,
    /// The residual stream is in fp32.
    pub(crate) is_wide: bool,
    /// Packages with kernels that are installed.
    pub(crate) kernels: KernelPackages,
}

/// A module with parameters of its own.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Owner {
    /// Its name within the block.
    pub(crate) name: String,
    pub(crate) class: String,
    pub(crate) region: Region,
    pub(crate) parameters: Vec<Parameter>,
}

/// A parameter or a buffer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    /// Number of its shape.
    pub(crate) shape: usize,
    pub(crate) held: Held,
    pub(crate) is_buffer: bool,
    /// A parameter that never gets a gradient.
    pub(crate) is_frozen: bool,
    /// One that trains in name alone: no gradient reaches it.
    pub(crate) is_unreached: bool,
    /// The key of the config that says whether there is one; `None`: there always is.
    pub(crate) given_if: Option<String>,
    /// The name of the parameter outside the layers that it is, where a layer has a module of its own around that.
    pub(crate) of: Option<String>,
}

/// dtype of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    /// The model's.
    Model,
    /// Always the same.
    In(headroom_torch::ElementType),
}

impl Held {
    /// The dtype in a model whose own is `model`.
    pub(crate) fn element(self, model: headroom_torch::ElementType) -> headroom_torch::ElementType {
        match self {
            Self::In(element) => element,
            Self::Model => model,
        }
    }
}

/// Operators in order, with the values they pass on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Code {
    /// What is taken from the model's scope, by name; the first values.
    pub(crate) takes: Vec<String>,
    /// What is given to it.
    pub(crate) gives: Vec<(String, Value)>,
    /// What runs before the layer, outside its module.
    pub(crate) pre: Vec<Op>,
    /// What that gives to the scope before the layer is called, the residual stream that it is called with among it.
    pub(crate) ahead: Vec<(String, Value)>,
    /// Values that its own operators read.
    pub(crate) read_by_layer: BTreeSet<usize>,
    /// Values that become leaves where input embeddings are to require gradients.
    pub(crate) leaves: Vec<usize>,
    /// Values that the layer hands by name to a module within it that checkpointing runs again by itself.
    pub(crate) handed: Vec<usize>,
    pub(crate) ops: Vec<Op>,
    /// How many values there are.
    pub(crate) values: usize,
    /// Where attention is in operators of its own: the first output of the last of them.
    pub(crate) attends_until: Option<usize>,
    /// The residual stream that it takes is wider than the model's dtype, which it casts it to.
    pub(crate) narrows_stream: bool,
}

/// A value that an operator reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value {
    /// By number: taken or made.
    Numbered(usize),
    /// A parameter, by module and place in it.
    Parameter(usize, usize),
}

/// One operator of a block.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Op {
    pub(crate) action: Action,
    pub(crate) module: Option<usize>,
    pub(crate) inputs: Vec<Value>,
    /// Number of its first output; the others follow.
    pub(crate) first: usize,
    /// Values whose last reference goes right after it.
    pub(crate) frees: Vec<usize>,
    pub(crate) cast: Autocast,
    pub(crate) region: Region,
    pub(super) sign: Sign,
    /// Of each output: whether backward reads it.
    pub(crate) kept: Vec<bool>,
    /// Key of the config that says its rate of dropout.
    pub(crate) rate: Option<String>,
    /// Of a cast: what it takes its dtype of, which may be freed by then. `None`: its outputs say it.
    pub(crate) like: Option<Value>,
}

impl Op {
    /// Whether it is an activation of a gate, called by no module that has parameters.
    pub(crate) fn is_activation(&self) -> bool {
        self.sign == Sign::Gate && self.module.is_none()
    }

    /// Whether it is a softmax.
    pub(crate) fn is_softmax(&self) -> bool {
        self.sign == Sign::Softmax
    }

    /// Whether it makes a tensor of zeros.
    pub(crate) fn makes_zeros(&self) -> bool {
        self.sign == Sign::Zeros
    }
}

/// What an operator is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Action {
    /// `torch.nn.Linear`, with the shape of what it gives.
    Linear(usize),
    /// Attention as transformers' interface calls it.
    Attention(Box<Attend>),
    /// Any other.
    Operator(Operator),
    /// A loop.
    Repeat(Box<Repeat>),
}

/// Operators that run several times over.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Repeat {
    /// How often: number of a dimension.
    pub(crate) times: usize,
    /// Values that become, from the second time on, what others were at the end of the time before.
    pub(crate) carry: Vec<(usize, usize)>,
    /// Values that every time adds to a list, and the number of the list.
    pub(crate) collect: Vec<(usize, usize)>,
    pub(crate) ops: Vec<Op>,
}

/// Attention in one kernel; sizes are numbers of dimensions.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Attend {
    pub(crate) heads: usize,
    pub(crate) kv_heads: usize,
    pub(crate) width: usize,
    pub(crate) value_width: usize,
    pub(crate) window: Option<usize>,
    pub(crate) causal: bool,
    pub(crate) masked: bool,
    /// For how many sequences the mask stands: number of a dimension; `None`: one for all.
    pub(crate) mask_rows: Option<usize>,
    /// Whether q, k and v lie token by token.
    pub(crate) token_major: [bool; 3],
    /// Into how many pieces the sequence is split: number of a dimension.
    pub(crate) pieces: Option<usize>,
    /// The class calls PyTorch's function itself: heads of keys and values are not repeated before.
    pub(crate) is_bare: bool,
    /// Such a call asks for heads of queries that share one of keys and values.
    pub(crate) groups: bool,
    /// Key of the config that says its rate of dropout.
    pub(crate) rate: Option<String>,
    /// The shape of what it gives.
    pub(crate) shape: usize,
}

/// What autocast does to an operator's tensors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Autocast {
    /// Nothing.
    Passes,
    /// They are cast to the lower precision.
    Lower,
    /// They are cast to fp32.
    Wide,
    /// They are cast to fp32 since PyTorch 2.12.
    WideNorm,
    /// The result is in fp32, without a cast before.
    WideResult,
}

/// The residual stream's name in the scope.
pub(crate) const RESIDUAL: &str = "hidden_states";
/// What the masks that eager attention adds are called there.
pub(crate) const CAUSAL_MASK: &str = "causal_mask";
/// The same with a window.
pub(crate) const SLIDING_MASK: &str = "sliding_mask";

/// A product of a gate's activation and another projection, by the numbers of what its operators make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GatedProduct {
    pub(crate) gate: usize,
    pub(crate) up: usize,
    /// The gate times a constant, where that is what the activation reads.
    pub(crate) scaled: Option<usize>,
    pub(crate) activation: usize,
    pub(crate) product: usize,
    /// Gate and up are parts of one projection.
    pub(crate) is_joint: bool,
}

impl Code {
    /// Every product of a gate's activation and another projection.
    pub(crate) fn gated_products(&self) -> Vec<GatedProduct> {
        let made = |number: usize| self.ops.iter().find(|op| op.first == number);
        let projected = |number: usize| made(number).is_some_and(|op| matches!(op.action, Action::Linear(_)));
        let split = |number: usize| {
            let makes = |op: &&Op| (op.first..op.first.saturating_add(op.kept.len())).contains(&number);
            let [Value::Numbered(whole)] = *self.ops.iter().find(makes).filter(|op| op.sign == Sign::Split)?.inputs
            else {
                return None;
            };
            projected(whole).then_some(whole)
        };
        let product = |activation: &Op| {
            let [Value::Numbered(read)] = *activation.inputs.as_slice() else { return None };
            let scaled = made(read).filter(|op| op.sign == Sign::Product && op.module.is_none());
            let (gate, scaled) = match scaled.map(|op| op.inputs.as_slice()) {
                Some([Value::Numbered(gate)]) => (*gate, Some(read)),
                _ => (read, None),
            };
            let (product, up) = self.ops.iter().find_map(|op| match (op.sign, op.inputs.as_slice()) {
                (Sign::Product, [Value::Numbered(one), Value::Numbered(other)]) if *one == activation.first => {
                    Some((op.first, *other))
                }
                (Sign::Product, [Value::Numbered(one), Value::Numbered(other)]) if *other == activation.first => {
                    Some((op.first, *one))
                }
                _ => None,
            })?;
            let is_joint = split(gate).is_some() && split(gate) == split(up);
            let found = GatedProduct { gate, up, scaled, activation: activation.first, product, is_joint };
            (is_joint || projected(gate) && projected(up)).then_some(found)
        };
        let activations = self.ops.iter().filter(|op| op.sign == Sign::Gate && op.module.is_none());
        activations.filter_map(product).collect()
    }

    /// Whether a value is a matrix the other way round, as `torch.nn.functional.linear` takes its weight.
    pub(crate) fn is_transposed(&self, number: usize) -> bool {
        self.all().iter().any(|op| op.first == number && op.sign == Sign::Transpose)
    }

    /// Numbers of the values that the layer's own operators read, or that it gives.
    pub(super) fn numbers_read(&self) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut note = |value: &Value| {
            if let Value::Numbered(number) = value {
                found.insert(*number);
            }
        };
        self.gives.iter().for_each(|(_, value)| note(value));
        for op in Self::flat(self.ops.iter().rev()) {
            op.inputs.iter().for_each(&mut note);
        }
        let mut open: Vec<&Op> = self.ops.iter().collect();
        while let Some(op) = open.pop() {
            if let Action::Repeat(repeat) = &op.action {
                let pairs = repeat.carry.iter().chain(&repeat.collect);
                found.extend(pairs.flat_map(|(one, other)| [*one, *other]));
                open.extend(&repeat.ops);
            }
        }
        found
    }

    /// The first output of the last operator of attention, where no operator is attention itself.
    pub(super) fn end_of_attention(&self) -> Option<usize> {
        if self.all().iter().any(|op| matches!(op.action, Action::Attention(_))) {
            return None;
        }
        let of_attention = |op: &&Op| matches!(op.region, Region::Attention | Region::AttentionOutput);
        self.ops.iter().rev().find(of_attention).map(|op| op.first)
    }

    /// Every operator, those of loops once.
    pub(crate) fn all(&self) -> Vec<&Op> {
        Self::flat(self.ops.iter().rev().chain(self.pre.iter().rev()))
    }

    /// Operators given from the last to the first, those of loops once, in order.
    fn flat<'a>(backwards: impl Iterator<Item = &'a Op>) -> Vec<&'a Op> {
        let mut found = Vec::new();
        let mut open: Vec<&Op> = backwards.collect();
        while let Some(op) = open.pop() {
            match &op.action {
                Action::Repeat(repeat) => open.extend(repeat.ops.iter().rev()),
                _ => found.push(op),
            }
        }
        found
    }
}

impl Block {
    /// Whether it takes masks whatever kernel attention runs in.
    pub(crate) fn takes_masks(&self) -> bool {
        self.fused.takes.iter().any(|name| name == CAUSAL_MASK || name == SLIDING_MASK)
    }

    /// Whether a module, by its number, runs before the layer and not in it: the model's own, called between two layers.
    pub(crate) fn is_outside(&self, module: usize) -> bool {
        let is_of = |op: &&Op| {
            op.module == Some(module)
                || op.inputs.iter().any(|one| matches!(one, Value::Parameter(of, _) if *of == module))
        };
        let calls = |ops: &[Op]| Code::flat(ops.iter().rev()).iter().any(is_of);
        calls(&self.fused.pre) && !calls(&self.fused.ops)
    }

    /// The code that runs by `way`.
    pub(crate) fn code(&self, way: Way) -> &Code {
        let (wide, narrow) = match (self.with_kernels(way), way.is_eager) {
            (Some(with), _) => (&with.wide, Some(&with.narrow)),
            (None, true) => (&self.wide_eager, self.eager.as_ref()),
            (None, false) => (&self.wide, None),
        };
        wide.as_ref().filter(|_| way.is_wide).or(narrow).unwrap_or(&self.fused)
    }

    /// What runs with the packages that are installed. Eager attention beside a scan in one layer was recorded without them.
    fn with_kernels(&self, way: Way) -> Option<&WithKernels> {
        let given = |with: &&WithKernels| with.needs.without(way.kernels) == KernelPackages::default();
        self.kernels.iter().find(given).filter(|_| !way.is_eager || self.eager.is_none())
    }

    /// Packages whose kernels run by `way`.
    pub(super) fn packages_by(&self, way: Way) -> KernelPackages {
        self.with_kernels(way).map(|with| with.needs).unwrap_or_default()
    }

    /// Packages whose kernels it would run.
    pub(super) fn packages(&self) -> KernelPackages {
        self.kernels.iter().map(|with| with.needs).fold(KernelPackages::default(), KernelPackages::and)
    }

    /// Whether a function of Python reads the weight of `module`, a linear layer, which itself is not called by `way`: no
    /// adapter of it runs.
    pub(crate) fn bypasses(&self, module: usize, way: Way) -> bool {
        let ops = self.code(way).all();
        let calls = |op: &&Op| op.module == Some(module) && matches!(op.action, Action::Linear(_));
        let reads = |op: &&Op| op.inputs.iter().any(|value| matches!(value, Value::Parameter(of, _) if *of == module));
        !ops.iter().any(calls) && ops.iter().any(reads)
    }
}
