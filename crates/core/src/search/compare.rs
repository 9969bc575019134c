//! How well one name answers to what was typed.

use super::words::{Atom, atoms, joined};

/// How a name answers, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// Every word typed is a word of the name.
    Words,
    /// The same with other gaps between the words.
    Joined,
    /// A version typed is the major version of the name's: `qwen 2` of `Qwen2.5`.
    Major,
    /// Some words are only of its group or maker.
    Keyword,
    /// Some words are only begun.
    Begun,
    /// What was typed is somewhere inside.
    Inside,
}

/// What an atom of a name says when it was not typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// Another thing: `D`, `Laptop`, `Coder`.
    Tells,
    /// Known where there is only one: a size, a generation.
    Implied,
    /// The same modules: `Instruct`.
    Edition,
    /// Nothing: a maker's brand.
    Nothing,
}

/// A name of an entry.
#[derive(Debug)]
pub(super) struct Name {
    /// What a plan holds that means it.
    pub(super) value: &'static str,
    pub(super) atoms: Vec<Atom>,
    pub(super) weights: Vec<Weight>,
    pub(super) joined: String,
}

impl Name {
    /// Whether the atom at `place` is part of a size.
    fn is_size(&self, place: usize) -> bool {
        let atom = &self.atoms[place];
        atom.is_number() || atom.text == "gb"
    }
}

/// A word of a query.
#[derive(Debug)]
pub(super) struct Word {
    pub(super) atoms: Vec<Atom>,
    /// Whether a name need not have it: a file format, an edition.
    pub(super) is_idle: bool,
    /// Whether it is a maker's brand: what shares no more than that is not near.
    pub(super) is_brand: bool,
}

impl Word {
    /// Whether it is a number and nothing else.
    pub(super) fn is_number(&self) -> bool {
        matches!(self.atoms.as_slice(), [atom] if atom.is_number())
    }
}

/// What was typed.
#[derive(Debug)]
pub(super) struct Query {
    pub(super) words: Vec<Word>,
    /// A memory size, GB.
    pub(super) memory: Option<u64>,
    /// The words that are not idle, in a row.
    pub(super) joined: Vec<Atom>,
}

/// How well a name answers; the least is the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Score {
    pub(super) level: Level,
    /// Whether the name says something else before or between.
    has_gap: bool,
    /// Words of the name that tell it from others and were not typed.
    pub(super) untyped: usize,
    /// Whether it is of a size that was not typed.
    pub(super) is_implied: bool,
    /// Editions on one side only.
    pub(super) editions: usize,
}

impl Score {
    /// Whether nothing tells the name from what was typed.
    pub(super) fn is_equal(&self) -> bool {
        self.level <= Level::Joined && self.untyped == 0 && !self.is_implied
    }

    /// Whether what was typed can mean this name where it means no other.
    pub(super) fn is_whole(&self) -> bool {
        self.level <= Level::Joined && self.untyped == 0 && !self.has_gap
    }
}

/// Compares `query` with a name whose maker's words are `brands` and whose group's are `keywords`.
pub(super) fn compare(query: &Query, name: &Name, brands: &[Atom], keywords: &[Atom]) -> Option<Score> {
    by_words(query, name, brands, keywords).or_else(|| by_letters(query, name))
}

fn by_words(query: &Query, name: &Name, brands: &[Atom], keywords: &[Atom]) -> Option<Score> {
    let mut typed = vec![false; name.atoms.len()];
    let mut level = Level::Words;
    let mut missing = 0;
    for word in &query.words {
        if let Some((fit, at)) = find(&word.atoms, &name.atoms, &typed) {
            level = level.max(fit);
            typed[at..at + word.atoms.len()].fill(true);
        } else if find(&word.atoms, brands, &[]).is_some_and(|(fit, _)| fit == Level::Words) {
        } else if find(&word.atoms, keywords, &[]).is_some_and(|(fit, _)| fit <= Level::Major) {
            level = level.max(Level::Keyword);
        } else if word.is_idle {
            missing += 1;
        } else {
            return None;
        }
    }
    Some(score(query, name, &typed, level, missing))
}

/// Where `word` stands in `atoms` that are not `taken` yet, as well as it does anywhere.
fn find(word: &[Atom], atoms: &[Atom], taken: &[bool]) -> Option<(Level, usize)> {
    let free = |at: usize| !taken.iter().skip(at).take(word.len()).any(|taken| *taken);
    // `x` is no word of `mi300x`, though `100` is one of `a100`.
    let is_letter = |atom: &Atom| !atom.is_number() && atom.text.chars().nth(1).is_none();
    let begins = |at: usize| !atoms[at].glued || !word.first().is_some_and(is_letter);
    let fits = atoms.windows(word.len().max(1)).enumerate().filter(|(at, _)| free(*at) && begins(*at));
    fits.filter_map(|(at, window)| Some((fit(word, window)?, at))).min()
}

/// How `word` answers to as many atoms of a name.
fn fit(word: &[Atom], atoms: &[Atom]) -> Option<Level> {
    let (last, before) = word.split_last()?;
    let same = |typed: &Atom, atom: &Atom| {
        // `qwen25` is written for `qwen2.5`; alone, `15` is not 1.5.
        let pointless = typed.glued && typed.is_number() && atom.text.contains('.');
        typed.text == atom.text || (pointless && atom.text.replace('.', "") == typed.text)
    };
    let (end, start) = atoms.split_last()?;
    if !before.iter().zip(start).all(|(typed, atom)| same(typed, atom)) {
        return None;
    }
    if same(last, end) {
        return Some(Level::Words);
    }
    let rest = end.text.strip_prefix(last.text.as_str())?;
    Some(if rest.starts_with('.') { Level::Major } else { Level::Begun })
}

/// Compares letters and digits alone: `deepseekr1`, `code llama`, `gptoss`.
fn by_letters(query: &Query, name: &Name) -> Option<Score> {
    const SHORTEST: usize = 3;
    let typed = joined(&query.joined);
    if typed.len() < SHORTEST {
        return None;
    }
    let ends = |atoms: &[Atom]| {
        let mut end = 0;
        let length = |atom: &Atom| atom.text.len() - atom.text.matches('.').count();
        atoms
            .iter()
            .map(|atom| {
                (end, {
                    end += length(atom);
                    end
                })
            })
            .collect::<Vec<_>>()
    };
    let places = ends(&name.atoms);
    let at_start = places.iter().find(|(start, _)| name.joined[*start..].starts_with(&typed)).map(|(start, _)| *start);
    let start = at_start.or_else(|| name.joined.find(&typed))?;
    let end = start + typed.len();
    let numbers = |atoms: &[Atom], places: &[(usize, usize)], from: usize| {
        let numbers = atoms.iter().zip(places).filter(|(atom, _)| atom.is_number());
        numbers.map(|(atom, (start, end))| (start + from, end + from, atom.text.clone())).collect::<Vec<_>>()
    };
    let of_name = numbers(&name.atoms, &places, 0);
    let of_query = numbers(&query.joined, &ends(&query.joined), start);
    // Numbers must not be cut in two, `090` is not within `4090`, and 1.3 is not 13.
    let other = |(first, last, text): &(usize, usize, String)| {
        let typed = of_query.iter().find(|(from, to, _)| (from, to) == (first, last));
        (*first < start && start < *last) || typed.is_some_and(|(_, _, typed)| typed.contains('.') && typed != text)
    };
    if of_name.iter().any(other) {
        return None;
    }
    let spans = |numbers: Vec<(usize, usize, String)>| numbers.into_iter().map(|(first, last, _)| (first, last));
    let within = spans(of_name).filter(|(first, _)| (start..end).contains(first));
    let is_whole = at_start.is_some() && places.iter().any(|(_, last)| *last == end) && within.eq(spans(of_query));
    let covered: Vec<bool> = places.iter().map(|(first, last)| start <= *first && *last <= end).collect();
    Some(score(query, name, &covered, if is_whole { Level::Joined } else { Level::Inside }, 0))
}

fn score(query: &Query, name: &Name, typed: &[bool], level: Level, missing: usize) -> Score {
    // A query of nothing but a size is not nearer to the one or the other name.
    let typed_any = typed.contains(&true) || query.memory.is_none();
    let untyped = |weight: Weight| {
        let places = typed.iter().zip(&name.weights).enumerate();
        places.filter(move |(_, (typed, other))| !**typed && **other == weight && typed_any).map(|(place, _)| place)
    };
    let last = typed.iter().rposition(|typed| *typed).unwrap_or_default();
    Score {
        level,
        has_gap: untyped(Weight::Tells).any(|place| place < last),
        untyped: untyped(Weight::Tells).count(),
        is_implied: untyped(Weight::Implied).any(|place| query.memory.is_none() || !name.is_size(place)),
        editions: missing + untyped(Weight::Edition).count(),
    }
}

/// How many letters of the query's words the name has, in runs that mean something; and whether that is enough to be near.
pub(super) fn overlap(query: &Query, name: &Name) -> Option<usize> {
    const LONG: usize = 4;
    let mut all = 0;
    let mut shared = 0;
    let mut is_family = false;
    for word in query.words.iter().filter(|word| !word.is_idle && !word.is_brand) {
        all += joined(&word.atoms).len();
        let runs = (0..word.atoms.len()).flat_map(|from| (from + 1..=word.atoms.len()).map(move |to| (from, to)));
        let found = runs.filter(|(from, to)| {
            let run = &word.atoms[*from..*to];
            // A number alone is part of many names.
            let tells = run.len() == word.atoms.len() || run.iter().any(|atom| !atom.is_number());
            tells && name.atoms.windows(run.len()).any(|window| window.iter().zip(run).all(|(a, b)| a.text == b.text))
        });
        let best = found.map(|(from, to)| &word.atoms[from..to]).max_by_key(|run| joined(run).len());
        shared += best.map_or(0, |run| joined(run).len());
        is_family |= best.is_some_and(|run| run.iter().any(|atom| !atom.is_number() && atom.text.len() >= LONG));
    }
    (shared > 0 && (is_family || 2 * shared >= all)).then_some(shared)
}

/// The atoms of `text`, as words that were typed apart.
pub(super) fn split(text: &str) -> Vec<Vec<Atom>> {
    let mut words: Vec<Vec<Atom>> = Vec::new();
    for atom in atoms(text) {
        match words.last_mut() {
            Some(word) if atom.glued => word.push(atom),
            _ => words.push(vec![atom]),
        }
    }
    words
}
