//! Functions: what operators have in common, their backward's template among it. References as text become places.

use std::sync::Arc;

use headroom_torch::{ElementType, Keeps, Kernel, Made, Operand, Output, Place, Step, Template};
use serde_json::Value as Json;

use super::format;

/// What is wrong, without its place.
pub(super) type Found<T> = Result<T, String>;

/// Most tensors of one operator.
const MOST_TENSORS: usize = 4_096;

/// dtype of a code.
pub(super) fn dtype(code: &str) -> Found<Made> {
    Ok(match code {
        "p" => Made::Promoted,
        "h" => Made::Model,
        "f" => Made::Of(ElementType::F32),
        "d" => Made::Of(ElementType::F64),
        "l" => Made::Of(ElementType::I64),
        "i" => Made::Of(ElementType::I32),
        "b" => Made::Of(ElementType::Byte),
        _ => return Err(format!("{code} is no dtype; write one of p, h, f, d, l, i, b")),
    })
}

/// A whole number below `below`.
pub(super) fn whole(value: &Json, below: usize, what: &str) -> Found<usize> {
    let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
    number.filter(|number| *number < below).ok_or_else(|| format!("{value} is no {what}; there are {below}"))
}

fn number(text: &str) -> Found<usize> {
    text.parse().ok().filter(|number| *number < MOST_TENSORS).ok_or_else(|| format!("{text} is no place"))
}

/// A letter and the number behind it.
pub(super) fn lettered(text: &str) -> Found<(&str, usize)> {
    let (letter, rest) = text.split_at_checked(1).ok_or_else(|| format!("\"{text}\" names no tensor"))?;
    Ok((letter, number(rest)?))
}

fn operand(text: &str) -> Found<Operand> {
    Ok(match lettered(text)? {
        ("g", place) => Operand::Gradient(place),
        ("s", place) => Operand::Saved(place),
        ("t", place) => Operand::Made(place),
        _ => return Err(format!("\"{text}\" names no tensor; write g0, s0 or t0")),
    })
}

/// The shape of a tensor of a function.
#[derive(Debug, Clone, Copy)]
enum Shape {
    /// Each operator says it.
    Given,
    Numbered(usize),
    /// That of the operator's tensor, or of its output.
    Input(usize),
    Output(usize),
}

impl Shape {
    fn read(written: &Json, shapes: usize) -> Found<Self> {
        Ok(match written {
            Json::Null => Self::Given,
            Json::String(text) => match lettered(text)? {
                ("i", place) => Self::Input(place),
                ("o", place) => Self::Output(place),
                _ => return Err(format!("\"{text}\" is no shape; write a number, i0 or o0")),
            },
            number => Self::Numbered(whole(number, shapes, "shape")?),
        })
    }

    /// Its number, where the operator's tensors and outputs have these.
    fn of(self, inputs: &[Option<usize>], outputs: &[Output]) -> Found<usize> {
        let found = match self {
            Self::Given => None,
            Self::Numbered(number) => Some(number),
            Self::Input(place) => inputs.get(place).copied().flatten(),
            Self::Output(place) => outputs.get(place).map(|output| output.shape),
        };
        found.ok_or_else(|| "a shape is that of a tensor that is not there, or whose shape nothing says".to_owned())
    }
}

/// `[shape, dtype]` or `[shape, dtype, k]`, before its shape has a number.
#[derive(Debug, Clone, Copy)]
struct Tensor {
    shape: Shape,
    made: Made,
    of: Option<usize>,
}

impl Tensor {
    fn read(written: &[Json], shapes: usize) -> Found<Self> {
        let ([shape, code], of) = match written {
            [shape, code] => ([shape, code], None),
            [shape, code, of] => ([shape, code], Some(whole(of, MOST_TENSORS, "tensor of an operator")?)),
            _ => return Err("an output is [shape, dtype] or [shape, dtype, tensor]".to_owned()),
        };
        let code = code.as_str().ok_or("a dtype is a text")?;
        Ok(Self { shape: Shape::read(shape, shapes)?, made: dtype(code)?, of })
    }
}

/// An operator of a backward, before its shapes have numbers.
struct Planned {
    kernel: Kernel,
    inputs: Vec<Operand>,
    outputs: Vec<Tensor>,
    frees: Vec<Operand>,
}

impl Planned {
    /// The same as it runs on tensors with memory: what adds rows to zeros that a backward has made writes into them. Where operators are
    /// recorded it gives a tensor of its own (torch/csrc/autograd/FunctionsManual.cpp `index_backward`, `index_select_backward_symint`,
    /// `value_selecting_reduction_backward_symint`, aten/src/ATen/native/TensorAdvancedIndexing.cpp `gather_backward`:
    /// `isTensorSubclassLike`).
    fn in_place(mut self, name: &str) -> Self {
        const ADDING: [&str; 4] = ["index_put", "scatter", "scatter_add", "index_add"];
        let base = name.split('.').next().unwrap_or(name);
        let zeros = self.inputs.first().filter(|first| matches!(first, Operand::Made(_)) && self.frees.contains(first));
        if let (true, Some(&zeros), [sum]) = (ADDING.contains(&base), zeros, self.outputs.as_mut_slice()) {
            sum.of = Some(0);
            self.kernel = Kernel::of(&format!("{base}_"));
            self.frees.retain(|freed| *freed != zeros);
        }
        self
    }
}

/// What operators have in common.
pub(super) struct Function {
    pub(super) name: String,
    pub(super) attention: Option<format::Attention>,
    /// Key of the config that says the rate of dropout.
    pub(super) rate: Option<String>,
    outputs: Vec<Tensor>,
    /// Edges and what is saved, where it has a node.
    node: Option<(Vec<Option<usize>>, Vec<Keeps>)>,
    steps: Vec<Planned>,
    results: Vec<Option<(Operand, Option<Shape>)>>,
    is_whole: bool,
    /// Of a cast to the dtype of another tensor: the place of that, the last of the operator's.
    pub(super) like: Option<usize>,
}

/// Of a cast to the dtype of one of its tensors the place of that, in whose place the model's dtype then stands.
fn taken_dtype(name: &str, outputs: &mut [Vec<Json>]) -> Found<Option<usize>> {
    let ([output], true) = (outputs, Kernel::of(name).is_cast()) else { return Ok(None) };
    let Some(code) = output.get_mut(1) else { return Ok(None) };
    let place = code.as_str().and_then(|text| text.strip_prefix('i')).filter(|place| !place.is_empty());
    let Some(place) = place.map(number).transpose()? else { return Ok(None) };
    *code = Json::from("h");
    Ok(Some(place))
}

impl Function {
    pub(super) fn read(written: format::Function, shapes: usize) -> Found<Self> {
        let format::Function { f, mut o, n, t, r, w, p, a } = written;
        let like = taken_dtype(&f, &mut o)?;
        let is_cast = Kernel::of(&f).is_cast();
        let mut steps = Vec::new();
        let mut made = 0;
        for (name, inputs, outputs, frees) in &t {
            let known = |operand: &Operand| !matches!(operand, Operand::Made(number) if *number >= made);
            let inputs: Vec<Operand> = inputs.iter().map(|input| operand(input)).collect::<Found<_>>()?;
            if !inputs.iter().all(known) {
                return Err(format!("{name} reads what is not made yet"));
            }
            let mut outputs: Vec<Tensor> = outputs.iter().map(|one| Tensor::read(one, shapes)).collect::<Found<_>>()?;
            if is_cast && Kernel::of(name).is_cast() {
                // Back to the dtype of what was cast, whatever that is here.
                outputs.iter_mut().for_each(|output| output.made = Made::Model);
            }
            if outputs.iter().any(|output| output.of.is_some_and(|of| of >= inputs.len())) {
                return Err(format!("{name} gives the storage of a tensor that it has not"));
            }
            made += outputs.len();
            let frees = frees.iter().map(|freed| operand(freed)).collect::<Found<_>>()?;
            steps.push(Planned { kernel: Kernel::of(name), inputs, outputs, frees }.in_place(name));
        }
        let results = r.iter().map(|written| result(written, made, shapes)).collect::<Found<_>>()?;
        let keeps = |saved: &String| match lettered(saved)? {
            ("i", place) => Ok(Keeps::Input(place)),
            ("o", place) => Ok(Keeps::Output(place)),
            _ => Err(format!("\"{saved}\" is no tensor of the operator")),
        };
        let node = match n {
            Some((edges, saved)) => Some((edges, saved.iter().map(keeps).collect::<Found<_>>()?)),
            None => None,
        };
        let outputs = o.iter().map(|one| Tensor::read(one, shapes)).collect::<Found<_>>()?;
        Ok(Self { name: f, attention: a, rate: p, outputs, node, steps, results, is_whole: w, like })
    }

    /// The outputs of an operator with tensors of these shapes; `given`: shapes that the operator itself says, in order.
    pub(super) fn outputs(&self, inputs: &[Option<usize>], given: &[usize]) -> Found<Vec<Output>> {
        let mut given = given.iter();
        let mut found = Vec::with_capacity(self.outputs.len());
        for Tensor { shape, made, of } in &self.outputs {
            let shape = match shape {
                Shape::Given => *given.next().ok_or("says too few shapes")?,
                other => other.of(inputs, &found)?,
            };
            if of.is_some_and(|of| of >= inputs.len()) {
                return Err("gives the storage of a tensor that it has not".to_owned());
            }
            found.push(Output { shape, made: *made, of: *of });
        }
        if given.next().is_some() {
            return Err("says more shapes than it has outputs".to_owned());
        }
        Ok(found)
    }

    /// Where an operator with tensors of these shapes and these outputs stands in the graph; `None`: nothing of it gets a gradient.
    pub(super) fn place(&self, inputs: &[Option<usize>], outputs: &[Output]) -> Found<Option<Place>> {
        let Some((edges, saves)) = &self.node else { return Ok(None) };
        let mut whole = Template { steps: Vec::new(), results: Vec::new(), is_whole: self.is_whole };
        for Planned { kernel, inputs: read, outputs: made, frees } in &self.steps {
            let tensor = |Tensor { shape, made, of }: &Tensor| {
                Ok(Output { shape: shape.of(inputs, outputs)?, made: *made, of: *of })
            };
            let made = made.iter().map(tensor).collect::<Found<_>>()?;
            whole.steps.push(Step { kernel: *kernel, inputs: read.clone(), outputs: made, frees: frees.clone() });
        }
        let mut found = Vec::new();
        let mut made = whole.steps.iter().map(|step| step.outputs.len()).sum();
        for (edge, result) in edges.iter().zip(&self.results) {
            let (Some(edge), Some((result, shape))) = (edge, result) else { continue };
            if *edge >= inputs.len() {
                return Err(format!("an edge leads to tensor {edge} of {}", inputs.len()));
            }
            found.push(*edge);
            let shape = shape.map(|shape| shape.of(inputs, outputs)).transpose()?;
            // A gradient of another shape than the tensor's own is a view of it.
            let own = match result {
                Operand::Made(number) => {
                    let made = whole.steps.iter().flat_map(|step| &step.outputs).nth(*number);
                    made.map(|output| output.shape)
                }
                Operand::Gradient(output) => outputs.get(*output).map(|output| output.shape),
                Operand::Saved(_) => None,
            };
            match shape.filter(|shape| Some(*shape) != own) {
                Some(shape) => {
                    let view = Output { shape, made: Made::Promoted, of: Some(0) };
                    let kernel = Kernel::Plain;
                    whole.steps.push(Step { kernel, inputs: vec![*result], outputs: vec![view], frees: Vec::new() });
                    whole.results.push(Operand::Made(made));
                    made += 1;
                }
                None => whole.results.push(*result),
            }
        }
        let is_there = |keeps: &Keeps| match keeps {
            Keeps::Input(place) => *place < inputs.len(),
            Keeps::Output(place) => *place < outputs.len(),
        };
        if !saves.iter().all(is_there) {
            return Err("saves what is no tensor of the operator".to_owned());
        }
        // What an edge that none of the class's models has would save was not there when this was recorded.
        let saves_all = found.len() == 1;
        let place = Place { edges: found, saves: saves.clone(), saves_all, backward: Arc::new(whole) };
        Ok((!place.edges.is_empty()).then_some(place))
    }
}

/// The gradient of an edge, of a backward that makes `made` tensors, and its shape.
fn result(written: &Json, made: usize, shapes: usize) -> Found<Option<(Operand, Option<Shape>)>> {
    let (text, shape) = match written {
        Json::Null => return Ok(None),
        Json::String(text) => (text, None),
        Json::Array(parts) => match parts.as_slice() {
            [Json::String(text), shape] => (text, Some(Shape::read(shape, shapes)?)),
            _ => return Err("a result is a tensor, or [tensor, shape]".to_owned()),
        },
        _ => return Err("a result is a tensor, or [tensor, shape]".to_owned()),
    };
    let found = operand(text)?;
    if matches!(found, Operand::Made(number) if number >= made) {
        return Err(format!("the result {text} is not made"));
    }
    Ok(Some((found, shape)))
}
