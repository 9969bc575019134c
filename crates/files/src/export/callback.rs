//! A callback that prints what a run allocates beside what was estimated.

use headroom_core::units::bytes_text;

use super::planned::Planned;

/// The module that scripts import, and its file.
pub(super) const MODULE: &str = "memory_check";
pub(super) const FILE: &str = "memory_check.py";

/// What a script says of it: the import, and the argument of the trainer; nothing where it is not wanted.
pub(super) fn used(planned: &Planned<'_>) -> (String, &'static str) {
    if !planned.checks_memory {
        return (String::new(), "");
    }
    (format!("from {MODULE} import MemoryCheck\n"), "    callbacks=[MemoryCheck()],\n")
}

/// [`FILE`].
pub(super) fn file(planned: &Planned<'_>) -> String {
    let (allocated, reserved) = planned
        .estimate
        .as_ref()
        .map_or((0, 0), |estimate| (estimate.peak.allocated_bytes, estimate.peak.reserved_bytes));
    format!(
        "\"\"\"Prints what each step allocates, beside the estimate.

trainer = ...Trainer(..., callbacks=[MemoryCheck()])
\"\"\"

import torch
from transformers import TrainerCallback

# Estimated at the step's peak on each GPU: {} in tensors, {} reserved where the GPU never runs short.
ESTIMATED_ALLOCATED = {allocated}
ESTIMATED_RESERVED = {reserved}


class MemoryCheck(TrainerCallback):
    def on_step_begin(self, args, state, control, **kwargs):
        torch.cuda.reset_peak_memory_stats()

    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step > 3 and state.global_step % 100:
            return
        gib = 2**30
        allocated = torch.cuda.max_memory_allocated()
        reserved = torch.cuda.max_memory_reserved()
        free, total = torch.cuda.mem_get_info()
        print(
            f\"step {{state.global_step}} rank {{args.process_index}}: \"
            f\"allocated {{torch.cuda.memory_allocated() / gib:.2f}} GiB, \"
            f\"peak {{allocated / gib:.2f}} GiB (estimated {{ESTIMATED_ALLOCATED / gib:.2f}}), \"
            f\"reserved {{reserved / gib:.2f}} GiB (estimated {{ESTIMATED_RESERVED / gib:.2f}}), \"
            f\"GPU {{(total - free) / gib:.2f}} of {{total / gib:.2f}} GiB in use\"
        )
",
        bytes_text(allocated),
        bytes_text(reserved)
    )
}
