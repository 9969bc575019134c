//! What the text of a failure or of a monitor states and what is behind it.

use headroom_files::diagnose as files;
use headroom_text::Language;

use crate::json::text;
use crate::plan::{job_of, plan_from_text};

/// What `said`, the text of a failure or of a monitor, states and what is behind it, beside the plan of the run, where it is given; as
/// `headroom diagnose --json`. Without a plan nothing is compared, and `missing` names what has to be known of the run.
///
/// # Errors
/// What is wrong with the plan; that the text states no failure and no figure of memory.
pub fn diagnose(said: &str, plan: Option<&str>) -> Result<String, String> {
    let job = plan.map(|plan| job_of(&plan_from_text(plan)?)).transpose()?;
    let found = files::diagnose(said.as_bytes(), job.as_ref()).map_err(|error| error.to_string())?;
    if found.readings.is_empty() {
        let fix = "give the whole message with the lines around it";
        return Err(format!("no failure and no figure of memory in the text; {fix}"));
    }
    text(&found.to_json(Language::English)).map_err(|error| error.to_string())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const FAILURE: &str = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 768.00 MiB. GPU 0 has a total capacity of \
                           31.36 GiB of which 500.00 MiB is free.";

    #[test]
    fn what_is_missing_without_a_plan_is_a_list_of_keys() {
        let answer: Value = serde_json::from_str(&diagnose(FAILURE, None).unwrap()).unwrap();
        let missing = ["model", "gpu", "trainer", "method", "per_device_train_batch_size", "max_length"];
        assert_eq!((&answer["missing"], &answer["reading"]["tried_bytes"]), (&json!(missing), &json!(768 << 20)));
    }

    #[test]
    fn what_cannot_be_read_is_an_error() {
        assert!(diagnose("hello", None).unwrap_err().contains("no failure"));
        assert!(diagnose(FAILURE, Some("gpu=h100")).unwrap_err().contains("gpu"));
    }
}
