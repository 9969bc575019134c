//! DeepSpeed's flat partition: parameters that train, laid end to end in the model's order and cut into one part a rank.
//!
//! `DeepSpeedZeroOptimizer.__init__` (runtime/zero/stage_1_and_2.py) flattens a group so and gives rank r the r-th part.
//! Rank 0 keeps whole every gradient that its part touches.

use super::super::autograd::{LayerTag, Tape};
use super::super::parameter::Trainable;

/// A tensor that trains; it stands for as many as its layer does.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member {
    pub(super) tag: LayerTag,
    /// Elements of one of them.
    pub(super) elements: u64,
}

/// One tensor at its place in the row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    /// Which member stands for it.
    pub(super) member: usize,
    /// Its number among those that the member stands for.
    pub(super) copy: u64,
    /// Elements before it.
    pub(super) start: u64,
    pub(super) elements: u64,
}

/// All tensors that train, end to end.
#[derive(Debug)]
pub(super) struct FlatPartition {
    members: Vec<Member>,
    pieces: Vec<Piece>,
    ranks: u64,
    total: u64,
}

impl FlatPartition {
    /// The partition of `members`. `order` calls its argument with each simulated layer, among tags of one model, in the
    /// order of the layers it stands for, and how many of them follow one another.
    pub(super) fn new(
        members: Vec<Member>,
        ranks: u64,
        order: impl Fn(&[LayerTag], &mut dyn FnMut(LayerTag, u64)),
    ) -> Self {
        let mut pieces = Vec::new();
        let (mut first, mut start) = (0, 0u64);
        for of_model in members.chunk_by(|one, other| one.tag.model == other.tag.model) {
            let layers = of_model.chunk_by(|one, other| one.tag == other.tag);
            let tags: Vec<LayerTag> = layers.filter_map(|of| Some(of.first()?.tag)).collect();
            let mut copies = vec![0; of_model.len()];
            order(&tags, &mut |tag, count| {
                for _ in 0..count {
                    let own = of_model.iter().zip(&mut copies).enumerate().filter(|(_, (member, _))| member.tag == tag);
                    for (place, (member, copy)) in own {
                        pieces.push(Piece { member: first + place, copy: *copy, start, elements: member.elements });
                        *copy += 1;
                        start = start.saturating_add(member.elements);
                    }
                }
            });
            first += of_model.len();
        }
        let of = |member: &Member| member.elements.saturating_mul(member.tag.repeat);
        let total = members.iter().map(of).fold(0, u64::saturating_add);
        Self { members, pieces, ranks: ranks.max(1), total }
    }

    /// The partition of the tensors that an optimizer updates.
    pub(super) fn of(tape: &Tape, trainable: &[Trainable], ranks: u64) -> Self {
        let member = |one: &Trainable| Member { tag: one.tag, elements: one.elements() };
        Self::new(trainable.iter().map(member).collect(), ranks, |tags, visit| tape.in_order(tags, visit))
    }

    /// T, all elements.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Elements of one rank's part, T/N.
    pub(super) fn part(&self) -> u64 {
        self.total.div_ceil(self.ranks)
    }

    /// Every tensor in its place.
    pub(super) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Elements of each tensor that lie in rank 0's part.
    pub(super) fn in_part(&self) -> impl Iterator<Item = u64> {
        let part = self.part();
        self.touched().map(move |piece| piece.elements.min(part - piece.start))
    }

    /// The tensors that rank 0's part touches.
    fn touched(&self) -> impl Iterator<Item = &Piece> {
        let part = self.part();
        self.pieces.iter().take_while(move |piece| piece.start < part)
    }

    /// Elements of all tensors that rank 0's part touches.
    pub(super) fn touched_elements(&self) -> u64 {
        self.touched().fold(0, |sum, piece| sum.saturating_add(piece.elements))
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
    /// in the model's order: none where the first is larger than the bucket and reduced where it is.
    pub(super) fn first_bucket(&self, limit: u64) -> u64 {
        let fill = |filled: u64, piece: &Piece| filled.checked_add(piece.elements).filter(|sum| *sum <= limit);
        let mut filled = 0;
        for piece in &self.pieces {
            let Some(sum) = fill(filled, piece) else { break };
            filled = sum;
        }
        filled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(index: u32, repeat: u64) -> LayerTag {
        LayerTag { model: 0, index, repeat }
    }

    /// Three layers of two tensors each, the last two of them standing behind one member.
    fn three_layers(ranks: u64) -> FlatPartition {
        let (first, rest) = (layer(0, 1), layer(1, 2));
        let members = [(first, 10), (first, 2), (rest, 10), (rest, 2)];
        let members = members.map(|(tag, elements)| Member { tag, elements }).to_vec();
        FlatPartition::new(members, ranks, |tags, visit| tags.iter().for_each(|tag| visit(*tag, tag.repeat)))
    }

    #[test]
    fn tensors_lie_end_to_end_layer_by_layer() {
        let row = three_layers(2);
        let starts: Vec<(usize, u64, u64)> = row.pieces().iter().map(|one| (one.member, one.copy, one.start)).collect();
        assert_eq!(starts, [(0, 0, 0), (1, 0, 10), (2, 0, 12), (3, 0, 22), (2, 1, 24), (3, 1, 34)]);
        assert_eq!((row.total(), row.part()), (36, 18));
    }

    #[test]
    fn rank_zero_keeps_whole_what_its_part_touches() {
        // 18 elements: the first layer and the first tensor of the second.
        assert_eq!(three_layers(2).kept(), [10, 2, 5, 0]);
        assert_eq!(three_layers(2).touched_elements(), 22);
        assert_eq!(three_layers(1).kept(), [10, 2, 10, 2]);
        assert_eq!(three_layers(100).kept(), [10, 0, 0, 0]);
    }

    #[test]
    fn the_first_bucket_ends_before_the_gradient_that_overflows_it() {
        assert_eq!(three_layers(2).first_bucket(9), 0);
        assert_eq!(three_layers(2).first_bucket(21), 12);
        assert_eq!(three_layers(2).first_bucket(22), 22);
        assert_eq!(three_layers(2).first_bucket(1000), 36);
    }
}
