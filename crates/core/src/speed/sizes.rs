//! A program's sizes for the batch of a pass.

use headroom_torch::ElementType;

use super::inputs::TimingInputs;
use super::kernel::Known;
use crate::model::BatchSizes;

/// Every dimension and shape.
pub(super) struct Sizes<'a> {
    dims: Vec<f64>,
    shapes: &'a [Vec<usize>],
}

impl<'a> Sizes<'a> {
    pub(super) fn of(inputs: &TimingInputs<'a>) -> Self {
        let recorded = &inputs.model.recorded;
        let batch = BatchSizes {
            // Counts far below 2^53.
            sequences: inputs.batch.ceil() as u64,
            length: inputs.length as u64,
            images: inputs.images,
            source: inputs.source as u64,
            multiprocessors: inputs.job.gpu.multiprocessors.map_or(0, u64::from),
        };
        let dims = recorded.dimensions(batch).into_iter().map(|(_, size)| size as f64).collect();
        Self { dims, shapes: recorded.shapes() }
    }

    pub(super) fn dim(&self, dim: usize) -> f64 {
        self.dims.get(dim).copied().unwrap_or(0.0)
    }

    /// A tensor of shape number `shape`.
    pub(super) fn tensor(&self, shape: usize, element: ElementType) -> Known {
        let mut known = Known { elements: 1.0, element, ..Known::default() };
        let dims = self.shapes.get(shape).map_or(&[][..], Vec::as_slice);
        for (place, dim) in dims.iter().enumerate() {
            let size = self.dim(*dim);
            known.elements *= size;
            if place == 0 {
                known.first = size;
            }
            if place + 2 < dims.len() {
                known.matrices *= size;
            }
            known.width = size;
        }
        (known.lies, known.rank) = (known.elements, dims.len());
        known
    }

    /// The second dimension of shape number `shape`.
    pub(super) fn second(&self, shape: usize) -> f64 {
        self.shapes.get(shape).and_then(|dims| dims.get(1)).map_or(1.0, |dim| self.dim(*dim))
    }
}
