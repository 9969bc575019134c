//! Makefiles as the shell reads their recipes: each byte stays where it was.

/// Whether a file of this name is a Makefile.
pub(super) fn is_makefile(name: &str) -> bool {
    let base = crate::syntax::base(name).to_ascii_lowercase();
    base == "makefile" || base == "gnumakefile" || base.ends_with(".mk")
}

/// The variables and recipes of a Makefile as lines of a shell: `MODEL ?= a b` sets `MODEL="a b"`, `$(MODEL)` is `${MODEL}`, and what
/// names targets is blank. Its first recipe's commands come first, as `make` runs them.
pub(super) fn shell_of(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut continues = false;
    for line in text.split_inclusive('\n') {
        let (body, end) = line.strip_suffix('\n').map_or((line, ""), |body| (body, "\n"));
        let is_recipe = body.starts_with('\t');
        if continues || is_recipe {
            let marks = body.len() - body.trim_start_matches(['\t', '@', '-', ' ']).len();
            // The options of a command that goes on begin with dashes of their own.
            let marks = if continues { body.len() - body.trim_start_matches(['\t', ' ']).len() } else { marks };
            out.push_str(&" ".repeat(marks));
            out.push_str(&variables(&body[marks..]));
        } else if let Some(set) = assignment(body) {
            out.push_str(&variables(&set));
        } else if body.trim_start().starts_with("export ") || body.trim_start().starts_with('#') {
            out.push_str(body);
        } else {
            out.push_str(&" ".repeat(body.len()));
        }
        continues = (continues || is_recipe) && body.trim_end().ends_with('\\');
        out.push_str(end);
    }
    out
}

/// `NAME := some words` as `NAME="some words"`, as long as it was.
fn assignment(line: &str) -> Option<String> {
    let (left, value) = line.split_once('=')?;
    let sign = left.len() - left.trim_end_matches(['?', ':', '+']).len();
    let name = left[..left.len() - sign].trim_end();
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let value = value.split(" #").next().unwrap_or(value).trim();
    if !is_name {
        return None;
    }
    let quoted = if value.contains(' ') && !value.starts_with(['"', '\'']) && !value.contains('"') {
        [name, "=\"", value, "\""].concat()
    } else {
        [name, "=", value].concat()
    };
    (quoted.len() <= line.len()).then(|| format!("{quoted}{}", " ".repeat(line.len() - quoted.len())))
}

/// `$(NAME)` of a Makefile as the shell's `${NAME}`.
fn variables(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, behind)) = rest.split_once("$(") {
        out.push_str(before);
        let length = behind.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_')).unwrap_or(0);
        match behind.get(length..).is_some_and(|after| length > 0 && after.starts_with(')')) {
            true => {
                out.push_str("${");
                out.push_str(&behind[..length]);
                out.push('}');
                rest = &behind[length + 1..];
            }
            false => {
                out.push_str("$(");
                rest = behind;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::shell_of;

    #[test]
    fn bytes_stay_where_they_were() {
        let text = "M ?= a/b c\nN:=2\n.PHONY: all\nall: x\n\t@run --n $(N) \\\n\t\t--m $(M) $(shell ls)\n";
        let shell = shell_of(text);
        assert_eq!(shell.len(), text.len());
        assert_eq!(shell.find("--m"), text.find("--m"));
        assert!(
            shell.contains("M=\"a/b c\"")
                && shell.contains("N=2")
                && shell.contains("${N}")
                && !shell.contains(".PHONY")
        );
        assert!(shell.contains("$(shell ls)"));
    }
}
