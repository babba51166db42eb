//! Commands for the datapath thread.
//!
//! That thread has a real-time priority, so it must never wait for an ordinary thread, which would
//! not run on the same processor. The standard library's channels wait by spinning while a sender
//! is between reserving and writing an entry.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

/// The queue; `None` once its reader has ended.
type Queue<T> = Arc<Mutex<Option<VecDeque<T>>>>;

/// The end that writes. All clones write to one queue.
pub(crate) struct Mailbox<T>(Queue<T>);

/// The end that reads.
pub(crate) struct Letters<T>(Queue<T>);

pub(crate) fn mailbox<T>() -> (Mailbox<T>, Letters<T>) {
    let queue = Queue::new(Mutex::new(Some(VecDeque::new())));
    (Mailbox(queue.clone()), Letters(queue))
}

impl<T> Mailbox<T> {
    /// Appends `letter`. Returns it if the reader has ended.
    pub(crate) fn send(&self, letter: T) -> Result<(), T> {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            Some(queue) => {
                queue.push_back(letter);
                Ok(())
            }
            None => Err(letter),
        }
    }
}

impl<T> Letters<T> {
    /// Takes the first letter. `None` if there is none, or while a writer is at work.
    pub(crate) fn take(&self) -> Option<T> {
        let mut queue = match self.0.try_lock() {
            Ok(queue) => queue,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        queue.as_mut()?.pop_front()
    }
}

impl<T> Drop for Letters<T> {
    fn drop(&mut self) {
        let queue = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        // The letters are dropped after the lock is released.
        drop(queue);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_arrive_in_order_and_a_reader_passes_by_a_writer_at_work() {
        let (mailbox, letters) = mailbox();
        assert_eq!(letters.take(), None);
        (1..4).for_each(|letter| mailbox.send(letter).expect("the reader is there"));
        let at_work = mailbox.0.lock().expect("no holder panics");
        assert_eq!(letters.take(), None);
        drop(at_work);
        assert_eq!(std::iter::from_fn(|| letters.take()).collect::<Vec<_>>(), [1, 2, 3]);
    }

    #[test]
    fn letters_end_with_their_reader() {
        let (mailbox, letters) = mailbox();
        let letter = Arc::new(());
        mailbox.send(letter.clone()).expect("the reader is there");
        drop(letters);
        assert_eq!(Arc::strong_count(&letter), 1);
        assert!(mailbox.send(letter).is_err());
    }
}
