//! A program's names and kinds of layers, as a `config.json` says them.

use serde_json::{Map, Value as Json};

use super::expression::Expression;
use super::{Feature, FeatureOf, Loops, Program, Stack};
use crate::model::ModelPart;
use crate::model::config::{Assumptions, ConfigError, TEXT_PARTS};

/// Keys that say how many layers there are.
const LAYERS: &[&str] = &["num_hidden_layers", "n_layer", "num_layers", "n_layers"];
/// Most layers.
const MOST_LAYERS: f64 = 8_192.0;
/// Most calls of layers that run again: each is a layer of the step that is run on sizes (a second and a half for so many).
const MOST_CALLS: f64 = 1_024.0;

/// The one name of images that a config decides: parameters have sizes by it, too.
const TILE_SIDE: &str = "images.side";

/// The one size that may be none: a window that the config has null for, or that neither it nor its class says.
const WINDOW: &str = "sliding_window";

/// Whether a name is of a batch or the GPU that it is for, and of no config.
fn is_of_batch(name: &str) -> bool {
    name.starts_with("images.") || name.starts_with("gpu.")
}

type Found<T> = Result<T, Box<ConfigError>>;

/// A config as its program reads it.
pub(super) struct Figures<'a> {
    program: &'a Program,
    fields: &'a Map<String, Json>,
    /// The text part, where the config has others beside it.
    text: Option<&'a Map<String, Json>>,
    assumed: &'a Assumptions,
}

impl<'a> Figures<'a> {
    pub(super) fn new(program: &'a Program, fields: &'a Map<String, Json>, assumed: &'a Assumptions) -> Self {
        let part = || TEXT_PARTS.iter().find_map(|key| fields.get(*key)?.as_object());
        let text = if program.sees_images() { part() } else { None };
        Self { program, fields, text, assumed }
    }

    /// What the config says under `key` or `parent.key`; null counts as nothing.
    pub(super) fn given(&self, key: &str) -> Option<&'a Json> {
        self.text.and_then(|text| within(text, key)).or_else(|| within(self.fields, key))
    }

    /// What the class takes a key to be.
    pub(super) fn default_of(&self, key: &str) -> Option<&'a Json> {
        within(&self.program.defaults, key)
    }

    /// Keys of the config that sizes are made of.
    pub(super) fn keys_of_sizes(&self) -> impl Iterator<Item = &'a str> {
        let names = self.program.names.list().iter().enumerate();
        names.filter(|(i, name)| !self.is_of_batch(*i, name)).map(|(_, name)| name.as_str())
    }

    /// Keys that the class takes to be true or false, with what the config says under them.
    pub(super) fn flags(&self) -> impl Iterator<Item = (&'a str, &'a Json)> {
        let flags = self.program.defaults.iter().filter(|(_, default)| default.is_boolean());
        flags.filter_map(|(key, _)| Some((key.as_str(), self.given(key)?)))
    }

    /// Keys that the config has rates of dropout under.
    pub(super) fn rates(&self) -> impl Iterator<Item = &'a str> {
        let is_rate =
            |key: &str| ["dropout", "dropout_prob", "dropout_rate", "pdrop"].iter().any(|end| key.ends_with(end));
        let said = self.text.into_iter().chain([self.fields]).flatten();
        said.filter(move |(key, value)| is_rate(key) && value.is_number()).map(|(key, _)| key.as_str())
    }

    /// What the whole config says under `key`.
    pub(super) fn whole_value(&self, key: &str) -> Option<&'a Json> {
        self.fields.get(key).filter(|value| !value.is_null())
    }

    /// The same with what the class takes it to be.
    fn any(&self, key: &str) -> Option<&'a Json> {
        self.given(key).or_else(|| {
            let default = within(&self.program.defaults, key)?;
            if !default.is_array() && !default.is_object() {
                self.assumed.note(key, default.as_str().map_or_else(|| default.to_string(), str::to_owned));
            }
            Some(default)
        })
    }

    /// The first of several names of one figure that the class reads and that has a value, one that the config says before
    /// others. A name that the class does not read says nothing where it reads another, whatever stands under it.
    pub(super) fn read_among<'k>(&self, keys: &[&'k str]) -> Option<(&'k str, f64)> {
        let is_read = |key: &str| self.default_of(key).is_some() || self.keys_of_sizes().any(|read| read == key);
        let has_value = |key: &&&str| self.optional(key).is_ok_and(|value| value.is_some());
        let found = keys
            .iter()
            .find(|key| self.given(key).is_some() && is_read(key))
            .or_else(|| keys.iter().filter(|key| is_read(key)).find(has_value))
            .or_else(|| keys.iter().find(has_value));
        found.and_then(|key| Some((*key, self.optional(key).ok()??)))
    }

    /// A number that may be missing.
    pub(super) fn optional(&self, key: &str) -> Found<Option<f64>> {
        self.number_in(key, 0)
    }

    fn number_in(&self, key: &str, depth: usize) -> Found<Option<f64>> {
        const DEEPEST: usize = 8;
        let derived = self.program.derived.iter().find(|(name, _)| name == key).filter(|_| depth < DEEPEST);
        if let (None, Some((_, expression))) = (self.given(key), derived)
            && let Some(value) = self.expression(expression, Some(key), depth + 1)?
        {
            self.assumed.note(key, value.to_string());
            return Ok(Some(value));
        }
        if key == WINDOW && self.is_null(key) {
            return Ok(Some(0.0));
        }
        self.any(key).map(|value| number(key, value)).transpose()
    }

    /// What an expression comes to, but for the name `except`.
    fn expression(&self, expression: &Expression, except: Option<&str>, depth: usize) -> Found<Option<f64>> {
        let mut values = Vec::with_capacity(self.program.names.list().len());
        for (i, name) in self.program.names.list().iter().enumerate() {
            let is_read = expression.names(i) && Some(name.as_str()) != except;
            values.push(if is_read { self.number_in(name, depth)? } else { None });
        }
        Ok(expression.value(&values))
    }

    /// Whether the config says null: its class takes that as none, whatever it takes a key to be that is not there.
    pub(super) fn is_null(&self, key: &str) -> bool {
        let said = self.text.and_then(|text| text.get(key)).or_else(|| self.fields.get(key));
        said.is_some_and(Json::is_null)
    }

    /// Whether the config is of the kind that the program is for.
    pub(super) fn holds(&self) -> bool {
        self.unmet().next().is_none()
    }

    /// Keys of which the config says what the program is not for.
    pub(super) fn unmet(&self) -> impl Iterator<Item = &'a str> {
        let unmet = self.program.when.iter().filter(|condition| {
            let found = self.any(&condition.key).filter(|_| !self.is_null(&condition.key));
            let is = condition.is.as_ref().is_none_or(|is| match (found, is) {
                (None, Json::Null | Json::Bool(false)) => true,
                // A count that is not there is none.
                (None, Json::Number(number)) => number.as_f64() == Some(0.0),
                // 0 and 0.0 are the same.
                (Some(Json::Number(found)), Json::Number(number)) => found.as_f64() == number.as_f64(),
                (found, is) => found == Some(is),
            });
            let above = condition.above.is_none_or(|least| found.and_then(Json::as_f64).is_some_and(|n| n > least));
            !(is && above)
        });
        unmet.map(|condition| condition.key.as_str())
    }

    /// Whether the config says something of a key; null is nothing, whatever the class takes it to be.
    pub(super) fn says(&self, key: &str) -> bool {
        let said = self.text.and_then(|text| text.get(key)).or_else(|| self.fields.get(key));
        said.or_else(|| within(&self.program.defaults, key)).is_some_and(|value| !value.is_null())
    }

    /// Whether the head is the token embedding: the whole config says it (transformers 5.23 modeling_utils.py `tie_weights`), or its
    /// text part, where older files have it.
    pub(super) fn ties(&self) -> bool {
        const KEY: &str = "tie_word_embeddings";
        within(self.fields, KEY).and_then(Json::as_bool).unwrap_or_else(|| self.flag(KEY))
    }

    /// True or false.
    pub(super) fn flag(&self, key: &str) -> bool {
        self.any(key).and_then(Json::as_bool).unwrap_or(false)
    }

    /// Whether dropout of the rate under `key` runs: PyTorch has no operator for none. Null is none.
    pub(super) fn drops_out(&self, key: &str) -> Found<bool> {
        let rate = if self.is_null(key) { None } else { self.optional(key)? };
        let sound = rate.filter(|rate| !(0.0..=1.0).contains(rate)).is_none();
        let drops_out = rate.is_some_and(|rate| rate > 0.0);
        if sound { Ok(drops_out) } else { Err(ConfigError::new(key, "must be a number from 0 to 1")) }
    }

    /// Whether a key is true, or a part that the config has.
    pub(super) fn gives(&self, key: &str) -> bool {
        self.flag(key) || self.fields.get(key).is_some_and(Json::is_object)
    }

    /// Values of all the program's names that need one.
    pub(super) fn values(&self) -> Found<Vec<Option<f64>>> {
        let names = self.program.names.list();
        let mut values = Vec::with_capacity(names.len());
        for (i, name) in names.iter().enumerate() {
            let is_of_batch = self.is_of_batch(i, name);
            let is_used = !is_of_batch && self.program.dims.iter().any(|dim| dim.size.names(i));
            values.push(match is_used {
                _ if name == TILE_SIDE => self.tile_side()?,
                false => None,
                true => {
                    let missing =
                        || ConfigError::new(name, "missing; without it the model's shapes are unknown: add it");
                    let value = self.optional(name)?.or((name == WINDOW).then_some(0.0));
                    Some(value.ok_or_else(missing)?)
                }
            });
        }
        Ok(values)
    }

    /// Whether name number `i` is said by a batch, and by no config.
    fn is_of_batch(&self, i: usize, name: &str) -> bool {
        let is_source = self.program.reads_sources && name == super::SOURCE;
        i <= super::LENGTH || is_of_batch(name) || is_source
    }

    /// The first of `keys` that does not divide what a size divides by it.
    pub(super) fn indivisible(&self, keys: &[&str], values: &[Option<f64>]) -> Found<Option<&'a str>> {
        let derived = self.program.derived.iter().filter(|(key, _)| self.given(key).is_none());
        let sizes = || self.program.dims.iter().map(|dim| &dim.size).chain(derived.clone().map(|(_, size)| size));
        for (i, name) in self.program.names.list().iter().enumerate().filter(|(_, name)| keys.contains(&name.as_str()))
        {
            // Of a width that follows from it no size says it.
            let mut values = values.to_vec();
            for (value, key) in values.iter_mut().zip(self.program.names.list()) {
                if value.is_none() && derived.clone().any(|(_, size)| size.names(i)) && !is_of_batch(key) {
                    *value = self.optional(key)?;
                }
            }
            if sizes().any(|size| size.leaves_remainder(i, &values)) {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    /// The same, none where the config lacks what one needs.
    pub(super) fn known_values(&self) -> Found<Vec<Option<f64>>> {
        let names = self.program.names.list().iter().enumerate();
        let value = |(i, name): (usize, &String)| match name.as_str() {
            TILE_SIDE => self.tile_side(),
            _ if self.is_of_batch(i, name) => Ok(None),
            _ => self.optional(name),
        };
        names.map(value).collect()
    }

    /// Patches of a tile's side, where the config says its size.
    pub(super) fn tile_side(&self) -> Found<Option<f64>> {
        let (pixels, patch) = (self.optional("vision_config.image_size")?, self.optional("vision_config.patch_size")?);
        Ok(pixels.zip(patch.filter(|patch| *patch >= 1.0)).map(|(pixels, patch)| (pixels / patch).floor()))
    }

    /// How many layers there are.
    pub(super) fn layers(&self) -> Found<usize> {
        // What the config says goes first, under whatever name.
        let said = LAYERS.iter().filter(|key| self.given(key).is_some());
        for key in said.chain(LAYERS) {
            let why = || ConfigError::new(*key, format!("must be a whole number from 1 to {MOST_LAYERS}"));
            if self.given(key).is_some_and(|said| !said.is_number()) {
                return Err(why());
            }
            if let Some(count) = self.optional(key).map_err(|_| why())? {
                let whole = Some(count).filter(|count| (1.0..=MOST_LAYERS).contains(count) && count.fract() == 0.0);
                return whole.map(|count| count as usize).ok_or_else(why);
            }
        }
        Err(ConfigError::new("num_hidden_layers", "missing; without it the model's shapes are unknown: add it"))
    }

    /// The recorded block of each layer, and the part of the model that it belongs to.
    pub(super) fn blocks(&self) -> Found<Vec<(usize, ModelPart)>> {
        let mut blocks = Vec::new();
        for stack in &self.program.stacks {
            let count = match &stack.count {
                None => self.layers()?,
                Some(count) => self.count(count)?,
            };
            for layer in 0..count {
                blocks.push((self.block(stack, layer, false)?, stack.part));
            }
        }
        Ok(blocks)
    }

    /// Every call of a layer in order, as its number among all layers and the block that runs then, where some are called again;
    /// nothing where each is called once.
    pub(super) fn calls(&self) -> Found<Vec<(usize, usize)>> {
        let (mut calls, mut before) = (Vec::new(), 0);
        for stack in &self.program.stacks {
            let count = match &stack.count {
                None => self.layers()?,
                Some(count) => self.count(count)?,
            };
            let (from, to, times) = match &stack.loops {
                Some(loops) => self.looped(loops, count)?,
                None => (0, 0, 1),
            };
            let once = |layers: std::ops::Range<usize>, again: bool| layers.map(move |layer| (layer, again));
            let looped = (0..times).flat_map(|pass| once(from..to, pass > 0));
            for (layer, again) in once(0..from, false).chain(looped).chain(once(to..count, false)) {
                calls.push((before + layer, self.block(stack, layer, again)?));
            }
            before += count;
        }
        if calls.len() == before {
            calls.clear();
        }
        Ok(calls)
    }

    /// The first layer that runs again, the one behind the last, and how often they run, of a stack with `count` layers.
    fn looped(&self, loops: &Loops, count: usize) -> Found<(usize, usize, usize)> {
        let whole = |expression: &Expression, least: f64| {
            let key = self.key_of(expression);
            let why = || {
                let what = format!("which layers run again and how often: a whole number from {least} to {MOST_CALLS}");
                ConfigError::new(key, format!("must say, with the other keys of its loop, {what}"))
            };
            let found = self.expression(expression, None, 0)?.ok_or_else(why)?;
            let is_whole = (least..=MOST_LAYERS).contains(&found) && found.fract() == 0.0;
            if is_whole { Ok(found as usize) } else { Err(why()) }
        };
        let (from, to, times) = (whole(&loops.from, 0.0)?, whole(&loops.to, 0.0)?, whole(&loops.times, 1.0)?);
        if from > to || to > count {
            let why = format!("makes layers {from} to {to} of {count} run again, which are none: lower it");
            return Err(ConfigError::new(self.key_of(if from > to { &loops.from } else { &loops.to }), why));
        }
        let calls = (to - from).saturating_mul(times);
        if calls as f64 > MOST_CALLS {
            let why = format!("makes {calls} calls of layers, and at most {MOST_CALLS} are estimated: lower it");
            return Err(ConfigError::new(self.key_of(&loops.times), why));
        }
        Ok((from, to, times))
    }

    /// The key of the config that an expression goes by, the number of layers where it names none.
    fn key_of(&self, expression: &Expression) -> &str {
        let names = self.program.names.list().iter().enumerate();
        let mut named = names.filter(|(i, _)| expression.names(*i)).map(|(_, name)| name.as_str());
        let own = named.clone().find(|name| !LAYERS.contains(name));
        own.or_else(|| named.next()).unwrap_or("num_hidden_layers")
    }

    /// The same of all stacks but the text's.
    pub(super) fn blocks_beside_text(&self) -> Found<Vec<(usize, ModelPart)>> {
        let mut blocks = Vec::new();
        for (stack, count) in self.program.stacks.iter().filter_map(|stack| Some((stack, stack.count.as_ref()?))) {
            for layer in 0..self.count(count)? {
                blocks.push((self.block(stack, layer, false)?, stack.part));
            }
        }
        Ok(blocks)
    }

    /// A number of layers, or the key that says it.
    fn count(&self, key: &str) -> Found<usize> {
        let missing = || ConfigError::new(key, "missing; without it the model's shapes are unknown: add it");
        let count = match key.parse::<f64>() {
            Ok(count) => count,
            Err(_) => self.optional(key)?.ok_or_else(missing)?,
        };
        let why = || ConfigError::new(key, format!("must be a whole number from 1 to {MOST_LAYERS}"));
        let whole = Some(count).filter(|count| (1.0..=MOST_LAYERS).contains(count) && count.fract() == 0.0);
        whole.map(|count| count as usize).ok_or_else(why)
    }

    /// The block of a layer, the first time that it runs or `again`.
    fn block(&self, stack: &Stack, layer: usize, again: bool) -> Found<usize> {
        let values = stack.features.iter().map(|feature| match feature.of {
            FeatureOf::Again => Ok(again.to_string()),
            _ => self.feature(feature, layer),
        });
        let kind = values.collect::<Found<Vec<String>>>()?.join("|");
        stack.kinds.get(&kind).copied().ok_or_else(|| {
            let key = stack.features.first().map_or("model_type", |feature| feature.key.as_str());
            let known: Vec<&str> = stack.kinds.keys().map(String::as_str).collect();
            let why = format!(
                "layer {layer} is of kind \"{kind}\", which was not recorded; recorded are {}",
                known.join(", ")
            );
            ConfigError::new(key, why)
        })
    }

    fn feature(&self, feature: &Feature, layer: usize) -> Found<String> {
        if let (None, Some(other)) = (self.given(&feature.key), &feature.otherwise) {
            return self.feature(other, layer);
        }
        let value = self.value_of(feature, layer)?;
        Ok(feature.named.get(&value).cloned().unwrap_or(value))
    }

    fn value_of(&self, feature: &Feature, layer: usize) -> Found<String> {
        let key = feature.key.as_str();
        let wrong = |why: &str| ConfigError::new(key, why);
        let missing = || wrong("missing; it says which layers are of which kind: add it");
        let list = || match self.any(key) {
            Some(Json::Array(list)) => Ok(list),
            Some(_) => Err(wrong("must be a list")),
            None => Err(missing()),
        };
        let at = |layer: usize| {
            let value = list()?.get(layer).ok_or_else(|| wrong("has fewer entries than the model has layers"))?;
            Ok::<String, Box<ConfigError>>(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        };
        let below = || match &feature.below {
            Some(bound) => self.expression(bound, None, 0)?.ok_or_else(missing),
            None => Err(missing()),
        };
        Ok(match feature.of {
            FeatureOf::List => at(layer)?,
            // Each call says it.
            FeatureOf::Again => false.to_string(),
            FeatureOf::Repeats => at(layer % list()?.len().max(1))?,
            FeatureOf::In(offset) => {
                list()?.iter().any(|value| value.as_i64() == Some(layer as i64 + offset)).to_string()
            }
            FeatureOf::Nth(offset) => {
                let place = list()?.iter().position(|value| value.as_i64() == Some(layer as i64 + offset));
                let turns = match &feature.turns {
                    Some(key) => self.optional(key)?.ok_or_else(missing)?.max(1.0) as usize,
                    None => usize::MAX,
                };
                place.map_or_else(|| "none".to_owned(), |place| (place % turns).to_string())
            }
            FeatureOf::First => match key.parse::<usize>() {
                Ok(first) if layer < first => layer.to_string(),
                _ => "rest".to_owned(),
            },
            FeatureOf::Below => ((layer as f64) < below()?).to_string(),
            FeatureOf::At => (below()? == layer as f64).to_string(),
            FeatureOf::Last => {
                let (own, end) = (at(layer)?, below()?.clamp(0.0, MOST_LAYERS) as usize);
                let mut is_last = layer < end;
                for later in layer + 1..end {
                    is_last &= at(later)? != own;
                }
                is_last.to_string()
            }
            FeatureOf::Every(offset) => {
                let step = self.optional(key)?.ok_or_else(missing)?;
                let from = match &feature.from {
                    Some(key) => self.optional(key)?.ok_or_else(missing)?,
                    None => 0.0,
                };
                let at = layer as f64 - from + offset as f64;
                (step > 0.0 && (at / step).fract() == 0.0).to_string()
            }
            FeatureOf::Chars => {
                let text = self.any(key).and_then(Json::as_str).ok_or_else(|| wrong("must be a text"))?;
                let letter = text.chars().nth(layer);
                letter.ok_or_else(|| wrong("has fewer characters than the model has layers"))?.to_string()
            }
        })
    }
}

/// What an object has under `key` or `parent.key`; null counts as nothing.
fn within<'a>(fields: &'a Map<String, Json>, key: &str) -> Option<&'a Json> {
    let found = match (fields.get(key), key.split_once('.')) {
        (None, Some((parent, rest))) => fields.get(parent)?.as_object().and_then(|inner| within(inner, rest)),
        (found, _) => found,
    };
    found.filter(|value| !value.is_null())
}

/// A number, true or false, or a list of equal numbers.
fn number(key: &str, value: &Json) -> Found<f64> {
    const LARGEST: f64 = 1e15;
    let found = match value {
        Json::Bool(flag) => Some(f64::from(u8::from(*flag))),
        Json::Array(list) => match list.as_slice() {
            [first, rest @ ..] if rest.iter().all(|other| other == first) => first.as_f64(),
            _ => None,
        },
        other => other.as_f64(),
    };
    found
        .filter(|number| number.abs() <= LARGEST)
        .ok_or_else(|| ConfigError::new(key, "must be a number of at most 15 digits"))
}
