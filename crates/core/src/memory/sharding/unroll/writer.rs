//! The record with every layer unrolled, as ZeRO's stages see it.

use super::super::super::autograd::{
    Action, ElementType, Event, FirstStep, Hook, LayerTag, Models, RELABELLED, Segment, Stream, Sym, TapeRecord, dims,
    rounded,
};
use super::super::super::term::Term;
use super::super::hooks::Modules;
use super::acts::Acts;
use super::copies::Copies;

/// A block that DeepSpeed holds.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Held {
    row: u16,
    storage: u32,
    bytes: i64,
}

/// Rows of one parameter.
#[derive(Debug, Clone, Copy, Default)]
struct Rows {
    gathered: u16,
    gradient: u16,
}

/// The new record being written.
#[derive(Debug)]
pub(in super::super) struct Writer<'a> {
    pub(in super::super) copies: &'a Copies,
    old: TapeRecord,
    new: TapeRecord,
    /// In its place what DeepSpeed does, where only peaks are wanted.
    acts: Option<Acts>,
    /// How many of the segment's hooks have run.
    ran: usize,
    /// On which the stage asks for what it allocates.
    stream: Stream,
    /// The place at which the optimizer steps is known.
    has_stepped: bool,
    /// By parameter's number.
    rows: Vec<Rows>,
    other_rows: Vec<(&'static str, u64, ElementType, u16)>,
}

impl<'a> Writer<'a> {
    /// `element`: dtype of parameters and gradients.
    pub(super) fn new(
        mut old: TapeRecord,
        modules: &Modules,
        copies: &'a Copies,
        element: ElementType,
        acts: Option<Acts>,
    ) -> Self {
        let mut rows = Vec::with_capacity(modules.parameters.len());
        for parameter in &modules.parameters {
            rows.push(Rows {
                gathered: old.add_row(
                    Term::GatheredParameters,
                    &parameter.name,
                    parameter.shape,
                    parameter.apart.unwrap_or(element),
                ),
                gradient: old.add_row(
                    Term::WeightGradients,
                    &parameter.name,
                    parameter.shape,
                    parameter.apart.unwrap_or(element),
                ),
            });
        }
        let new = TapeRecord {
            vocabulary: old.vocabulary,
            rows: Vec::new(),
            names: Vec::new(),
            events: Vec::new(),
            segments: Vec::new(),
            models: Models::default(),
            hooks: Vec::new(),
            marks: old.marks,
            storages: old.storages,
            named: old.named,
        };
        Self {
            copies,
            old,
            new,
            acts,
            ran: 0,
            stream: Stream::COMPUTE,
            has_stepped: false,
            rows,
            other_rows: Vec::new(),
        }
    }

    /// Writes one segment; `act` is called where its hooks run.
    pub(super) fn play(&mut self, segment: usize, hooks: &[Hook], mut act: impl FnMut(&mut Self, &Hook)) {
        let Some(found) = self.old.segments.get(segment).copied() else { return };
        if self.acts.is_some() {
            for (i, hook) in hooks.iter().enumerate() {
                self.ran = i + 1;
                act(self, hook);
            }
            self.acts.iter_mut().for_each(Acts::end_segment);
            return;
        }
        let end = self.old.segments.get(segment + 1).map_or(self.old.events.len(), |next| next.start);
        let tag = LayerTag { repeat: 1, ..found.tag };
        self.new.segments.push(Segment { tag, start: self.new.events.len(), ..found });
        // A place at which a segment begins is before all hooks that run in it.
        self.keep_marks(found.start);
        let mut hooks = hooks.iter().peekable();
        for at in found.start..=end {
            while let Some(hook) = hooks.next_if(|hook| hook.at <= at) {
                if hook.action == Action::StepDone {
                    self.begin_optimizer_step(at);
                }
                act(self, hook);
            }
            if at < end
                && let Some(event) = self.old.events.get(at).copied()
            {
                if at > found.start {
                    self.keep_marks(at);
                }
                self.new.events.push(event);
            }
        }
    }

    /// The step is written once more from here on, as it runs for the first time.
    pub(super) fn begin_first_step(&mut self) {
        self.keep_marks(self.old.events.len());
        self.new.marks.first = Some(FirstStep::default());
    }

    /// The optimizer steps before a hook on the end of the step runs, also where it allocates nothing in between.
    fn begin_optimizer_step(&mut self, at: usize) {
        if !self.has_stepped && self.old.marks.optimizer_step == at {
            self.new.marks.optimizer_step = self.new.events.len();
        }
        self.has_stepped = true;
    }

    /// Places on the old tape become those on the new one.
    fn keep_marks(&mut self, at: usize) {
        let now = self.new.events.len();
        if let Some(first) = &mut self.new.marks.first {
            let old = self.old.marks;
            for (old, new) in [
                (old.step, &mut first.step),
                (old.optimizer_step, &mut first.optimizer_step),
                (old.end, &mut first.end),
            ] {
                if old == at {
                    *new = now;
                }
            }
            return;
        }
        let (old, new) = (self.old.marks, &mut self.new.marks);
        for (old, new) in [
            (old.inputs, &mut new.inputs),
            (old.framework, &mut new.framework),
            (old.first_forward, &mut new.first_forward),
        ] {
            if old == Some(at) {
                *new = Some(now);
            }
        }
        for (old, new, is_known) in [
            (old.states, &mut new.states, false),
            (old.step, &mut new.step, false),
            (old.optimizer_step, &mut new.optimizer_step, self.has_stepped),
            (old.end, &mut new.end, false),
        ] {
            if old == at && !is_known {
                *new = now;
            }
        }
    }

    /// The new record; or, where only peaks are wanted, the old one and what DeepSpeed did in it.
    pub(super) fn finish(mut self) -> (TapeRecord, Option<Acts>) {
        let now = self.new.events.len();
        match &mut self.new.marks.first {
            // Places with nothing after them in the step.
            Some(first) => {
                let late = [&mut first.optimizer_step, &mut first.end].into_iter().filter(|at| **at < first.step);
                late.for_each(|at| *at = now);
            }
            None => self.keep_marks(self.old.events.len()),
        }
        let record = match self.acts {
            Some(_) => self.old,
            None => TapeRecord { rows: self.old.rows, names: self.old.names, ..self.new },
        };
        (record, self.acts)
    }

    fn row(&mut self, term: Term, name: &'static str, elements: u64, element: ElementType) -> u16 {
        let same =
            |other: &&(&str, u64, ElementType, u16)| other.1 == elements && other.2 == element && other.0 == name;
        if let Some((.., row)) = self.other_rows.iter().find(same) {
            return *row;
        }
        let row = self.old.add_row(term, name, dims(&[(Sym::N, elements)]), element);
        self.other_rows.push((name, elements, element, row));
        row
    }

    fn allocate_in(&mut self, row: u16, bytes: u64) -> Held {
        let storage = self.new.storages;
        self.new.storages = storage.saturating_add(1);
        let held = Held { row, storage, bytes: i64::try_from(rounded(bytes)).unwrap_or(i64::MAX) };
        if held.bytes > 0 {
            self.write(Event { row, storage, bytes: held.bytes, stream: self.stream, recorded: false });
        }
        held
    }

    /// Allocates a buffer.
    pub(in super::super) fn allocate(
        &mut self,
        term: Term,
        name: &'static str,
        elements: u64,
        element: ElementType,
    ) -> Held {
        let row = self.row(term, name, elements, element);
        self.allocate_in(row, elements.saturating_mul(element.bytes()))
    }

    /// Allocates the gathered parameter `number`.
    pub(in super::super) fn allocate_gathered(&mut self, number: u32, bytes: u64) -> Held {
        self.allocate_in(self.rows_of(number).gathered, bytes)
    }

    /// Holds the gradient of parameter `number`: it lives on until it is copied or reduced, so where the tape has just
    /// freed it, that is taken back.
    pub(in super::super) fn hold_gradient(&mut self, number: u32, bytes: u64) -> Held {
        let row = self.rows_of(number).gradient;
        let size = i64::try_from(rounded(bytes)).unwrap_or(i64::MAX);
        let just_freed = |event: &Event| event.bytes == -size && event.storage != RELABELLED;
        let Some(freed) = self.new.events.pop_if(|event| just_freed(event)) else {
            return self.allocate_in(row, bytes);
        };
        let relabelled = Event { storage: RELABELLED, ..freed };
        self.new.events.extend([relabelled, Event { row, bytes: size, ..relabelled }]);
        Held { row, storage: freed.storage, bytes: size }
    }

    fn rows_of(&self, number: u32) -> Rows {
        self.rows.get(number as usize).copied().unwrap_or_default()
    }

    fn write(&mut self, event: Event) {
        match &mut self.acts {
            Some(acts) => acts.push((self.ran, event.row, event.bytes)),
            None => self.new.events.push(event),
        }
    }

    /// Frees a block.
    pub(in super::super) fn free(&mut self, held: Held) {
        self.free_block(held, false);
    }

    /// Frees a block that another stream still works on (`record_stream`).
    pub(in super::super) fn free_recorded(&mut self, held: Held) {
        self.free_block(held, true);
    }

    fn free_block(&mut self, Held { row, storage, bytes }: Held, recorded: bool) {
        if bytes > 0 {
            self.write(Event { row, storage, bytes: -bytes, stream: self.stream, recorded });
        }
    }

    /// Does `work` on another stream.
    pub(in super::super) fn on<T>(&mut self, stream: Stream, work: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.stream, stream);
        let done = work(self);
        self.stream = outer;
        done
    }

    /// A block that lives for a moment.
    pub(in super::super) fn pass(&mut self, term: Term, name: &'static str, elements: u64, element: ElementType) {
        let held = self.allocate(term, name, elements, element);
        self.free(held);
    }
}
