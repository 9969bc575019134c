//! A setting as files write it: a key, its value, and why it is what it is.

use super::why::Why;

/// A value of a setting.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Written {
    /// true or false.
    Flag(bool),
    /// A whole number.
    Whole(u64),
    /// Any other number.
    Real(f64),
    /// A text, quoted where the notation needs it.
    Text(String),
    /// A Python expression, as it stands: `torch.bfloat16`, a name of an object.
    Code(String),
    /// Texts in order.
    Texts(Vec<String>),
    /// Settings of a section.
    Section(Vec<Setting>),
    /// Sections in order.
    Sections(Vec<Vec<Setting>>),
}

/// A key with its value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Setting {
    pub(super) key: &'static str,
    pub(super) value: Written,
    pub(super) why: Option<Why>,
}

/// `key` set to `value`.
pub(super) fn set(key: &'static str, value: impl Into<Written>) -> Setting {
    Setting { key, value: value.into(), why: None }
}

/// `key` set to a Python expression.
pub(super) fn code(key: &'static str, value: impl Into<String>) -> Setting {
    Setting { key, value: Written::Code(value.into()), why: None }
}

impl Setting {
    /// The same with its reason.
    pub(super) fn because(self, why: Why) -> Self {
        Self { why: Some(why), ..self }
    }
}

impl From<bool> for Written {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<u64> for Written {
    fn from(whole: u64) -> Self {
        Self::Whole(whole)
    }
}

impl From<f64> for Written {
    fn from(real: f64) -> Self {
        Self::Real(real)
    }
}

impl From<&str> for Written {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Written {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&[String]> for Written {
    fn from(texts: &[String]) -> Self {
        Self::Texts(texts.to_vec())
    }
}

impl From<Vec<Setting>> for Written {
    fn from(settings: Vec<Setting>) -> Self {
        Self::Section(settings)
    }
}

/// A number without a fraction as a whole one, as people write LoRA's alpha.
pub(super) fn whole_or_real(number: f64) -> Written {
    const EXACT: f64 = 9e15;
    if number.fract() == 0.0 && (0.0..EXACT).contains(&number) {
        Written::Whole(number as u64)
    } else {
        Written::Real(number)
    }
}

/// A number in digits alone: YAML 1.1 takes `2e-05` for a text.
pub(super) fn real_text(real: f64) -> String {
    let digits = real.to_string();
    if digits.contains('.') { digits } else { digits + ".0" }
}
