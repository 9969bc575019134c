//! Lists of what an operator has few of: inputs, gradients.

/// So many are held without an allocation of their own.
const FEW: usize = 3;

/// A list of values that may each be missing, mostly of no more than three.
#[derive(Debug)]
pub(in crate::memory) struct Few<T> {
    few: [Option<T>; FEW],
    more: Vec<Option<T>>,
    len: usize,
}

impl<T> Few<T> {
    pub(in crate::memory) const fn new() -> Self {
        Self { few: [const { None }; FEW], more: Vec::new(), len: 0 }
    }

    pub(in crate::memory) fn push(&mut self, value: Option<T>) {
        match self.few.get_mut(self.len) {
            Some(place) => *place = value,
            None => self.more.push(value),
        }
        self.len += 1;
    }

    /// Moves what is there to the end of `list`.
    pub(in crate::memory) fn drain_into(&mut self, list: &mut Vec<T>) {
        list.extend(self.few.iter_mut().chain(&mut self.more).filter_map(Option::take));
        self.more = Vec::new();
        self.len = 0;
    }

    pub(in crate::memory) const fn len(&self) -> usize {
        self.len
    }

    pub(in crate::memory) fn iter(&self) -> impl Iterator<Item = Option<&T>> {
        self.few.iter().chain(&self.more).map(Option::as_ref).take(self.len)
    }

    pub(in crate::memory) fn get(&self, i: usize) -> Option<&T> {
        self.few.get(i).or_else(|| self.more.get(i.checked_sub(FEW)?))?.as_ref()
    }

    pub(in crate::memory) fn place(&mut self, i: usize) -> Option<&mut Option<T>> {
        let Self { few, more, .. } = self;
        few.get_mut(i).or_else(|| more.get_mut(i.checked_sub(FEW)?))
    }
}

impl<T, const N: usize> From<[Option<T>; N]> for Few<T> {
    fn from(values: [Option<T>; N]) -> Self {
        values.into_iter().collect()
    }
}

impl<T> FromIterator<Option<T>> for Few<T> {
    fn from_iter<I: IntoIterator<Item = Option<T>>>(values: I) -> Self {
        let mut list = Self::new();
        values.into_iter().for_each(|value| list.push(value));
        list
    }
}

impl<T> Extend<Option<T>> for Few<T> {
    fn extend<I: IntoIterator<Item = Option<T>>>(&mut self, values: I) {
        values.into_iter().for_each(|value| self.push(value));
    }
}
