//! Which dtypes tensors have and matmuls run in.

use super::autograd::ElementType;
use crate::plan::{Dtype, MixedPrecision, Plan};

/// Whether a plan's matmuls run in half precision under autocast.
pub(super) fn autocasts(plan: &Plan) -> bool {
    plan.mixed_precision != MixedPrecision::No
}

/// Whether the half type is float16.
pub(super) fn is_float16(plan: &Plan) -> bool {
    plan.mixed_precision == MixedPrecision::Fp16
        || (plan.mixed_precision == MixedPrecision::No && plan.torch_dtype == Dtype::Float16)
}

/// The tensor element type of a plan's dtype.
pub(super) const fn element_type(dtype: Dtype) -> ElementType {
    match dtype {
        Dtype::Bfloat16 | Dtype::Float16 => ElementType::Half,
        Dtype::Float32 => ElementType::F32,
    }
}
