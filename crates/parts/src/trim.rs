//! A module without exports that nobody asks for, and what wasm-bindgen wrote to load it without what that leaves unused.
//!
//! Crates may export classes to JavaScript that a page never makes: the linker keeps them, with all that they call.

use std::collections::BTreeSet;

use wasm_encoder::Function;
use wasm_encoder::reencode::Reencode;
use wasmparser::FunctionBody;

use crate::assemble::{Additions, Rewrite, assemble};
use crate::failure::{Failure, Result};
use crate::module::Module;

/// The module without the exports in whose names one of `words` stands; wasm-opt then removes what only they needed.
pub fn without_exports(bytes: &[u8], words: &[&str]) -> Result<Vec<u8>> {
    let mut module = Module::read(bytes)?;
    let all = module.exports.len();
    module.exports.retain(|export| !words.iter().any(|word| export.name.contains(word)));
    if module.exports.len() == all {
        return Err(Failure::new(format!(
            "The module exports nothing with {}: leave the word out, as nothing needs trimming any more.",
            words.join(" or ")
        )));
    }
    let custom: Vec<_> = module.custom.clone();
    assemble(&module, &mut Same, Additions::default(), &custom)
}

struct Same;

impl Reencode for Same {
    type Error = Failure;
}

impl Rewrite for Same {
    fn keeps(&self, _: u32) -> bool {
        true
    }

    fn code(&mut self, _: u32, body: &FunctionBody<'_>) -> Result<Function> {
        let mut code = self.new_function_with_parsed_locals(body)?;
        let mut reader = body.get_operators_reader()?;
        while !reader.eof() {
            code.instruction(&self.parse_instruction(&mut reader)?);
        }
        Ok(code)
    }
}

/// The loader `text` of the module `bytes` without imports that the module does not have, and without classes of exports that it
/// does not have.
pub fn loader(text: &str, bytes: &[u8]) -> Result<String> {
    let module = Module::read(bytes)?;
    let imported: BTreeSet<&str> = module.imports.iter().map(|import| import.name).collect();
    let exported: BTreeSet<&str> = module.exports.iter().map(|export| export.name).collect();
    let asks_for_what_is_gone = |text: &str| {
        text.split("wasm.").skip(1).any(|rest| {
            let name = rest.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').next();
            name.is_some_and(|name| !name.is_empty() && !exported.contains(name))
        })
    };
    let lines: Vec<&str> = text.lines().collect();
    let mut kept = String::with_capacity(text.len());
    let mut gone: Vec<&str> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        let end = if line.starts_with("export class ") {
            end_of(&lines, at, "}")
        } else if line.starts_with("const ") && line.contains("Finalization = ") {
            (at..lines.len()).find(|at| lines[*at].ends_with(';')).unwrap_or(at)
        } else if import_of(line).is_some() {
            end_of(&lines, at, "        }")
        } else {
            at
        };
        let whole = lines[at..=end].join("\n");
        let class = line.strip_prefix("export class ").and_then(|rest| rest.split(' ').next());
        let is_gone = match (class, import_of(line)) {
            (Some(_), _) => asks_for_what_is_gone(&whole),
            (_, Some(name)) => !imported.contains(name),
            _ if end > at => asks_for_what_is_gone(&whole),
            _ => line.starts_with("if (Symbol.dispose) ") && gone.iter().any(|class| line.contains(class)),
        };
        if is_gone {
            gone.extend(class);
        } else {
            kept.push_str(&whole);
            kept.push('\n');
        }
        at = end + 1;
    }
    if asks_for_what_is_gone(&kept) {
        return Err(Failure::new(
            "The loader still asks for an export that the module has not: wasm-bindgen writes it in another way than it did, so look \
             at crates/parts/src/trim.rs.",
        ));
    }
    Ok(kept)
}

/// The name of the import whose function begins on this line.
fn import_of(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("        ").filter(|rest| rest.starts_with("__w"))?;
    rest.split_once(": function(").map(|(name, _)| name)
}

/// The line that ends what begins at line `from`: the first that starts with `mark`.
fn end_of(lines: &[&str], from: usize, mark: &str) -> usize {
    (from + 1..lines.len()).find(|at| lines[*at].starts_with(mark)).unwrap_or(from)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const LOADER: &str = "export class Kept {\n    free() {\n        wasm.kept_free(1);\n    }\n}\n\
        if (Symbol.dispose) Kept.prototype[Symbol.dispose] = Kept.prototype.free;\n\
        export class Unused {\n    free() {\n        wasm.unused_free(1);\n    }\n}\n\
        if (Symbol.dispose) Unused.prototype[Symbol.dispose] = Unused.prototype.free;\n\
        function __wbg_get_imports() {\n    const import0 = {\n        __proto__: null,\n        \
        __wbg_used: function(arg0) {\n            return arg0;\n        },\n        \
        __wbg_other: function() { return handleError(function (arg0) {\n            arg0.other();\n        }, arguments); },\n    \
        };\n}\nconst UnusedFinalization = (typeof FinalizationRegistry === 'undefined')\n    ? { register: () => {} }\n    \
        : new FinalizationRegistry(ptr => wasm.unused_free(ptr, 1));\n";
    const MODULE: &str = r#"(module
        (import "./page_bg.js" "__wbg_used" (func $used (param i32)))
        (func (export "kept_free") (param i32) (call $used (local.get 0)))
        (func (export "unused_free") (param i32)))"#;

    #[test]
    fn what_nobody_asks_for_is_gone_from_module_and_loader() {
        let bytes = without_exports(&wat::parse_str(MODULE).unwrap(), &["unused"]).unwrap();
        let module = Module::read(&bytes).unwrap();
        assert_eq!(module.exports.iter().map(|export| export.name).collect::<Vec<_>>(), ["kept_free"]);
        let text = loader(LOADER, &bytes).unwrap();
        assert!(
            text.contains("class Kept") && text.contains("Kept.prototype.free") && text.contains("__wbg_used"),
            "{text}"
        );
        assert!(!text.to_lowercase().contains("unused") && !text.contains("__wbg_other"), "{text}");
    }

    #[test]
    fn a_word_that_no_export_has_is_refused() {
        assert!(without_exports(&wat::parse_str(MODULE).unwrap(), &["absent"]).is_err());
    }

    #[test]
    fn a_loader_that_asks_for_what_is_gone_in_another_way_is_refused() {
        let bytes = without_exports(&wat::parse_str(MODULE).unwrap(), &["unused"]).unwrap();
        assert!(loader("function free() { wasm.unused_free(1); }\n", &bytes).is_err());
    }
}
