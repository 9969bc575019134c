//! Which dtypes matmuls run in.

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
