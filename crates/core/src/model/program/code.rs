//! A block's operators: numbers become values, names kernels, and every reference is checked.

use std::collections::{BTreeMap, BTreeSet};

use headroom_torch::{Keeps, Made, Operator};
use serde_json::{Map, Value as Json};

use super::functions::{self, Found, Function};
use super::json::Fault;
use super::lowered::lower_before_expanding;
use super::regions::Region;
use super::signs::Sign;
use super::{Action, Attend, Autocast, Code, Dimension, Op, Owner, RESIDUAL, Repeat, Value, format};

/// Most operators of a block.
const MOST_OPERATORS: usize = 1 << 16;

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
    pub(super) functions: &'a [Function],
}

/// One block's code as it is read.
pub(super) struct Builder<'a> {
    sizes: &'a Sizes<'a>,
    pub(super) modules: &'a [Owner],
    /// Each parameter of the block, in order.
    parameters: Vec<Value>,
    written: &'a format::Variant,
    /// Of each value, the one whose storage it is; parameters stand for none.
    pub(super) roots: Vec<Option<usize>>,
    /// Of each value, its shape.
    pub(super) shapes: Vec<Option<usize>>,
    /// Values that are lists of what each time of a loop made.
    lists: BTreeSet<usize>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(sizes: &'a Sizes<'a>, modules: &'a [Owner], written: &'a format::Variant) -> Self {
        let of = |(module, owner): (usize, &Owner)| {
            (0..owner.parameters.len()).map(move |place| Value::Parameter(module, place)).collect::<Vec<_>>()
        };
        let parameters = modules.iter().enumerate().flat_map(of).collect();
        let taken = written.takes.len();
        let (roots, shapes) = ((0..taken).map(Some).collect(), vec![None; taken]);
        Self { sizes, modules, parameters, written, roots, shapes, lists: BTreeSet::new() }
    }

    pub(super) fn code(mut self, place: &str) -> Result<Code, Fault> {
        let format::Variant { takes, gives, pre, ahead, leaves, handed, ops } = self.written;
        let mut all = self.list(&format!("{place}.pre"), pre, 0)?;
        let own = all.len();
        all.extend(self.list(&format!("{place}.ops"), ops, 0)?);
        lower_before_expanding(&mut all);
        let named = |list: &BTreeMap<String, Json>, what: &str| {
            let one = |(name, number): (&String, &Json)| {
                Ok((name.clone(), at(|| format!("{place}.{what}.{name}"), self.value(number, None))?))
            };
            list.iter().map(one).collect::<Result<Vec<(String, Value)>, Fault>>()
        };
        let (given, ahead) = (named(gives, "gives")?, named(ahead, "ahead")?);
        let leaves = at(|| format!("{place}.leaves"), self.numbered(leaves, None))?;
        let handed = at(|| format!("{place}.handed"), self.numbered(handed, None))?;
        let outlives: Vec<(String, Value)> = given.iter().chain(&ahead).cloned().collect();
        self.mark(&mut all, &outlives);
        self.place_in_regions(&mut all, &given);
        let narrows_stream = all.iter().any(|op| self.narrows_stream(op));
        let ops = all.split_off(own);
        let (takes, values) = (takes.clone(), self.roots.len());
        let mut code = Code {
            takes,
            gives: given,
            pre: all,
            ahead,
            leaves,
            handed,
            ops,
            values,
            narrows_stream,
            attends_until: None,
            read_by_layer: BTreeSet::new(),
        };
        code.read_by_layer = code.numbers_read();
        code.attends_until = code.end_of_attention();
        Ok(code)
    }

    /// Whether an operator casts the residual stream itself to the model's dtype.
    fn narrows_stream(&self, op: &Op) -> bool {
        let taken = match op.inputs.as_slice() {
            [Value::Numbered(number)] => self.written.takes.get(*number),
            _ => None,
        };
        let narrows = |operator: &Operator| {
            operator.kernel.is_cast() && operator.outputs.iter().all(|output| output.made == Made::Model)
        };
        taken.is_some_and(|name| name == RESIDUAL)
            && !matches!(op.like, Some(Value::Numbered(_)))
            && matches!(&op.action, Action::Operator(operator) if narrows(operator))
    }

    /// What a reference in an operator of `module` means.
    fn value(&self, written: &Json, module: Option<usize>) -> Found<Value> {
        let missing = || format!("{written} is no value");
        let Some(text) = written.as_str() else {
            let back = written.as_u64().and_then(|back| usize::try_from(back).ok());
            let number = back.and_then(|back| self.roots.len().checked_sub(1)?.checked_sub(back));
            return number.map(Value::Numbered).ok_or_else(missing);
        };
        let found = match functions::lettered(text)? {
            ("x", place) => Some(Value::Numbered(place)).filter(|_| place < self.written.takes.len()),
            ("p", place) => self.parameters.get(place).copied(),
            ("w", place) => module
                .filter(|module| self.modules.get(*module).is_some_and(|owner| place < owner.parameters.len()))
                .map(|module| Value::Parameter(module, place)),
            _ => None,
        };
        found.ok_or_else(missing)
    }

    /// The values among references, by number; parameters are left out.
    fn numbered(&self, written: &[Json], module: Option<usize>) -> Found<Vec<usize>> {
        let mut found = Vec::new();
        for one in written {
            if let Value::Numbered(number) = self.value(one, module)? {
                found.push(number);
            }
        }
        Ok(found)
    }

    /// Operators in order: a list is one, an object a loop, and a number says whose module's those behind it are.
    fn list(&mut self, place: &str, written: &[Json], depth: usize) -> Result<Vec<Op>, Fault> {
        at(|| place.to_owned(), bounded(written.len(), MOST_OPERATORS))?;
        let (mut module, mut found) = (None, Vec::new());
        for (i, one) in written.iter().enumerate() {
            let place = || format!("{place}[{i}]");
            match one {
                Json::Array(parts) => found.push(at(place, self.op(parts, module))?),
                Json::Object(fields) => found.push(self.repeat(&place(), fields, depth)?),
                number if number.as_i64() == Some(-1) => module = None,
                number => module = Some(at(place, functions::whole(number, self.modules.len(), "module"))?),
            }
        }
        Ok(found)
    }

    /// A loop, whose operators' outputs have the numbers of its first iteration.
    fn repeat(&mut self, place: &str, written: &Map<String, Json>, depth: usize) -> Result<Op, Fault> {
        const DEEPEST: usize = 4;
        let here = || place.to_owned();
        let list = |key: &str| match written.get(key) {
            None => Ok([].as_slice()),
            Some(Json::Array(list)) => Ok(list.as_slice()),
            Some(_) => Err((place.to_owned(), format!("{key} is a list"))),
        };
        let times = written.get("times").unwrap_or(&Json::Null);
        let times = at(here, functions::whole(times, self.sizes.dims.len(), "dimension"))?;
        at(here, if depth < DEEPEST { Ok(()) } else { Err("loops nest too deep".to_owned()) })?;
        let first = self.roots.len();
        let ops = self.list(&format!("{place}.ops"), list("ops")?, depth + 1)?;
        let pair = |pair: &Json| match self.numbered(pair.as_array().map_or(&[], Vec::as_slice), None)?.as_slice() {
            [to, from] => Ok((*to, *from)),
            _ => Err("a loop carries pairs of values".to_owned()),
        };
        let carry = at(here, list("carry")?.iter().map(pair).collect())?;
        let collect = at(here, self.lists(list("collect")?, first))?;
        let (region, cast) = (Region::Other, Autocast::Passes);
        let action = Action::Repeat(Box::new(Repeat { times, carry, collect, ops }));
        let (frees, kept) = (Vec::new(), Vec::new());
        let (inputs, rate, sign) = (Vec::new(), None, Sign::Other);
        Ok(Op { action, module: None, inputs, first, frees, cast, region, sign, kept, rate, like: None })
    }

    /// The lists that a loop whose values begin at `first` makes of some of them: each has a number of its own behind those.
    fn lists(&mut self, collect: &[Json], first: usize) -> Found<Vec<(usize, usize)>> {
        let values = self.numbered(collect, None)?;
        if values.len() < collect.len() || values.iter().any(|value| *value < first) {
            return Err("a loop adds to a list what it makes itself".to_owned());
        }
        let mut found = Vec::new();
        for value in values {
            found.push((value, self.roots.len()));
            self.lists.insert(self.roots.len());
            self.roots.push(self.roots.get(value).copied().flatten());
            self.shapes.push(None);
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

    fn op(&mut self, written: &[Json], module: Option<usize>) -> Found<Op> {
        let Some((function, rest)) = written.split_first() else { return Err("an operator has a function".to_owned()) };
        let function = functions::whole(function, self.sizes.functions.len(), "function")?;
        let Some(function) = self.sizes.functions.get(function) else {
            return Err("its function is not there".to_owned());
        };
        let mut parts = [[].as_slice(); 3];
        for (part, written) in parts.iter_mut().zip(rest) {
            *part = written.as_array().ok_or("an operator is [function, tensors, shapes, frees]")?;
        }
        let [tensors, given, frees] = parts;
        let mut inputs = tensors.iter().map(|one| self.value(one, module)).collect::<Found<Vec<Value>>>()?;
        let like = match function.like {
            Some(place) if place > 0 && place + 1 == inputs.len() => inputs.pop(),
            Some(_) => return Err("takes the dtype of a tensor that is not the last of its own".to_owned()),
            None => None,
        };
        let sizes: Vec<Option<usize>> = inputs.iter().map(|value| self.shape(value)).collect();
        let shape = |one: &Json| functions::whole(one, self.sizes.shapes.len(), "shape");
        let outputs = function.outputs(&sizes, &given.iter().map(shape).collect::<Found<Vec<usize>>>()?)?;
        let place = function.place(&sizes, &outputs)?;
        let first = self.roots.len();
        for (i, output) in outputs.iter().enumerate() {
            self.roots.push(match output.of.and_then(|of| inputs.get(of)) {
                Some(value) => self.root(value),
                None => Some(first + i),
            });
            self.shapes.push(Some(output.shape));
        }
        let kept = vec![false; outputs.len()];
        let action = match (function.name.as_str(), outputs.as_slice()) {
            ("linear", [output]) if module.is_some() && inputs.len() == 1 => Action::Linear(output.shape),
            ("linear", _) => return Err("takes one tensor, gives one and says whose it is".to_owned()),
            ("attention", [output]) if inputs.len() >= 3 => {
                let attend = function.attention.as_ref().ok_or("says no sizes")?;
                Action::Attention(Box::new(self.attend(attend, output.shape)?))
            }
            ("attention", _) => return Err("takes q, k and v and gives one tensor".to_owned()),
            (name, _) => Action::Operator(Operator { kernel: headroom_torch::Kernel::of(name), outputs, place }),
        };
        self.reads_lists(&action, &inputs)?;
        let frees = self.numbered(frees, module)?;
        let class = module.and_then(|module| self.modules.get(module)).map_or("", |owner| owner.class.as_str());
        let cast = autocast(&function.name, class);
        let (region, sign) = (Region::Other, Sign::of(&function.name));
        let rate = function.rate.clone();
        Ok(Op { action, module, inputs, first, frees, cast, region, sign, kept, rate, like })
    }

    /// The shape of a value, where it is known.
    fn shape(&self, value: &Value) -> Option<usize> {
        match value {
            Value::Numbered(number) => self.shapes.get(*number).copied().flatten(),
            Value::Parameter(module, place) => {
                self.modules.get(*module)?.parameters.get(*place).map(|parameter| parameter.shape)
            }
        }
    }

    fn attend(&self, written: &format::Attention, shape: usize) -> Found<Attend> {
        let dim = |dim: usize| {
            let found = Some(dim).filter(|dim| *dim < self.sizes.dims.len());
            found.ok_or_else(|| format!("there is no dimension {dim}"))
        };
        let lies = |i: usize| written.token_major.get(i).copied().unwrap_or(true);
        Ok(Attend {
            heads: dim(written.heads)?,
            kv_heads: dim(written.kv_heads)?,
            width: dim(written.width)?,
            value_width: dim(written.value_width)?,
            window: written.window.map(dim).transpose()?,
            causal: written.causal,
            masked: written.masked,
            mask_rows: written.mask_rows.map(dim).transpose()?,
            token_major: [lies(0), lies(1), lies(2)],
            pieces: written.pieces.map(dim).transpose()?,
            is_bare: written.bare,
            groups: written.grouped,
            rate: written.dropout.clone(),
            shape,
        })
    }
}

/// Norms that turn autocast off for themselves and cast what they read to its dtype (transformers 5.23 modeling_nemotron.py
/// `NemotronLayerNorm1P.forward`, `_cast_if_autocast_enabled`).
const LOWERED_NORMS: &[&str] = &["NemotronLayerNorm1P"];

/// What torch.autocast does to an operator (aten/src/ATen/autocast_mode.h) of a module of `class`.
fn autocast(name: &str, class: &str) -> Autocast {
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
    // A softmax whose caller says the dtype that its tensor has, which autocast keeps to (`fp32_set_opt_dtype`), or what runs where the
    // class turns autocast off.
    if name.ends_with(".dtype") {
        return Autocast::Passes;
    }
    let base = name.split('.').next().unwrap_or(name);
    let is_lowered = base == "native_layer_norm" && LOWERED_NORMS.contains(&class);
    if LOWER.contains(&base) || is_lowered {
        Autocast::Lower
    } else if base == "_fused_rms_norm" {
        Autocast::WideNorm
    } else if WIDE.contains(&base) {
        Autocast::Wide
    } else if WIDE_RESULT.contains(&base) {
        Autocast::WideResult
    } else {
        Autocast::Passes
    }
}
