//! What was typed in a terminal whose whole output was copied: the commands behind prompts, nothing of what they printed.

use super::recognise::PROGRAMS;

/// `text` with everything blanked but the commands that launch something, each byte where it was, so that lines and fixes are
/// those of the text; `None` where it is no terminal's output.
///
/// A prompt is `user@host:~/run$`, with a virtual environment before it or not; `$` alone counts only above a failure, since
/// manuals write commands with and without it side by side.
pub(super) fn typed(text: &str) -> Option<String> {
    let failed = ["Traceback (most recent call last)", "out of memory", "OutOfMemoryError"];
    let has_failed = failed.iter().any(|mark| text.contains(mark));
    let mut out = String::with_capacity(text.len());
    let (mut launches, mut continues) = (false, false);
    for line in text.split_inclusive('\n') {
        let begins = prompt(line)
            .filter(|(length, named)| (*named || has_failed) && line.get(*length..).is_some_and(launches_something));
        let keep_from = match begins {
            Some((length, _)) => length,
            None if continues => 0,
            None => line.len(),
        };
        launches |= begins.is_some();
        continues = keep_from < line.len() && line.trim_end().ends_with('\\');
        let (blanked, kept) = line.split_at(keep_from);
        out.extend(blanked.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        out.push_str(kept);
    }
    launches.then_some(out)
}

/// Length of the prompt that a line begins with, bytes, and whether it names user and host.
fn prompt(line: &str) -> Option<(usize, bool)> {
    let end = line.match_indices(['$', '#']).map(|(at, _)| at + 1).find(|end| line[*end..].starts_with(' '))?;
    let before = line[..end - 1].trim();
    // `(venv) user@host:~/run` and `[user@host run]`.
    let bare = before.rsplit_once(") ").map_or(before, |(_, rest)| rest).trim_matches(['[', ']']);
    let named = bare.split_once('@').is_some_and(|(user, host)| {
        let is_name = |text: &str| {
            !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        };
        is_name(user) && host.split([':', ' ']).next().is_some_and(is_name)
    });
    let is_dollar = before.is_empty() && line[..end].ends_with('$');
    (named || is_dollar).then_some((end, named))
}

/// A setting of verl's as its command takes it: people post those without the command.
pub(super) fn is_override(word: &str) -> bool {
    const SECTIONS: [&str; 6] = ["actor_rollout_ref.", "algorithm.", "critic.", "data.", "reward_model.", "trainer."];
    word.contains('=') && SECTIONS.iter().any(|section| word.starts_with(section))
}

/// Whether a command sets variables or runs a program that launches trainers.
pub(super) fn launches_something(command: &str) -> bool {
    let is_assignment = |word: &&str| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        })
    };
    // A notebook's mark of a command.
    let command = command.trim_start().trim_start_matches('!');
    let program = command.split_whitespace().find(|word| !is_assignment(word));
    // A script that runs by itself, with its options.
    let is_script = |word: &str| word.ends_with(".py") && command.split_whitespace().any(|next| next.starts_with("--"));
    program.is_some_and(|word| {
        is_override(word) || is_script(word) || PROGRAMS.contains(&word.rsplit('/').next().unwrap_or(word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "(venv) me@box:~/run$ CUDA_VISIBLE_DEVICES=0 accelerate launch \\\n  train.py --lr 1\nLoading: 100%|██| it's\n\
                       Traceback (most recent call last):\n  File \"a.py\nroot@box:/# ls\n";

    #[test]
    fn commands_behind_prompts_stay_where_they_were() {
        let typed = typed(LOG).unwrap_or_default();
        assert_eq!(typed.len(), LOG.len());
        assert_eq!(typed.find("CUDA_VISIBLE_DEVICES"), LOG.find("CUDA_VISIBLE_DEVICES"));
        assert_eq!(
            typed.split_whitespace().collect::<Vec<_>>(),
            ["CUDA_VISIBLE_DEVICES=0", "accelerate", "launch", "\\", "train.py", "--lr", "1"]
        );
    }

    #[test]
    fn a_manual_with_prompts_is_left_as_it_is() {
        assert_eq!(typed("$ export A=1\naccelerate launch train.py\n"), None);
        assert_eq!(typed("$ python train.py\nthen look at the loss\n"), None);
        assert!(typed("$ python train.py\nCUDA out of memory. Tried\n").is_some());
        assert_eq!(typed("costs 5 $ a month\n"), None);
    }
}
