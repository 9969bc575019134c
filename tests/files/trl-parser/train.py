from trl import TrlParser, DPOConfig, ModelConfig, ScriptArguments, DPOTrainer
parser = TrlParser((ScriptArguments, DPOConfig, ModelConfig))
script_args, training_args, model_args = parser.parse_args_and_config()
trainer = DPOTrainer(model_args.model_name_or_path, args=training_args)
