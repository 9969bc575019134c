//! A block's operators: numbers become values, names kernels, and every reference is checked.

use std::collections::{BTreeMap, BTreeSet};

use headroom_torch::{Keeps, Made, Operator, Output};
use serde_json::Value as Json;

use super::regions::Region;
use super::templates::{self, Found};
use super::{Action, Attend, Autocast, Code, Dimension, Op, Owner, RESIDUAL, Repeat, Value, format};

/// Most operators of a block.
const MOST_OPERATORS: usize = 1 << 16;

/// Place and what is wrong there.
pub(super) type Fault = (String, String);

/// `found` with the place where it is.
pub(super) fn at<T>(place: impl FnOnce() -> String, found: Found<T>) -> Result<T, Fault> {
    found.map_err(|why| (place(), why))
}

/// Whether `count` is not more than `most`.
pub(super) fn bounded(count: usize, most: usize) -> Found<()> {
    if count <= most { Ok(()) } else { Err(format!("has {count} entries; at most {most} are read")) }
}

/// What blocks refer to.
pub(super) struct Sizes<'a> {
    pub(super) dims: &'a [Dimension],
    pub(super) shapes: &'a [Vec<usize>],
    pub(super) templates: &'a [templates::Written],
}

/// A block's code, or a variant of it, as it is written.
#[derive(Clone, Copy)]
pub(super) struct Written<'a> {
    pub(super) pre: &'a [format::Operator],
    pub(super) ops: &'a [format::Operator],
    pub(super) gives: &'a BTreeMap<String, i64>,
    pub(super) ahead: &'a BTreeMap<String, i64>,
    pub(super) leaves: &'a [i64],
}

/// One block's code as it is read.
pub(super) struct Builder<'a> {
    sizes: &'a Sizes<'a>,
    modules: &'a [Owner],
    /// Each parameter of the block, in order.
    parameters: Vec<Value>,
    takes: &'a [String],
    /// Of each value, the one whose storage it is; parameters stand for none.
    roots: Vec<Option<usize>>,
    /// Of each value, its shape.
    shapes: Vec<Option<usize>>,
    /// Values that are lists of what each time of a loop made.
    lists: BTreeSet<usize>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(sizes: &'a Sizes<'a>, modules: &'a [Owner], takes: &'a [String]) -> Self {
        let of = |(module, owner): (usize, &Owner)| {
            (0..owner.parameters.len()).map(move |place| Value::Parameter(module, place)).collect::<Vec<_>>()
        };
        let parameters = modules.iter().enumerate().flat_map(of).collect();
        let roots = (0..takes.len()).map(Some).collect();
        Self { sizes, modules, parameters, takes, roots, shapes: vec![None; takes.len()], lists: BTreeSet::new() }
    }

    pub(super) fn code(mut self, place: &str, written: Written<'_>) -> Result<Code, Fault> {
        let Written { pre, ops, gives, ahead, leaves } = written;
        at(|| place.to_owned(), bounded(pre.len() + ops.len(), MOST_OPERATORS))?;
        let mut all = Vec::new();
        for (i, op) in pre.iter().chain(ops).enumerate() {
            all.push(at(|| format!("{place}.ops[{i}] {}", op.f), self.op(op, 0))?);
        }
        let named = |list: &BTreeMap<String, i64>, what: &str| {
            let one = |(name, number): (&String, &i64)| {
                Ok((name.clone(), at(|| format!("{place}.{what}.{name}"), self.value(*number))?))
            };
            list.iter().map(one).collect::<Result<Vec<(String, Value)>, Fault>>()
        };
        let (given, ahead) = (named(gives, "gives")?, named(ahead, "ahead")?);
        let mut made_leaves = Vec::new();
        for number in leaves {
            if let Value::Numbered(number) = at(|| format!("{place}.leaves"), self.value(*number))? {
                made_leaves.push(number);
            }
        }
        let outlives: Vec<(String, Value)> = given.iter().chain(&ahead).cloned().collect();
        self.mark(&mut all, &outlives);
        self.place_in_regions(&mut all, &given);
        let narrows_stream = all.iter().any(|op| self.narrows_stream(op));
        let ops = all.split_off(pre.len());
        let (takes, values) = (self.takes.to_vec(), self.roots.len());
        let mut code = Code {
            takes,
            gives: given,
            pre: all,
            ahead,
            leaves: made_leaves,
            ops,
            values,
            narrows_stream,
            read_by_layer: BTreeSet::new(),
        };
        code.read_by_layer = code.numbers_read();
        Ok(code)
    }

    /// Whether an operator casts the residual stream itself to the model's dtype.
    fn narrows_stream(&self, op: &Op) -> bool {
        let taken = match op.inputs.as_slice() {
            [Value::Numbered(number)] => self.takes.get(*number),
            _ => None,
        };
        let narrows = |operator: &Operator| {
            operator.kernel.is_cast() && operator.outputs.iter().all(|output| output.made == Made::Model)
        };
        taken.is_some_and(|name| name == RESIDUAL)
            && matches!(&op.action, Action::Operator(operator) if narrows(operator))
    }

    fn value(&self, number: i64) -> Found<Value> {
        let missing = || format!("{number} is no value");
        match usize::try_from(number) {
            Ok(number) if number < self.roots.len() => Ok(Value::Numbered(number)),
            Ok(_) => Err(missing()),
            Err(_) => {
                let at = usize::try_from(-1 - number.max(i64::MIN + 2)).map_err(|_| missing())?;
                self.parameters.get(at).copied().ok_or_else(missing)
            }
        }
    }

    /// A loop, whose operators' outputs have the numbers of its first iteration.
    fn repeat(&mut self, written: &format::Operator, depth: usize) -> Found<Op> {
        const DEEPEST: usize = 4;
        let times = written.times.ok_or("a loop says how often it runs")?;
        if depth >= DEEPEST || times >= self.sizes.dims.len() {
            return Err("loops nest too deep, or how often one runs is no dimension".to_owned());
        }
        bounded(written.ops.len(), MOST_OPERATORS)?;
        let first = self.roots.len();
        let ops = written.ops.iter().map(|op| self.op(op, depth + 1)).collect::<Found<Vec<Op>>>()?;
        let numbered = |value: Value| match value {
            Value::Numbered(number) => Ok(number),
            Value::Parameter(..) => Err("a loop carries a parameter".to_owned()),
        };
        let pair = |(to, from): &(i64, i64)| Ok((numbered(self.value(*to)?)?, numbered(self.value(*from)?)?));
        let carry = written.carry.iter().map(pair).collect::<Found<Vec<(usize, usize)>>>()?;
        let collect = self.lists(&written.collect, first)?;
        let (region, cast) = (Region::Other, Autocast::Passes);
        let frees = self.frees(written)?;
        let action = Action::Repeat(Box::new(Repeat { times, carry, collect, ops }));
        Ok(Op { action, module: None, inputs: Vec::new(), first, frees, cast, region, kept: Vec::new() })
    }

    /// The lists that a loop whose values begin at `first` makes of some of them: each has a number of its own behind those.
    fn lists(&mut self, collect: &[i64], first: usize) -> Found<Vec<(usize, usize)>> {
        let end = self.roots.len();
        let mut found = Vec::new();
        for number in collect {
            match self.value(*number)? {
                Value::Numbered(value) if (first..end).contains(&value) => {
                    found.push((value, self.roots.len()));
                    self.lists.insert(self.roots.len());
                    self.roots.push(self.roots.get(value).copied().flatten());
                    self.shapes.push(None);
                }
                _ => return Err("a loop adds to a list what it makes itself".to_owned()),
            }
        }
        Ok(found)
    }

    /// A list is read by operators alone, none of which keeps it for backward or gives its storage.
    fn reads_lists(&self, action: &Action, inputs: &[Value]) -> Found<()> {
        let is_list =
            |i: &usize| matches!(inputs.get(*i), Some(Value::Numbered(number)) if self.lists.contains(number));
        let sound = match action {
            Action::Operator(operator) => {
                let saves = operator.place.iter().flat_map(|place| &place.saves);
                let saved = saves.filter_map(|keeps| match keeps {
                    Keeps::Input(input) => Some(*input),
                    Keeps::Output(_) => None,
                });
                !saved.chain(operator.outputs.iter().filter_map(|output| output.of)).any(|i| is_list(&i))
            }
            _ => !(0..inputs.len()).any(|i| is_list(&i)),
        };
        if sound { Ok(()) } else { Err("keeps or renames what a loop adds to a list".to_owned()) }
    }

    fn frees(&self, written: &format::Operator) -> Found<Vec<usize>> {
        let mut frees = Vec::new();
        for number in &written.d {
            if let Value::Numbered(number) = self.value(*number)? {
                frees.push(number);
            }
        }
        Ok(frees)
    }

    fn op(&mut self, written: &format::Operator, depth: usize) -> Found<Op> {
        if written.times.is_some() {
            return self.repeat(written, depth);
        }
        let inputs = written.i.iter().map(|number| self.value(*number)).collect::<Found<Vec<Value>>>()?;
        let module = match written.m {
            Some(module) if module >= self.modules.len() => return Err(format!("there is no module {module}")),
            module => module,
        };
        let outputs = written.o.iter().map(|one| templates::output(one, self.sizes.shapes.len(), inputs.len()));
        let outputs: Vec<Output> = outputs.collect::<Found<_>>()?;
        let first = self.roots.len();
        for (i, output) in outputs.iter().enumerate() {
            self.roots.push(match output.of.and_then(|of| inputs.get(of)) {
                Some(Value::Numbered(number)) => self.roots.get(*number).copied().flatten(),
                Some(Value::Parameter(..)) => None,
                None => Some(first + i),
            });
            self.shapes.push(Some(output.shape));
        }
        let place = match &written.n {
            Some(node) => templates::place(node, self.sizes.templates, inputs.len(), &outputs)?,
            None => None,
        };
        let action = match (written.f.as_str(), outputs.as_slice()) {
            ("linear", [output]) if module.is_some() && inputs.len() == 1 => Action::Linear(output.shape),
            ("linear", _) => return Err("takes one tensor, gives one and says whose it is".to_owned()),
            ("attention", [output]) if inputs.len() >= 3 => {
                let attend = written.a.as_ref().ok_or("says no sizes")?;
                Action::Attention(Box::new(self.attend(attend, output.shape)?))
            }
            ("attention", _) => return Err("takes q, k and v and gives one tensor".to_owned()),
            (name, _) => {
                Action::Operator(Operator { kernel: headroom_torch::Kernel::of(name), outputs: outputs.clone(), place })
            }
        };
        self.reads_lists(&action, &inputs)?;
        let frees = self.frees(written)?;
        let kept = vec![false; outputs.len()];
        let cast = autocast(&written.f);
        Ok(Op { action, module, inputs, first, frees, cast, region: Region::Other, kept })
    }

    fn attend(&self, written: &format::Attention, shape: usize) -> Found<Attend> {
        let dim = |dim: usize| {
            let found = Some(dim).filter(|dim| *dim < self.sizes.dims.len());
            found.ok_or_else(|| format!("there is no dimension {dim}"))
        };
        let window = match &written.window {
            None | Some(Json::Null) => None,
            Some(Json::String(name)) => {
                let known = self.sizes.dims.iter().position(|dim| dim.text == *name);
                Some(known.ok_or_else(|| format!("the window {name} is no dimension"))?)
            }
            Some(number) => {
                let number = number.as_u64().and_then(|number| usize::try_from(number).ok());
                Some(dim(number.ok_or("the window is no dimension")?)?)
            }
        };
        let lies = |i: usize| written.token_major.get(i).copied().unwrap_or(true);
        Ok(Attend {
            heads: dim(written.heads)?,
            kv_heads: dim(written.kv_heads)?,
            width: dim(written.width)?,
            value_width: dim(written.value_width)?,
            window,
            causal: written.causal,
            masked: written.masked,
            mask_rows: written.mask_rows.map(dim).transpose()?,
            token_major: [lies(0), lies(1), lies(2)],
            pieces: written.pieces.map(dim).transpose()?,
            shape,
        })
    }

    /// Says of each output whether backward reads it, or whoever takes it.
    fn mark(&self, all: &mut [Op], gives: &[(String, Value)]) {
        let mut kept = vec![false; self.roots.len()];
        gives.iter().for_each(|(_, value)| self.keep(&mut kept, value));
        self.keep_read(&mut kept, all);
        self.note(&kept, all);
    }

    fn root(&self, value: &Value) -> Option<usize> {
        match value {
            Value::Numbered(number) => self.roots.get(*number).copied().flatten(),
            Value::Parameter(..) => None,
        }
    }

    fn keep(&self, kept: &mut [bool], value: &Value) {
        self.root(value).and_then(|at| kept.get_mut(at)).into_iter().for_each(|kept| *kept = true);
    }

    fn keep_read(&self, kept: &mut [bool], all: &[Op]) {
        for op in all {
            match &op.action {
                Action::Linear(_) => op.inputs.iter().for_each(|input| self.keep(kept, input)),
                Action::Attention(_) => {
                    op.inputs.iter().for_each(|input| self.keep(kept, input));
                    self.keep(kept, &Value::Numbered(op.first));
                }
                Action::Operator(operator) => {
                    for saved in operator.place.iter().flat_map(|place| &place.saves) {
                        match saved {
                            Keeps::Input(place) => {
                                op.inputs.get(*place).iter().for_each(|input| self.keep(kept, input))
                            }
                            Keeps::Output(place) => self.keep(kept, &Value::Numbered(op.first + place)),
                        }
                    }
                }
                Action::Repeat(repeat) => {
                    self.keep_read(kept, &repeat.ops);
                    for (to, from) in &repeat.carry {
                        if self.root(&Value::Numbered(*to)).is_some_and(|at| kept.get(at) == Some(&true)) {
                            self.keep(kept, &Value::Numbered(*from));
                        }
                    }
                }
            }
        }
    }

    fn note(&self, kept: &[bool], all: &mut [Op]) {
        for op in all {
            for (i, is_kept) in op.kept.iter_mut().enumerate() {
                let root = self.root(&Value::Numbered(op.first + i));
                *is_kept = root.is_none_or(|at| kept.get(at).copied().unwrap_or(false));
            }
            if let Action::Repeat(repeat) = &mut op.action {
                self.note(kept, &mut repeat.ops);
            }
        }
    }

    /// Says of each operator what part of the layer it belongs to: its module's, or that of the module before.
    fn place_in_regions(&self, all: &mut [Op], gives: &[(String, Value)]) {
        let residual = gives.iter().find(|(name, _)| name == RESIDUAL).and_then(|(_, value)| match value {
            Value::Numbered(number) => self.shapes.get(*number).copied().flatten(),
            Value::Parameter(..) => None,
        });
        self.place_behind(Region::Residual, residual, all);
    }

    fn place_behind(&self, mut before: Region, residual: Option<usize>, all: &mut [Op]) -> Region {
        for op in all {
            op.region = match (op.module.and_then(|module| self.modules.get(module)), &mut op.action) {
                (_, Action::Attention(_)) => Region::AttentionOutput,
                (_, Action::Repeat(repeat)) => self.place_behind(before, residual, &mut repeat.ops),
                (Some(module), _) => module.region,
                (None, Action::Operator(operator)) => {
                    let place = operator.place.as_ref();
                    let is_sum = place.is_some_and(|place| place.edges.len() == 2 && place.saves.is_empty());
                    let of_stream = operator.outputs.first().is_some_and(|output| Some(output.shape) == residual);
                    if is_sum && of_stream { Region::Residual } else { before }
                }
                (None, Action::Linear(_)) => before,
            };
            if op.region != Region::Norm {
                before = op.region;
            }
        }
        before
    }
}

/// What torch.autocast does to an operator (aten/src/ATen/autocast_mode.h).
fn autocast(name: &str) -> Autocast {
    const LOWER: &[&str] = &["mm", "bmm", "addmm", "baddbmm", "addbmm", "mv", "convolution", "_convolution", "prelu"];
    const WIDE: &[&str] = &[
        "pow",
        "rsqrt",
        "exp",
        "expm1",
        "log",
        "log2",
        "log10",
        "log1p",
        "reciprocal",
        "softplus",
        "native_layer_norm",
        "native_group_norm",
        "logsumexp",
        "norm",
        "linalg_vector_norm",
        "tan",
        "acos",
        "asin",
        "sinh",
        "cosh",
        "erfinv",
        "_softmax",
        "_log_softmax",
        "_safe_softmax",
    ];
    const WIDE_RESULT: &[&str] = &["sum", "prod", "cumsum", "cumprod"];
    let base = name.split('.').next().unwrap_or(name);
    if LOWER.contains(&base) {
        Autocast::Lower
    } else if WIDE.contains(&base) {
        Autocast::Wide
    } else if WIDE_RESULT.contains(&base) {
        Autocast::WideResult
    } else {
        Autocast::Passes
    }
}
