//! Names of GPUs and models as people type them.
#![allow(clippy::unwrap_used)]

mod any_plan;
use headroom_core::job::Job;
use headroom_core::link;
use headroom_core::plan::{GpuChoice, ModelChoice, Plan, ProblemKind};
use headroom_core::search::{Found, Meaning};
use headroom_core::{gpu, model};
use proptest::prelude::*;

/// What a text must be found to mean.
enum Means {
    /// This and nothing else.
    One(&'static str),
    /// Any of several, of which these come first, in this order.
    Several(&'static [&'static str]),
    /// Nothing; these are offered, in this order, before any others.
    Near(&'static [&'static str]),
}
use Means::{Near, One, Several};

/// What follows from a plan that can be estimated.
fn job(plan: &Plan) -> Job {
    Job::resolve(plan).unwrap()
}

#[rustfmt::skip]
const GPUS: &[(&str, Means)] = &[
    ("4090", One("rtx-4090")),
    ("rtx4090", One("rtx-4090")),
    ("rtx 4090", One("rtx-4090")),
    ("RTX4090 24G", One("rtx-4090")),
    ("geforce 4090", One("rtx-4090")),
    ("geforcertx4090", One("rtx-4090")),
    ("NVIDIA GeForce RTX 4090", One("rtx-4090")),
    ("rtx+4090", One("rtx-4090")),
    ("ＲＴＸ　４０９０", One("rtx-4090")),
    ("英伟达4090显卡", One("rtx-4090")),
    ("4090D", One("rtx-4090-d")),
    ("4090 laptop", One("rtx-4090-laptop")),
    ("4090笔记本", One("rtx-4090-laptop")),
    ("NVIDIA GeForce RTX 4090 Laptop GPU", One("rtx-4090-laptop")),
    ("4090 48G", Near(&["rtx-4090"])),
    ("3090ti", One("rtx-3090-ti")),
    ("5090", One("rtx-5090")),
    ("5090 ti", Near(&["rtx-5090"])),
    ("3080", One("rtx-3080")),
    ("4060ti 16g", One("rtx-4060-ti-16gb")),
    ("1080ti", One("gtx-1080-ti")),
    ("titan", One("titan-rtx")),
    ("h100", Several(&["h100-80gb", "h100-80gb-pcie", "h100-94gb-nvl"])),
    ("H100 SXM", One("h100-80gb")),
    ("h100 pcie", One("h100-80gb-pcie")),
    ("H100 NVL", One("h100-94gb-nvl")),
    ("NVIDIA H100 80GB HBM3", One("h100-80gb")),
    ("8xh100", Several(&["h100-80gb", "h100-80gb-pcie", "h100-94gb-nvl"])),
    ("4090 * 2", Several(&["rtx-4090"])),
    ("h1000", Near(&[])),
    ("h20", One("h20")),
    ("A100", Several(&["a100-40gb", "a100-80gb", "a100-40gb-pcie", "a100-80gb-pcie"])),
    ("A100 40G", One("a100-40gb")),
    ("a100-40gb", One("a100-40gb")),
    ("a100 80g", One("a100-80gb")),
    ("a100_80gb", One("a100-80gb")),
    ("A100 80G 显卡", One("a100-80gb")),
    ("NVIDIA A100-SXM4-80GB", One("a100-80gb")),
    ("NVIDIA A100-PCIE-40GB", One("a100-40gb-pcie")),
    ("a10", One("a10")),
    ("a10g", One("a10g")),
    ("v100", Several(&["v100-16gb", "v100-32gb"])),
    ("v100 16gb", One("v100-16gb")),
    ("Tesla V100-SXM2-16GB", One("v100-16gb")),
    ("t4", One("t4")),
    ("Tesla T4", One("t4")),
    ("p100", One("p100")),
    ("l4", One("l4")),
    ("L40S", One("l40s")),
    ("l40", One("l40")),
    ("6000 ada", One("rtx-6000-ada")),
    ("NVIDIA RTX 6000 Ada Generation", One("rtx-6000-ada")),
    ("rtx 6000", Several(&["rtx-pro-6000-blackwell", "rtx-6000-ada", "quadro-rtx-6000"])),
    ("rtx pro 6000", One("rtx-pro-6000-blackwell")),
    ("a6000", One("rtx-a6000")),
    ("mi300x", One("mi300x")),
    ("mi250", Several(&["mi250x"])),
    ("7900 xt", One("rx-7900-xt")),
    ("7900xtx", One("rx-7900-xtx")),
    ("910B", One("ascend-910b")),
    ("华为昇腾910B", One("ascend-910b")),
    ("24GB", Several(&["titan-rtx", "rtx-3090"])),
    ("24 GiB", Several(&["titan-rtx", "rtx-3090"])),
    ("24g显存", Several(&["titan-rtx", "rtx-3090"])),
    ("80G", Several(&["a100-80gb-pcie", "a100-80gb", "a800-80gb", "h100-80gb-pcie", "h100-80gb", "h800-80gb"])),
    ("abacus", Near(&[])),
];

#[rustfmt::skip]
const MODELS: &[(&str, Means)] = &[
    ("llama3", Several(&["meta-llama/Meta-Llama-3-8B", "meta-llama/Meta-Llama-3-70B"])),
    ("llama 3", Several(&["meta-llama/Meta-Llama-3-8B", "meta-llama/Meta-Llama-3-70B"])),
    ("llama-3.1-8b", One("meta-llama/Llama-3.1-8B")),
    ("llama 3.1 8b", One("meta-llama/Llama-3.1-8B")),
    ("llama-3-1-8b", One("meta-llama/Llama-3.1-8B")),
    ("llama31 8b", One("meta-llama/Llama-3.1-8B")),
    ("llama3.1:8b", One("meta-llama/Llama-3.1-8B")),
    ("Llama 3.1 8B Instruct", One("meta-llama/Llama-3.1-8B-Instruct")),
    ("llama 3 8b", One("meta-llama/Meta-Llama-3-8B")),
    ("llama 3.3 70b", One("meta-llama/Llama-3.3-70B-Instruct")),
    ("unsloth/Llama-3.1-8B", One("meta-llama/Llama-3.1-8B")),
    ("unsloth/llama-3-8b-bnb-4bit", One("meta-llama/Meta-Llama-3-8B")),
    ("unsloth/Qwen3-8B-unsloth-bnb-4bit", One("Qwen/Qwen3-8B")),
    ("unsloth/mistral-7b-v0.3-bnb-4bit", One("mistralai/Mistral-7B-v0.3")),
    ("NousResearch/Meta-Llama-3.1-8B-Instruct", One("meta-llama/Llama-3.1-8B-Instruct")),
    ("NousResearch/Hermes-3-Llama-3.1-8B", Near(&["meta-llama/Llama-3.1-8B"])),
    ("TheBloke/Llama-2-7B-Chat-GPTQ", One("meta-llama/Llama-2-7b-chat-hf")),
    ("Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf", One("meta-llama/Llama-3.1-8B-Instruct")),
    ("https://huggingface.co/Qwen/Qwen2.5-7B-Instruct", One("Qwen/Qwen2.5-7B-Instruct")),
    ("https://huggingface.co/Qwen/Qwen2.5-7B-Instruct/tree/main", One("Qwen/Qwen2.5-7B-Instruct")),
    ("https://hf.co/meta-llama/Llama-3.1-8B/blob/main/config.json", One("meta-llama/Llama-3.1-8B")),
    ("hf-mirror.com/Qwen/Qwen3-8B", One("Qwen/Qwen3-8B")),
    ("https://www.modelscope.cn/models/Qwen/Qwen3-8B/summary", One("Qwen/Qwen3-8B")),
    ("/hub/models--meta-llama--Llama-3.1-8B/snapshots/0e9e39f", One("meta-llama/Llama-3.1-8B")),
    ("千问", Several(&["Qwen/Qwen3-0.6B", "Qwen/Qwen3-1.7B", "Qwen/Qwen3-4B"])),
    ("通义千问2.5-7B", One("Qwen/Qwen2.5-7B")),
    ("千问3 8b", One("Qwen/Qwen3-8B")),
    ("Qwen2.5-VL", Several(&["Qwen/Qwen2.5-VL-3B-Instruct", "Qwen/Qwen2.5-VL-7B-Instruct"])),
    ("Qwen/Qwen2.5-VL-7B-Instruct", One("Qwen/Qwen2.5-VL-7B-Instruct")),
    ("unsloth/Qwen3.5-9B", One("Qwen/Qwen3.5-9B")),
    ("qwen3 vl 8b", One("Qwen/Qwen3-VL-8B-Instruct")),
    ("bge-m3", One("BAAI/bge-m3")),
    ("Qwen/Qwen2.5-Audio-7B", Near(&["Qwen/Qwen2.5-Coder-7B", "Qwen/Qwen2.5-Omni-7B", "Qwen/Qwen2.5-7B"])),
    ("qwen25-7b", One("Qwen/Qwen2.5-7B")),
    ("qwen2-57b", One("Qwen/Qwen2-57B-A14B")),
    ("qwen257b", Near(&["Qwen/Qwen2.5-7B", "Qwen/Qwen2-57B-A14B"])),
    ("Qwen/Qwen-7B", Several(&["Qwen/Qwen2.5-7B", "Qwen/Qwen2-7B", "Qwen/Qwen1.5-7B"])),
    ("Qwen3-8B-FP8", One("Qwen/Qwen3-8B")),
    ("qwen3 30b", Several(&["Qwen/Qwen3-30B-A3B"])),
    ("qwen3-30b-a3b", One("Qwen/Qwen3-30B-A3B")),
    ("Qwen/Qwen3-4Bee", Near(&["Qwen/Qwen3-4B"])),
    ("智谱", Several(&["zai-org/GLM-4.5", "zai-org/GLM-5.2", "zai-org/GLM-5"])),
    ("glm-4-9b", Several(&["zai-org/GLM-4-9B-0414"])),
    ("书生浦语2.5 7b", One("internlm/internlm2_5-7b")),
    ("百川2 7b", One("baichuan-inc/Baichuan2-7B-Base")),
    ("baichuan-7b", Several(&["baichuan-inc/Baichuan2-7B-Base"])),
    ("深度求索 r1", One("deepseek-ai/DeepSeek-R1")),
    ("deep seek v3", One("deepseek-ai/DeepSeek-V3")),
    ("r1 distill llama 8b", One("deepseek-ai/DeepSeek-R1-Distill-Llama-8B")),
    ("零一万物 34b", One("01-ai/Yi-34B")),
    ("gpt2", One("gpt2")),
    ("gpt-2", One("openai-community/gpt2")),
    ("gptoss20b", One("openai/gpt-oss-20b")),
    ("gemma 2b", One("google/gemma-2b")),
    ("gemma2 2b", One("google/gemma-2-2b")),
    ("gemma-3-4b", One("google/gemma-3-4b-pt")),
    ("谷歌 gemma 3 12b", One("google/gemma-3-12b-pt")),
    ("mistral 7b", Several(&["mistralai/Mistral-7B-v0.1", "mistralai/Mistral-7B-Instruct-v0.2", "mistralai/Mistral-7B-v0.3"])),
    ("mistrall-7b", Near(&["mistralai/Mistral-7B-v0.1"])),
    ("mistral nemo", One("mistralai/Mistral-Nemo-Base-2407")),
    ("mixtral 8x7b", One("mistralai/Mixtral-8x7B-v0.1")),
    ("phi4", One("microsoft/phi-4")),
    ("command r+", One("CohereLabs/c4ai-command-r-plus")),
    ("tinyllama", One("TinyLlama/TinyLlama-1.1B-Chat-v1.0")),
    ("code llama 7b", One("codellama/CodeLlama-7b-hf")),
    ("opt-1.3b", One("facebook/opt-1.3b")),
    ("falcon 180b", Near(&["tiiuae/falcon-7b", "tiiuae/falcon-40b"])),
    ("a/b", Near(&[])),
    ("no/such/thing", Near(&[])),
];

#[track_caller]
fn check(text: &str, found: &Found, means: &Means) {
    let ids: Vec<&str> = found.hits.iter().map(|hit| hit.id).collect();
    match means {
        One(id) => assert_eq!(found.one(), Some(*id), "{text}: {found:?}"),
        Several(first) => {
            assert_eq!((found.one(), found.matches()), (None, ids.len()), "{text}: {ids:?}");
            assert!(ids.starts_with(first), "{text}: {ids:?}");
        }
        Near(first) => {
            assert_eq!((found.one(), found.matches()), (None, 0), "{text}: {ids:?}");
            let offered = found.candidates();
            assert!(
                offered.iter().map(String::as_str).take(first.len()).eq(first.iter().copied()),
                "{text}: {offered:?}"
            );
        }
    }
}

#[test]
fn names_as_people_type_them() {
    assert!(GPUS.len() >= 60 && MODELS.len() >= 60);
    for (text, means) in GPUS {
        check(text, &gpu::search(text), means);
    }
    for (text, means) in MODELS {
        check(text, &model::search(text), means);
    }
}

#[test]
fn a_link_and_a_plan_hold_what_was_meant() {
    for (text, means) in GPUS {
        let plan = Plan::from_value(&serde_json::json!({"model": "gpt2", "gpu": text})).unwrap();
        let expected = if let One(id) = means { id } else { text };
        assert_eq!(plan.gpu, GpuChoice::Catalogue((*expected).to_owned()));
        assert_eq!(link::decode(&format!("v=1&gpu={text}")).plan.gpu, plan.gpu, "{text}");
        assert_eq!(Job::resolve(&plan).is_ok(), matches!(means, One(_)), "{text}");
    }
    for (text, means) in MODELS {
        let plan = Plan::from_value(&serde_json::json!({"model": text})).unwrap();
        let expected = if let One(id) = means { id } else { text };
        assert_eq!(plan.model, ModelChoice::Catalogue((*expected).to_owned()));
        assert_eq!(Job::resolve(&plan).is_ok(), matches!(means, One(_)), "{text}");
    }
}

#[test]
fn models_beside_the_policy_are_found_too() {
    let plan = |value: &str| {
        let json = serde_json::json!({"model": "qwen3 4b", "task": "ppo", "value_model": value, "reward_models": ["qwen3 0.6b"]});
        Plan::from_value(&json).unwrap()
    };
    let job = job(&plan("unsloth/Qwen3-1.7B"));
    let names: Vec<&str> = job.instances().iter().map(|instance| instance.model.name.as_str()).collect();
    assert_eq!(names, ["Qwen/Qwen3-1.7B", "Qwen/Qwen3-0.6B"]);
    let problems = Job::resolve(&plan("llama3")).unwrap_err();
    assert_eq!(problems[0].field, "value_model");
    assert!(
        matches!(&problems[0].kind, ProblemKind::UnknownModel { matches: 2.., candidates, .. } if !candidates.is_empty())
    );
}

#[test]
fn every_entry_is_found_by_its_ids_and_names() {
    for (place, gpu) in gpu::catalogue().iter().enumerate() {
        for name in [&gpu.id, &gpu.name] {
            let found = gpu::search(name);
            assert_eq!((found.hits[0].place, found.one()), (place, Some(gpu.id.as_ref())), "{name}");
        }
        assert_eq!(gpu::resolve(&gpu.id.to_uppercase()).unwrap().id, gpu.id);
    }
    for (place, model) in model::catalogue().iter().enumerate() {
        for id in std::iter::once(&model.id).chain(model.also) {
            let found = model::search(id);
            assert_eq!((found.hits[0].place, found.one()), (place, Some(*id)));
            assert_eq!(model::resolve(&format!(" {} ", id.to_lowercase())).unwrap(), *id);
            assert_eq!(model::search(&format!("https://huggingface.co/{id}/tree/main")).hits[0].place, place, "{id}");
            let copy = model::search(&format!("someone/{}-GGUF", id.rsplit('/').next().unwrap()));
            assert_eq!(copy.hits.first().map(|hit| hit.place), Some(place), "{id}: {copy:?}");
        }
        assert_eq!(model::search(model.label).hits.first().map(|hit| hit.place), Some(place), "{}", model.label);
    }
}

#[test]
fn every_gpu_is_among_those_of_its_size() {
    for (place, gpu) in gpu::catalogue().iter().enumerate() {
        let gib = gpu.memory_mib.div_ceil(1024);
        let sizes = (gib..=gib + 21).map(|size| gpu::search(&format!("{size}GB")));
        assert!(sizes.into_iter().any(|found| found.hits.iter().any(|hit| hit.place == place)), "{}", gpu.id);
    }
    assert!(gpu::search("24GB").hits.iter().all(|hit| gpu::catalogue()[hit.place].memory_mib.div_ceil(1024) <= 24));
}

#[test]
fn too_long_a_text_means_nothing() {
    for text in ["4090".repeat(250_000), "a1".repeat(120), "1 ".repeat(127), "x".repeat(256), "/".repeat(1 << 20)] {
        for found in [gpu::search(&text), model::search(&text)] {
            assert_eq!((found.meaning, found.hits.len()), (Meaning::Nothing, 0));
        }
    }
}

proptest! {
    #![proptest_config(any_plan::config())]

    #[test]
    fn any_text_is_searched(text in ".*", words in "[ a-z0-9./_+*-]{0,40}") {
        for text in [text, words] {
            for found in [gpu::search(&text), model::search(&text)] {
                let mut places: Vec<usize> = found.hits.iter().map(|hit| hit.place).collect();
                places.sort_unstable();
                places.dedup();
                prop_assert_eq!(places.len(), found.hits.len());
                prop_assert!(found.meaning == Meaning::Nothing || !found.hits.is_empty());
            }
        }
    }

    /// The beginning of a name lists it, so that it is there while it is typed.
    #[test]
    fn a_name_is_listed_while_it_is_typed(gpu in 0..gpu::catalogue().len(), model in 0..model::catalogue().len(), cut in any::<prop::sample::Index>()) {
        let name = gpu::catalogue()[gpu].name.split(" (").next().unwrap();
        let begun = &name[..1 + cut.index(name.len())];
        prop_assert!(gpu::search(begun).hits.iter().any(|hit| hit.place == gpu), "{}", begun);
        let id = model::catalogue()[model].id.rsplit('/').next().unwrap();
        let begun = &id[..1 + cut.index(id.len())];
        prop_assert!(model::search(begun).hits.iter().any(|hit| hit.place == model), "{}", begun);
    }

    #[test]
    fn what_is_meant_stays_meant(text in "[a-zA-Z0-9 ./-]{1,20}") {
        if let Ok(gpu) = gpu::resolve(&text) {
            prop_assert_eq!(&gpu::resolve(&gpu.id).unwrap().id, &gpu.id);
        }
        if let Ok(id) = model::resolve(&text) {
            prop_assert_eq!(model::resolve(id).unwrap(), id);
        }
    }
}
