//! Sizes that remember their symbols, so that every allocation can say its formula.

use super::symbol::Sym;
use std::fmt::Write as _;

/// One dimension: its symbol and its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::memory) struct Dim {
    pub(in crate::memory) sym: Sym,
    pub(in crate::memory) size: u64,
}

/// Up to four dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::memory) struct Shape {
    sizes: [u64; 4],
    symbols: [Sym; 4],
    len: u8,
}

/// Number formats of tensors, weights' and others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::memory) enum ElementType {
    /// float32.
    F32,
    /// float64.
    F64,
    /// bfloat16 or float16.
    Half,
    /// int64.
    I64,
    /// int32.
    I32,
    /// uint8, int8, bool.
    Byte,
}

impl ElementType {
    /// Bytes of one element.
    pub(in crate::memory) const fn bytes(self) -> u64 {
        match self {
            Self::F32 | Self::I32 => 4,
            Self::F64 | Self::I64 => 8,
            Self::Half => 2,
            Self::Byte => 1,
        }
    }
}

/// Largest size of one tensor that is told apart, bytes (4 EiB); greater ones are cut to it so that nothing overflows.
const LARGEST: u64 = 1 << 62;

/// A shape from `(symbol, size)` pairs, at most four.
pub(in crate::memory) fn dims(list: &[(Sym, u64)]) -> Shape {
    let mut shape = Shape { sizes: [1; 4], symbols: [Sym::One; 4], len: 0 };
    for (sym, size) in list.iter().take(4) {
        shape = shape.with(Dim { sym: *sym, size: *size });
    }
    shape
}

impl Shape {
    /// The same shape with one more dimension; a fifth is multiplied into the fourth.
    pub(in crate::memory) fn with(mut self, dim: Dim) -> Self {
        let at = usize::from(self.len);
        match (self.sizes.get_mut(at), self.symbols.get_mut(at)) {
            (Some(size), Some(symbol)) => {
                (*size, *symbol) = (dim.size, dim.sym);
                self.len += 1;
            }
            _ => self.sizes[3] = self.sizes[3].saturating_mul(dim.size),
        }
        self
    }

    /// The sizes.
    pub(in crate::memory) fn sizes(&self) -> &[u64] {
        &self.sizes[..usize::from(self.len)]
    }

    /// Their symbols.
    pub(in crate::memory) fn symbols(&self) -> &[Sym] {
        &self.symbols[..usize::from(self.len)]
    }

    /// Elements.
    pub(in crate::memory) fn elements(&self) -> u64 {
        self.sizes().iter().fold(1u64, |n, size| n.saturating_mul(*size))
    }

    /// Bytes of a tensor of this shape.
    pub(in crate::memory) fn bytes(&self, element: ElementType) -> u64 {
        self.elements().saturating_mul(element.bytes()).min(LARGEST)
    }

    /// The same with the last dimension replaced.
    pub(in crate::memory) fn last(self, sym: Sym, size: u64) -> Self {
        match self.len.checked_sub(1) {
            Some(len) => Self { len, ..self }.with(Dim { sym, size }),
            None => self,
        }
    }

    /// Size of the last dimension; 1 for a scalar.
    pub(in crate::memory) fn width(&self) -> u64 {
        self.sizes().last().map_or(1, |size| *size)
    }

    /// Without the last dimension.
    pub(in crate::memory) fn rows(mut self) -> Self {
        self.len = self.len.saturating_sub(1);
        self
    }

    /// `b·s·h`, or `1` for a scalar.
    pub(in crate::memory) fn formula(&self) -> String {
        let mut text = String::new();
        for symbol in self.symbols() {
            if !text.is_empty() {
                text.push('·');
            }
            text.push_str(symbol.text());
        }
        if text.is_empty() { "1".to_owned() } else { text }
    }

    /// `1 × 1024 × 2560`, or `1` for a scalar.
    pub(in crate::memory) fn numbers(&self) -> String {
        let mut text = String::new();
        for size in self.sizes() {
            if !text.is_empty() {
                text.push_str(" × ");
            }
            let _ = write!(text, "{size}");
        }
        if text.is_empty() { "1".to_owned() } else { text }
    }
}
