//! Where autocast casts the operands of a `matmul` that is recorded as the operators that it runs.

use std::collections::BTreeMap;

use headroom_torch::Kernel;

use super::signs::Sign;
use super::{Action, Autocast, Op, Value};

/// Lowers what `matmul` expands before it is expanded: autocast has `matmul` itself in its list (aten/src/ATen/autocast_mode.h
/// `AT_FORALL_LOWER_PRECISION_FP`), which then expands its operands to each other's batches, copies what lies apart, and runs `bmm`
/// (aten/src/ATen/native/LinearAlgebra.cpp `_matmul_impl`).
pub(super) fn lower_before_expanding(ops: &mut [Op]) {
    let places: BTreeMap<usize, usize> = ops.iter().enumerate().map(|(i, op)| (op.first, i)).collect();
    let producer = |value: &Value| match value {
        Value::Numbered(number) => places.get(number).copied(),
        Value::Parameter(..) => None,
    };
    let mut found = Vec::new();
    for op in ops.iter().filter(|op| op.cast == Autocast::Lower) {
        for input in &op.inputs {
            // A copy and the view of it at most.
            let mut at = producer(input);
            for _ in 0..2 {
                let seen = at.and_then(|at| ops.get(at)).filter(|op| copies_or_views(op));
                at = seen.map_or(at, |op| op.inputs.first().and_then(producer));
            }
            found.extend(at.filter(|at| ops.get(*at).is_some_and(|op| op.sign == Sign::Expand)));
        }
    }
    for at in found {
        ops.get_mut(at).into_iter().for_each(|op| op.cast = Autocast::Lower);
    }
    for op in ops {
        if let Action::Repeat(repeat) = &mut op.action {
            lower_before_expanding(&mut repeat.ops);
        }
    }
}

fn copies_or_views(op: &Op) -> bool {
    let reshapes = |op: &Op| matches!(&op.action, Action::Operator(operator) if operator.kernel == Kernel::Reshape);
    matches!(op.sign, Sign::Copy | Sign::View) || reshapes(op)
}
