//! Why single cases are off: written by hand, so that the report can be written anew.

use std::collections::BTreeMap;

use serde_json::Value;

/// `tests/validation/reasons.json`: causes with a name each, and for each metric which case has which.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reasons {
    causes: BTreeMap<String, String>,
    /// Metric, case, name of a cause.
    of_cases: BTreeMap<String, BTreeMap<String, String>>,
}

impl Reasons {
    /// Reads `{"causes": {name: sentence}, "cases": {metric: {id: name}}}`.
    ///
    /// # Errors
    /// A sentence with what is not of that form.
    pub fn read(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| format!("reasons are no JSON: {error}"))?;
        let causes = texts(value.get("causes")).ok_or("`causes` does not map names to sentences")?;
        let cases = value.get("cases").and_then(Value::as_object).ok_or("`cases` does not map metrics to cases")?;
        let mut of_cases = BTreeMap::new();
        for (metric, ids) in cases {
            let ids = texts(Some(ids)).ok_or_else(|| format!("`cases.{metric}` does not map ids to causes"))?;
            if let Some(unknown) = ids.values().find(|name| !causes.contains_key(*name)) {
                return Err(format!("`cases.{metric}` names the cause {unknown}, which is not in `causes`"));
            }
            of_cases.insert(metric.clone(), ids);
        }
        Ok(Self { causes, of_cases })
    }

    /// Why `metric` of the case `id` is off, if that was found.
    pub fn of(&self, metric: &str, id: &str) -> Option<&str> {
        self.causes.get(self.of_cases.get(metric)?.get(id)?).map(String::as_str)
    }

    /// Metric and id of every case that has a cause.
    pub fn cases(&self) -> impl Iterator<Item = (&str, &str)> {
        self.of_cases.iter().flat_map(|(metric, ids)| ids.keys().map(|id| (metric.as_str(), id.as_str())))
    }
}

/// An object of texts.
fn texts(value: Option<&Value>) -> Option<BTreeMap<String, String>> {
    let entries = value?.as_object()?.iter();
    entries.map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_has_its_cause_for_its_metric_only() {
        let text = r#"{"causes": {"blocks": "Blocks stay whole."}, "cases": {"allocated": {"a": "blocks"}}}"#;
        let reasons = Reasons::read(text).unwrap_or_default();
        assert_eq!(reasons.of("allocated", "a"), Some("Blocks stay whole."));
        assert_eq!(reasons.of("required", "a"), None);
        assert_eq!(reasons.of("allocated", "b"), None);
    }

    #[test]
    fn a_cause_that_nobody_wrote_down_is_a_mistake() {
        let text = r#"{"causes": {}, "cases": {"allocated": {"a": "blocks"}}}"#;
        assert!(Reasons::read(text).is_err_and(|why| why.contains("blocks")));
        assert!(Reasons::read("[]").is_err());
    }
}
