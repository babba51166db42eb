//! A list whose copies share unchanged chunks.

use std::sync::Arc;

/// Entries per chunk. A copy of 20 000 entries takes 157 references.
const CHUNK: usize = 128;

/// A list in chunks. A copy takes a reference for each chunk; changing an entry copies one chunk.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SharedList<T>(Vec<Arc<Vec<T>>>);

impl<T: Clone> FromIterator<T> for SharedList<T> {
    fn from_iter<I: IntoIterator<Item = T>>(all: I) -> Self {
        let mut all = all.into_iter().peekable();
        let mut chunks = Vec::new();
        while all.peek().is_some() {
            chunks.push(Arc::new(all.by_ref().take(CHUNK).collect()));
        }
        SharedList(chunks)
    }
}

impl<T: Clone> SharedList<T> {
    pub(crate) fn len(&self) -> usize {
        self.0.last().map_or(0, |last| (self.0.len() - 1) * CHUNK + last.len())
    }

    pub(crate) fn get(&self, place: usize) -> Option<&T> {
        self.0.get(place / CHUNK)?.get(place % CHUNK)
    }

    pub(crate) fn entry(&mut self, place: usize) -> Option<&mut T> {
        Arc::make_mut(self.0.get_mut(place / CHUNK)?).get_mut(place % CHUNK)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flat_map(|chunk| chunk.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_unchanged_and_shares_the_unchanged_chunks() {
        for length in [0, 1, CHUNK, CHUNK + 1, 1000] {
            let list: SharedList<usize> = (0..length).collect();
            assert_eq!(list.len(), length);
            assert_eq!(list.iter().copied().collect::<Vec<_>>(), (0..length).collect::<Vec<_>>());
            assert_eq!(list.get(length), None);
        }
        let list: SharedList<usize> = (0..1000).collect();
        let mut other = list.clone();
        *other.entry(300).expect("it is there") = 7;
        assert_eq!((list.get(300), other.get(300)), (Some(&300), Some(&7)));
        let shared = list.0.iter().zip(&other.0).filter(|(one, other)| Arc::ptr_eq(one, other)).count();
        assert_eq!(shared, list.0.len() - 1);
    }
}
