//! Who goes first among events that are due at the same instant.
//!
//! Under the random rule a draw belongs to each event: the first to the first event scheduled, and so on. Where hardly any two events
//! meet, nothing is drawn before two do. An event has its number, and the generator catches up with the numbers given so far. Where
//! many meet, that takes longer than to draw for each event when it is scheduled, which is then done. The order is the same, but for the one tie in
//! 2^32 in which both draw the same: drawn late, the number decides, and drawn at once, the lane.

use crate::plan::TieRule;
use fairwire_core::{Rng, Seed};

/// What tells events apart that are due at the same instant.
#[derive(Debug)]
pub(crate) struct Ties {
    scheduled: u64,
    /// Draws for each event when it is scheduled, once that is worth it.
    at_once: Option<Rng>,
    late: Option<Draws>, // none: in the order scheduled, or drawn at once
}

/// What events drew, by number from 1 on.
#[derive(Debug)]
struct Draws {
    rng: Rng, // after the draw of number `drawn`
    drawn: u64,
    recent: Vec<u32>, // of the latest numbers less one, modulo the length
    marks: Vec<Rng>,  // before each [`APART`]th draw
    work: u64,        // spent on questions so far, in draws
}

/// So many draws lie between two marks.
const APART: u64 = 1 << 12;

/// So many draws are kept.
const KEPT: usize = 1 << 14;

/// So many draws are made at once, some before their numbers are given: what is drawn is the same.
const BLOCK: u64 = 1 << 8;

/// To ask for a draw that is kept takes about as long as to make so many.
const QUESTION: u64 = 2;

/// Most events that wait have been scheduled since so many others were.
const MOST_PENDING: u64 = 1 << 20;

/// Less work than this tells nothing of what is to come.
const LITTLE_WORK: u64 = 1 << 12;

impl Ties {
    pub(crate) fn new(rule: TieRule, seed: Seed) -> Self {
        let late = match rule {
            TieRule::Random => Some(Draws::new(seed.stream("ties"))),
            TieRule::Fifo => None,
        };
        Ties { scheduled: 0, at_once: None, late }
    }

    /// What tells another event from those that it can meet: its draw, or of its number the low half.
    #[inline(always)]
    pub(crate) fn another(&mut self) -> u32 {
        self.scheduled += 1;
        match &mut self.at_once {
            None => self.scheduled as u32,
            Some(rng) => high(rng),
        }
    }

    /// Does `one` go before `other`, which is due at the same time?
    #[inline]
    pub(crate) fn goes_first(&mut self, one: u32, other: u32) -> bool {
        if self.at_once.is_some() { one < other } else { self.order(one) < self.order(other) }
    }

    /// Of a number by its low half: the draw, then the number.
    #[inline]
    pub(crate) fn order(&mut self, low: u32) -> (u32, u64) {
        let number = self.scheduled - u64::from((self.scheduled as u32).wrapping_sub(low));
        (self.late.as_mut().map_or(0, |draws| draws.of(number, self.scheduled)), number)
    }

    /// Does each event draw when it is scheduled?
    #[inline(always)]
    pub(crate) fn are_drawn_at_once(&self) -> bool {
        self.at_once.is_some()
    }

    /// Have so many events met that it is time to draw at once?
    #[inline]
    pub(crate) fn are_many(&self) -> bool {
        self.late.as_ref().is_some_and(|draws| draws.work > LITTLE_WORK && draws.work > self.scheduled / 2)
    }

    /// From now on draws at once: what told an event from others until now, and what does from now on.
    pub(crate) fn draw_at_once(&mut self) -> impl FnMut(u32) -> u32 + use<> {
        let scheduled = self.scheduled;
        let mut late = self.late.take();
        let (mut base, mut latest) = (0, Vec::new());
        if let Some(draws) = &mut late {
            base = scheduled.saturating_sub(MOST_PENDING) / APART * APART;
            let mut rng = draws.after(base);
            latest.extend((base..scheduled).map(|_| high(&mut rng)));
            self.at_once = Some(rng);
        }
        move |low| {
            let number = scheduled - u64::from((scheduled as u32).wrapping_sub(low));
            match &mut late {
                Some(draws) if number <= base => draws.of(number, scheduled),
                Some(_) => latest[(number - base) as usize - 1],
                None => low,
            }
        }
    }
}

impl Draws {
    fn new(rng: Rng) -> Self {
        Draws { rng, drawn: 0, recent: Vec::new(), marks: Vec::new(), work: 0 }
    }

    /// The draw of `number`; those up to `latest` are made if they are not yet.
    #[inline]
    fn of(&mut self, number: u64, latest: u64) -> u32 {
        self.work += QUESTION;
        if number > self.drawn {
            self.catch_up(latest);
        }
        if self.drawn - number < KEPT as u64 {
            return self.recent[(number - 1) as usize % KEPT];
        }
        high(&mut self.after(number - 1))
    }

    #[inline(never)]
    fn catch_up(&mut self, latest: u64) {
        self.recent.resize(KEPT, 0);
        while self.drawn < latest {
            if self.drawn.is_multiple_of(APART) {
                self.marks.push(self.rng.again());
            }
            let from = self.drawn as usize % KEPT;
            let mut rng = self.rng.again(); // in registers
            self.recent[from..from + BLOCK as usize].iter_mut().for_each(|draw| *draw = high(&mut rng));
            self.rng = rng;
            self.drawn += BLOCK;
        }
    }

    /// The generator as it is after the draw of `number`, which may be long past.
    #[inline(never)]
    fn after(&mut self, number: u64) -> Rng {
        self.catch_up(number + 1);
        let mut rng = self.marks[(number / APART) as usize].again();
        for _ in 0..number % APART {
            rng.next_u64();
        }
        self.work += number % APART;
        rng
    }
}

#[inline]
fn high(rng: &mut Rng) -> u32 {
    (rng.next_u64() >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_is_the_one_that_its_number_would_have_made_however_late_it_is_asked_for() {
        let mut eager = Seed(7).stream("ties");
        let draws: Vec<u32> = (0..60_000).map(|_| high(&mut eager)).collect();
        let mut rng = Seed(8).stream("test");
        let mut ties = Ties::new(TieRule::Random, Seed(7));
        for latest in 1..=60_000u32 {
            assert_eq!(ties.another(), latest);
            if rng.chance(0.05) {
                // Mostly of late, and some of any time: those were drawn, forgotten, and are drawn again.
                let back = if rng.chance(0.9) { rng.below(latest.min(300)) } else { rng.below(latest) };
                let number = latest - back;
                assert_eq!(ties.order(number), (draws[number as usize - 1], number.into()), "at {latest}");
            }
        }
        assert!(ties.are_many());
    }

    #[test]
    fn draws_at_once_go_on_where_late_ones_end_and_tell_what_was_scheduled_before() {
        let mut eager = Seed(7).stream("ties");
        let draws: Vec<u32> = (0..20_000).map(|_| high(&mut eager)).collect();
        for met in [0, 100, 9_999] {
            let mut ties = Ties::new(TieRule::Random, Seed(7));
            (0..met).for_each(|_| _ = ties.another());
            if met > 0 {
                ties.goes_first(1, 2);
            }
            (met..10_000).for_each(|_| _ = ties.another());
            let mut draw = ties.draw_at_once();
            assert_eq!([1, 5_000, 10_000].map(&mut draw), [1, 5_000, 10_000].map(|at| draws[at - 1]));
            assert!(draws[10_000..].iter().all(|draw| ties.another() == *draw));
        }
    }

    #[test]
    fn nothing_is_drawn_before_two_events_meet() {
        let mut ties = Ties::new(TieRule::Random, Seed(7));
        let (one, other) = (ties.another(), ties.another());
        assert_eq!(ties.late.as_ref().map(|draws| draws.drawn), Some(0));
        let goes_first = ties.goes_first(one, other);
        assert_ne!(goes_first, ties.goes_first(other, one));
        assert_eq!(ties.late.as_ref().map(|draws| draws.drawn), Some(BLOCK));
        assert!(!ties.are_many(), "two are few");
    }

    #[test]
    fn without_draws_the_number_decides() {
        let mut ties = Ties::new(TieRule::Fifo, Seed(7));
        let (one, other) = (ties.another(), ties.another());
        assert!(ties.goes_first(one, other) && !ties.goes_first(other, one));
    }
}
