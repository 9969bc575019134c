//! A program with the figures of one config, and what its sizes come to for a batch.

use std::fmt;
use std::sync::Arc;

use super::SOURCE;
use super::block::{Block, KernelPackages, Parameter, RESIDUAL, Value, Way};
use super::expression::{BATCH, LENGTH};
use super::{Dimension, Program};

/// What a program's sizes hang on beside its config.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BatchSizes {
    /// b.
    pub(crate) sequences: u64,
    /// s.
    pub(crate) length: u64,
    pub(crate) images: BatchImages,
    /// Tokens of each source, of an encoder-decoder.
    pub(crate) source: u64,
    /// Multiprocessors of the GPU, by which some kernels cut their sums.
    pub(crate) multiprocessors: u64,
}

impl BatchSizes {
    /// One token: what parameters take hangs on no batch.
    pub(crate) const ONE: Self = Self {
        sequences: 1,
        length: 1,
        images: BatchImages {
            count: 1,
            patches: 1,
            windows: 1,
            rows: 1,
            columns: 1,
            tile_grid: (1, 1),
            feature_grid: (1, 1),
            positions: 2,
        },
        source: 1,
        multiprocessors: 1,
    };
}

/// The images of a batch as its tower sees them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct BatchImages {
    /// Images, tiles counted one by one.
    pub(crate) count: u64,
    /// Patches: of each image, or of all where the tower takes them as one sequence.
    pub(crate) patches: u64,
    /// Windows of attention of all images.
    pub(crate) windows: u64,
    /// Patches of an image's height; images that are one sequence count as one below the other.
    pub(crate) rows: u64,
    /// Patches of an image's width.
    pub(crate) columns: u64,
    /// Tiles of an image's height and width where they are put together again; of several images one is below the other.
    pub(crate) tile_grid: (u64, u64),
    /// Rows and columns of features that are left of them without padding; likewise.
    pub(crate) feature_grid: (u64, u64),
    /// Positions of the text that all images take, where the class puts tiles together.
    pub(crate) positions: u64,
}

/// A program with the figures of one config.
pub struct Recorded {
    pub(crate) program: Arc<Program>,
    /// Values of the program's names; b and s have none.
    pub(super) values: Vec<Option<f64>>,
    /// The block of each run of the model's layers.
    pub(super) blocks: Vec<usize>,
    /// Every call of a layer in order: its number among all layers, and the block that runs then. Empty: each is called once.
    pub(super) calls: Vec<(usize, usize)>,
    /// Keys that give parameters and are not set.
    pub(super) without: Vec<String>,
    /// Keys of rates of dropout that are none.
    pub(super) undropped: Vec<String>,
}

impl fmt::Debug for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorded").field("program", &self.program).field("blocks", &self.blocks).finish_non_exhaustive()
    }
}

impl PartialEq for Recorded {
    fn eq(&self, other: &Self) -> bool {
        let same = Arc::ptr_eq(&self.program, &other.program);
        same && self.values == other.values
            && self.blocks == other.blocks
            && self.calls == other.calls
            && self.without == other.without
            && self.undropped == other.undropped
    }
}

impl Recorded {
    /// The block of the model's run of layers `run`.
    pub(crate) fn block(&self, run: usize) -> Option<usize> {
        self.blocks.get(run).copied()
    }

    /// Whether the model has `parameter`.
    pub(crate) fn has(&self, parameter: &Parameter) -> bool {
        parameter.given_if.as_ref().is_none_or(|key| !self.without.contains(key))
    }

    /// Whether dropout of the rate under `key` runs in training; recordings of older files say no key, and ran with one.
    pub(crate) fn drops_out(&self, key: Option<&String>) -> bool {
        key.is_none_or(|key| !self.undropped.contains(key))
    }

    /// Every call of a layer in order, as its number among all layers and the block that runs then; empty where each is called once.
    pub(crate) fn calls(&self) -> &[(usize, usize)] {
        &self.calls
    }

    /// What runs of layers give each other beside the residual stream.
    pub(crate) fn layers_exchange(&self) -> bool {
        let named = |list: &[(String, Value)]| list.iter().any(|(name, _)| name != RESIDUAL);
        let many = |block: usize| self.blocks.iter().filter(|other| **other == block).count() > 1;
        let gives = |(i, block): (usize, &Block)| named(&block.fused.gives) || (named(&block.fused.ahead) && many(i));
        self.program.layers.iter().enumerate().any(gives)
    }

    /// Whether several layers run modules around one weight, which stands outside of them (Zamba2's transformers).
    pub(crate) fn layers_share_weights(&self) -> bool {
        let parameters = self.own_layers().flat_map(|block| &block.modules).flat_map(|owner| &owner.parameters);
        parameters.into_iter().any(|parameter| parameter.of.is_some())
    }

    /// Whether layers carry a state from token to token, for which packages have kernels.
    pub(crate) fn scans(&self) -> bool {
        let decays = self.own_layers().flat_map(|block| &block.modules).flat_map(|owner| &owner.parameters);
        // What every state-space layer and gated delta net calls the logarithm of its decay.
        decays.into_iter().any(|parameter| parameter.name == "A_log")
    }

    /// Packages whose kernels its layers would run.
    pub(crate) fn kernel_packages(&self) -> KernelPackages {
        self.own_layers().map(Block::packages).fold(KernelPackages::default(), KernelPackages::and)
    }

    /// Those whose kernels run where `installed` are there.
    pub(crate) fn kernels_that_run(&self, is_eager: bool, installed: KernelPackages) -> KernelPackages {
        let way = Way { is_eager, is_wide: false, kernels: installed };
        let run = self.own_layers().map(|block| block.packages_by(way));
        run.fold(KernelPackages::default(), KernelPackages::and)
    }

    /// Whether kernels read weights of linear layers as they are, where `installed` are there.
    pub(crate) fn kernels_bypass_linear_layers(&self, installed: KernelPackages) -> bool {
        let way = Way { is_eager: false, is_wide: false, kernels: installed };
        let linear = |block: &Block, i: usize| block.modules.get(i).is_some_and(|owner| owner.class == "Linear");
        self.own_layers().any(|block| (0..block.modules.len()).any(|i| linear(block, i) && block.bypasses(i, way)))
    }

    /// The program's layers that the model has.
    fn own_layers(&self) -> impl Iterator<Item = &Block> {
        self.blocks.iter().filter_map(|block| self.program.layers.get(*block))
    }

    /// Every dimension, as written and as it comes to for a batch; one that comes to nothing is 0.
    pub(crate) fn dimensions(&self, batch: BatchSizes) -> Vec<(&str, u64)> {
        let mut values = self.values.clone();
        let BatchSizes { sequences, length, images, source, multiprocessors } = batch;
        for (name, size) in [(BATCH, sequences), (LENGTH, length)] {
            values.get_mut(name).into_iter().for_each(|value| *value = Some(size as f64));
        }
        for (name, value) in self.program.names.list().iter().zip(&mut values) {
            let size = match name.as_str() {
                "images.count" => images.count,
                "images.patches" => images.patches,
                "images.windows" => images.windows,
                "images.rows" => images.rows,
                "images.columns" => images.columns,
                "images.tile_rows" => images.tile_grid.0,
                "images.tile_columns" => images.tile_grid.1,
                "images.feature_rows" => images.feature_grid.0,
                "images.feature_columns" => images.feature_grid.1,
                "images.positions" => images.positions,
                SOURCE if self.program.reads_sources => source,
                "gpu.multiprocessors" => multiprocessors,
                _ => continue,
            };
            *value = Some(size as f64);
        }
        let size = |dimension: &Dimension| dimension.size.value(&values).map_or(0, |size| size.max(0.0) as u64);
        self.program.dims.iter().map(|dimension| (dimension.text.as_str(), size(dimension))).collect()
    }

    /// Every shape as numbers of dimensions.
    pub(crate) fn shapes(&self) -> &[Vec<usize>] {
        &self.program.shapes
    }
}
