//! Longest sequences of models that lie under another one's config: all else that decides memory is the same.

/// Ids whose own `config.json` has another `max_position_embeddings`, with it.
const OWN: &[(&str, u64)] = &[
    ("Qwen/Qwen3-0.6B-Base", 32_768),
    ("Qwen/Qwen3-1.7B-Base", 32_768),
    ("Qwen/Qwen3-4B-Base", 32_768),
    ("Qwen/Qwen3-8B-Base", 32_768),
    ("Qwen/Qwen3-14B-Base", 32_768),
    ("Qwen/Qwen3-30B-A3B-Base", 32_768),
    ("Qwen/Qwen3-4B-Instruct-2507", 262_144),
    ("Qwen/Qwen3-4B-Thinking-2507", 262_144),
    ("Qwen/Qwen3-30B-A3B-Instruct-2507", 262_144),
    ("Qwen/Qwen3-30B-A3B-Thinking-2507", 262_144),
    ("Qwen/Qwen3-235B-A22B-Instruct-2507", 262_144),
    ("Qwen/Qwen3-235B-A22B-Thinking-2507", 262_144),
    ("deepseek-ai/DeepSeek-R1-0528-Qwen3-8B", 131_072),
    ("Qwen/Qwen2.5-1.5B-Instruct", 32_768),
    ("Qwen/Qwen2.5-7B-Instruct", 32_768),
    ("Qwen/Qwen2.5-14B-Instruct", 32_768),
    ("Qwen/Qwen2.5-32B-Instruct", 32_768),
    ("Qwen/Qwen2.5-72B-Instruct", 32_768),
    ("Qwen/Qwen2.5-Math-1.5B", 4096),
    ("Qwen/Qwen2.5-Math-1.5B-Instruct", 4096),
    ("Qwen/Qwen2.5-Math-7B", 4096),
    ("Qwen/Qwen2.5-Math-7B-Instruct", 4096),
    ("Qwen/Qwen2.5-Math-72B", 4096),
    ("Qwen/Qwen2.5-Math-72B-Instruct", 4096),
    ("Qwen/QwQ-32B", 40_960),
    ("Qwen/Qwen2-0.5B", 131_072),
    ("Qwen/Qwen2-1.5B", 131_072),
    ("Qwen/Qwen2-7B", 131_072),
    ("Qwen/Qwen2-57B-A14B-Instruct", 32_768),
    ("Qwen/Qwen2-72B-Instruct", 32_768),
    ("microsoft/Phi-4-reasoning", 32_768),
    ("microsoft/Phi-4-reasoning-plus", 32_768),
];

/// `max_position_embeddings` of the model `id`, where it is not that of the config that the model lies under.
pub(crate) fn own_longest(id: &str) -> Option<u64> {
    OWN.iter().find(|(name, _)| *name == id).map(|(_, longest)| *longest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::find;

    #[test]
    fn each_is_another_name_of_a_config_that_says_something_else() {
        for (name, longest) in OWN {
            let model = find(name).filter(|model| model.also.contains(name));
            let said = format!("\"max_position_embeddings\":{longest},");
            assert!(model.is_some_and(|model| !model.config.contains(&said)), "{name}");
        }
    }
}
