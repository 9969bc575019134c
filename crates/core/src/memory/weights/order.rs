//! The order in which a program builds what it trains, for the allocator's replay: the base model module by module, then
//! its quantisation weight by weight, `prepare_model_for_kbit_training`'s fp32 copies, and adapters last.
//!
//! What survives lies where these steps left room for it, so the steps' passing tensors are written onto the tape too.

use crate::memory::autograd::{ElementType, Event, Row, StorageId, Sym, Tape, rounded};
use crate::memory::term::Term;

/// What happens between the modules and the first step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Construction {
    /// dtype that the base is built in.
    pub(super) base: ElementType,
    /// Bytes of an output head that is made and then tied to the embedding.
    pub(super) tied_head: u64,
    /// Adapters are made in the base's dtype.
    pub(super) casts_adapters: bool,
}

/// A linear layer's quantised weight: its packed numbers and what belongs to them.
#[derive(Debug, Default)]
struct Quantized {
    packed: Option<Event>,
    constants: Vec<Event>,
}

/// Writes the events from `start` on anew.
pub(super) fn rewrite(tape: &Tape, start: usize, construction: Construction) {
    tape.rewrite(start, |rows, loaded, new_storage| {
        let mut order = Order { rows, construction, new_storage, events: Vec::new() };
        order.run(loaded);
        order.events
    });
}

struct Order<'a> {
    rows: &'a [Row],
    construction: Construction,
    new_storage: &'a mut dyn FnMut() -> StorageId,
    events: Vec<Event>,
}

impl Order<'_> {
    fn run(&mut self, loaded: Vec<Event>) {
        // What each event becomes: the base's tensor as built, then what takes its place.
        let (mut quantized, mut recast, mut adapters) = (Vec::new(), Vec::new(), Vec::new());
        let mut last: Option<(Quantized, Event)> = None;
        for event in loaded {
            let Some(row) = self.rows.get(usize::from(event.row)) else { continue };
            let term = Term::from(row.label.kind);
            if term == Term::QuantizationConstants {
                if let Some((weight, _)) = &mut last {
                    weight.constants.push(event);
                }
                continue;
            }
            quantized.extend(last.take());
            let bytes = row.shape.elements().saturating_mul(self.construction.base.bytes());
            match term {
                Term::AdapterWeights => adapters.push(event),
                Term::QuantizedWeights => {
                    // Two numbers a byte.
                    let original = self.temporary(event, bytes.saturating_mul(2));
                    last = Some((Quantized { packed: Some(event), constants: Vec::new() }, original));
                }
                _ if row.element == self.construction.base => self.events.push(event),
                _ => {
                    let original = self.temporary(event, bytes);
                    recast.push((event, original));
                }
            }
        }
        quantized.extend(last);
        if let (bytes @ 1.., Some(first)) = (self.construction.tied_head, self.events.first().copied()) {
            let head = self.temporary(first, bytes);
            self.free(head);
        }
        for (weight, original) in quantized {
            self.quantize(weight, original);
        }
        for (event, original) in recast {
            self.events.push(event);
            self.free(original);
        }
        self.adapt(adapters);
    }

    /// `quantize_4bit` with nested statistics (bitsandbytes functional.py): block maxima, packed numbers, code, their mean,
    /// the maxima less it, and those quantised again.
    fn quantize(&mut self, weight: Quantized, original: Event) {
        let Some(packed) = weight.packed else { return };
        let mut constants = weight.constants.into_iter();
        let code = constants.next();
        let (first, rest) = (constants.next(), constants.collect::<Vec<_>>());
        let nested = !rest.is_empty();
        // Without nesting the maxima are kept in fp32.
        let maxima = first.filter(|_| nested).map(|scales| {
            let elements = self.rows.get(usize::from(scales.row)).map_or(0, |row| row.shape.elements());
            (scales, elements.saturating_mul(ElementType::F32.bytes()))
        });
        let passing = maxima.map(|(scales, bytes)| self.temporary(scales, bytes));
        if !nested {
            self.events.extend(first);
        }
        self.events.push(packed);
        self.events.extend(code);
        if let Some((scales, bytes)) = maxima {
            let shifted = self.temporary(scales, bytes);
            self.events.extend(rest);
            self.events.push(scales);
            self.free(shifted);
        }
        passing.into_iter().for_each(|maxima| self.free(maxima));
        self.free(original);
    }

    /// peft makes every adapter in its base layer's dtype, then casts them one by one (tuners/tuners_utils.py
    /// `_move_adapter_to_device_of_base_layer`, `cast_adapter_dtype`).
    fn adapt(&mut self, adapters: Vec<Event>) {
        let mut cast = Vec::new();
        for event in adapters {
            let Some(row) = self.rows.get(usize::from(event.row)) else { continue };
            let low_rank = [Sym::R, Sym::ExpertRanks].iter().any(|rank| row.shape.symbols().contains(&(*rank).into()));
            if low_rank && self.construction.casts_adapters && row.element != self.construction.base {
                let bytes = row.shape.elements().saturating_mul(self.construction.base.bytes());
                let first = self.temporary(event, bytes);
                cast.push((event, first));
            } else {
                self.events.push(event);
            }
        }
        for (event, first) in cast {
            self.events.push(event);
            self.free(first);
        }
    }

    /// Allocates something that does not survive the build, counted with `like`.
    fn temporary(&mut self, like: Event, bytes: u64) -> Event {
        let storage = (self.new_storage)();
        let bytes = i64::try_from(rounded(bytes)).unwrap_or(i64::MAX);
        let event = Event { storage, bytes, ..like };
        self.events.push(event);
        event
    }

    fn free(&mut self, event: Event) {
        self.events.push(Event { bytes: -event.bytes, ..event });
    }
}
