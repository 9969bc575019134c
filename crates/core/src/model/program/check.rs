//! From what is written to a program whose every reference is there. Nothing is trusted: a file may come from anywhere.

use headroom_torch::Made;
use serde_json::Value as Json;

use super::block::{KernelPackages, WithKernels};
use super::code::{Builder, Sizes, at, bounded};
use super::expression::{BATCH, Expression, LENGTH, Names};
use super::functions::{self, Found, Function};
use super::json::{Fault, FromJson as _};
use super::regions::Region;
use super::{
    Block, Classifies, Condition, Dimension, ExpertNames, Feature, FeatureOf, Head, Held, Input, Loops, LossStep,
    Owner, Parameter, Program, ProgramError, Stack, Stated, format,
};
use crate::model::ModelPart;

/// Largest file, bytes.
const LARGEST: usize = 16 << 20;
/// Most dimensions and most shapes.
const MOST_SIZES: usize = 1 << 14;
/// Most dimensions of one shape.
const MOST_DIMENSIONS: usize = 12;
/// Most stacks of layers.
const MOST_STACKS: usize = 8;
/// Steps from logits to their cross-entropy: each is as large as they are.
const MOST_LOSS_STEPS: usize = 8;
/// The one format there is.
const FORMAT: u64 = 2;

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
        // Lists of programs are of an older format.
        let is_list = text.trim_start().starts_with('[');
        let old =
            |format: u64| wrong("format", format!("is {format}; this version reads {FORMAT}: record the model anew"));
        if is_list {
            return Err(old(1));
        }
        let json: Json = serde_json::from_str(text).map_err(|error| wrong("program", error.to_string()))?;
        match json.get("format").map(Json::as_u64) {
            Some(Some(FORMAT)) => {}
            Some(Some(other)) => return Err(old(other)),
            Some(None) => return Err(wrong("format", "is no whole number".to_owned())),
            None => return Err(wrong("program", "has no format".to_owned())),
        }
        let file = format::File::from_json(json).map_err(|(place, why)| match place.as_str() {
            "" => wrong("program", why),
            place => wrong(place, why),
        })?;
        if file.programs.is_empty() {
            return Err(wrong("program", "the file has none".to_owned()));
        }
        check(file).map_err(|fault| wrong(&fault.0, fault.1))
    }
}

/// Every program of a file.
fn check(file: format::File) -> Result<Vec<Program>, Fault> {
    let format::File { dims, shapes, functions, programs } = file;
    at(|| "dims".to_owned(), bounded(dims.len(), MOST_SIZES))?;
    at(|| "shapes".to_owned(), bounded(shapes.len(), MOST_SIZES))?;
    for (i, shape) in shapes.iter().enumerate() {
        let is_sound = shape.len() <= MOST_DIMENSIONS && shape.iter().all(|dim| *dim < dims.len());
        let sound = if is_sound { Ok(()) } else { Err("names a dimension that is not there".to_owned()) };
        at(|| format!("shapes[{i}]"), sound)?;
    }
    let mut read = Vec::with_capacity(functions.len());
    for (i, function) in functions.into_iter().enumerate() {
        let name = function.f.clone();
        read.push(at(|| format!("functions[{i}] {name}"), Function::read(function, shapes.len()))?);
    }
    programs.into_iter().map(|program| one(program, &dims, &shapes, &read)).collect()
}

/// One program of a file with these dimensions, shapes and functions.
fn one(
    written: format::Program,
    dims: &[String],
    shapes: &[Vec<usize>],
    functions: &[Function],
) -> Result<Program, Fault> {
    let mut names = Names::new();
    let mut own = Vec::with_capacity(dims.len());
    for (i, text) in dims.iter().enumerate() {
        // What another program of the file reads asks this one's configs for nothing.
        let text = if written.unread.contains(&i) { "0" } else { text };
        let size = at(|| format!("dims: {text}"), Expression::parse(text, &mut names))?;
        own.push(Dimension { text: text.to_owned(), size });
    }
    let dims = own;
    let mut derived = Vec::new();
    for (key, text) in &written.derived {
        derived.push((key.clone(), at(|| format!("derived.{key}"), Expression::parse(text, &mut names))?));
    }
    let sizes = Sizes { dims: &dims, shapes, functions };
    let mut layers = Vec::new();
    for (i, block) in written.layers.iter().enumerate() {
        layers.push(sizes.block(&format!("layers[{i}]"), block)?);
    }
    let before = sizes.block("before", &written.before)?;
    let after = sizes.block("after", &written.after)?;
    let mut stacks = Vec::new();
    let (features, kinds, loops) = (written.features, written.kinds, written.loops);
    let only = || format::Stack {
        part: "language_model".to_owned(),
        name: String::new(),
        count: None,
        checkpoints: None,
        features,
        kinds,
        loops,
    };
    let listed = if written.stacks.is_empty() { vec![only()] } else { written.stacks };
    at(|| "stacks".to_owned(), bounded(listed.len(), MOST_STACKS))?;
    for stack in listed {
        stacks.push(self::stack(stack, layers.len(), &mut names)?);
    }
    let inputs = written.inputs.into_iter().map(|input| self::input(input, shapes.len())).collect::<Result<_, _>>()?;
    let head = head(written.head, shapes)?;
    let expert_names = match written.expert_names.as_deref() {
        None => None,
        Some("mixtral") => Some(ExpertNames::Mixtral),
        Some("qwen2_moe") => Some(ExpertNames::Qwen2Moe),
        Some(other) => return Err(("expert_names".to_owned(), format!("{other} is neither mixtral nor qwen2_moe"))),
    };
    let condition = |format::Condition { key, is, above }| Condition { key, is, above };
    Ok(Program {
        model_type: written.model_type,
        class: written.class,
        versions: written.versions,
        when: written.when.into_iter().map(condition).collect(),
        defaults: written.config,
        aliases: written.aliases,
        derived,
        names,
        dims,
        shapes: shapes.to_vec(),
        rates: rates(functions),
        stacks,
        inputs,
        packs: written.packs,
        reads_sources: written.sources,
        keeps: written.keeps,
        expert_names,
        supports_sdpa: written.sdpa,
        holds_input: written.holds,
        head,
        before,
        layers,
        after,
    })
}

/// The output head; `shapes`: those of the file.
fn head(mut written: format::Head, shapes: &[Vec<usize>]) -> Result<Head, Fault> {
    let stated = |written| match written {
        format::Stated::Always(always) => Stated::Always(always),
        format::Stated::Where(key) => Stated::Where(key),
    };
    let classifies = match written.classifies.as_deref() {
        None => Classifies::HeadLayers,
        Some("pooler") => Classifies::Pooled,
        Some("dense") => Classifies::ByItself,
        Some(other) => return Err(("head.classifies".to_owned(), format!("{other} is neither pooler nor dense"))),
    };
    let is_matrix = |shape: &usize| shapes.get(*shape).is_some_and(|dims| dims.len() == 2);
    if !written.weight.as_ref().is_none_or(is_matrix) {
        return Err(("head.weight".to_owned(), "is no shape of a matrix".to_owned()));
    }
    let loss_steps = |written: Vec<String>| -> Result<Vec<LossStep>, Fault> {
        at(|| "head.loss".to_owned(), bounded(written.len(), MOST_LOSS_STEPS))?;
        let step = |name: String| match name.as_str() {
            "float" => Ok(LossStep::Upcast),
            "shift" => Ok(LossStep::Shift),
            "copy" => Ok(LossStep::Copy),
            other => Err(("head.loss".to_owned(), format!("{other} is none of float, shift and copy"))),
        };
        written.into_iter().map(step).collect()
    };
    let loss = written.loss.take().map(loss_steps).transpose()?;
    let format::Head { name, bias_of, gain, scales, upcasts, adds, pooler, ties, weight, wide, .. } = written;
    let (bias, softcaps) = (stated(written.bias), stated(written.softcaps));
    Ok(Head {
        name,
        bias,
        bias_of,
        gain,
        softcaps,
        scales,
        upcasts,
        adds,
        pooler,
        classifies,
        ties,
        weight,
        wide,
        loss,
    })
}

/// Keys of rates of dropout that functions name, each once.
fn rates(functions: &[Function]) -> Vec<String> {
    let of_attention = functions.iter().filter_map(|function| function.attention.as_ref()?.dropout.clone());
    let mut keys: Vec<String> =
        functions.iter().filter_map(|function| function.rate.clone()).chain(of_attention).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// A tensor of the batch.
fn input((name, (shape, code)): (String, (usize, String)), shapes: usize) -> Result<Input, Fault> {
    let sound = if shape < shapes { functions::dtype(&code) } else { Err("its shape is not there".to_owned()) };
    let held = match at(|| format!("inputs.{name}"), sound)? {
        Made::Of(element) => Held::In(element),
        Made::Model | Made::Promoted => Held::Model,
    };
    Ok(Input { name, shape, held })
}

fn stack(written: format::Stack, layers: usize, names: &mut Names) -> Result<Stack, Fault> {
    let format::Stack { part, name, count, checkpoints, features, kinds, loops } = written;
    let checkpoints = checkpoints.unwrap_or(true);
    let place = || format!("stacks.{name}");
    let part = at(place, ModelPart::parse(&part).ok_or_else(|| format!("{part} is no part of a model")))?;
    let features = features.into_iter().map(|one| feature(one, names)).collect::<Found<_>>();
    let features = at(|| "features".to_owned(), features)?;
    if let Some((kind, _)) = kinds.iter().find(|(_, layer)| **layer >= layers) {
        return Err((format!("kinds.{kind}"), format!("there are {layers} layers")));
    }
    let mut bound = |text: &str| at(|| format!("loops: {text}"), Expression::parse(text, names));
    let loops = match loops {
        Some(format::Loops { from, to, times }) => {
            Some(Loops { from: bound(&from)?, to: bound(&to)?, times: bound(&times)? })
        }
        None => None,
    };
    Ok(Stack { part, name, count, checkpoints, features, kinds, loops })
}

fn feature(written: format::Feature, names: &mut Names) -> Found<Feature> {
    let format::Feature {
        list,
        within,
        below,
        last,
        at,
        every,
        from,
        offset,
        chars,
        nth,
        first,
        repeats,
        turns,
        again,
        ..
    } = written;
    let (named, otherwise) = (written.names, written.otherwise);
    let bound = below.as_deref().or(at.as_deref()).map(|text| Expression::parse(text, names)).transpose()?;
    let found = [
        (FeatureOf::List, list),
        (FeatureOf::In(offset), within),
        (FeatureOf::Nth(offset), nth),
        (FeatureOf::First, first),
        (FeatureOf::Last, last),
        (FeatureOf::Below, below),
        (FeatureOf::At, at),
        (FeatureOf::Every(offset), every),
        (FeatureOf::Chars, chars),
        (FeatureOf::Repeats, repeats),
        (FeatureOf::Again, again.map(|_| "model_type".to_owned())),
    ];
    let mut found = found.into_iter().filter_map(|(of, key)| Some((of, key?)));
    let (of, key) = found
        .next()
        .ok_or("a feature is one of list, in, nth, first, below, at, last, every, chars, repeats, again")?;
    let otherwise = otherwise.map(|other| feature(*other, names)).transpose()?.map(Box::new);
    Ok(Feature { of, key, below: bound, from, turns, named, otherwise })
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
        let code = |place: &str, written: &format::Variant| Builder::new(self, &modules, written).code(place);
        let fused = code(place, &written.own)?;
        let other = |name: &str, variant: &Option<Box<format::Variant>>| {
            variant.as_deref().map(|variant| code(&format!("{place}.{name}"), variant)).transpose()
        };
        let eager = other("eager", &written.eager)?;
        let (wide, wide_eager) = (other("wide", &written.wide)?, other("wide_eager", &written.wide_eager)?);
        let needs = |flash_linear_attention, causal_conv1d, mamba_ssm| KernelPackages {
            flash_linear_attention,
            causal_conv1d,
            mamba_ssm,
        };
        let mut kernels = Vec::new();
        for (needs, name, narrow, wide) in [
            (needs(false, true, true), "ssm", &written.ssm, &written.wide_ssm),
            (needs(true, true, false), "fla_conv", &written.fla_conv, &written.wide_fla_conv),
            (needs(true, false, false), "fla", &written.fla, &written.wide_fla),
            (needs(false, true, false), "conv", &written.conv, &written.wide_conv),
        ] {
            if let Some(narrow) = other(name, narrow)? {
                kernels.push(WithKernels { needs, narrow, wide: other(&format!("wide_{name}"), wide)? });
            }
        }
        Ok(Block { modules, fused, eager, wide, wide_eager, kernels })
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
        let (mut held, mut given_if, mut of) = (Held::Model, None, None);
        let (mut is_buffer, mut is_frozen, mut is_unreached) = (false, false, false);
        for word in rest {
            match word.as_str() {
                Some("buffer") => is_buffer = true,
                Some("frozen") => is_frozen = true,
                Some("unreached") => is_unreached = true,
                Some(code) => match functions::dtype(code)? {
                    Made::Of(element) => held = Held::In(element),
                    Made::Model | Made::Promoted => held = Held::Model,
                },
                None => match (word.get("if").and_then(Json::as_str), word.get("of").and_then(Json::as_str)) {
                    (Some(key), _) => given_if = Some(key.to_owned()),
                    (None, Some(parameter)) => of = Some(parameter.to_owned()),
                    (None, None) => return Err(format!("{name} has {word} where a dtype is due")),
                },
            }
        }
        Ok(Parameter { name, shape, held, is_buffer, is_frozen, is_unreached, given_if, of })
    }
}
