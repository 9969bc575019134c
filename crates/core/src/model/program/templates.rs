//! Tensors, nodes and templates of backwards: references as text become places.

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

fn whole(value: &Json, below: usize, what: &str) -> Found<usize> {
    let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
    number.filter(|number| *number < below).ok_or_else(|| format!("{value} is no {what}; there are {below}"))
}

/// `[shape, dtype]` or `[shape, dtype, k]` of an operator with `inputs` tensors.
pub(super) fn output(written: &[Json], shapes: usize, inputs: usize) -> Found<Output> {
    let ([shape, code], of) = match written {
        [shape, code] => ([shape, code], None),
        [shape, code, of] => ([shape, code], Some(whole(of, inputs, "tensor of the operator")?)),
        _ => return Err("an output is [shape, dtype] or [shape, dtype, tensor]".to_owned()),
    };
    let code = code.as_str().ok_or("a dtype is a text")?;
    Ok(Output { shape: whole(shape, shapes, "shape")?, made: dtype(code)?, of })
}

fn number(text: &str) -> Found<usize> {
    text.parse().ok().filter(|number| *number < MOST_TENSORS).ok_or_else(|| format!("{text} is no place"))
}

fn operand(text: &str) -> Found<Operand> {
    let (letter, rest) = text.split_at_checked(1).ok_or_else(|| format!("\"{text}\" names no tensor"))?;
    Ok(match letter {
        "g" => Operand::Gradient(number(rest)?),
        "s" => Operand::Saved(number(rest)?),
        "t" => Operand::Made(number(rest)?),
        _ => return Err(format!("\"{text}\" names no tensor; write g0, s0 or t0")),
    })
}

/// A backward's template before it is known which of its edges are any, with the shape that each gradient has.
#[derive(Debug, Clone)]
pub(super) struct Written {
    steps: Vec<Step>,
    results: Vec<Option<(Operand, Option<usize>)>>,
    is_whole: bool,
}

impl Written {
    pub(super) fn read(template: &format::Template, shapes: usize) -> Found<Self> {
        let mut steps = Vec::new();
        let mut made = 0;
        for (name, inputs, outputs, frees) in &template.t {
            let known = |operand: &Operand| !matches!(operand, Operand::Made(number) if *number >= made);
            let inputs: Vec<Operand> = inputs.iter().map(|input| operand(input)).collect::<Found<_>>()?;
            if !inputs.iter().all(known) {
                return Err(format!("{name} reads what is not made yet"));
            }
            let outputs: Vec<Output> =
                outputs.iter().map(|written| output(written, shapes, inputs.len())).collect::<Found<_>>()?;
            made += outputs.len();
            let frees = frees.iter().map(|freed| operand(freed)).collect::<Found<_>>()?;
            steps.push(Step { kernel: Kernel::of(name), inputs, outputs, frees });
        }
        let result = |written: &Json| {
            let (text, shape) = match written {
                Json::Null => return Ok(None),
                Json::String(text) => (text, None),
                Json::Array(parts) => match parts.as_slice() {
                    [Json::String(text), shape] => (text, Some(whole(shape, shapes, "shape")?)),
                    _ => return Err("a result is a tensor, or [tensor, shape]".to_owned()),
                },
                _ => return Err("a result is a tensor, or [tensor, shape]".to_owned()),
            };
            let found = operand(text)?;
            if matches!(found, Operand::Made(number) if number >= made) {
                return Err(format!("the result {text} is not made"));
            }
            Ok(Some((found, shape)))
        };
        Ok(Self { steps, results: template.r.iter().map(result).collect::<Found<_>>()?, is_whole: template.w })
    }
}

/// Where an operator with `inputs` tensors and `outputs` stands in the graph; `None`: nothing of it gets a gradient.
pub(super) fn place(
    (edges, saves, backward): &(Vec<Option<usize>>, Vec<String>, usize),
    templates: &[Written],
    inputs: usize,
    outputs: &[Output],
) -> Found<Option<Place>> {
    let template = templates.get(*backward).ok_or_else(|| format!("there is no backward {backward}"))?;
    let mut place = Place { edges: Vec::new(), saves: Vec::new(), backward: Arc::new(Template::default()) };
    let mut whole = Template { steps: template.steps.clone(), results: Vec::new(), is_whole: template.is_whole };
    let mut made = whole.steps.iter().map(|step| step.outputs.len()).sum();
    for (edge, result) in edges.iter().zip(&template.results) {
        let (Some(edge), Some((result, shape))) = (edge, result) else { continue };
        if *edge >= inputs {
            return Err(format!("an edge leads to tensor {edge} of {inputs}"));
        }
        place.edges.push(*edge);
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
    for saved in saves {
        let (letter, rest) = saved.split_at_checked(1).ok_or_else(|| format!("\"{saved}\" names no tensor"))?;
        let at = number(rest)?;
        place.saves.push(match letter {
            "i" if at < inputs => Keeps::Input(at),
            "o" if at < outputs.len() => Keeps::Output(at),
            _ => return Err(format!("\"{saved}\" is no tensor of the operator")),
        });
    }
    place.backward = Arc::new(whole);
    Ok((!place.edges.is_empty()).then_some(place))
}
