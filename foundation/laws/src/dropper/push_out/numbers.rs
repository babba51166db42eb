//! Numbers for the different weights, at first in ascending order of weight. Queues are ordered by
//! these numbers.

use super::MAX_WEIGHTS;
use crate::spec::WeightOf;
use alloc::boxed::Box;
use alloc::vec::Vec;
use fairwire_core::{SetWeightError, Weight};

#[derive(Debug)]
pub(super) struct Numbers {
    /// The weights, indexed by number.
    weights: Vec<f64>,
    /// The number of classes with each weight, indexed by the weight's number. All unlisted classes
    /// count as one class.
    classes: Vec<u32>,
    /// For each listed class, the number of its weight.
    of_class: Box<[u32]>,
    /// The number of the weight 1, which all unlisted classes have.
    one: u32,
}

impl Numbers {
    pub(super) fn new(weights: &WeightOf) -> Self {
        let distinct = weights.distinct();
        let number = |weight: f64| distinct.partition_point(|&other| other < weight) as u32;
        let of_class: Box<[u32]> =
            (0..weights.len() as u32).map(|class| number(weights.class(class))).collect();
        let one = number(1.0);
        // Weights that are set later get new numbers, up to the maximum.
        let room = if weights.is_equal() { 1 } else { distinct.len().max(MAX_WEIGHTS) };
        let (mut numbered, mut classes) = (Vec::with_capacity(room), Vec::with_capacity(room));
        numbered.extend_from_slice(&distinct);
        classes.resize(distinct.len(), 0);
        of_class.iter().chain([&one]).for_each(|&number| classes[number as usize] += 1);
        Numbers { weights: numbered, classes, of_class, one }
    }

    #[inline]
    pub(super) fn all(&self) -> core::ops::Range<u32> {
        0..self.weights.len() as u32
    }

    #[inline]
    pub(super) fn weight(&self, number: u32) -> f64 {
        self.weights[number as usize]
    }

    #[inline]
    pub(super) fn of(&self, class: u32) -> u32 {
        self.of_class.get(class as usize).copied().unwrap_or(self.one)
    }

    /// Gives the listed `class` another weight. `is_free` returns true for a number that no queue
    /// uses. O(different weights).
    pub(super) fn set_weight(
        &mut self,
        class: u32,
        weight: Weight,
        is_free: impl Fn(u32) -> bool,
    ) -> Result<(), SetWeightError> {
        let number = self.number_for(weight.get(), is_free)?;
        self.classes[number as usize] += 1;
        let before = core::mem::replace(&mut self.of_class[class as usize], number);
        self.classes[before as usize] -= 1;
        Ok(())
    }

    fn number_for(&mut self, weight: f64, is_free: impl Fn(u32) -> bool) -> Result<u32, SetWeightError> {
        if let Some(number) = self.all().find(|&number| self.weight(number) == weight) {
            return Ok(number);
        }
        let is_unused = |&number: &u32| self.classes[number as usize] == 0 && is_free(number);
        if let Some(number) = self.all().find(is_unused) {
            self.weights[number as usize] = weight;
            return Ok(number);
        }
        if self.weights.len() >= MAX_WEIGHTS {
            return Err(SetWeightError::TooManyWeights { max: MAX_WEIGHTS });
        }
        self.weights.push(weight);
        self.classes.push(0);
        Ok(self.weights.len() as u32 - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Parameter;
    use crate::spec::{ClassNumber, Weights};

    fn numbers(classes: u32) -> Numbers {
        let typed = Weights((0..classes).map(|class| (ClassNumber(class), 1.0)).collect());
        let parameter = Parameter { discipline: "some", name: "weights" };
        Numbers::new(&typed.check(parameter).expect("allowed"))
    }

    fn weight(number: u32) -> Weight {
        Weight::new(2.0 + f64::from(number)).expect("allowed")
    }

    #[test]
    fn equal_weights_share_a_number_and_free_numbers_are_reused() {
        let mut numbers = numbers(3);
        numbers.set_weight(0, weight(0), |_| true).expect("there is room");
        numbers.set_weight(1, weight(0), |_| true).expect("there is room");
        assert_eq!([0, 1, 2, 9].map(|class| numbers.of(class)), [1, 1, 0, 0]);
        numbers.set_weight(0, weight(1), |_| true).expect("there is room");
        assert_eq!((numbers.of(0), numbers.weight(2)), (2, 3.0));
        numbers.set_weight(1, weight(2), |number| number != 1).expect("there is room");
        assert_eq!(numbers.of(1), 3, "a queue still has the first number");
        numbers.set_weight(0, weight(3), |_| true).expect("there is room");
        assert_eq!((numbers.of(0), numbers.weight(1)), (1, 5.0), "now none does any more");
    }

    #[test]
    fn one_weight_above_the_maximum_is_refused_and_changes_nothing() {
        let mut numbers = numbers(300);
        for class in 0..MAX_WEIGHTS as u32 - 1 {
            numbers.set_weight(class, weight(class), |_| true).expect("there is room");
        }
        let refused = numbers.set_weight(299, weight(299), |_| true);
        assert_eq!(refused, Err(SetWeightError::TooManyWeights { max: MAX_WEIGHTS }));
        assert_eq!(numbers.weight(numbers.of(299)), 1.0);
        assert_eq!(numbers.set_weight(299, weight(7), |_| true), Ok(()), "another has it");
    }
}
