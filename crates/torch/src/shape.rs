//! Sizes that remember their symbols, so that every allocation can say its formula; dtypes and their bytes. A symbol that
//! operators use themselves is added here, others are the caller's.

use std::fmt::Write as _;

/// The symbol of a formula: what a dimension is called. A byte, as every tensor carries four.
///
/// Operators know the few below; others are the caller's, who numbers them from 0 with [`Symbol::new`] and says in
/// [`Shape::formula`] how they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Symbol(u8);

/// What the operators' own symbols are called, in their order.
const OWN: [&str; 14] =
    ["1", "b·s", "h", "segments", "bytes", "workspace", "n/N", "b", "s", "a", "d", "d_v", "splits", "splits·b"];

impl Symbol {
    /// One.
    pub const ONE: Self = Self(0);
    /// Tokens of a forward.
    pub const TOKENS: Self = Self(1);
    /// Hidden size.
    pub const HIDDEN: Self = Self(2);
    /// Segments of equal tokens.
    pub const SEGMENTS: Self = Self(3);
    /// Bytes.
    pub const BYTES: Self = Self(4);
    /// Bytes of a workspace.
    pub const WORKSPACE: Self = Self(5);
    /// A rank's share of a tensor.
    pub const SHARE: Self = Self(6);

    /// Sequences.
    pub const BATCH: Self = Self(7);
    /// Tokens of each.
    pub const LENGTH: Self = Self(8);
    /// Attention heads.
    pub const HEADS: Self = Self(9);
    /// Width of a head.
    pub const HEAD_DIM: Self = Self(10);
    /// Width of a value's head.
    pub const VALUE_DIM: Self = Self(11);
    /// Splits of the keys.
    pub const SPLITS: Self = Self(12);
    /// Splits of all sequences.
    pub const SPLITS_TIMES_BATCH: Self = Self(13);

    /// The caller's symbol of number `number`, at most 240.
    pub const fn new(number: u8) -> Self {
        debug_assert!(number < u8::MAX - OWN.len() as u8, "more symbols than a byte tells apart");
        Self(number.saturating_add(OWN.len() as u8))
    }

    /// How it is written: an own one as above, a caller's as `caller` says.
    fn text(self, caller: impl Fn(u8) -> &'static str) -> &'static str {
        match OWN.get(usize::from(self.0)) {
            Some(text) => text,
            None => caller(self.0 - OWN.len() as u8),
        }
    }
}

/// One dimension: its symbol and its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dim {
    /// What it is called.
    pub symbol: Symbol,
    /// How many elements it has.
    pub size: u64,
}

impl Dim {
    /// `size` elements called `symbol`.
    pub fn new(symbol: impl Into<Symbol>, size: u64) -> Self {
        Self { symbol: symbol.into(), size }
    }
}

/// Up to four dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    sizes: [u64; 4],
    symbols: [Symbol; 4],
    len: u8,
}

/// Number formats of tensors, weights' and others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ElementType {
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
    pub const fn bytes(self) -> u64 {
        match self {
            Self::F32 | Self::I32 => 4,
            Self::F64 | Self::I64 => 8,
            Self::Half => 2,
            Self::Byte => 1,
        }
    }

    /// Whether it counts in fractions.
    pub const fn is_floating(self) -> bool {
        matches!(self, Self::F32 | Self::F64 | Self::Half)
    }

    /// The wider of two that count in fractions.
    #[must_use]
    pub const fn promote(self, other: Self) -> Self {
        if other.bytes() > self.bytes() { other } else { self }
    }
}

/// Largest size of one tensor that is told apart, bytes (4 EiB); greater ones are cut to it so that nothing overflows.
const LARGEST: u64 = 1 << 62;

/// A shape from `(symbol, size)` pairs, at most four.
pub fn dims<S: Into<Symbol> + Copy>(list: &[(S, u64)]) -> Shape {
    let mut shape = Shape { sizes: [1; 4], symbols: [Symbol::ONE; 4], len: 0 };
    for (symbol, size) in list.iter().take(4) {
        shape = shape.with(Dim { symbol: (*symbol).into(), size: *size });
    }
    shape
}

impl Shape {
    /// Of a single number.
    pub const SCALAR: Self = Self { sizes: [1; 4], symbols: [Symbol::ONE; 4], len: 0 };

    /// The same shape with one more dimension; a fifth is multiplied into the fourth.
    #[must_use]
    pub fn with(mut self, dim: Dim) -> Self {
        let at = usize::from(self.len);
        match (self.sizes.get_mut(at), self.symbols.get_mut(at)) {
            (Some(size), Some(symbol)) => {
                (*size, *symbol) = (dim.size, dim.symbol);
                self.len += 1;
            }
            _ => self.sizes[3] = self.sizes[3].saturating_mul(dim.size),
        }
        self
    }

    /// The sizes.
    pub fn sizes(&self) -> &[u64] {
        &self.sizes[..usize::from(self.len)]
    }

    /// Their symbols.
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols[..usize::from(self.len)]
    }

    /// Elements.
    pub fn elements(&self) -> u64 {
        self.sizes().iter().fold(1u64, |n, size| n.saturating_mul(*size))
    }

    /// Bytes of a tensor of this shape.
    pub fn bytes(&self, element: ElementType) -> u64 {
        self.elements().saturating_mul(element.bytes()).min(LARGEST)
    }

    /// The same with the last dimension replaced.
    #[must_use]
    pub fn last(self, symbol: impl Into<Symbol>, size: u64) -> Self {
        match self.len.checked_sub(1) {
            Some(len) => Self { len, ..self }.with(Dim { symbol: symbol.into(), size }),
            None => self,
        }
    }

    /// The same with dimension `place` cut into `parts`; what is not there stays.
    #[must_use]
    pub fn divided(mut self, place: usize, parts: u64) -> Self {
        let is_there = place < usize::from(self.len);
        self.sizes.get_mut(place).filter(|_| is_there).into_iter().for_each(|size| *size /= parts.max(1));
        self
    }

    /// Size of the last dimension; 1 for a scalar.
    pub fn width(&self) -> u64 {
        self.sizes().last().map_or(1, |size| *size)
    }

    /// Without the last dimension.
    #[must_use]
    pub fn rows(mut self) -> Self {
        self.len = self.len.saturating_sub(1);
        self
    }

    /// `b·s·h`, or `1` for a scalar; `caller`: how the symbols of [`Symbol::new`] are written.
    pub fn formula(&self, caller: impl Fn(u8) -> &'static str) -> String {
        let mut text = String::new();
        for symbol in self.symbols() {
            if !text.is_empty() {
                text.push('·');
            }
            text.push_str(symbol.text(&caller));
        }
        if text.is_empty() { "1".to_owned() } else { text }
    }

    /// `1 × 1024 × 2560`, or `1` for a scalar.
    pub fn numbers(&self) -> String {
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
