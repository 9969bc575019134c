//! Streams, as far as memory goes by them.

/// A CUDA stream: a block that was asked on one is only used again by requests on the same (`torch.cuda.stream`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Stream(u8);

impl Stream {
    /// The stream that the model computes on, PyTorch's default.
    pub const COMPUTE: Self = Self(0);

    /// Not a stream but memory of its own kind, apart from all streams: a pool (`torch.cuda.MemPool`) whose pages go back to
    /// the driver as soon as they are freed, and whose owner empties the cache before it takes them (vLLM's
    /// device_allocator/cumem.py `CuMemAllocator`).
    pub const UNCACHED: Self = Self(7);

    /// The `number`th stream beside it, from 1 to 6.
    pub const fn side(number: u8) -> Self {
        Self(number)
    }

    /// Its number; 0 is [`Stream::COMPUTE`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
