//! The tensor element type of a dtype.

use super::autograd::ElementType;
use crate::plan::Dtype;

/// The tensor element type of a plan's dtype.
pub(super) const fn element_type(dtype: Dtype) -> ElementType {
    match dtype {
        Dtype::Bfloat16 | Dtype::Float16 => ElementType::Half,
        Dtype::Float32 => ElementType::F32,
    }
}
