//! A program and a `config.json` as a [`Model`].

use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::completed::completed;
use super::config::Figures;
use super::facts::{Facts, attention, feed_forward, modules};
use super::{Action, Classifies, Owner, Program, Recorded, Stated, positions, sound};
use crate::model::behaviour::Behaviour;
use crate::model::config::{Assumptions, Config, ConfigError, MAX_NESTING, TEXT_PARTS};
use crate::model::{
    AnyResolution, ExpertNames, Layer, LayerRun, Model, ModelKind, ModelPart, Module, ModuleKind, Reading, Role,
    Vision, Window,
};
use crate::model::{classes, guess};

/// Every `model_type` that a config says, its own and those of its text parts, outermost first; what a class takes its text part to be
/// where no part says it.
pub(super) fn model_types(config: &Json) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    let mut part = config.as_object();
    for _ in 0..=MAX_NESTING {
        let Some(fields) = part else { break };
        let own = fields.get("model_type").and_then(Json::as_str);
        let architecture =
            || fields.get("architectures")?.as_array()?.first()?.as_str().and_then(classes::model_type_of);
        let of_class = found.last().map(|whole| classes::text_model_type(whole));
        found.extend(own.or_else(architecture).or(of_class));
        part = TEXT_PARTS.iter().find_map(|key| fields.get(*key)?.as_object());
    }
    // Older files are flat.
    if let Some(whole) = found.last().filter(|_| config.get("vision_config").is_some() && found.len() == 1) {
        let text = classes::text_model_type(whole);
        if text != *whole {
            found.push(text);
        }
    }
    if let (Some(whole), Some(fields)) = (found.first_mut(), config.as_object()) {
        *whole = classes::file_of(whole, fields);
    }
    found
}

/// The class whose program reads `config`, the innermost text part of it, where nothing knows its class.
pub(super) fn guessed_class(config: &Json) -> Option<&'static str> {
    let assumed = Assumptions::default();
    let mut part = Config::new(config, &assumed).ok()?;
    for _ in 0..MAX_NESTING {
        let Some(text) = TEXT_PARTS.iter().find_map(|key| part.object(key)) else { break };
        part = text;
    }
    guess::guess(&part).ok().map(|(class, _)| class)
}

/// Reads the config `fields` by the one of `programs` that is for such configs. `ties`: whether the head is the token embedding,
/// where the config that these fields are a part of decides it.
///
/// # Errors
/// Names the first key that is missing, or that makes what was not recorded.
pub(in crate::model) fn read(
    programs: &[Arc<Program>],
    fields: &Map<String, Json>,
    ties: Option<bool>,
    assumed: &Assumptions,
) -> Result<Model, Box<ConfigError>> {
    let Some(first) = programs.first() else {
        return Err(ConfigError::new("model_type", "has no program: record the model"));
    };
    let fields = &*completed(first, fields);
    let is_meant = |program: &&Arc<Program>| Figures::new(program, fields, &Assumptions::default()).holds();
    let none = Assumptions::default();
    // Of two for such configs the one that has every kind of layer.
    let is_whole = |program: &&Arc<Program>| Figures::new(program, fields, &Assumptions::default()).blocks().is_ok();
    let whole = programs.iter().filter(is_meant).find(is_whole);
    let Some(program) = whole.or_else(|| programs.iter().find(is_meant)) else {
        // Of the program that lacks least.
        let unmet = |program: &Arc<Program>| -> Vec<String> {
            let figures = Figures::new(program, fields, &none);
            figures.unmet().map(str::to_owned).collect()
        };
        let least = programs.iter().map(unmet).min_by_key(Vec::len);
        let key = least.as_ref().and_then(|keys| keys.first()).map_or("model_type", String::as_str);
        return Err(ConfigError::new(key, "has a value that was not recorded for this class: record the model anew"));
    };
    let figures = Figures::new(program, fields, assumed);
    sound::check(&figures)?;
    let values = figures.values()?;
    sound::check_heads(&figures, &values)?;
    let blocks = figures.blocks()?;
    let calls = figures.calls()?;
    let of = |block: usize| program.layers.get(block).map(|code| &code.modules);
    if calls.iter().any(|(layer, block)| blocks.get(*layer).is_none_or(|(first, _)| of(*first) != of(*block))) {
        let why = "has layers that have other modules when they run again: record the model anew";
        return Err(ConfigError::new("model_type", why));
    }
    let mut runs: Vec<(usize, ModelPart, u64)> = Vec::new();
    for (block, part) in &blocks {
        match runs.last_mut() {
            Some((last, _, count)) if last == block => *count += 1,
            _ => runs.push((*block, *part, 1)),
        }
    }
    let recorded = Recorded {
        program: Arc::clone(program),
        values,
        blocks: runs.iter().map(|(block, ..)| *block).collect(),
        calls,
        without: without(program, &figures),
        undropped: undropped(program, &figures)?,
    };
    let facts = Facts::new(&recorded, &figures)?;
    let first = |block: usize| runs.iter().position(|(other, ..)| *other == block).unwrap_or_default();
    let layers = runs.iter().filter_map(|(block, part, count)| {
        let code = program.layers.get(*block)?;
        let modules = modules(&facts, &code.modules, Some((program.list_of(*block), *part)));
        let attention = attention(&facts, &code.fused, &modules);
        let feed_forward = feed_forward(&facts, &code.fused, &modules);
        let layer = Layer { modules, attention, feed_forward };
        Some(LayerRun { count: *count, kind: first(*block), layer })
    });
    let layers: Vec<LayerRun> = layers.collect();
    sound::check_activation(&figures, fields, &layers)?;
    let embeddings = outside(&facts, &program.before.modules, true);
    let tables = embeddings.iter().find(|module| module.role == Role::TokenEmbedding);
    let Some(ModuleKind::Embedding { rows, width }) = tables.map(|module| module.kind.clone()) else {
        return Err(ConfigError::new("model_type", "the program has no token embedding: record the model anew"));
    };
    let ties = program.head.ties.or(ties).unwrap_or_else(|| figures.ties());
    let hidden_size = facts.hidden.unwrap_or(width);
    // Llama 3.2 Vision embeds tokens that its head never gives (modeling_mllama.py `MllamaTextModel.__init__`).
    let outputs = match figures.optional("vocab_size")? {
        Some(outputs) if !ties && outputs >= 1.0 && outputs < rows as f64 => outputs as u64,
        _ => rows,
    };
    let weight = program.head.weight.map(|shape| facts.shape(shape));
    let (outputs, head_width) = match weight.as_deref() {
        Some([rows, width]) if !ties => (*rows, *width),
        _ => (outputs, hidden_size),
    };
    let has_bias = match &program.head.bias {
        Stated::Always(always) => *always,
        Stated::Where(key) => figures.flag(key),
    };
    let head = || {
        let kind = ModuleKind::Linear { d_in: head_width, d_out: outputs, bias: has_bias, conv1d: false, tied: false };
        vec![Module {
            name: program.head.name.clone(),
            role: Role::Head,
            kind,
            part: ModelPart::LanguageModel,
            path: program.head.name.clone(),
        }]
    };
    // A head that is the token embedding may have a bias of its own.
    let bias = |role| {
        let kind = ModuleKind::Tensors { shapes: vec![("bias".to_owned(), vec![rows])] };
        let name = program.head.bias_of.as_ref().unwrap_or(&program.head.name).clone();
        Module { path: name.clone(), name, role, kind, part: ModelPart::LanguageModel }
    };
    let gain = program.head.gain.as_ref().map(|name| {
        let kind = ModuleKind::Tensors { shapes: vec![(name.clone(), vec![outputs])] };
        Module {
            name: program.head.name.clone(),
            role: Role::HeadGain,
            kind,
            part: ModelPart::LanguageModel,
            path: program.head.name.clone(),
        }
    });
    let unread = || program.head.bias_of.is_some().then(|| bias(Role::Other));
    // A decoder may read images without causality in some layers, and what stands behind a tower in all (PaliGemma's prefix).
    let own = program.stacks.last().map(|stack| &stack.kinds);
    let text = own.into_iter().flatten().filter_map(|(_, block)| program.layers.get(*block));
    let attends = text.flat_map(|block| block.fused.all()).filter_map(|op| match &op.action {
        Action::Attention(attend) => Some(attend.causal),
        _ => None,
    });
    let (mut is_causal, mut is_not) = (false, false);
    for causal in attends {
        is_causal |= causal;
        is_not |= !causal;
    }
    // Where causality stands in numbers that are added to the scores (Inkling's relative positions), attention says that it has none;
    // and it says nothing where it is operators alone (MPNet's, RoFormer's, DeBERTa's).
    let is_for = |what: &str| program.class.ends_with(what);
    let sees_all = is_not && !is_causal && !is_for("ForCausalLM") && program.stacks.len() < 2;
    let kind = match program.reads_sources {
        true => ModelKind::EncoderDecoder,
        false if is_for("ForMaskedLM") || sees_all => ModelKind::Encoder,
        false => ModelKind::Decoder,
    };
    Ok(Model {
        name: String::new(),
        model_type: String::new(),
        reading: Reading::Known,
        notes: Vec::new(),
        assumed: Vec::new(),
        hidden_size,
        vocab_size: outputs,
        max_position_embeddings: positions::longest(program, &figures)?,
        tie_word_embeddings: ties,
        kind,
        embeddings,
        layers,
        final_modules: outside(&facts, &program.after.modules, false),
        head: match (ties, has_bias) {
            (false, _) => head().into_iter().chain(gain).chain(unread()).collect(),
            (true, true) => std::iter::once(bias(Role::Head)).chain(gain).collect(),
            (true, false) => gain.into_iter().collect(),
        },
        final_logit_softcapping: match &program.head.softcaps {
            Stated::Always(always) => *always,
            Stated::Where(key) => figures.says(key),
        },
        scales_logits: program.head.scales,
        behaviour: Behaviour {
            has_pooler: program.head.pooler,
            classifies_pooled: program.head.classifies == Classifies::Pooled,
            attends_by_itself: attends_by_itself(program),
            ..if is_eager_alone(program) { Behaviour::eager_only() } else { Behaviour::default() }
        },
        is_measured: false,
        recorded: Arc::new(recorded),
        vision: vision(program, &figures)?,
        idle: Vec::new(),
        expert_names: program.expert_names,
    })
}

/// What a class of `programs` takes `tie_word_embeddings` to be.
pub(in crate::model) fn ties(programs: &[Arc<Program>]) -> Option<bool> {
    programs.first()?.defaults.get("tie_word_embeddings")?.as_bool()
}

/// Where the text part of a class of `programs` with a tower stands in it: its list of layers, and its head.
pub(in crate::model) fn text_places(programs: &[Arc<Program>]) -> Option<(String, String)> {
    let program = programs.first()?;
    Some((program.stacks.last()?.name.clone(), program.head.name.clone()))
}

/// Which names peft converts of the experts of a class of `programs`: it goes by the whole model's class, whatever its text part is.
pub(in crate::model) fn expert_names(programs: &[Arc<Program>]) -> Option<ExpertNames> {
    programs.first()?.expert_names
}

/// Modules of `programs`' towers for a batch without images: nothing runs them.
///
/// # Errors
/// As [`read`].
pub(in crate::model) fn idle(
    programs: &[Arc<Program>],
    fields: &Map<String, Json>,
    assumed: &Assumptions,
) -> Result<Vec<Module>, Box<ConfigError>> {
    let model = match read(programs, fields, None, assumed) {
        Ok(model) => model,
        Err(refused) => return beside_text(programs, fields)?.ok_or(refused),
    };
    let mut found: Vec<Module> = model.embeddings.iter().filter(|module| is_beside_or_whole(module)).cloned().collect();
    for run in &model.layers {
        for _ in 0..run.count {
            found.extend(run.layer.modules.iter().filter(|module| is_beside(module)).cloned());
        }
    }
    Ok(found)
}

/// Whether a module of a class with a tower is none of its text part's.
fn is_beside(module: &Module) -> bool {
    module.part != ModelPart::LanguageModel
}

/// The same of one outside the layers, where the whole model may have parameters of its own (LLaVA-NeXT's `image_newline`).
fn is_beside_or_whole(module: &Module) -> bool {
    is_beside(module) || module.name.is_empty()
}

/// The same by a program that is for configs with such a tower beside another text part, whose layers do not matter.
fn beside_text(programs: &[Arc<Program>], fields: &Map<String, Json>) -> Result<Option<Vec<Module>>, Box<ConfigError>> {
    let Some(first) = programs.first() else { return Ok(None) };
    let fields = &*completed(first, fields);
    let assumed = Assumptions::default();
    let is_of_tower = |key: &str| key.split_once('.').is_some_and(|(part, _)| !TEXT_PARTS.contains(&part));
    for program in programs {
        let figures = Figures::new(program, fields, &assumed);
        if figures.unmet().any(is_of_tower) {
            continue;
        }
        let blocks = figures.blocks_beside_text()?;
        let recorded = Recorded {
            program: Arc::clone(program),
            values: figures.known_values()?,
            blocks: Vec::new(),
            calls: Vec::new(),
            without: without(program, &figures),
            undropped: undropped(program, &figures)?,
        };
        let facts = Facts::new(&recorded, &figures)?;
        let mut around = modules(&facts, &program.before.modules, None);
        around.retain(is_beside_or_whole);
        let mut found = Vec::new();
        for (block, part) in blocks {
            let own = program.layers.get(block).map_or(&[][..], |block| &block.modules);
            found.extend(modules(&facts, own, Some((program.list_of(block), part))));
        }
        // What joins the two stands in the first layer of the text, whichever kind that is.
        for block in program.text_layers() {
            for join in modules(&facts, &block.modules, None) {
                if around.iter().chain(&found).all(|other| other.name != join.name) {
                    found.push(join);
                }
            }
        }
        found.retain(is_beside);
        found.splice(0..0, around);
        if found.iter().all(|module| module.kind.param_count() > 0) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

fn vision(program: &Program, figures: &Figures<'_>) -> Result<Option<Vision>, Box<ConfigError>> {
    if !program.sees_images() {
        return Ok(None);
    }
    let whole = |key: &str| {
        let number = figures.optional(key)?;
        Ok::<Option<u64>, Box<ConfigError>>(number.filter(|number| *number >= 1.0).map(|number| number as u64))
    };
    let reads = |wanted: &str| program.names.list().iter().any(|name| name == wanted);
    let merge_size = whole("vision_config.spatial_merge_size")?.or(whole("vision_config.pooling_kernel_size")?);
    let merge_size = merge_size.or(whole("vision_config.merge_size")?);
    let merge_size = merge_size.or(whole("spatial_merge_size")?).or(whole("scale_factor")?).unwrap_or(1);
    let patch_size = whole("vision_config.patch_size")?;
    // Muse Glimmer's is as wide as its table of positions, and its patches are merged behind the tower (transformers 5.23
    // muse_glimmer/modeling_muse_glimmer.py `MuseGlimmerVisionModel`).
    let window = match (whole("vision_config.window_size")?, whole("vision_config.pos_emb_height")?) {
        (Some(pixels), _) => Some(Window { side: (pixels / merge_size / patch_size.unwrap_or(1)).max(1), merge_size }),
        (None, side) => side.filter(|_| reads("images.windows")).map(|side| Window { side, merge_size: 1 }),
    };
    Ok(Some(Vision {
        packs: program.packs,
        runs_eager: program.layers.iter().any(|block| block.eager.is_some()),
        tiles: whole("vision_config.max_num_tiles")?,
        patch_size,
        merge_size,
        positions_per_tile: whole("mm_tokens_per_image")?,
        window,
        image_size: whole("vision_config.image_size")?,
        any_resolution: reads("images.tile_rows").then(|| any_resolution(program, figures)),
    }))
}

/// What the config says of tiles, or what its class takes them to be: five shapes of 336 pixels, none scaled down, or up to six of 384 on
/// each side, and nine that stay as they are (transformers 5.23 llava_next/configuration_llava_next.py,
/// llava_onevision/configuration_llava_onevision.py).
fn any_resolution(program: &Program, figures: &Figures<'_>) -> AnyResolution {
    const NEXT: &[(u64, u64)] = &[(336, 672), (672, 336), (672, 672), (1_008, 336), (336, 1_008)];
    const TILE: u64 = 384;
    const SIDE: u64 = 6;
    const TILES: u64 = 9;
    let is_next = program.model_type == "llava_next";
    let all = || match is_next {
        true => NEXT.to_vec(),
        false => (1..=SIDE).flat_map(|rows| (1..=SIDE).map(move |columns| (rows * TILE, columns * TILE))).collect(),
    };
    let pair = |pair: &Json| Some((pair.get(0)?.as_u64()?, pair.get(1)?.as_u64()?));
    let said = figures.whole_value("image_grid_pinpoints").and_then(Json::as_array);
    let most = figures.whole_value("vision_aspect_ratio").and_then(Json::as_str);
    let most = most.and_then(|text| text.strip_prefix("anyres_max_")?.parse().ok()).unwrap_or(TILES);
    AnyResolution {
        resolutions: said.map_or_else(all, |list| list.iter().filter_map(pair).collect()),
        most_tiles: (!is_next).then_some(most),
        cuts_several: is_next,
    }
}

/// Modules before or behind the layers.
fn outside(facts: &Facts<'_>, owners: &[Owner], before: bool) -> Vec<Module> {
    let mut found = modules(facts, owners, None);
    let is_table = |module: &&mut Module| {
        module.part == ModelPart::LanguageModel && matches!(module.kind, ModuleKind::Embedding { .. })
    };
    for (i, table) in found.iter_mut().filter(is_table).enumerate() {
        table.role = match (before && i == 0, table.name.contains("pos") || table.name.contains("wpe")) {
            (true, _) => Role::TokenEmbedding,
            (false, true) => Role::PositionEmbedding,
            (false, false) => Role::TypeEmbedding,
        };
    }
    for module in &mut found {
        if let (ModuleKind::Norm { .. }, ModelPart::LanguageModel) = (&module.kind, module.part) {
            module.role = if before { Role::EmbeddingNorm } else { Role::FinalNorm };
        }
    }
    found
}

/// Whether the class was recorded with eager attention because it runs no other: masks are added by its own operators.
fn is_eager_alone(program: &Program) -> bool {
    attends_by_itself(program) || !program.supports_sdpa
}

/// Whether no operator hands attention to a kernel.
fn attends_by_itself(program: &Program) -> bool {
    program.takes_masks() && !program.attends()
}

/// Keys, and parts of a config, that give parameters and are not set.
fn without(program: &Program, figures: &Figures<'_>) -> Vec<String> {
    let blocks = program.layers.iter().chain([&program.before, &program.after]);
    let parameters = blocks.flat_map(|block| &block.modules).flat_map(|owner| &owner.parameters);
    let mut keys: Vec<String> = parameters.filter_map(|parameter| parameter.given_if.clone()).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.retain(|key| !figures.gives(key));
    keys
}

/// Keys of rates of dropout that the config says are none.
fn undropped(program: &Program, figures: &Figures<'_>) -> Result<Vec<String>, Box<ConfigError>> {
    let mut keys = Vec::new();
    for key in &program.rates {
        if !figures.drops_out(key)? {
            keys.push(key.clone());
        }
    }
    Ok(keys)
}
