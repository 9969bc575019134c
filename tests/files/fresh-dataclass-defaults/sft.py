from dataclasses import dataclass, field
from transformers import HfArgumentParser, AutoModelForCausalLM
from trl import SFTTrainer, SFTConfig
from peft import LoraConfig

@dataclass
class ScriptArguments:
    model_name: str = field(default="mistralai/Mistral-7B-v0.1", metadata={"help": "model"})
    max_seq_length: int = 1024
    lora_r: int = field(default=64)
    lora_alpha: int = 16
    batch: int = 2

parser = HfArgumentParser(ScriptArguments)
script_args = parser.parse_args_into_dataclasses()[0]
model = AutoModelForCausalLM.from_pretrained(script_args.model_name)
cfg = SFTConfig(output_dir="o", max_length=script_args.max_seq_length, per_device_train_batch_size=script_args.batch, packing=True)
trainer = SFTTrainer(model=model, args=cfg, peft_config=LoraConfig(r=script_args.lora_r, lora_alpha=script_args.lora_alpha))
trainer.train()
