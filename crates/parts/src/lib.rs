//! Where a wasm module's bytes are, and the module split by function into parts that are loaded when they are called.

mod assemble;
pub mod cold;
pub mod failure;
pub mod instrument;
pub mod list;
pub mod loader;
pub mod module;
pub mod names;
pub mod sizes;
pub mod split;
pub mod trim;
