//! `headroom-parts`: where a module's bytes are, which of its functions are called, and the module split by that.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use headroom_parts::failure::{Failure, Result};
use headroom_parts::module::Module;
use headroom_parts::sizes::{Record, sizes, table};
use headroom_parts::split::{Uses, Wanted, split};
use headroom_parts::{cold, instrument, list, loader, trim};

const USAGE: &str = "\
headroom-parts sizes MODULE.wasm [--against RECORD] [--record RECORD] [--label NAME]
    whose the module's bytes are, and what changed since a record
headroom-parts instrument MODULE.wasm OUT.wasm
    the module with a bit for each function, in exported globals parts:called-N, that is set when it is called
headroom-parts mark MODULE.wasm OUT.wasm
    the module with a bit for each stretch of instructions that run together, in exported globals parts:ran-N
headroom-parts outline MODULE.wasm RAN OUT.wasm [CRATE...]
    the module with what did not run of its functions as functions of their own, but those of crates that are named; RAN has the number
    of a stretch that did a line
headroom-parts trim MODULE.wasm OUT.wasm WORD...
    the module without the exports in whose names one of the words stands
headroom-parts trim-loader LOADER.js MODULE.wasm OUT.js
    what wasm-bindgen wrote, without what that module neither imports nor exports
headroom-parts names MODULE.wasm LIST [--hashes]
    the names of the functions that a list gives by number; with their hashes each instance of a generic function counts by itself
headroom-parts split MODULE.wasm --called LIST [--stage LIST]... --out FOLDER
               [--apart ROOM]... [--largest BYTES] [--loader LOADER.js] [--prefix NAME] [--names] [--relocations LINKED.wasm]
    first.wasm with the functions called, part files with the rest, and the loader that knows them; functions of a crate or
    room that stands apart, and what they alone call, are in parts that only a call fetches; constants that only parts use go with them where the module is given as it was linked with --emit-relocs
A LIST has a function a line, by number or by name.";

/// In bytes of code as the compiler leaves it: with its constants and after wasm-opt, about 90 kB after brotli.
const LARGEST: usize = 215_000;

/// What a piece that did not run has to save where it was, in bytes of code: after compression fewer make no difference.
const WORTH: usize = 2;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["sizes", module, options @ ..] => print_sizes(module, options),
        ["instrument", module, out] => read(module)
            .and_then(|bytes| instrument::instrument(&bytes))
            .and_then(|bytes| write(Path::new(out), &bytes)),
        ["mark", module, out] => {
            read(module).and_then(|bytes| cold::mark(&bytes)).and_then(|bytes| write(Path::new(out), &bytes))
        }
        ["trim", module, out, words @ ..] => read(module)
            .and_then(|bytes| trim::without_exports(&bytes, words))
            .and_then(|bytes| write(Path::new(out), &bytes)),
        ["trim-loader", loader, module, out] => read_text(loader)
            .and_then(|text| trim::loader(&text, &read(module)?))
            .and_then(|text| write(Path::new(out), text.as_bytes())),
        ["outline", module, ran, out, kept @ ..] => write_outlined(module, ran, out, kept),
        ["names", module, list] => print_names(module, list, false),
        ["names", module, list, "--hashes"] => print_names(module, list, true),
        ["split", module, options @ ..] => write_split(module, options),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        _ => Err(unknown(&words)),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("headroom-parts: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn unknown(words: &[&str]) -> Failure {
    Failure::new(format!("`headroom-parts {}` is no command; these are:\n\n{USAGE}", words.join(" ")))
}

fn read(path: &str) -> Result<Vec<u8>> {
    fs::read(path).map_err(|error| Failure::new(format!("{path} cannot be read ({error}): give a file that is there.")))
}

fn read_text(path: &str) -> Result<String> {
    String::from_utf8(read(path)?).map_err(|_| Failure::new(format!("{path} is no text: give a list or a record.")))
}

fn write(path: &Path, content: &[u8]) -> Result<()> {
    fs::write(path, content)
        .map_err(|error| Failure::new(format!("{} cannot be written ({error}): check its folder.", path.display())))
}

/// Prints to the end, or as far as whoever reads it wants.
fn print(text: &str) -> Result<()> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("What was found cannot be printed ({error}): send it elsewhere.")))
        }
        _ => Ok(()),
    }
}

fn print_sizes(module: &str, options: &[&str]) -> Result<()> {
    let (mut against, mut record, mut label) = (None, None, None);
    let mut words = options.iter();
    while let Some(word) = words.next() {
        let value = words.next().copied().ok_or_else(|| unknown(options))?;
        match *word {
            "--against" => against = Some(value),
            "--record" => record = Some(value),
            "--label" => label = Some(value),
            _ => return Err(unknown(options)),
        }
    }
    let stem = Path::new(module).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let label = label.unwrap_or(&stem);
    let now = sizes(&read(module)?)?;
    let before = against.map_or_else(|| Ok(Record::default()), recorded)?;
    print(&format!("{label}\n{}\n", table(&now, &before.of(label))))?;
    if let Some(path) = record {
        let mut kept = recorded(path)?;
        kept.set(label, now);
        write(Path::new(path), kept.text().as_bytes())?;
    }
    Ok(())
}

/// The record at `path`; an empty one where none is yet.
fn recorded(path: &str) -> Result<Record> {
    if Path::new(path).exists() { Record::read(&read_text(path)?) } else { Ok(Record::default()) }
}

fn write_outlined(module: &str, ran: &str, out: &str, kept: &[&str]) -> Result<()> {
    let number = |line: &str| {
        line.parse()
            .map_err(|_| Failure::new(format!("{ran} has the line {line:?}: give a list of numbers, one a line.")))
    };
    let stretches = read_text(ran)?.lines().map(number).collect::<Result<BTreeSet<u32>>>()?;
    let outlined = cold::outline(&read(module)?, &stretches, Some(WORTH), kept)?;
    write(Path::new(out), &outlined.bytes)?;
    print(&format!("{} pieces of {} bytes in all did not run\n", outlined.pieces, outlined.moved))
}

fn print_names(module: &str, list: &str, hashes: bool) -> Result<()> {
    let bytes = read(module)?;
    let module = Module::read(&bytes)?;
    let listed = list::read(&module, &read_text(list)?)?;
    print(&list::named(&module, &listed.functions, hashes))
}

/// What `split` is told.
#[derive(Default)]
struct Asked<'a> {
    called: Option<&'a str>,
    stages: Vec<&'a str>,
    apart: Vec<&'a str>,
    out: Option<&'a str>,
    largest: Option<usize>,
    loader: Option<&'a str>,
    prefix: &'a str,
    names: bool,
    relocations: Option<&'a str>,
}

fn asked<'a>(options: &[&'a str]) -> Result<Asked<'a>> {
    let mut asked = Asked::default();
    let mut words = options.iter();
    while let Some(word) = words.next() {
        if *word == "--names" {
            asked.names = true;
            continue;
        }
        let value = words.next().copied().ok_or_else(|| unknown(options))?;
        match *word {
            "--called" => asked.called = Some(value),
            "--stage" => asked.stages.push(value),
            "--apart" => asked.apart.push(value),
            "--out" => asked.out = Some(value),
            "--largest" => asked.largest = Some(value.parse().map_err(|_| unknown(options))?),
            "--loader" => asked.loader = Some(value),
            "--relocations" => asked.relocations = Some(value),
            "--prefix" => asked.prefix = value,
            _ => return Err(unknown(options)),
        }
    }
    Ok(asked)
}

fn write_split(module: &str, options: &[&str]) -> Result<()> {
    let asked = asked(options)?;
    let (Some(called), Some(out)) = (asked.called, asked.out) else { return Err(unknown(options)) };
    let bytes = read(module)?;
    let wanted = {
        let module = Module::read(&bytes)?;
        Wanted {
            called: functions(&module, called)?,
            stages: asked.stages.iter().map(|list| functions(&module, list)).collect::<Result<_>>()?,
            apart: asked.apart.iter().map(|room| (*room).to_owned()).collect(),
            largest: asked.largest.unwrap_or(LARGEST),
            names: asked.names,
            uses: asked.relocations.map(|path| Uses::read(&read(path)?)).transpose()?,
        }
    };
    let files = split(&bytes, &wanted)?;
    let folder = PathBuf::from(out);
    fs::create_dir_all(&folder)
        .map_err(|error| Failure::new(format!("{out} cannot be created ({error}): check its permissions.")))?;
    let row = |bytes: usize, name: &str| print(&format!("{bytes:>10}  {name}\n"));
    row(bytes.len(), module)?;
    let first = format!("{}first.wasm", asked.prefix);
    write(&folder.join(&first), &files.first)?;
    row(files.first.len(), &first)?;
    let mut names = Vec::new();
    for (part, number) in files.parts.iter().zip(1..) {
        // A part that a browser has kept from another build must not be taken for this one's.
        let name = format!("{}part-{number}-{:016x}.wasm", asked.prefix, files.fingerprint);
        write(&folder.join(&name), part)?;
        row(part.len(), &name)?;
        names.push(name);
    }
    if let Some(path) = asked.loader {
        let text = loader::with_parts(&read_text(path)?, &names, files.early, &files.staged)?;
        write(&folder.join(Path::new(path).file_name().unwrap_or_default()), text.as_bytes())?;
    }
    Ok(())
}

fn functions(module: &Module<'_>, path: &str) -> Result<BTreeSet<u32>> {
    let listed = list::read(module, &read_text(path)?)?;
    if let Some(one) = listed.unknown.first() {
        let count = listed.unknown.len();
        print(&format!("{path}: {count} functions are not in the module any more, such as {one}\n"))?;
    }
    Ok(listed.functions)
}
