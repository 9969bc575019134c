//! From what is written to a program whose every reference is there. Nothing is trusted: a file may come from anywhere.

use headroom_torch::{Keeps, Made, Operator, Output};
use serde_json::Value as Json;

use super::expression::{BATCH, Expression, LENGTH, Names};
use super::regions::Region;
use super::templates::{self, Found, Written};
use super::{
    Action, Attend, Autocast, Block, Code, Condition, Dimension, Feature, FeatureOf, Head, Held, Op, Owner, Parameter,
    Program, ProgramError, RESIDUAL, Repeat, Value, format,
};

/// Largest file, bytes.
const LARGEST: usize = 16 << 20;
/// Most operators of a block.
const MOST_OPERATORS: usize = 1 << 16;
/// Most dimensions and most shapes.
const MOST_SIZES: usize = 1 << 14;
/// Most dimensions of one shape.
const MOST_DIMENSIONS: usize = 12;
/// The one format there is.
const FORMAT: u64 = 1;

impl Program {
    /// Reads a file as `python -m headroom.record` writes it: a program, or several for configs of different kinds.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place.
    pub fn from_json(text: &str) -> Result<Vec<Self>, ProgramError> {
        let wrong = |place: &str, why: String| ProgramError { place: place.to_owned(), why };
        if text.len() > LARGEST {
            return Err(wrong("program", format!("is larger than {LARGEST} bytes")));
        }
        let is_list = text.trim_start().starts_with('[');
        let read = if is_list {
            serde_json::from_str(text)
        } else {
            serde_json::from_str(text).map(|one| format::File(vec![one]))
        };
        let written: format::File = read.map_err(|error| wrong("program", error.to_string()))?;
        if written.0.is_empty() {
            return Err(wrong("program", "the file has none".to_owned()));
        }
        let one = |written: format::Program| {
            if written.format != FORMAT {
                let why = format!("is {}; this version reads {FORMAT}: record the model anew", written.format);
                return Err(wrong("format", why));
            }
            check(written).map_err(|fault| wrong(&fault.0, fault.1))
        };
        written.0.into_iter().map(one).collect()
    }
}

/// Place and what is wrong there.
type Fault = (String, String);

fn at<T>(place: impl FnOnce() -> String, found: Found<T>) -> Result<T, Fault> {
    found.map_err(|why| (place(), why))
}

fn check(written: format::Program) -> Result<Program, Fault> {
    let mut names = Names::new();
    at(|| "dims".to_owned(), bounded(written.dims.len(), MOST_SIZES))?;
    at(|| "shapes".to_owned(), bounded(written.shapes.len(), MOST_SIZES))?;
    let mut dims = Vec::new();
    for text in written.dims {
        let size = at(|| format!("dims: {text}"), Expression::parse(&text, &mut names))?;
        dims.push(Dimension { text, size });
    }
    let mut derived = Vec::new();
    for (key, text) in &written.derived {
        derived.push((key.clone(), at(|| format!("derived.{key}"), Expression::parse(text, &mut names))?));
    }
    for (i, shape) in written.shapes.iter().enumerate() {
        let is_sound = shape.len() <= MOST_DIMENSIONS && shape.iter().all(|dim| *dim < dims.len());
        at(
            || format!("shapes[{i}]"),
            if is_sound { Ok(()) } else { Err("names a dimension that is not there".to_owned()) },
        )?;
    }
    let mut templates = Vec::new();
    for (i, template) in written.backwards.iter().enumerate() {
        templates.push(at(|| format!("backwards[{i}]"), Written::read(template, written.shapes.len()))?);
    }
    let sizes = Sizes { dims: &dims, shapes: &written.shapes, templates: &templates };
    let mut layers = Vec::new();
    for (i, block) in written.layers.iter().enumerate() {
        layers.push(sizes.block(&format!("layers[{i}]"), block)?);
    }
    let before = sizes.block("before", &written.before)?;
    let after = sizes.block("after", &written.after)?;
    let features = written.features.into_iter().map(|one| feature(one, &mut names)).collect::<Found<_>>();
    let features = at(|| "features".to_owned(), features)?;
    if let Some((kind, _)) = written.kinds.iter().find(|(_, layer)| **layer >= layers.len()) {
        return Err((format!("kinds.{kind}"), format!("there are {} layers", layers.len())));
    }
    let format::Head { name, bias, softcaps, scales } = written.head;
    Ok(Program {
        model_type: written.model_type,
        class: written.class,
        versions: written.versions,
        when: written
            .when
            .into_iter()
            .map(|format::Condition { key, is, above }| Condition { key, is, above })
            .collect(),
        defaults: written.config,
        derived,
        names,
        dims,
        shapes: written.shapes,
        features,
        kinds: written.kinds,
        head: Head { name, bias, softcaps, scales },
        before,
        layers,
        after,
    })
}

fn bounded(count: usize, most: usize) -> Found<()> {
    if count <= most { Ok(()) } else { Err(format!("has {count} entries; at most {most} are read")) }
}

fn feature(written: format::Feature, names: &mut Names) -> Found<Feature> {
    let format::Feature { list, within, below, last, at, every, offset, chars, names: named, otherwise } = written;
    let bound = below.as_deref().or(at.as_deref()).map(|text| Expression::parse(text, names)).transpose()?;
    let found = [
        (FeatureOf::List, list),
        (FeatureOf::In, within),
        (FeatureOf::Last, last),
        (FeatureOf::Below, below),
        (FeatureOf::At, at),
        (FeatureOf::Every(offset), every),
        (FeatureOf::Chars, chars),
    ];
    let mut found = found.into_iter().filter_map(|(of, key)| Some((of, key?)));
    let (of, key) = found.next().ok_or("a feature is one of list, in, below, at, last, every, chars")?;
    let otherwise = otherwise.map(|other| feature(*other, names)).transpose()?.map(Box::new);
    Ok(Feature { of, key, below: bound, named, otherwise })
}

/// What blocks refer to.
struct Sizes<'a> {
    dims: &'a [Dimension],
    shapes: &'a [Vec<usize>],
    templates: &'a [Written],
}

impl Sizes<'_> {
    fn block(&self, place: &str, written: &format::Block) -> Result<Block, Fault> {
        let mut modules = Vec::new();
        for (name, class, parameters) in &written.modules {
            let parameters = parameters.iter().map(|one| self.parameter(one)).collect::<Found<Vec<_>>>();
            let parameters = at(|| format!("{place}.modules.{name}"), parameters)?;
            modules.push(Owner {
                name: name.clone(),
                class: class.clone(),
                region: Region::of(name, class),
                parameters,
            });
        }
        let format::Block { takes, gives, pre, ops, .. } = written;
        let fused = Builder::new(self, &modules, takes).code(place, (pre, ops), gives)?;
        let other = |name: &str, variant: &Option<Box<format::Variant>>| match variant {
            Some(variant) => {
                let format::Variant { takes, gives, pre, ops } = &**variant;
                let place = format!("{place}.{name}");
                Builder::new(self, &modules, takes).code(&place, (pre, ops), gives).map(Some)
            }
            None => Ok(None),
        };
        let eager = other("eager", &written.eager)?;
        let (wide, wide_eager) = (other("wide", &written.wide)?, other("wide_eager", &written.wide_eager)?);
        Ok(Block { modules, fused, eager, wide, wide_eager })
    }

    fn parameter(&self, written: &[Json]) -> Found<Parameter> {
        let [name, shape, rest @ ..] = written else { return Err("a parameter is [name, shape]".to_owned()) };
        let name = name.as_str().ok_or("a parameter's name is a text")?.to_owned();
        let shape = shape.as_u64().and_then(|shape| usize::try_from(shape).ok());
        let shape = shape.filter(|shape| *shape < self.shapes.len()).ok_or("its shape is not there")?;
        let of_tokens = self.shapes.get(shape).into_iter().flatten().filter_map(|dim| self.dims.get(*dim));
        if of_tokens.into_iter().any(|dim| dim.size.names(BATCH) || dim.size.names(LENGTH)) {
            return Err(format!("the size of {name} hangs on b or s"));
        }
        let (mut held, mut is_buffer, mut is_frozen, mut given_if) = (Held::Model, false, false, None);
        for word in rest {
            match word.as_str() {
                Some("buffer") => is_buffer = true,
                Some("frozen") => is_frozen = true,
                Some(code) => match templates::dtype(code)? {
                    Made::Of(element) => held = Held::In(element),
                    Made::Model | Made::Promoted => held = Held::Model,
                },
                None => match word.get("if").and_then(Json::as_str) {
                    Some(key) => given_if = Some(key.to_owned()),
                    None => return Err(format!("{name} has {word} where a dtype is due")),
                },
            }
        }
        Ok(Parameter { name, shape, held, is_buffer, is_frozen, given_if })
    }
}

/// One block's code as it is read.
struct Builder<'a> {
    sizes: &'a Sizes<'a>,
    modules: &'a [Owner],
    /// Each parameter of the block, in order.
    parameters: Vec<Value>,
    takes: &'a [String],
    /// Of each value, the one whose storage it is; parameters stand for none.
    roots: Vec<Option<usize>>,
    /// Of each value, its shape.
    shapes: Vec<Option<usize>>,
}

impl<'a> Builder<'a> {
    fn new(sizes: &'a Sizes<'a>, modules: &'a [Owner], takes: &'a [String]) -> Self {
        let of = |(module, owner): (usize, &Owner)| {
            (0..owner.parameters.len()).map(move |place| Value::Parameter(module, place)).collect::<Vec<_>>()
        };
        let parameters = modules.iter().enumerate().flat_map(of).collect();
        let roots = (0..takes.len()).map(Some).collect();
        Self { sizes, modules, parameters, takes, roots, shapes: vec![None; takes.len()] }
    }

    fn code(
        mut self,
        place: &str,
        (pre, ops): (&[format::Operator], &[format::Operator]),
        gives: &std::collections::BTreeMap<String, i64>,
    ) -> Result<Code, Fault> {
        at(|| place.to_owned(), bounded(pre.len() + ops.len(), MOST_OPERATORS))?;
        let mut all = Vec::new();
        for (i, op) in pre.iter().chain(ops).enumerate() {
            all.push(at(|| format!("{place}.ops[{i}] {}", op.f), self.op(op, 0))?);
        }
        let mut given = Vec::new();
        for (name, number) in gives {
            given.push((name.clone(), at(|| format!("{place}.gives.{name}"), self.value(*number))?));
        }
        self.mark(&mut all, &given);
        self.place_in_regions(&mut all, &given);
        let narrows_stream = all.iter().any(|op| self.narrows_stream(op));
        let ops = all.split_off(pre.len());
        Ok(Code { takes: self.takes.to_vec(), gives: given, pre: all, ops, values: self.roots.len(), narrows_stream })
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
        let (region, cast) = (Region::Other, Autocast::Passes);
        let frees = self.frees(written)?;
        let action = Action::Repeat(Box::new(Repeat { times, carry, ops }));
        Ok(Op { action, module: None, inputs: Vec::new(), first, frees, cast, region, kept: Vec::new() })
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
            token_major: [lies(0), lies(1), lies(2)],
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
