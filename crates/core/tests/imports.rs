//! Which files import each other in a cycle: none in crates/torch, three within one module in any other crate; and how long
//! files and functions are.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Names of modules from the crate's root on: `["memory", "step"]`; the root itself is empty.
type Module = Vec<String>;

/// The modules of a crate, each with its shipped code, and what each imports.
struct Crate {
    code: BTreeMap<Module, String>,
    /// Names that a module passes on: `pub use child::Name`.
    passed_on: BTreeMap<Module, Vec<Vec<String>>>,
    imports: BTreeMap<Module, Vec<Vec<String>>>,
}

fn folder(of: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(of).join("src")
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
}

/// The shipped code of a file: without comments and without its unit tests.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    // Unit tests end a file, unless they stand in one of their own.
    let (mut lines, mut shipped) = (text.lines().peekable(), Vec::new());
    while let Some(line) = lines.next() {
        let is_file = |next: &&str| next.starts_with("mod ") && next.ends_with(';');
        match lines.peek() {
            Some(next) if line == "#[cfg(test)]" && !is_file(next) => break,
            _ => shipped.push(line),
        }
    }
    shipped.into_iter().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// `a::{b, c::{d, e}}` as `a::b`, `a::c::d`, `a::c::e`.
fn paths(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((before, inside)) = tree.split_once('{') else {
        return vec![tree.split(" as ").next().unwrap().trim().to_owned()];
    };
    let inside = inside.strip_suffix('}').unwrap();
    let (mut parts, mut depth, mut from) = (Vec::new(), 0, 0);
    for (at, letter) in inside.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&inside[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inside[from..]);
    let parts = parts.into_iter().filter(|part| !part.trim().is_empty()).flat_map(paths);
    parts.map(|part| format!("{before}{part}")).collect()
}

fn names(path: &str) -> Vec<String> {
    path.split("::").map(|name| name.trim().to_owned()).collect()
}

impl Crate {
    fn read(root: &Path) -> Self {
        let mut files = Vec::new();
        sources(root, &mut files);
        let mut found = Self { code: BTreeMap::new(), passed_on: BTreeMap::new(), imports: BTreeMap::new() };
        for file in files {
            let relative = file.strip_prefix(root).unwrap().with_extension("");
            let mut module: Module =
                relative.components().map(|part| part.as_os_str().to_str().unwrap().to_owned()).collect();
            // A program without a library has its root in `main.rs`.
            let is_root = module == ["main"] && !root.join("lib.rs").exists();
            if is_root || ["mod", "lib"].contains(&module.last().unwrap().as_str()) {
                module.pop();
            }
            found.code.insert(module, code(&file));
        }
        for (module, code) in &found.code {
            let (mut passed_on, mut imports, mut rest) = (Vec::new(), Vec::new(), String::new());
            let mut statement = String::new();
            for line in code.lines() {
                let begins = statement.is_empty();
                let line = line.trim();
                let is_use = line.starts_with("use ") || (line.starts_with("pub") && line.contains(" use "));
                if begins && !is_use {
                    rest.push_str(line);
                    rest.push('\n');
                    continue;
                }
                statement.push_str(line);
                statement.push(' ');
                if line.ends_with(';') {
                    let (visibility, tree) = statement.split_once("use ").unwrap();
                    let tree = tree.trim().strip_suffix(';').unwrap();
                    let list = if visibility.is_empty() { &mut imports } else { &mut passed_on };
                    list.extend(paths(tree).iter().map(|path| names(path)));
                    statement.clear();
                }
            }
            // Who may see an item is no import.
            let rest =
                rest.replace("(in crate::", "(in ").replace("(in super::super", "(in ").replace("(in super::", "(in ");
            imports.extend(found.inline(module, &rest));
            found.passed_on.insert(module.clone(), passed_on);
            found.imports.insert(module.clone(), imports);
        }
        found
    }

    /// Paths in code: from the crate's root, from above, or into a module's own child.
    fn inline(&self, module: &Module, code: &str) -> Vec<Vec<String>> {
        let is_name = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
        let begins = |first: &str| {
            let child = || self.code.contains_key(&[module.clone(), vec![first.to_owned()]].concat());
            ["crate", "super", "self"].contains(&first) || child()
        };
        let words = code.split(|letter| !is_name(letter)).filter(|word| word.contains("::"));
        words.map(|word| names(word.trim_matches(':'))).filter(|path| begins(&path[0])).collect()
    }

    fn absolute(&self, module: &Module, path: &[String]) -> Option<Module> {
        let above = path.iter().take_while(|name| *name == "super").count();
        match path.first()?.as_str() {
            "crate" => Some(path[1..].to_vec()),
            "self" => Some([module, &path[1..]].concat()),
            "super" => Some([&module[..module.len() - above], &path[above..]].concat()),
            child if self.code.contains_key(&[module.clone(), vec![child.to_owned()]].concat()) => {
                Some([module, path].concat())
            }
            _ => None,
        }
    }

    /// The file in which what a path names is written, through what modules pass on.
    fn file(&self, path: &Module, depth: u32) -> Option<Module> {
        let known = (0..=path.len()).rev().find(|length| self.code.contains_key(&path[..*length]))?;
        let (module, rest) = (path[..known].to_vec(), &path[known..]);
        let Some(name) = rest.first().filter(|_| depth < 10) else { return Some(module) };
        for passed in &self.passed_on[&module] {
            let mut passed = passed.clone();
            if passed.last().unwrap() == "*" {
                *passed.last_mut().unwrap() = name.clone();
                let Some(target) = self.absolute(&module, &passed) else { continue };
                // Whether the glob's module really has it.
                let Some(file) = self.file(&target, depth + 1) else { continue };
                let says = ["struct ", "enum ", "fn ", "trait ", "type ", "const ", "static "];
                if file != module && says.iter().any(|kind| self.code[&file].contains(&format!("{kind}{name}"))) {
                    return Some(file);
                }
            } else if passed.last().unwrap() == name {
                let Some(target) = self.absolute(&module, &passed) else { continue };
                return self.file(&[&target, &rest[1..]].concat(), depth + 1);
            }
        }
        Some(module)
    }

    fn imports(&self) -> BTreeMap<Module, BTreeSet<Module>> {
        let of = |(module, imports): (&Module, &Vec<Vec<String>>)| {
            let targets = imports.iter().filter_map(|path| self.file(&self.absolute(module, path)?, 0));
            (module.clone(), targets.filter(|target| target != module).collect())
        };
        self.imports.iter().map(of).collect()
    }

    /// Files that import each other in a cycle, largest cycles first.
    fn cycles(&self) -> Vec<Vec<Module>> {
        let imports = self.imports();
        let reached = |from: &Module| {
            let mut seen = BTreeSet::new();
            let mut open: Vec<&Module> = imports[from].iter().collect();
            while let Some(next) = open.pop() {
                if seen.insert(next.clone()) {
                    open.extend(&imports[next]);
                }
            }
            seen
        };
        let reach: BTreeMap<&Module, BTreeSet<Module>> = imports.keys().map(|file| (file, reached(file))).collect();
        let mut cycles: Vec<Vec<Module>> = Vec::new();
        for file in imports.keys() {
            let holds = |other: &&Module| reach[file].contains(*other) && reach[*other].contains(file);
            let cycle: Vec<Module> = imports.keys().filter(holds).cloned().collect();
            if cycle.len() > 1 && !cycles.contains(&cycle) {
                cycles.push(cycle);
            }
        }
        cycles.sort_by_key(|cycle| usize::MAX - cycle.len());
        cycles
    }
}

fn shown(cycle: &[Module]) -> Vec<String> {
    cycle.iter().map(|module| module.join("/")).collect()
}

#[test]
fn imports_are_read() {
    assert_eq!(paths("a::{b, c::{d as x, e}}"), ["a::b", "a::c::d", "a::c::e"]);
    let core = Crate::read(&folder("core"));
    let imports: usize = core.imports().values().map(BTreeSet::len).sum();
    assert!(imports > 400, "{imports} imports: the sources are not where this test looks");
}

#[test]
fn every_file_is_compiled() {
    for name in ["torch", "core", "text", "charts", "web", "cli", "validation", "xtask"] {
        let found = Crate::read(&folder(name));
        for module in found.code.keys().filter(|module| module.join("/") != "main") {
            let Some((last, above)) = module.split_last() else { continue };
            let named = |code: &String| code.lines().any(|line| line.trim_end().ends_with(&format!("mod {last};")));
            let by_main = above.is_empty() && found.code.get(&vec!["main".to_owned()]).is_some_and(named);
            assert!(
                by_main || found.code.get(above).is_some_and(named),
                "{name}: no module names {}",
                module.join("/")
            );
        }
    }
}

#[test]
fn no_files_of_torch_import_each_other_in_a_cycle() {
    let cycles = Crate::read(&folder("torch")).cycles();
    assert!(cycles.is_empty(), "{:?}", cycles.iter().map(|cycle| shown(cycle)).collect::<Vec<_>>());
}

/// Every crate of the workspace: the folders beside this one.
fn crates() -> Vec<String> {
    let beside = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap();
    let names = beside.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| folder(name).exists()).collect();
    names.sort();
    names
}

/// Crates whose files still import each other in larger cycles: the page's, which are laid out anew, and the readers of files,
/// which are being untied.
const KNOTTED: [&str; 3] = ["panels", "web", "files"];

#[test]
fn cycles_stay_in_one_module_and_have_three_files_at_most() {
    let mut wrong = Vec::new();
    for name in crates().iter().filter(|name| !KNOTTED.contains(&name.as_str())) {
        for cycle in Crate::read(&folder(name)).cycles() {
            let folder_of = |module: &Module| module.first().cloned();
            let is_local = cycle.iter().all(|module| folder_of(module) == folder_of(&cycle[0]));
            if cycle.len() > 3 || !is_local {
                wrong.push(format!("{name}: {:?}", shown(&cycle)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Lines of each function of a file, as rustfmt lays them out.
fn functions(text: &str) -> Vec<(String, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let indent = line.len() - line.trim_start().len();
        let Some((before, name)) = line.split_once("fn ") else { continue };
        let is_head = before.trim().split(' ').all(|word| {
            word.is_empty()
                || word.starts_with("pub")
                || ["const", "in", "unsafe"].contains(&word)
                || word.ends_with(')')
        });
        let ends = |line: &&str| **line == format!("{}}}", " ".repeat(indent));
        if is_head && let Some(length) = lines[at..].iter().position(ends) {
            let name = name.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')).next().unwrap();
            found.push((name.to_owned(), length + 1));
        }
    }
    found
}

#[test]
fn files_and_functions_are_short() {
    let folders = [folder("torch"), folder("core").join("job"), folder("core").join("memory")];
    let (mut files, mut seen) = (Vec::new(), 0);
    folders.iter().for_each(|folder| sources(folder, &mut files));
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let lines = text.lines().count();
        assert!(lines <= 450, "{}: {lines} lines", file.display());
        for (name, lines) in functions(&text) {
            seen += 1;
            assert!(lines <= 80, "{}: {name} has {lines} lines", file.display());
        }
    }
    assert!(seen > 500, "{seen} functions: the sources are not where this test looks");
}
