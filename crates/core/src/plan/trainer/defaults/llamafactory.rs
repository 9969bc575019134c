//! LLaMA-Factory 0.9.5: hparams/*.py over `Seq2SeqTrainingArguments`.

use crate::plan::{Dtype, Method, Plan};

pub(super) fn apply(plan: &mut Plan) {
    super::transformers::apply(plan);
    // hparams/model_args.py `disable_gradient_checkpointing`: False.
    plan.gradient_checkpointing = true;
    // hparams/data_args.py `cutoff_len`.
    plan.max_length = 2048;
    // model/adapter.py `init_adapter`: what trains becomes fp32 unless `pure_bf16` is set. A frozen base stays as the
    // checkpoint has it (model/patcher.py `infer_optim_dtype`).
    plan.torch_dtype = if plan.method == Method::Full { Dtype::Float32 } else { Dtype::Bfloat16 };
    // hparams/finetuning_args.py `lora_rank`; `lora_alpha` is twice that, `lora_target` "all".
    plan.lora.r = 8;
    plan.lora.lora_alpha = 16.0;
    // model/loader.py never calls peft's `prepare_model_for_kbit_training`.
    plan.quantization.prepare_for_kbit_training = false;
}
