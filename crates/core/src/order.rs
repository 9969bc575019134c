//! Order of lists.

use std::cmp::Ordering;

/// Sorts a list; equals stay as they were. The standard library's sort weighs 4 to 5 kB of wasm for each kind of item and each
/// comparison: here it sorts places in the list, for all kinds the same.
pub fn sort<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let mut order = places(items.len(), &|one, other| compare(&items[one], &items[other]));
    for start in 0..order.len() {
        // Along the circle of items that take each other's place.
        let mut at = start;
        while order[at] != start {
            let next = std::mem::replace(&mut order[at], at);
            items.swap(at, next);
            at = next;
        }
        order[at] = at;
    }
}

/// The places of a list of `length` items in the order that `compare` wants.
#[inline(never)]
fn places(length: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..length).collect();
    places.sort_by(|one, other| compare(*one, *other));
    places
}

/// Where items of a list stand, by a number that they have: a search by halves.
#[derive(Debug)]
pub struct Places(Vec<(usize, usize)>);

impl Places {
    /// Place of the last item with `number`.
    pub fn get(&self, number: usize) -> Option<usize> {
        let after = self.0.partition_point(|(other, _)| *other <= number);
        self.0[..after].last().filter(|(other, _)| *other == number).map(|(_, place)| *place)
    }
}

impl FromIterator<usize> for Places {
    fn from_iter<I: IntoIterator<Item = usize>>(numbers: I) -> Self {
        let mut places: Vec<(usize, usize)> = numbers.into_iter().zip(0..).collect();
        sort(&mut places, Ord::cmp);
        Self(places)
    }
}

#[cfg(test)]
mod tests {
    use super::{Places, sort};

    #[test]
    fn a_number_leads_to_the_last_item_that_has_it() {
        let places: Places = [7, 3, 9, 3].into_iter().collect();
        assert_eq!([3, 7, 9].map(|number| places.get(number)), [Some(3), Some(0), Some(2)]);
        assert_eq!([0, 4, 10].map(|number| places.get(number)), [None; 3]);
    }

    #[test]
    fn a_list_is_sorted_as_the_standard_library_sorts_it() {
        // Every list of up to five digits below three, each with its place: equals show whether they have moved.
        for length in 0..6_u32 {
            for number in 0..3_u32.pow(length) {
                let mut list: Vec<(u32, u32)> =
                    (0..length).map(|place| (number / 3_u32.pow(place) % 3, place)).collect();
                let mut expected = list.clone();
                expected.sort_by_key(|(digit, _)| *digit);
                sort(&mut list, |one, other| one.0.cmp(&other.0));
                assert_eq!(list, expected);
            }
        }
    }
}
