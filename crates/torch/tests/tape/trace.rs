//! Runs a short program and writes down what it allocates and frees.
//!
//! `+ out 8x64 f32` is an allocation, `- out` a free, `grad is w.grad` a gradient that becomes a weight's without a copy;
//! `backward:` stands where backward begins. A name used again gets a number: `grad`, `grad2`. Inputs are there before
//! the program begins, so only their frees show; what is freed after backward is the program's end and does not show.
//!
//! The expected tapes are PyTorch's: each program was run in PyTorch 2.15 (CUDA) with the same sizes, and the allocator's
//! trace of it read off.

use headroom_torch::{
    Category, ElementType, Event, Extent, Kind, Label, PhaseId, Processors, RELABELLED, Shape, Sink, Symbol, Tape,
    TapeRecord, Tensor, Vocabulary, Wanted, backward, custom, dims,
};
use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

const INPUT: Kind = Kind(0);
const RESULT: Kind = Kind(1);
const WEIGHT_GRADIENT: Kind = Kind(2);
const GRADIENT: Kind = Kind(3);
const SHARD: Kind = Kind(4);
const WORKSPACE: Kind = Kind(5);
const PARTS: Kind = Kind(6);

/// What allocations without a name of their own are called, by kind.
const KINDS: [&str; 7] = ["input", "result", "weight gradient", "grad", "shard", "workspace", "parts"];

pub(crate) static VOCABULARY: Vocabulary = Vocabulary {
    category: |kind| kind.0 as Category,
    gradient: GRADIENT,
    gradient_shard: SHARD,
    workspace: WORKSPACE,
    reduction: PARTS,
    begin: PhaseId { number: 0, forwards: true },
};

/// The workspace of `:4096:2:16:8`, PyTorch's default below compute capability 9.0, and cublasLt's.
const CUBLAS: u64 = 8_519_680;
const CUBLAS_LT: u64 = 1 << 20;

/// The tape of a test: one function makes it, so that tests do not depend on how a tape is made.
pub(crate) fn new_tape(wanted: Wanted, extent: Extent) -> Rc<Tape> {
    let tape = Tape::new(&VOCABULARY, extent, Sink::new(wanted, &VOCABULARY));
    tape.workspace.set(CUBLAS);
    tape.bias_workspace.set(CUBLAS_LT);
    tape.processors.set(Some(Processors { count: 108, threads: 2048, compute_capability: (8, 0) }));
    tape
}

/// Batch, sequence, hidden size.
pub(crate) const X: [u64; 3] = [8, 64, 256];

/// [`X`] by head: batch, heads, sequence, head dimension.
pub(crate) const HEADS: [u64; 4] = [8, 4, 64, 64];

/// What a program runs on.
pub(crate) struct Program {
    pub(crate) tape: Rc<Tape>,
    /// A leaf that makes [`Program::made`] want gradients.
    wants: Tensor,
    /// Result of the operator behind the last, and its gradient.
    token: Tensor,
    begins: Cell<Option<usize>>,
    ends: Cell<Option<usize>>,
}

/// Events of `program`, as lines.
pub(crate) fn trace(program: impl FnOnce(&Program)) -> String {
    let (record, begins, ends) = run(program);
    lines(&record, begins, ends)
}

/// Runs `program`: its tape, and the numbers of events before backward and up to its end.
pub(crate) fn run(program: impl FnOnce(&Program)) -> (TapeRecord, Option<usize>, usize) {
    let tape = new_tape(Wanted::Rows, Extent::Whole);
    let token = |name| Tensor::new(&tape, tape.label(INPUT, name), shape(&[1]), ElementType::F32);
    let (wants, token) = (token("wants").into_leaf(None), token("token"));
    let t = Program { wants, token, tape: Rc::clone(&tape), begins: Cell::new(None), ends: Cell::new(None) };
    program(&t);
    let (begins, ends) = (t.begins.get(), t.ends.get().unwrap_or(tape.events_so_far()));
    drop(t);
    (tape.finish().into_rows(&VOCABULARY), begins, ends)
}

/// An input of an operator under test: how it is made, its sizes and its dtype.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a>(fn(&Program, &str, &[u64], ElementType) -> Tensor, &'a [u64], ElementType);

impl Input<'_> {
    fn make(self, t: &Program, name: &str) -> Tensor {
        self.0(t, name, self.1, self.2)
    }
}

/// [`Program::made`].
pub(crate) fn made(sizes: &[u64], element: ElementType) -> Input<'_> {
    Input(Program::made, sizes, element)
}

/// [`Program::leaf`].
pub(crate) fn leaf(sizes: &[u64], element: ElementType) -> Input<'_> {
    Input(Program::leaf, sizes, element)
}

/// [`Program::fixed`].
pub(crate) fn fixed(sizes: &[u64], element: ElementType) -> Input<'_> {
    Input(Program::fixed, sizes, element)
}

/// An operator on `x`, then backward; its input is dropped as soon as it has run.
pub(crate) fn of_one(x: Input<'_>, operator: impl FnOnce(&Program, &Tensor) -> Tensor) -> String {
    trace(|t| {
        let x = x.make(t, "x");
        let out = operator(t, &x);
        drop(x);
        t.backward([out]);
    })
}

/// An operator on `a` and `b`, then backward; its inputs are dropped as soon as it has run.
pub(crate) fn of_two(
    a: Input<'_>,
    b: Input<'_>,
    operator: impl FnOnce(&Program, &Tensor, &Tensor) -> Tensor,
) -> String {
    trace(|t| {
        let (a, b) = (a.make(t, "a"), b.make(t, "b"));
        let out = operator(t, &a, &b);
        drop((a, b));
        t.backward([out]);
    })
}

/// Compares what happened with what should, however it is broken into lines.
#[track_caller]
pub(crate) fn expect(found: String, expected: &str) {
    let split = |text: &str| -> Vec<String> {
        let events = text.split(['\n', ',', ':']).map(str::trim).filter(|event| !event.is_empty());
        events.map(str::to_owned).collect()
    };
    assert_eq!(split(&found), split(expected), "found:\n{found}\n");
}

/// A shape of dimensions without symbols.
pub(crate) fn shape(sizes: &[u64]) -> Shape {
    let dimensions: Vec<(Symbol, u64)> = sizes.iter().map(|size| (Symbol::ONE, *size)).collect();
    dims(&dimensions)
}

impl Program {
    /// A label for a result.
    pub(crate) fn label(&self, name: &str) -> Label {
        self.tape.label(RESULT, name)
    }

    /// A tensor that wants no gradient.
    pub(crate) fn fixed(&self, name: &str, sizes: &[u64], element: ElementType) -> Tensor {
        Tensor::new(&self.tape, self.tape.label(INPUT, name), shape(sizes), element)
    }

    /// A weight that trains: a leaf.
    pub(crate) fn leaf(&self, name: &str, sizes: &[u64], element: ElementType) -> Tensor {
        let gradient = self.tape.label(WEIGHT_GRADIENT, &format!("{name}.grad"));
        self.fixed(name, sizes, element).into_leaf(Some(gradient))
    }

    /// What an earlier operator made, whose gradient is wanted: an activation.
    pub(crate) fn made(&self, name: &str, sizes: &[u64], element: ElementType) -> Tensor {
        custom(&self.tape, &[&self.wants], |_| self.fixed(name, sizes, element), |_| [None].into())
    }

    /// Backward from an operator behind `outputs` that keeps nothing of them and makes each one's gradient anew.
    pub(crate) fn backward(&self, outputs: impl IntoIterator<Item = Tensor>) {
        let mut outputs: Vec<Tensor> = outputs.into_iter().collect();
        let like: Vec<_> = outputs.iter().map(|out| (out.shape(), out.element(), out.head_major())).collect();
        let behind = custom(
            &self.tape,
            &outputs.iter().collect::<Vec<_>>(),
            |_| self.token.detach(),
            move |call| {
                let gradient = |(shape, element, head_major): &(Shape, ElementType, bool)| {
                    Some(call.grad_like(*shape, *element).with_head_major(*head_major))
                };
                like.iter().map(gradient).collect()
            },
        );
        // As Python clears a list.
        while outputs.pop().is_some() {}
        if self.begins.get().is_none() {
            self.begins.set(Some(self.tape.events_so_far()));
        }
        if let Some(source) = behind.source() {
            backward(&self.tape, source, self.token.detach());
        }
        self.ends.set(Some(self.tape.events_so_far()));
    }
}

/// The events as lines, up to `ends`.
fn lines(record: &TapeRecord, begins: Option<usize>, ends: usize) -> String {
    let mut names = Names { record, used: HashMap::new(), of: HashMap::new() };
    let mut lines: Vec<String> = Vec::new();
    for (at, event) in record.events.iter().enumerate().take(ends) {
        if begins == Some(at) {
            lines.push("backward".to_owned());
        }
        lines.extend(names.line(at, event));
    }
    lines.join("\n")
}

/// What storages are called so far.
struct Names<'a> {
    record: &'a TapeRecord,
    used: HashMap<String, usize>,
    of: HashMap<u32, String>,
}

impl Names<'_> {
    fn line(&mut self, at: usize, event: &Event) -> Option<String> {
        let row = &self.record.rows[usize::from(event.row)];
        if event.storage == RELABELLED {
            return (event.bytes > 0).then(|| self.renamed(at, event)).flatten();
        }
        if event.bytes < 0 {
            return Some(format!("- {}", self.of[&event.storage]));
        }
        let name = self.unused(event);
        self.of.insert(event.storage, name.clone());
        let sizes: Vec<String> = row.shape.sizes().iter().map(u64::to_string).collect();
        let element = format!("{:?}", row.element).to_lowercase();
        (row.label.kind != INPUT).then(|| format!("+ {name} {} {element}", sizes.join("x")))
    }

    /// The storage that is counted in the event's row from here on: the one freed from it.
    fn renamed(&mut self, at: usize, event: &Event) -> Option<String> {
        let later = self.record.events.get(at..)?;
        let frees = |other: &&Event| other.row == event.row && other.bytes < 0 && other.storage != RELABELLED;
        let freed = later.iter().find(frees)?;
        let name = self.unused(event);
        let old = self.of.insert(freed.storage, name.clone())?;
        Some(format!("{old} is {name}"))
    }

    /// The name of the event's row, with a number where it is taken.
    fn unused(&mut self, event: &Event) -> String {
        let label = self.record.rows[usize::from(event.row)].label;
        let name = match self.record.name(label) {
            "" => KINDS[usize::from(label.kind.0)],
            name => name,
        };
        let count = self.used.entry(name.to_owned()).or_insert(0);
        *count += 1;
        if *count == 1 { name.to_owned() } else { format!("{name}{count}") }
    }
}
