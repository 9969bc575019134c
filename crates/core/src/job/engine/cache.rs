//! The cache that vLLM must have for one sequence.

use crate::model::Model;

/// Tokens of a block of the cache (vllm config/cache.py `block_size`).
const BLOCK_TOKENS: u64 = 16;

/// Layers that keep the same of a token, and equally many tokens.
struct CacheKind {
    layers: u64,
    /// Bytes of a block in one of them.
    page: u64,
    window: Option<u64>,
    /// Blocks of the longest sequence.
    blocks: u64,
}

/// Bytes of one block of all layers, and of all blocks without which no sequence of `longest` tokens fits: its own and one that
/// the pool holds back.
///
/// vllm v1/kv_cache_interface.py `max_memory_usage_bytes`; v1/core/kv_cache_planning.py `_get_kv_cache_groups_uniform_page_size`:
/// layers of several kinds share one pool in groups of equally many, padded to that. Pages of several sizes are counted as they are.
pub(super) fn of(model: &Model, (longest, batched): (u64, u64), tp: u64, width: u64) -> (u64, u64) {
    let kinds = kinds(model, (longest, batched), tp, width);
    let fewest = kinds.iter().map(|kind| kind.layers).min().unwrap_or(0);
    let most = kinds.iter().map(|kind| kind.layers).max().unwrap_or(0);
    let is_even = kinds.windows(2).all(|pair| matches!(pair, [one, other] if one.page == other.page));
    if let (true, Some(first)) = (is_even, kinds.first()) {
        // Little more than the fewest: all groups are as large as the largest.
        let size = if most * 2 < fewest * 3 { most } else { fewest }.max(1);
        let block = size.saturating_mul(first.page);
        let blocks = kinds.iter().map(|kind| kind.layers.div_ceil(size).saturating_mul(kind.blocks));
        let blocks = blocks.fold(1, u64::saturating_add);
        return (block, blocks.saturating_mul(block));
    }
    let block = |kind: &CacheKind| kind.layers.saturating_mul(kind.page);
    let all = |kind: &CacheKind| block(kind).saturating_mul(kind.blocks.saturating_add(1));
    let sum = |of: &dyn Fn(&CacheKind) -> u64| kinds.iter().map(of).fold(0, u64::saturating_add);
    (sum(&block), sum(&all))
}

fn kinds(model: &Model, (longest, batched): (u64, u64), tp: u64, width: u64) -> Vec<CacheKind> {
    let mut kinds: Vec<CacheKind> = Vec::new();
    for (place, run) in model.layers.iter().enumerate().filter(|(_, run)| !run.layer.sees_images()) {
        let attention = &run.layer.attention;
        let numbers = match attention.latent {
            // Every GPU keeps the compressed vector whole.
            Some(_) => attention.cached_numbers(true),
            None => {
                let heads = attention.num_key_value_heads.div_ceil(tp);
                heads.saturating_mul(attention.head_dim.saturating_add(attention.value_head_dim))
            }
        };
        let page = numbers.saturating_mul(BLOCK_TOKENS).saturating_mul(width);
        if page == 0 {
            continue;
        }
        let (layers, window) = (model.calls(place), attention.sliding_window);
        if let Some(same) = kinds.iter_mut().find(|kind| kind.page == page && kind.window == window) {
            same.layers = same.layers.saturating_add(layers);
            continue;
        }
        let blocks = match window {
            // A window may begin in the middle of a block.
            Some(window) => {
                let kept = window.saturating_sub(1).saturating_add(batched).min(longest);
                kept.div_ceil(BLOCK_TOKENS).saturating_add(1)
            }
            None => longest.div_ceil(BLOCK_TOKENS),
        };
        kinds.push(CacheKind { layers, page, window, blocks });
    }
    kinds
}
