//! Runs modules in an interpreter, and loads parts when they ask for it, as `static/parts.js` does in a browser.

use headroom_parts::cold::RAN;
use headroom_parts::instrument::CALLED;
use wasmi::{Caller, Config, Engine, Extern, Func, Instance, Module, Store, Val};

/// What each call gives: its results, or what it ends in.
pub(crate) type Answers = Vec<Result<Vec<String>, String>>;

/// So deep may functions call one another: what ends in tail calls must go on for longer.
const MOST_CALLS: usize = 100;

#[derive(Default)]
struct Host {
    first: Option<Instance>,
    parts: Vec<Vec<u8>>,
    load: Option<Func>,
    tell: Option<Func>,
    loaded: Vec<i32>,
    told: Vec<i32>,
}

/// The answers of a module that is not split, with what it told its host at the end.
pub(crate) fn whole(bytes: &[u8], calls: &[(&str, &[i32])]) -> Answers {
    answers(bytes, &[], calls).0
}

/// The answers of a first module and its parts, with what it told its host at the end, and which parts were loaded.
pub(crate) fn answers(first: &[u8], parts: &[Vec<u8>], calls: &[(&str, &[i32])]) -> (Answers, Vec<i32>) {
    let (mut store, instance) = started(first, parts);
    let mut answers: Answers = calls.iter().map(|(name, given)| call(&mut store, instance, name, given)).collect();
    answers.push(Ok(store.data().told.iter().map(i32::to_string).collect()));
    (answers, store.data().loaded.clone())
}

/// The functions that an instrumented module notes.
pub(crate) fn called(bytes: &[u8], calls: &[(&str, &[i32])]) -> Vec<u32> {
    noted(bytes, calls, CALLED)
}

/// The stretches that a marked module notes.
pub(crate) fn ran(bytes: &[u8], calls: &[(&str, &[i32])]) -> Vec<u32> {
    noted(bytes, calls, RAN)
}

fn noted(bytes: &[u8], calls: &[(&str, &[i32])], bits: &str) -> Vec<u32> {
    let (mut store, instance) = started(bytes, &[]);
    for (name, given) in calls {
        call(&mut store, instance, name, given).unwrap();
    }
    let mut noted = Vec::new();
    for word in 0.. {
        let Some(global) = instance.get_global(&store, &format!("{bits}{word}")) else { break };
        let bits = global.get(&store).i32().unwrap();
        noted.extend((0..32).filter(|bit| bits >> bit & 1 == 1).map(|bit| 32 * word + bit));
    }
    noted
}

fn started(first: &[u8], parts: &[Vec<u8>]) -> (Store<Host>, Instance) {
    let mut config = Config::default();
    config.set_max_recursion_depth(MOST_CALLS);
    let mut store = Store::new(&Engine::new(&config), Host { parts: parts.to_vec(), ..Host::default() });
    let load = Func::wrap(&mut store, load);
    let tell = Func::wrap(&mut store, |mut caller: Caller<'_, Host>, told: i32| caller.data_mut().told.push(told));
    store.data_mut().load = Some(load);
    store.data_mut().tell = Some(tell);
    let module = Module::new(store.engine(), first).unwrap();
    let imports: Vec<Extern> =
        module.imports().map(|import| if import.name() == "load" { load.into() } else { tell.into() }).collect();
    let instance = Instance::new(&mut store, &module, &imports).unwrap();
    store.data_mut().first = Some(instance);
    (store, instance)
}

/// The import `parts.load`.
fn load(mut caller: Caller<'_, Host>, part: i32) -> Result<(), wasmi::Error> {
    caller.data_mut().loaded.push(part);
    let bytes = caller.data().parts[part as usize - 1].clone();
    let module = Module::new(caller.engine(), bytes)?;
    let (first, load) = (caller.data().first.unwrap(), caller.data().load.unwrap());
    let mut imports = Vec::new();
    for import in module.imports() {
        imports.push(match import.module() {
            "parts" => load.into(),
            _ => first
                .get_export(&caller, import.name())
                .ok_or_else(|| wasmi::Error::new(format!("the first module has no {}", import.name())))?,
        });
    }
    Instance::new(&mut caller, &module, &imports).map(|_| ())
}

fn call(store: &mut Store<Host>, instance: Instance, name: &str, given: &[i32]) -> Result<Vec<String>, String> {
    let function = instance.get_func(&*store, name).unwrap();
    let given: Vec<Val> = given.iter().map(|value| Val::I32(*value)).collect();
    let mut results = vec![Val::I32(0); function.ty(&*store).results().len()];
    function.call(&mut *store, &given, &mut results).map_err(|error| error.to_string())?;
    Ok(results.iter().map(|value| format!("{value:?}")).collect())
}
