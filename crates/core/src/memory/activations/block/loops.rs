//! Loops of a recorded block, and the lists that they fill.

use super::super::super::autograd::{Tensor, Watched};
use super::Runner;
use crate::model::{Op, Repeat, Value};

/// Most times of a loop that all run.
const FEW: u64 = 64;
/// How often a loop of more runs: the second time stands for those of its like. When the fourth is over nothing of the second lives
/// but what lives as long as the graph or a list, and the fifth is the last.
const RUNS: u64 = 5;
const MIDDLE: u64 = 1;

/// What an operator reads, each tensor of a list by itself, and how many tensors each of its inputs is.
type Spread = (Vec<Value>, Vec<usize>);

impl Runner<'_> {
    /// Runs a loop. One over thousands of tokens has as many bytes at its peaks when one time in its middle stands for most: what
    /// each leaves is the same, and what lives only while one runs is beside all that the others left in the last, where backward
    /// begins, too.
    pub(super) fn repeat(&mut self, repeat: &Repeat) {
        let times = self.sizes.size(repeat.times);
        let tape = std::rc::Rc::clone(&self.context.tape);
        let stands = times > FEW && tape.lets_stand_for();
        let runs = if stands { RUNS } else { times };
        let mut middle: Option<Watched> = None;
        for (_, list) in &repeat.collect {
            self.lists.insert(*list, Vec::new());
        }
        if runs == 0 {
            // What reads the loop's results then reads what they began as.
            for (to, from) in &repeat.carry {
                let begun = self.values.get_mut(*to).and_then(Option::take);
                self.set(*from, begun);
                let origin = self.origins.get(*to).copied().flatten();
                self.origins.get_mut(*from).into_iter().for_each(|place| *place = origin);
            }
        }
        for time in 0..runs {
            if self.left == 0 {
                break;
            }
            if time > 0 {
                self.carry(&repeat.carry);
            }
            if time + 1 == runs
                && let Some(middle) = middle.take()
            {
                // What is left of the operators that a block may run bounds those that are stood for, too: a program is anyone's.
                let each = repeat.ops.len().max(1) as u64;
                let more = (times - RUNS).min(self.left / each);
                self.left -= more * each;
                middle.stand_for(more);
            }
            if stands && time == MIDDLE {
                middle = Some(tape.watch(|| self.run(&repeat.ops, None)));
            } else {
                self.run(&repeat.ops, None);
            }
            for (value, list) in &repeat.collect {
                let value = self.values.get(*value).cloned().flatten();
                self.lists.entry(*list).or_default().extend(value);
            }
        }
    }

    /// Gives values what others were at the end of the time before.
    fn carry(&mut self, carry: &[(usize, usize)]) {
        let numbered = |from: usize| self.values.get(from).cloned().flatten();
        let carried: Vec<(usize, usize, Option<Tensor>)> =
            carry.iter().map(|(to, from)| (*to, *from, numbered(*from))).collect();
        for (to, from, value) in carried {
            self.values.get_mut(from).into_iter().for_each(|place| drop(place.take()));
            self.set(to, value);
            let origin = self.origins.get(from).copied().flatten();
            self.origins.get_mut(to).into_iter().for_each(|place| *place = origin);
        }
    }

    /// What an operator reads; the values beside it only where a list is among them.
    pub(super) fn spread(&mut self, op: &Op) -> Option<(Option<Spread>, Vec<Tensor>)> {
        let is_list = |value: &Value| matches!(value, Value::Numbered(number) if self.lists.contains_key(number));
        if !op.inputs.iter().any(is_list) {
            return Some((None, op.inputs.iter().map(|input| self.read(*input)).collect::<Option<_>>()?));
        }
        let (mut read, mut counts, mut inputs) = (Vec::new(), Vec::new(), Vec::new());
        for value in &op.inputs {
            let found = match value {
                Value::Numbered(number) if self.lists.contains_key(number) => self.lists.get(number)?.clone(),
                _ => vec![self.read(*value)?],
            };
            counts.push(found.len());
            read.extend(found.iter().map(|_| *value));
            inputs.extend(found);
        }
        Some((Some((read, counts)), inputs))
    }

    /// Frees a list as Python does, from its end.
    pub(super) fn free_list(&mut self, number: usize) {
        if let Some(mut list) = self.lists.remove(&number) {
            while list.pop().is_some() {}
        }
    }
}
