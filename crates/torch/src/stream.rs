//! Streams, as far as memory goes by them.

/// A CUDA stream: a block that was asked on one is only used again by requests on the same (`torch.cuda.stream`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Stream(u8);

impl Stream {
    /// The stream that the model computes on, PyTorch's default.
    pub const COMPUTE: Self = Self(0);

    /// The `number`th stream beside it, from 1.
    pub const fn side(number: u8) -> Self {
        Self(number)
    }

    /// Its number; 0 is [`Stream::COMPUTE`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
