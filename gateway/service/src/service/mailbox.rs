//! Commands for the datapath thread.
//!
//! That thread has a real-time priority. If it waited for an ordinary thread on the same processor,
//! the ordinary thread would never run. The standard library's channels do wait, while a sender is
//! between reserving and writing an entry.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

/// The queue; `None` once its reader has ended.
type Queue<T> = Arc<Mutex<Option<VecDeque<T>>>>;

pub(crate) struct Sender<T>(Queue<T>);

pub(crate) struct Receiver<T>(Queue<T>);

pub(crate) fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let queue = Queue::new(Mutex::new(Some(VecDeque::new())));
    (Sender(queue.clone()), Receiver(queue))
}

impl<T> Sender<T> {
    pub(crate) fn send(&self, message: T) -> Result<(), T> {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            Some(queue) => {
                queue.push_back(message);
                Ok(())
            }
            None => Err(message),
        }
    }
}

impl<T> Receiver<T> {
    /// Takes the first message. `None` if there is none, or while a writer is at work.
    pub(crate) fn take(&self) -> Option<T> {
        let mut queue = match self.0.try_lock() {
            Ok(queue) => queue,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        queue.as_mut()?.pop_front()
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let queue = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        // The messages are dropped after the lock is released.
        drop(queue);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_in_order_and_the_receiver_does_not_wait_for_a_sender() {
        let (sender, receiver) = channel();
        assert_eq!(receiver.take(), None);
        (1..4).for_each(|message| sender.send(message).expect("the reader is there"));
        let sending = sender.0.lock().expect("no holder panics");
        assert_eq!(receiver.take(), None);
        drop(sending);
        assert_eq!(std::iter::from_fn(|| receiver.take()).collect::<Vec<_>>(), [1, 2, 3]);
    }

    #[test]
    fn messages_are_dropped_with_their_receiver() {
        let (sender, receiver) = channel();
        let message = Arc::new(());
        sender.send(message.clone()).expect("the reader is there");
        drop(receiver);
        assert_eq!(Arc::strong_count(&message), 1);
        assert!(sender.send(message).is_err());
    }
}
