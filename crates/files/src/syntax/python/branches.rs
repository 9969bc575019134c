//! Branches that hang on whether the GPU has bf16: the question is answered with yes, and the other branch is passed over.

use super::expression::{ASKS_FOR_BF16, Reader};
use super::lexer::Kind;

impl Reader<'_, '_> {
    /// `if torch.cuda.is_bf16_supported():`, `if torch.cuda.get_device_capability()[0] >= 8:`: from here on what `else` says
    /// does not count.
    pub(super) fn branch(&mut self) {
        let length = self.tokens[self.at..].iter().take_while(|token| token.kind != Kind::End).count();
        let asks = (0..length).any(|ahead| ASKS_FOR_BF16.contains(&self.word(ahead)));
        let is_plain = (0..length).all(|ahead| !matches!(self.word(ahead), "not" | "and" | "or"));
        let ampere = self.asks_for_ampere(self.at + 1).is_some();
        if is_plain && (asks || ampere) {
            let span = self.source.span(self.start(), self.start() + self.word(0).len());
            self.taken.push((span.column, false));
            // A call that asks is noted where it is read.
            if ampere {
                self.script.asks_for_bf16.push(span);
            }
        }
    }

    /// Whether the statement at the cursor belongs to the branch that is not taken.
    pub(super) fn is_other_branch(&mut self) -> bool {
        if self.token(0).is_none_or(|token| token.kind == Kind::End) {
            return false;
        }
        let column = self.source.span(self.start(), self.start()).column;
        while let Some((own, is_other)) = self.taken.pop() {
            if column < own {
                continue;
            }
            let begins_other = column == own && matches!(self.word(0), "else" | "elif");
            if column > own || begins_other {
                self.taken.push((own, is_other || begins_other));
                if is_other || begins_other {
                    return true;
                }
                break;
            }
        }
        false
    }

    /// Words of `get_device_capability()[0] >= 8` or `major >= 8` from the word at `first` on: whether the GPU is an Ampere or
    /// newer, which has bf16. `None` where something else is asked.
    pub(super) fn asks_for_ampere(&self, first: usize) -> Option<usize> {
        const MOST_WORDS: usize = 16;
        let text = |at: usize| {
            let token = self.tokens.get(at).filter(|token| token.kind != Kind::End)?;
            self.source.text.get(token.start..token.end)
        };
        let sign = (first..first + MOST_WORDS).find(|at| text(*at).is_none_or(|text| text == ">="))?;
        let names = (first..sign).filter_map(text);
        let asks = names.into_iter().any(|name| matches!(name, "get_device_capability" | "major" | "cc_major"));
        (asks && text(sign) == Some(">=") && text(sign + 1) == Some("8")).then_some(sign + 2 - first)
    }
}
