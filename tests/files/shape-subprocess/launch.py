import os
import subprocess

os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"


def train(output):
    subprocess.run(
        ["accelerate", "launch", "--num_processes", "4", "train.py",
         "--model_name_or_path", "Qwen/Qwen3-8B", "--per_device_train_batch_size", 4, "--bf16", "True",
         "--gradient_checkpointing", "True", "--output_dir", output],
        check=True,
    )
