//! All blocks of a pass: what runs before the layers, the layers, what runs behind them.

use super::Part;
use super::block::Timed;
use super::inputs::TimingInputs;
use super::layer_times::{BlockTimes, Scalars};
use super::sizes::Sizes;
use super::tally::Passes;
use crate::model::{Block, KernelPackages, ModelPart, Module, Way};

/// Both directions of every block: known from a pass that runs them alike, or timed now.
pub(super) fn timed_blocks(inputs: &TimingInputs) -> std::rc::Rc<BlockTimes> {
    inputs.layer_times.of(inputs.job, scalars(inputs), || time(inputs))
}

fn time(inputs: &TimingInputs) -> BlockTimes {
    let model = inputs.model;
    let program = &model.recorded.program;
    let sizes = Sizes::of(inputs);
    let way = Way {
        is_eager: inputs.attention == crate::job::AttentionKernel::Eager,
        is_wide: inputs.stream >= 4.0,
        kernels: inputs.kernels,
    };
    let mut times = BlockTimes::default();
    let mut before = Timed::new((inputs, &sizes), (&program.before, way), (&model.embeddings, true), (false, false));
    before.own();
    times.outside.add(&before.passes, 1.0);
    let of_tower = trains_tower(inputs);
    let kinds = model.layers.iter().enumerate().filter(|(place, run)| run.kind == *place);
    for (place, run) in kinds {
        let Some(block) = model.recorded.block(place) else { continue };
        let (Some(recorded), sees_images) = (program.layers.get(block), run.layer.sees_images()) else { continue };
        let same = model.layers.iter().enumerate().filter(|(_, other)| other.kind == place);
        let count = same.map(|(place, _)| model.calls(place)).fold(0, u64::saturating_add) as f64;
        // What a layer of the text is called behind is what a tower gives.
        let is_behind = program.sees_images() && !recorded.code(way).pre.is_empty();
        let needs = inputs.training && (of_tower || !sees_images && !is_behind);
        let modules = (run.layer.modules.as_slice(), false);
        let mut timed = Timed::new((inputs, &sizes), (recorded, way), modules, (needs, sees_images));
        times.outside.add(&timed.before(), count);
        timed.own();
        multiply_in_kernels((inputs, &sizes), (recorded, way), modules, (needs, sees_images), &mut timed.passes);
        times.layers.add(&timed.passes, count);
        if needs || !sees_images {
            times.saved += timed.saved * count;
            times.checkpointed += timed.taken_bytes() * count;
            if program.checkpoints(block) {
                times.recomputed.add(&timed.passes.forward, count);
            }
        }
    }
    let after = (&program.after, way);
    let mut after = Timed::new((inputs, &sizes), after, (&model.final_modules, true), (inputs.training, false));
    let of_decoder = after.before();
    times.outside.add(&of_decoder, 1.0);
    if !(inputs.setting.embeds && program.has_head_layers()) {
        after.own();
        times.outside.add(&after.passes, 1.0);
    }
    times
}

/// What a package's kernels multiply: as much as the operators do that run without them, in pieces of as many tokens (64, 256). A
/// recording of the kernels has their tensors and none of their arithmetic; they fuse matmuls with elementwise steps as flash
/// attention does, whose share of peak they are taken to reach.
fn multiply_in_kernels<'a>(
    (inputs, sizes): (&'a TimingInputs<'a>, &'a Sizes<'a>),
    (block, way): (&'a Block, Way),
    modules: (&'a [Module], bool),
    needs: (bool, bool),
    passes: &mut Passes,
) {
    let torch = Way { kernels: KernelPackages::default(), ..way };
    if std::ptr::eq(block.code(way), block.code(torch)) {
        return;
    }
    let mut without = Timed::new((inputs, sizes), (block, torch), modules, needs);
    without.before();
    without.own();
    for (backward, with, without) in
        [(false, &mut passes.forward, &without.passes.forward), (true, &mut passes.backward, &without.passes.backward)]
    {
        let flops = (without.flops - with.flops).max(0.0);
        with.flops += flops;
        with.charge(Part::Attention, flops / inputs.rates.flash(backward));
    }
}

/// Whether gradients flow through the tower: something in it trains, or its embeddings are made to require gradients.
fn trains_tower(inputs: &TimingInputs) -> bool {
    let model = inputs.model;
    let trains = |module: &Module, outside| {
        module.part == ModelPart::VisionTower && (inputs.trains_base(module) || inputs.adapts(module, outside))
    };
    let leaves = !model.recorded.program.before.fused.leaves.is_empty() && inputs.job.input_grads().images;
    leaves
        || model.embeddings.iter().any(|module| trains(module, true))
        || model.layers.iter().flat_map(|run| &run.layer.modules).any(|module| trains(module, false))
}

const fn scalars(inputs: &TimingInputs) -> Scalars {
    // Of all fields, so that a new one is not forgotten; scores are outside the blocks.
    let TimingInputs {
        job: _,
        model: _,
        layer_times: _,
        scores: _,
        method,
        bits,
        rates,
        batch,
        length,
        source,
        images,
        kernels,
        precision,
        stream,
        weight,
        casts,
        attention,
        padded,
        documents,
        training,
        adapters,
        forwards,
        setting,
    } = *inputs;
    Scalars {
        method,
        bits,
        rates,
        batch,
        length,
        source,
        images,
        kernels,
        precision,
        stream,
        weight,
        casts,
        attention,
        padded,
        documents,
        training,
        adapters,
        forwards,
        setting,
    }
}
