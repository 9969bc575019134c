//! DeepSpeed's flat partitions: parameters that train, group by group of the optimizer, laid end to end in the model's order
//! and cut into one part a rank.
//!
//! `DeepSpeedZeroOptimizer.__init__` (runtime/zero/stage_1_and_2.py) flattens each group so and gives rank r the r-th part.
//! Rank 0 keeps whole every gradient that its parts touch. A Trainer's optimizer has two groups
//! ([`Sharding::separates_decay`]): so rank 0 has the first norms beside the embedding, whose gradients are there early in
//! backward, and with the first of them that is reduced all its gradients get their place (`copy_grads_in_partition`).

use super::super::autograd::{LayerTag, Tape};
use super::super::parameter::Trainable;
use crate::job::Sharding;

/// Groups that an optimizer has at most: what decays, and what does not.
pub(super) const GROUPS: usize = 2;

/// A tensor that trains; it stands for as many as its layer does.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member {
    pub(super) tag: LayerTag,
    /// Elements of one of them.
    pub(super) elements: u64,
    /// The optimizer's group that it is in.
    pub(super) group: usize,
}

/// A tensor's place in the row of its group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Flat {
    pub(super) elements: u64,
    /// Elements before it in its group.
    pub(super) start: u64,
    pub(super) group: usize,
    /// Elements of one rank's part of the group; at least 1.
    pub(super) part: u64,
}

/// One tensor at its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    /// Which member stands for it.
    pub(super) member: usize,
    /// Its number among those that the member stands for.
    pub(super) copy: u64,
    pub(super) flat: Flat,
}

/// All tensors that train, group after group, each end to end.
#[derive(Debug)]
pub(super) struct FlatPartition {
    members: Vec<Member>,
    pieces: Vec<Piece>,
    /// The groups that have tensors, each with the elements of one rank's part.
    parts: Vec<(usize, u64)>,
    total: u64,
}

impl Member {
    fn all_elements(&self) -> u64 {
        self.elements.saturating_mul(self.tag.repeat)
    }
}

impl Flat {
    /// Elements of it in rank 0's part.
    pub(super) fn own(self) -> u64 {
        self.part.saturating_sub(self.start).min(self.elements)
    }

    /// Whether rank 0's part touches it.
    pub(super) fn is_own(self) -> bool {
        self.start < self.part
    }

    /// The first and the last rank whose part touches it.
    pub(super) fn ranks(self) -> (u64, u64) {
        let part = self.part.max(1);
        (self.start / part, self.start.saturating_add(self.elements.saturating_sub(1)) / part)
    }
}

/// The optimizer's group of a tensor that weight decay shrinks, or does not.
pub(super) fn group(sharding: &Sharding, decays: bool) -> usize {
    usize::from(sharding.separates_decay && !decays)
}

impl FlatPartition {
    /// The partition of `members`. `order` calls its argument with each simulated layer, among tags of one model, in the
    /// order of the layers it stands for, and how many of them follow one another.
    pub(super) fn new(
        members: Vec<Member>,
        ranks: u64,
        order: impl Fn(&[LayerTag], &mut dyn FnMut(LayerTag, u64)),
    ) -> Self {
        let in_order = in_order(&members, order);
        let (mut pieces, mut parts, mut all) = (Vec::with_capacity(in_order.len()), Vec::new(), 0u64);
        for group in 0..GROUPS {
            let of_group = members.iter().filter(|member| member.group == group);
            let total = of_group.map(Member::all_elements).fold(0, u64::saturating_add);
            if total == 0 {
                continue;
            }
            let part = total.div_ceil(ranks.max(1));
            parts.push((group, part));
            all = all.saturating_add(total);
            let mut start = 0u64;
            for (member, copy) in &in_order {
                let Some(elements) = members.get(*member).filter(|one| one.group == group).map(|one| one.elements)
                else {
                    continue;
                };
                pieces.push(Piece { member: *member, copy: *copy, flat: Flat { elements, start, group, part } });
                start = start.saturating_add(elements);
            }
        }
        Self { members, pieces, parts, total: all }
    }

    /// The partition of the tensors that an optimizer updates.
    pub(super) fn of(tape: &Tape, trainable: &[Trainable], sharding: &Sharding) -> Self {
        let member =
            |one: &Trainable| Member { tag: one.tag, elements: one.elements(), group: group(sharding, one.decays()) };
        let members = trainable.iter().map(member).collect();
        Self::new(members, sharding.ranks, |tags, visit| tape.in_order(tags, visit))
    }

    /// T, all elements.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// The groups that have tensors, each with the elements of one rank's part.
    pub(super) fn parts(&self) -> &[(usize, u64)] {
        &self.parts
    }

    /// Elements of one rank's parts together, T/N.
    pub(super) fn part(&self) -> u64 {
        self.parts.iter().fold(0, |sum, (_, part)| sum.saturating_add(*part))
    }

    /// Every tensor in its place.
    pub(super) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The tensors that rank 0's parts touch.
    pub(super) fn touched(&self) -> impl Iterator<Item = &Piece> {
        self.pieces.iter().filter(|piece| piece.flat.is_own())
    }

    /// Elements of all tensors that rank 0's parts touch.
    pub(super) fn touched_elements(&self) -> u64 {
        self.touched().fold(0, |sum, piece| sum.saturating_add(piece.flat.elements))
    }

    /// Of each member: elements of its gradient that rank 0 keeps. One that stands for several keeps their average.
    pub(super) fn kept(&self) -> Vec<u64> {
        let mut whole = vec![0u64; self.members.len()];
        for piece in self.touched() {
            whole.iter_mut().skip(piece.member).take(1).for_each(|count| *count += 1);
        }
        let kept = |(member, whole): (&Member, u64)| {
            let share = u128::from(member.elements) * u128::from(whole) / u128::from(member.tag.repeat.max(1));
            u64::try_from(share).unwrap_or(u64::MAX)
        };
        self.members.iter().zip(whole).map(kept).collect()
    }

    /// Elements of the gradients that are copied into a bucket of `limit` elements before it is reduced for the first time,
    /// in the order of the groups: none where the first is larger than the bucket and reduced where it is.
    pub(super) fn first_bucket(&self, limit: u64) -> u64 {
        let fill = |filled: u64, piece: &Piece| filled.checked_add(piece.flat.elements).filter(|sum| *sum <= limit);
        let mut filled = 0;
        for piece in &self.pieces {
            let Some(sum) = fill(filled, piece) else { break };
            filled = sum;
        }
        filled
    }
}

/// Each tensor's member, and its number among those that the member stands for, in the model's order.
fn in_order(members: &[Member], order: impl Fn(&[LayerTag], &mut dyn FnMut(LayerTag, u64))) -> Vec<(usize, u64)> {
    let mut all = Vec::new();
    let mut first = 0;
    for of_model in members.chunk_by(|one, other| one.tag.model == other.tag.model) {
        let layers = of_model.chunk_by(|one, other| one.tag == other.tag);
        let tags: Vec<LayerTag> = layers.filter_map(|of| Some(of.first()?.tag)).collect();
        let mut copies = vec![0; of_model.len()];
        order(&tags, &mut |tag, count| {
            for _ in 0..count {
                let own = of_model.iter().zip(&mut copies).enumerate().filter(|(_, (member, _))| member.tag == tag);
                for (place, (_, copy)) in own {
                    all.push((first + place, *copy));
                    *copy += 1;
                }
            }
        });
        first += of_model.len();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(index: u32, repeat: u64) -> LayerTag {
        LayerTag { model: 0, index, repeat }
    }

    /// Three layers of two tensors each, the last two of them standing behind one member.
    fn three_layers(ranks: u64, groups: [usize; 2]) -> FlatPartition {
        let (first, rest) = (layer(0, 1), layer(1, 2));
        let [large, small] = groups;
        let members = [(first, 10, large), (first, 2, small), (rest, 10, large), (rest, 2, small)];
        let members = members.map(|(tag, elements, group)| Member { tag, elements, group }).to_vec();
        FlatPartition::new(members, ranks, |tags, visit| tags.iter().for_each(|tag| visit(*tag, tag.repeat)))
    }

    fn starts(row: &FlatPartition) -> Vec<(usize, u64, u64)> {
        row.pieces().iter().map(|one| (one.member, one.copy, one.flat.start)).collect()
    }

    #[test]
    fn tensors_lie_end_to_end_layer_by_layer() {
        let row = three_layers(2, [0, 0]);
        assert_eq!(starts(&row), [(0, 0, 0), (1, 0, 10), (2, 0, 12), (3, 0, 22), (2, 1, 24), (3, 1, 34)]);
        assert_eq!((row.total(), row.part()), (36, 18));
    }

    #[test]
    fn each_group_is_a_row_of_its_own() {
        let row = three_layers(2, [0, 1]);
        assert_eq!(starts(&row), [(0, 0, 0), (2, 0, 10), (2, 1, 20), (1, 0, 0), (3, 0, 2), (3, 1, 4)]);
        assert_eq!(row.parts(), [(0, 15), (1, 3)]);
        // The first layer, and the first tensor of each kind of the second.
        assert_eq!(row.kept(), [10, 2, 5, 1]);
        assert_eq!((row.total(), row.touched_elements()), (36, 24));
    }

    #[test]
    fn rank_zero_keeps_whole_what_its_part_touches() {
        // 18 elements: the first layer and the first tensor of the second.
        assert_eq!(three_layers(2, [0, 0]).kept(), [10, 2, 5, 0]);
        assert_eq!(three_layers(2, [0, 0]).touched_elements(), 22);
        assert_eq!(three_layers(1, [0, 0]).kept(), [10, 2, 10, 2]);
        assert_eq!(three_layers(100, [0, 0]).kept(), [10, 0, 0, 0]);
    }

    #[test]
    fn the_first_bucket_ends_before_the_gradient_that_overflows_it() {
        assert_eq!(three_layers(2, [0, 0]).first_bucket(9), 0);
        assert_eq!(three_layers(2, [0, 0]).first_bucket(21), 12);
        assert_eq!(three_layers(2, [0, 0]).first_bucket(22), 22);
        assert_eq!(three_layers(2, [0, 0]).first_bucket(1000), 36);
    }
}
