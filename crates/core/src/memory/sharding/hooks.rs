//! Hooks on modules and parameters, which DeepSpeed acts on.
//!
//! While the step runs, the tape notes which hook runs where ([`Action`]); [`super::unroll`] afterwards lets ZeRO act there.

use super::super::autograd::{Action, Call, ElementType, LayerTag, Shape, Tape, Tensor, custom};
use super::super::parameter;
use crate::order::{self, Places};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Modules and parameters, as hooks name them.
#[derive(Debug)]
pub(in crate::memory) struct Modules {
    tape: Rc<Tape>,
    /// Whether modules have hooks, beside gradients.
    pub(in crate::memory) on_modules: bool,
    pub(super) parameters: Vec<Parameter>,
    /// Numbers of parameters by storage.
    by_storage: Places,
    pub(super) modules: RefCell<Vec<Module>>,
    numbers: RefCell<BTreeMap<Place, Vec<Named>>>,
    /// The module whose own forward reads parameters of modules inside.
    reader: Cell<Option<u32>>,
}

/// A tensor of parameters.
#[derive(Debug)]
pub(super) struct Parameter {
    pub(super) tag: LayerTag,
    pub(super) name: Rc<str>,
    pub(super) shape: Shape,
    pub(super) trains: bool,
    /// Weight decay shrinks it.
    pub(super) decays: bool,
    /// Its dtype, where that is not the other weights'.
    pub(super) apart: Option<ElementType>,
}

/// A module of the model.
#[derive(Debug, Clone)]
pub(super) struct Module {
    pub(super) tag: LayerTag,
    /// Numbers of its own parameters, not those of modules inside.
    pub(super) parameters: Vec<u32>,
}

/// Layer and first parameter: few modules have both in common, and those have names of their own.
type Place = (u32, Option<u32>);
/// A module's name and number.
type Named = (Box<str>, u32);

impl Parameter {
    /// Elements of one of them.
    pub(super) fn elements(&self) -> u64 {
        self.shape.elements()
    }
}

impl Modules {
    /// Takes down the parameters of a model and puts a hook on the gradient of each; `on_modules`: modules have hooks too.
    pub(super) fn new(tape: &Rc<Tape>, of_model: &[parameter::Parameter], on_modules: bool) -> Rc<Self> {
        let mut parameters = Vec::new();
        for (number, parameter) in (0u32..).zip(of_model) {
            let tensor = &parameter.tensor;
            parameter.tell_as(number);
            let (name, shape, trains) = (Rc::clone(&parameter.name), tensor.shape(), tensor.requires_grad());
            let decays = parameter::decays(tensor);
            parameters.push(Parameter { tag: parameter.tag, name, shape, trains, decays, apart: parameter.apart });
        }
        Rc::new(Self {
            tape: Rc::clone(tape),
            on_modules,
            parameters,
            by_storage: of_model.iter().map(|parameter| parameter.tensor.storage_address()).collect(),
            modules: RefCell::default(),
            numbers: RefCell::default(),
            reader: Cell::default(),
        })
    }

    /// The module whose own forward reads parameters of modules inside.
    pub(super) fn reader(&self) -> Option<u32> {
        self.reader.get()
    }

    /// That module's forward reads them now.
    pub(in crate::memory) fn read_inside(&self) {
        if let Some(module) = self.reader() {
            self.tape.tell(Action::ForwardReads, module);
        }
    }

    /// Number of a parameter.
    fn parameter(&self, tensor: &Tensor) -> Option<u32> {
        self.by_storage.get(tensor.storage_address()).and_then(|at| u32::try_from(at).ok())
    }

    /// The graph keeps a parameter as it is gathered now, other than as a saved tensor: no checkpoint drops it.
    pub(in crate::memory) fn hold_in_graph(&self, tensor: &Tensor) {
        if let Some(number) = self.parameter(tensor).filter(|_| !self.tape.is_muted()) {
            self.tape.tell(Action::GraphHolds, number);
        }
    }

    /// A module has put another tensor in the place of a parameter's gathered data.
    pub(in crate::memory) fn replace_data(&self, tensor: &Tensor) {
        if let Some(number) = self.parameter(tensor).filter(|_| !self.tape.is_muted()) {
            self.tape.tell(Action::DataReplaced, number);
        }
    }

    /// Number of a module in the layer that runs.
    fn number(&self, name: &str, parameters: &[&Tensor]) -> u32 {
        let find = |tensor: &&Tensor| self.parameter(tensor);
        let tag = self.tape.tag();
        let mut numbers = self.numbers.borrow_mut();
        let here = numbers.entry((tag.index, parameters.first().and_then(find))).or_default();
        if let Some((_, number)) = here.iter().find(|(known, _)| **known == *name) {
            return *number;
        }
        let mut modules = self.modules.borrow_mut();
        let number = u32::try_from(modules.len()).unwrap_or(u32::MAX);
        let mut parameters: Vec<u32> = parameters.iter().filter_map(find).collect();
        // In the order of the modules, as `iter_params` finds them.
        order::sort(&mut parameters, Ord::cmp);
        modules.push(Module { tag, parameters });
        here.push((name.into(), number));
        number
    }

    /// Runs a module, `parameters` being its own, with hooks before and after forward and backward.
    pub(in crate::memory) fn run(
        &self,
        name: &str,
        parameters: &[&Tensor],
        x: Option<&Tensor>,
        forward: impl FnOnce(Option<&Tensor>) -> Tensor,
    ) -> Tensor {
        let module = self.number(name, parameters);
        let x = x.map(|x| self.pass(x, Action::BackwardEnds, module));
        self.begin(module);
        let out = forward(x.as_ref());
        drop(x);
        // Recomputation stops within the modules that save last: their forward never ends.
        if !self.tape.is_muted() {
            self.tape.tell(Action::ForwardEnds, module);
        }
        self.pass(&out, Action::BackwardBegins, module)
    }

    fn begin(&self, module: u32) {
        if !self.tape.is_muted() {
            self.tape.tell(Action::ForwardBegins, module);
        }
    }

    /// The same tensor, with a hook that runs when its gradient is known.
    fn pass(&self, x: &Tensor, action: Action, module: u32) -> Tensor {
        let run = move |call: &Call<'_>| {
            call.tape.tell(action, module);
            [Some(call.grad.clone())].into()
        };
        custom(&self.tape, &[x], |_| x.detach(), run)
    }

    /// A module around others, whose input has no gradient: its number, for [`Modules::leave`]. `parameters`: those of
    /// modules inside that its own forward reads.
    pub(in crate::memory) fn enter(&self, name: &str, parameters: &[&Tensor]) -> u32 {
        let module = self.number(name, parameters);
        if !parameters.is_empty() {
            self.reader.set(Some(module));
        }
        self.begin(module);
        module
    }

    /// Ends the forward of a module that was entered.
    pub(in crate::memory) fn leave(&self, module: u32, out: &Tensor) -> Tensor {
        self.tape.tell(Action::ForwardEnds, module);
        self.pass(out, Action::BackwardBegins, module)
    }

    /// All gradients are reduced.
    pub(in crate::memory) fn end_reduction(&self) {
        self.tape.tell(Action::ReductionDone, 0);
    }

    /// The optimizer has stepped.
    pub(in crate::memory) fn end_step(&self) {
        self.tape.tell(Action::StepDone, 0);
    }

    /// Backward has run.
    pub(in crate::memory) fn end_backward(&self) {
        self.tape.tell(Action::BackwardDone, 0);
    }
}
