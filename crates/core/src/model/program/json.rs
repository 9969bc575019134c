//! JSON to the types of [`super::format`], with the place of what is wrong.
//!
//! Not derived: what serde makes of these types for a text is ten times the code of this, and every first view runs it.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

/// Place and what is wrong there.
pub(super) type Fault = (String, String);

/// What a JSON value can be read as.
pub(super) trait FromJson: Sized {
    /// `value` as it.
    ///
    /// # Errors
    /// Where in `value` something is of another type, or lacks a member, and what.
    fn from_json(value: Json) -> Result<Self, Fault>;
}

/// That `value` stands where `what` is due.
fn due(value: &Json, what: &str) -> Fault {
    let found = match value {
        Json::Null => "null",
        Json::Bool(_) => "true or false",
        Json::Number(_) => "a number",
        Json::String(_) => "a text",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    };
    (String::new(), format!("is {found} where {what} is due"))
}

/// `fault` of a member or an entry with this name, seen from what has it.
fn within(name: String, mut fault: Fault) -> Fault {
    if !fault.0.is_empty() && !fault.0.starts_with('[') {
        fault.0.insert(0, '.');
    }
    fault.0.insert_str(0, &name);
    fault
}

fn list(value: Json) -> Result<Vec<Json>, Fault> {
    match value {
        Json::Array(list) => Ok(list),
        other => Err(due(&other, "a list")),
    }
}

/// A list of `count` entries.
fn tuple(value: Json, count: usize) -> Result<std::vec::IntoIter<Json>, Fault> {
    let list = list(value)?;
    let found = list.len();
    if found == count {
        Ok(list.into_iter())
    } else {
        Err((String::new(), format!("has {found} entries where {count} are due")))
    }
}

/// The next entry of a tuple, its `i`-th.
fn entry<T: FromJson>(entries: &mut std::vec::IntoIter<Json>, i: usize) -> Result<T, Fault> {
    T::from_json(entries.next().unwrap_or_default()).map_err(|fault| within(format!("[{i}]"), fault))
}

impl FromJson for Json {
    fn from_json(value: Json) -> Result<Self, Fault> {
        Ok(value)
    }
}

impl FromJson for Map<String, Json> {
    fn from_json(value: Json) -> Result<Self, Fault> {
        match value {
            Json::Object(map) => Ok(map),
            other => Err(due(&other, "an object")),
        }
    }
}

impl FromJson for String {
    fn from_json(value: Json) -> Result<Self, Fault> {
        match value {
            Json::String(text) => Ok(text),
            other => Err(due(&other, "a text")),
        }
    }
}

impl FromJson for bool {
    fn from_json(value: Json) -> Result<Self, Fault> {
        value.as_bool().ok_or_else(|| due(&value, "true or false"))
    }
}

impl FromJson for usize {
    fn from_json(value: Json) -> Result<Self, Fault> {
        let whole = value.as_u64().and_then(|whole| whole.try_into().ok());
        whole.ok_or_else(|| due(&value, "a whole number"))
    }
}

impl FromJson for i64 {
    fn from_json(value: Json) -> Result<Self, Fault> {
        value.as_i64().ok_or_else(|| due(&value, "a whole number"))
    }
}

impl FromJson for f64 {
    fn from_json(value: Json) -> Result<Self, Fault> {
        value.as_f64().ok_or_else(|| due(&value, "a number"))
    }
}

impl<T: FromJson> FromJson for Option<T> {
    fn from_json(value: Json) -> Result<Self, Fault> {
        if value.is_null() { Ok(None) } else { T::from_json(value).map(Some) }
    }
}

impl<T: FromJson> FromJson for Box<T> {
    fn from_json(value: Json) -> Result<Self, Fault> {
        T::from_json(value).map(Self::new)
    }
}

impl<T: FromJson> FromJson for Vec<T> {
    fn from_json(value: Json) -> Result<Self, Fault> {
        let list = list(value)?;
        let mut found = Self::with_capacity(list.len());
        for (i, one) in list.into_iter().enumerate() {
            found.push(T::from_json(one).map_err(|fault| within(format!("[{i}]"), fault))?);
        }
        Ok(found)
    }
}

impl<T: FromJson> FromJson for BTreeMap<String, T> {
    fn from_json(value: Json) -> Result<Self, Fault> {
        let mut found = Self::new();
        for (name, one) in Map::from_json(value)? {
            let one = T::from_json(one).map_err(|fault| within(name.clone(), fault))?;
            found.insert(name, one);
        }
        Ok(found)
    }
}

impl<A: FromJson, B: FromJson> FromJson for (A, B) {
    fn from_json(value: Json) -> Result<Self, Fault> {
        let mut entries = tuple(value, 2)?;
        Ok((entry(&mut entries, 0)?, entry(&mut entries, 1)?))
    }
}

impl<A: FromJson, B: FromJson, C: FromJson> FromJson for (A, B, C) {
    fn from_json(value: Json) -> Result<Self, Fault> {
        let mut entries = tuple(value, 3)?;
        Ok((entry(&mut entries, 0)?, entry(&mut entries, 1)?, entry(&mut entries, 2)?))
    }
}

impl<A: FromJson, B: FromJson, C: FromJson, D: FromJson> FromJson for (A, B, C, D) {
    fn from_json(value: Json) -> Result<Self, Fault> {
        let mut entries = tuple(value, 4)?;
        Ok((entry(&mut entries, 0)?, entry(&mut entries, 1)?, entry(&mut entries, 2)?, entry(&mut entries, 3)?))
    }
}

/// An object's members, each taken by its name; those that nobody takes are of a later recorder and pass.
pub(super) struct Members(Map<String, Json>);

impl Members {
    pub(super) fn of(value: Json) -> Result<Self, Fault> {
        Map::from_json(value).map(Self)
    }

    /// What stands under `name`, which must.
    pub(super) fn required<T: FromJson>(&mut self, name: &str) -> Result<T, Fault> {
        let value = self.0.remove(name).ok_or_else(|| (String::new(), format!("has no {name}")))?;
        T::from_json(value).map_err(|fault| within(name.to_owned(), fault))
    }

    /// What stands under `name`, if anything does.
    pub(super) fn optional<T: FromJson>(&mut self, name: &str) -> Result<Option<T>, Fault> {
        match self.0.remove(name) {
            None | Some(Json::Null) => Ok(None),
            Some(value) => T::from_json(value).map(Some).map_err(|fault| within(name.to_owned(), fault)),
        }
    }

    /// What stands under `name`; where nothing does, nothing, no or 0.
    pub(super) fn or_default<T: FromJson + Default>(&mut self, name: &str) -> Result<T, Fault> {
        Ok(self.optional(name)?.unwrap_or_default())
    }
}
