trl dpo --config dpo.yaml
