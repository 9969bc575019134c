//! Order of short lists.

use std::cmp::Ordering;

/// Sorts a list of a few dozen by insertion; equals stay as they were. The standard library's sorts are made for long lists
/// and weigh 4 to 5 kB of wasm for each kind of item.
pub fn sort_few<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    for end in 1..items.len() {
        let mut at = end;
        while at > 0 && compare(&items[at - 1], &items[at]) == Ordering::Greater {
            items.swap(at - 1, at);
            at -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::sort_few;

    #[test]
    fn a_short_list_is_sorted_as_the_standard_library_sorts_it() {
        // Every list of up to five digits below three, each with its place: equals show whether they have moved.
        for length in 0..6_u32 {
            for number in 0..3_u32.pow(length) {
                let mut list: Vec<(u32, u32)> =
                    (0..length).map(|place| (number / 3_u32.pow(place) % 3, place)).collect();
                let mut expected = list.clone();
                expected.sort_by_key(|(digit, _)| *digit);
                sort_few(&mut list, |one, other| one.0.cmp(&other.0));
                assert_eq!(list, expected);
            }
        }
    }
}
