//! What blocks of a recorded forward leave for each other.

use super::super::autograd::{ElementType, Tensor};

/// Values by name.
#[derive(Debug, Clone, Default)]
pub(in crate::memory) struct Scope(Vec<(String, Tensor)>);

impl Scope {
    /// The name of what an operator between layers made for the next one.
    pub(super) fn waiting(number: usize) -> String {
        format!("#{number}")
    }

    pub(in crate::memory) fn get(&self, name: &str) -> Option<&Tensor> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, tensor)| tensor)
    }

    pub(super) fn take(&mut self, name: &str) -> Option<Tensor> {
        let at = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.remove(at).1)
    }

    pub(in crate::memory) fn put(&mut self, name: &str, tensor: Tensor) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = tensor,
            None => self.0.push((name.to_owned(), tensor)),
        }
    }

    /// Puts what `value` makes of those of `given` that are in fp32 and arguments by name.
    pub(super) fn put_wide(&mut self, given: &Self, value: &dyn Fn(&Tensor) -> Tensor) {
        for (name, tensor) in &given.0 {
            if tensor.element() == ElementType::F32 && !name.starts_with('#') {
                self.put(name, value(tensor));
            }
        }
    }

    /// Those that a call takes as arguments, `takes` among them, and those that wait for it.
    pub(super) fn arguments(&self, takes: &[&str]) -> Self {
        let is_taken = |name: &String| name.starts_with('#') || takes.contains(&name.as_str());
        Self(self.0.iter().filter(|(name, _)| is_taken(name)).cloned().collect())
    }
}
