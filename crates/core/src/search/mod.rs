//! Finding an entry of a catalogue by what people type: `rtx4090`, `24GB`, `llama 3.1 8b`, `千问`.
//!
//! Names are compared as words: letters and numbers, in any case, however they are joined. What tells nothing (a maker's
//! brand, a file format) may be left out or added. The same search serves the form, links, JSON and the terminal, so that a
//! text means the same everywhere. What the words of a catalogue are, `gpu` and `model` say.

mod compare;
pub(crate) mod edits;
mod words;

use compare::{Level, Name, Query, Score, Weight, Word, compare, overlap, split};
use edits::{Closeness, near_distance};
use words::{Atom, LONGEST, atoms, folded, joined};

/// Most entries that are offered for a text that names none.
pub(crate) const MOST_OFFERED: usize = 8;

/// What a text was found to mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Entries, best first: all that the text can mean; where it names none, a few near ones.
    pub hits: Vec<Hit>,
    /// What the text means.
    pub meaning: Meaning,
    /// Whether the first hit answers better than any other.
    pub is_clear: bool,
}

/// An entry that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// Its place in the catalogue.
    pub place: usize,
    /// The id it was found by: its own, or another that means the same.
    pub id: &'static str,
}

/// What a text means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// The first hit and nothing else.
    One,
    /// Any of the hits.
    Several,
    /// Any of the hits, once it is typed in full.
    Begun,
    /// Nothing in the catalogue; the hits are only near.
    Nothing,
}

impl Found {
    const NOTHING: Self = Self { hits: Vec::new(), meaning: Meaning::Nothing, is_clear: false };

    /// The id that the text means.
    pub fn one(&self) -> Option<&'static str> {
        let hit = self.hits.first().filter(|_| self.meaning == Meaning::One);
        hit.map(|hit| hit.id)
    }

    /// How many entries the text can mean as it stands.
    pub fn matches(&self) -> usize {
        if matches!(self.meaning, Meaning::One | Meaning::Several) { self.hits.len() } else { 0 }
    }

    /// A few ids to choose from; none where the text is the beginning of too many.
    pub fn candidates(&self) -> Vec<String> {
        if self.meaning == Meaning::Begun && self.hits.len() > MOST_OFFERED {
            return Vec::new();
        }
        self.hits.iter().take(MOST_OFFERED).map(|hit| hit.id.to_owned()).collect()
    }

    /// The same, with `hit` as what the text means.
    pub(crate) fn with_one(mut self, hit: Hit) -> Self {
        self.hits.retain(|other| other.place != hit.place);
        self.hits.insert(0, hit);
        Self { meaning: Meaning::One, is_clear: true, ..self }
    }
}

/// The words of a catalogue.
pub(crate) struct Vocabulary {
    /// What else words are called, the longer before the shorter: as folded, then as names have them.
    pub(crate) aliases: &'static [(&'static str, &'static str)],
    /// Words of names that say nothing.
    pub(crate) brands: &'static [&'static str],
    /// Words that a name may have or not: the same entry.
    pub(crate) editions: &'static [&'static str],
    /// Words that people add and no name has.
    pub(crate) idle: &'static [&'static str],
    /// Units of the sizes in names, which need not be typed where there is but one.
    pub(crate) units: &'static [&'static str],
    /// Words of names that need not be typed where there is but one.
    pub(crate) implied: &'static [&'static str],
    /// Whether a size is a memory size that every entry has.
    pub(crate) has_memory: bool,
}

/// What an entry is called.
pub(crate) struct Called {
    /// Names with the ids they mean, the entry's own first.
    pub(crate) names: Vec<(&'static str, &'static str)>,
    /// Words that are true of it and tell nothing: its maker.
    pub(crate) makers: String,
    /// Words that find it among others: its group.
    pub(crate) group: &'static str,
    /// Memory sizes it goes by, GB.
    pub(crate) memory: Vec<u64>,
}

/// A catalogue, ready to be searched.
pub(crate) struct Index {
    vocabulary: Vocabulary,
    entries: Vec<Entry>,
}

struct Entry {
    names: Vec<Name>,
    makers: Vec<Atom>,
    group: Vec<Atom>,
    memory: Vec<u64>,
}

impl Index {
    pub(crate) fn new(vocabulary: Vocabulary, called: impl Iterator<Item = Called>) -> Self {
        let entry = |called: Called| Entry {
            names: called.names.iter().map(|(name, value)| vocabulary.name(name, value)).collect(),
            makers: atoms(&vocabulary.plain(&called.makers)),
            group: atoms(&vocabulary.plain(called.group)),
            memory: called.memory,
        };
        let entries = called.map(entry).collect();
        Self { vocabulary, entries }
    }

    /// What `text` means.
    pub(crate) fn search(&self, text: &str) -> Found {
        let Some(query) = self.vocabulary.query(text) else { return Found::NOTHING };
        let mut found = self.matching(&query);
        if !found.iter().any(|(score, _)| score.level <= Level::Joined)
            && let Some(query) = self.vocabulary.query(&with_points(text))
        {
            // `llama-3-1-8b`, as addresses write what has no points.
            let pointed = self.matching(&query);
            if pointed.first().map(|(score, _)| *score) < found.first().map(|(score, _)| *score) || found.is_empty() {
                found = pointed;
            }
        }
        let Some((best, _)) = found.first().copied() else {
            if self.vocabulary.has_memory && matches!(query.words.as_slice(), [word] if word.is_number()) {
                // `24`, on the way to `24 GB`.
                return self.search(&format!("{text} gb"));
            }
            return Found { hits: self.near(&query), ..Found::NOTHING };
        };
        let is_clear = found.get(1).is_none_or(|(next, _)| best < *next);
        let whole = found.iter().filter(|(score, _)| score.level <= Level::Joined).count();
        let is_named = query.words.iter().any(|word| !word.is_idle);
        let is_one = is_named && ((best.is_equal() && is_clear) || (best.is_whole() && whole == 1));
        let meaning = match best.level {
            _ if is_one => Meaning::One,
            Level::Words | Level::Joined | Level::Major | Level::Keyword => Meaning::Several,
            Level::Begun | Level::Inside => Meaning::Begun,
        };
        Found { hits: found.into_iter().map(|(_, hit)| hit).collect(), meaning, is_clear }
    }

    /// Every entry that has all that was typed, the best first.
    fn matching(&self, query: &Query) -> Vec<(Score, Hit)> {
        let mut found = Vec::new();
        for (place, entry) in self.entries.iter().enumerate() {
            if query.memory.is_some_and(|memory| !entry.memory.contains(&memory)) {
                continue;
            }
            let scored = entry.names.iter().filter_map(|name| {
                let score = compare(query, name, &entry.makers, &entry.group)?;
                Some((score, Hit { place, id: name.value }))
            });
            if let Some((score, hit)) = scored.min_by_key(|(score, _)| *score) {
                insert(&mut found, score, hit);
            }
        }
        found
    }

    /// Entries that share words with the query, or of which it is a misspelling; the nearest first.
    fn near(&self, query: &Query) -> Vec<Hit> {
        let mut near: Vec<(Nearness, Hit)> = Vec::new();
        for (place, entry) in self.entries.iter().enumerate() {
            let names = entry.names.iter();
            let names = names.filter_map(|name| Some((nearness(query, name)?, Hit { place, id: name.value })));
            if let Some((nearness, hit)) = names.min_by_key(|(nearness, _)| *nearness) {
                insert(&mut near, nearness, hit);
            }
        }
        if near.first().is_some_and(|(nearness, _)| nearness.kind != Kin::OtherNumber) {
            near.retain(|(nearness, _)| nearness.kind != Kin::OtherNumber);
        }
        near.truncate(MOST_OFFERED);
        near.into_iter().map(|(_, hit)| hit).collect()
    }
}

/// Puts `hit` behind all that are as good: where nothing tells them apart, they stay in the order of the catalogue.
fn insert<K: Ord>(found: &mut Vec<(K, Hit)>, key: K, hit: Hit) {
    let place = found.partition_point(|(other, _)| *other <= key);
    found.insert(place, (key, hit));
}

/// In what a name is near, the nearest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kin {
    /// Misspelt letters.
    Misspelt,
    /// Some of the words.
    Words,
    /// Another number: rather another GPU than a misspelt one.
    OtherNumber,
}

/// How near a name is; the least is the nearest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Nearness {
    kind: Kin,
    distance: usize,
    length: usize,
}

fn nearness(query: &Query, name: &Name) -> Option<Nearness> {
    let typed = joined(&query.joined);
    // What follows in the name need not have been typed.
    let start = joined(&name.atoms[..name.atoms.len().min(query.joined.len())]);
    let spellings = [start.as_str(), &name.joined].into_iter();
    let misspelt =
        spellings.filter_map(|name| Some((!same_numbers(&typed, name), near_distance(&typed, name, Closeness::Key)?)));
    let misspelt = misspelt.min();
    let shared = overlap(query, name);
    let (kind, distance) = match (misspelt, shared) {
        (Some((false, distance)), _) => (Kin::Misspelt, distance),
        (_, Some(shared)) => (Kin::Words, LONGEST.saturating_sub(shared)),
        (Some((true, distance)), None) => (Kin::OtherNumber, distance),
        (None, None) => return None,
    };
    Some(Nearness { kind, distance, length: name.atoms.len() })
}

fn same_numbers(a: &str, b: &str) -> bool {
    a.bytes().filter(u8::is_ascii_digit).eq(b.bytes().filter(u8::is_ascii_digit))
}

impl Vocabulary {
    /// `text` in lower case, in the words of the catalogue.
    fn plain(&self, text: &str) -> String {
        let mut text = folded(text);
        for (alias, word) in self.aliases {
            if text.contains(alias) {
                text = text.replace(alias, word);
            }
        }
        text
    }

    fn name(&self, text: &str, value: &'static str) -> Name {
        // A remark, such as which part of the model is meant.
        let text = text.split(" (").next().unwrap_or(text);
        let atoms = atoms(&self.plain(text));
        let weights = (0..atoms.len()).map(|place| self.weight(&atoms, place)).collect();
        let joined = joined(&atoms);
        Name { value, atoms, weights, joined }
    }

    fn weight(&self, atoms: &[Atom], place: usize) -> Weight {
        let text = |place: usize| atoms.get(place).map_or("", |atom| atom.text.as_str());
        let is = |words: &[&str], place: usize| words.contains(&text(place));
        let is_number = |place: usize| atoms.get(place).is_some_and(Atom::is_number);
        let is_size = |place: usize| is_number(place) && is(self.units, place + 1);
        // Of `30B-A3B` all is size.
        let is_active = text(place) == "a" && is_size(place + 1) && place >= 2 && is_size(place - 2);
        match place {
            _ if is(self.brands, place) => Weight::Nothing,
            _ if is(self.editions, place) => Weight::Edition,
            _ if is(self.implied, place) || is_size(place) || is_active => Weight::Implied,
            _ if is(self.units, place) && place > 0 && is_number(place - 1) => Weight::Implied,
            _ => Weight::Tells,
        }
    }

    /// Cuts what was typed; `None` where it says nothing, or is too long to be a name.
    fn query(&self, text: &str) -> Option<Query> {
        const MOST_ATOMS: usize = 32;
        let text = text.trim();
        if text.len() > LONGEST {
            return None;
        }
        let mut memory = None;
        let mut words: Vec<Word> = Vec::new();
        let mut typed = split(&self.plain(text)).into_iter().peekable();
        while let Some(word) = typed.next() {
            if self.has_memory
                && let Some(size) = memory_size(&word, typed.peek().map(Vec::as_slice))
            {
                if word.len() == 1 {
                    typed.next();
                }
                memory = Some(size);
                continue;
            }
            let whole = joined(&word);
            let is_idle = self.idle.contains(&whole.as_str()) || self.editions.contains(&whole.as_str());
            words.push(Word { atoms: word, is_idle, is_brand: self.brands.contains(&whole.as_str()) });
        }
        if words.iter().all(|word| word.is_idle) && memory.is_none() {
            words.iter_mut().for_each(|word| word.is_idle = false);
        }
        let joined: Vec<Atom> = words.iter().filter(|word| !word.is_idle).flat_map(|word| word.atoms.clone()).collect();
        let says_something = memory.is_some() || !joined.is_empty();
        (says_something && words.iter().map(|word| word.atoms.len()).sum::<usize>() <= MOST_ATOMS).then_some(Query {
            words,
            memory,
            joined,
        })
    }
}

/// The size that `word`, or it and the `next`, says: `24g`, `24GB`, `24 GiB`.
fn memory_size(word: &[Atom], next: Option<&[Atom]>) -> Option<u64> {
    let (number, unit) = match (word, next) {
        ([number, unit], _) => (number, unit),
        ([number], Some([unit])) => (number, unit),
        _ => return None,
    };
    let is_unit = ["g", "gb", "gib"].contains(&unit.text.as_str());
    if is_unit { number.text.parse().ok() } else { None }
}

/// `text` with a point for what separates two single digits: `3-1` becomes `3.1`.
fn with_points(text: &str) -> String {
    let mut letters: Vec<char> = text.chars().take(LONGEST).collect();
    let is_digit = |letter: Option<&char>| letter.is_some_and(char::is_ascii_digit);
    for place in 1..letters.len().saturating_sub(1) {
        let (before, after) = (place.checked_sub(2), place + 2);
        let alone = !is_digit(before.and_then(|place| letters.get(place))) && !is_digit(letters.get(after));
        if matches!(letters[place], '-' | ' ' | '_')
            && letters[place - 1].is_ascii_digit()
            && letters[place + 1].is_ascii_digit()
            && alone
            // Not twice: `3-1-8b` is 3.1 and 8b.
            && before.and_then(|place| letters.get(place)) != Some(&'.')
        {
            letters[place] = '.';
        }
    }
    letters.into_iter().collect()
}
