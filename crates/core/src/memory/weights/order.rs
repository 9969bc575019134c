//! The order in which a program builds what it trains, for the allocator's replay: the base model module by module, then
//! its quantisation weight by weight, `prepare_model_for_kbit_training`'s fp32 copies, and adapters last.
//!
//! What survives lies where these steps left room for it, so the steps' passing tensors are written onto the tape too.

use crate::memory::autograd::{ElementType, Event, Sym, Tape, rounded};
use crate::memory::loading::{Loader, Quantized, Turns};
use crate::memory::term::Term;

/// What happens between the modules and the first step.
#[derive(Debug)]
pub(super) struct Construction {
    /// dtype that the base is built in.
    pub(super) base: ElementType,
    /// Bytes of an output head that is made and then tied to the embedding.
    pub(super) tied_head: u64,
    /// Adapters are made in the base's dtype.
    pub(super) casts_adapters: bool,
    /// transformers loads the base and quantises it meanwhile: when each weight's turn comes.
    pub(super) quantizes_while_loading: Option<Turns>,
}

/// Writes the events from `start` on anew.
pub(super) fn rewrite(tape: &Tape, start: usize, construction: Construction) {
    tape.rewrite(start, |rows, loaded, new_storage| {
        let loader = Loader { rows, new_storage, events: Vec::new() };
        let mut order = Order { construction, loader };
        order.run(loaded);
        order.loader.events
    });
}

struct Order<'a> {
    construction: Construction,
    loader: Loader<'a>,
}

impl Order<'_> {
    fn run(&mut self, loaded: Vec<Event>) {
        if let Some(turns) = self.construction.quantizes_while_loading.take() {
            self.load(loaded, turns);
        } else {
            self.build(loaded);
        }
    }

    /// transformers loads the base; what is held in another dtype is cast then.
    fn load(&mut self, loaded: Vec<Event>, mut turns: Turns) {
        let base = self.construction.base;
        let (mut arriving, mut recast, mut adapters) = (Vec::new(), Vec::new(), Vec::new());
        for event in loaded {
            let Some(row) = self.loader.rows.get(usize::from(event.row)) else { continue };
            match Term::from(row.label.kind) {
                Term::AdapterWeights => adapters.push(event),
                Term::QuantizedWeights | Term::QuantizationConstants => arriving.push(event),
                Term::Buffers => arriving.push(event),
                _ if row.element == base => arriving.push(event),
                _ => {
                    let bytes = rounded(row.shape.elements().saturating_mul(base.bytes()));
                    let storage = (self.loader.new_storage)();
                    let original = Event { storage, bytes: i64::try_from(bytes).unwrap_or(i64::MAX), ..event };
                    turns.replace(event.storage, storage);
                    recast.push((event, original));
                    arriving.push(original);
                }
            }
        }
        self.loader.quantize_while_loading(arriving, &turns, base);
        self.recast(recast);
        self.adapt(adapters);
    }

    /// A loop of one's own builds the model, and quantises it then.
    fn build(&mut self, loaded: Vec<Event>) {
        // What each event becomes: the base's tensor as built, then what takes its place.
        let (mut quantized, mut recast, mut adapters) = (Vec::new(), Vec::new(), Vec::new());
        let mut last: Option<(Quantized, Event)> = None;
        for event in loaded {
            let Some(row) = self.loader.rows.get(usize::from(event.row)) else { continue };
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
                    let original = self.loader.temporary(event, bytes.saturating_mul(2));
                    last = Some((Quantized { packed: Some(event), constants: Vec::new() }, original));
                }
                Term::Buffers => self.loader.events.push(event),
                _ if row.element == self.construction.base => self.loader.events.push(event),
                _ => {
                    let original = self.loader.temporary(event, bytes);
                    recast.push((event, original));
                }
            }
        }
        quantized.extend(last);
        if let (bytes @ 1.., Some(first)) = (self.construction.tied_head, self.loader.events.first().copied()) {
            let head = self.loader.temporary(first, bytes);
            self.loader.free(head);
        }
        for (weight, original) in quantized {
            self.loader.quantize(weight, original);
        }
        self.recast(recast);
        self.adapt(adapters);
    }

    /// Tensors in another dtype than they were built in, each with what it was.
    fn recast(&mut self, recast: Vec<(Event, Event)>) {
        for (event, original) in recast {
            self.loader.events.push(event);
            self.loader.free(original);
        }
    }

    /// peft makes every adapter in its base layer's dtype, then casts them one by one (tuners/tuners_utils.py
    /// `_move_adapter_to_device_of_base_layer`, `cast_adapter_dtype`).
    fn adapt(&mut self, adapters: Vec<Event>) {
        let mut cast = Vec::new();
        for event in adapters {
            let Some(row) = self.loader.rows.get(usize::from(event.row)) else { continue };
            let low_rank = [Sym::R, Sym::ExpertRanks].iter().any(|rank| row.shape.symbols().contains(&(*rank).into()));
            if low_rank && self.construction.casts_adapters && row.element != self.construction.base {
                let bytes = row.shape.elements().saturating_mul(self.construction.base.bytes());
                let first = self.loader.temporary(event, bytes);
                cast.push((event, first));
            } else {
                self.loader.events.push(event);
            }
        }
        for (event, first) in cast {
            self.loader.events.push(event);
            self.loader.free(first);
        }
    }
}
