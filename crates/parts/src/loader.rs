//! What wasm-bindgen wrote to load a module, made to load a module with parts.

use crate::failure::{Failure, Result};

/// Where the loader lists what the module may import.
const IMPORTS: &str = "    return {\n        __proto__: null,\n";
/// Where the loader has the module's exports, before any of its code runs.
const INSTANCE: &str = "    wasm = instance.exports;\n";

/// The loader `text`, which then gives the module `parts.load`, and exports `parts`, through which they can be fetched
/// early. `files` are the names of the parts, beside the loader; the first `early` of them are fetched before they are called, and `staged`
/// says how many of those there are up to each stage.
pub fn with_parts(text: &str, files: &[String], early: usize, staged: &[usize]) -> Result<String> {
    let listed: Vec<String> = files.iter().map(|file| format!("new URL(\"{file}\", import.meta.url)")).collect();
    let head = format!(
        "import {{ Parts }} from \"./parts.js\";\nexport const parts = new Parts([{}], {early}, {staged:?});\n\n",
        listed.join(", ")
    );
    let text = replaced(text, IMPORTS, &format!("{IMPORTS}        parts: parts.imports,\n"))?;
    let text = replaced(&text, INSTANCE, &format!("{INSTANCE}    parts.attach(wasm);\n"))?;
    Ok(head + &text)
}

fn replaced(text: &str, expected: &str, by: &str) -> Result<String> {
    if text.matches(expected).count() != 1 {
        return Err(Failure::new(format!(
            "The loader does not have `{}` once: wasm-bindgen writes it in another way than it did, so look at \
             crates/parts/src/loader.rs.",
            expected.trim()
        )));
    }
    Ok(text.replace(expected, by))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const LOADER: &str = "function __wbg_get_imports() {\n    const import0 = {\n        __proto__: null,\n    };\n    return {\n        \
        __proto__: null,\n        \"./page_bg.js\": import0,\n    };\n}\nfunction __wbg_finalize_init(instance, module) {\n    \
        wasm = instance.exports;\n    wasm.__wbindgen_start();\n    return wasm;\n}\n";

    #[test]
    fn the_loader_offers_parts_and_hands_them_the_exports_before_anything_runs() {
        let text = with_parts(LOADER, &["a.wasm".to_owned(), "b.wasm".to_owned()], 2, &[1, 2]).unwrap();
        assert!(text.starts_with("import { Parts } from \"./parts.js\";\n"));
        assert!(
            text.contains("[new URL(\"a.wasm\", import.meta.url), new URL(\"b.wasm\", import.meta.url)], 2, [1, 2])")
        );
        assert!(text.contains("__proto__: null,\n        parts: parts.imports,\n        \"./page_bg.js\": import0,"));
        assert!(text.contains("wasm = instance.exports;\n    parts.attach(wasm);\n    wasm.__wbindgen_start();"));
    }

    #[test]
    fn another_loader_is_refused() {
        assert!(with_parts("", &[], 0, &[]).is_err());
        assert!(with_parts(&LOADER.repeat(2), &[], 0, &[]).is_err());
    }
}
