//! Finished runs on disk, so that a study that was stopped goes on where it was.
//!
//! A file holds its own hash: what is not whole, or was changed, is not there. Files are written beside their place and moved.

use crate::text::hex;
use crate::watch::Samples;
use fairwire_metrics::record::RunRecord;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What one run left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    /// The record.
    pub run: RunRecord,
    /// What was sampled.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub samples: Option<Samples>,
}

/// A folder of finished runs.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
    /// Are earlier results not to be used?
    is_fresh: bool,
}

impl Cache {
    /// In `folder`, which is made. With `is_fresh` nothing in it is used, but all is written again.
    pub fn open(folder: &Path, is_fresh: bool) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        Ok(Cache { folder: folder.into(), is_fresh })
    }

    /// Is there a file for `key`? It may prove to be of no use.
    pub fn has(&self, key: &str) -> bool {
        !self.is_fresh && self.path(key).is_file()
    }

    /// What is stored under `key`; `None` where nothing is, or something that is not whole.
    pub fn load<T: for<'a> Deserialize<'a>>(&self, key: &str) -> Option<T> {
        if self.is_fresh {
            return None;
        }
        let text = fs::read_to_string(self.path(key)).ok()?;
        let (hash, body) = text.strip_prefix("{\"sha256\":\"")?.split_once("\",\"result\":")?;
        let body = body.strip_suffix("}\n")?;
        (digest(body) == hash).then(|| serde_json::from_str(body).ok()).flatten()
    }

    /// Stores `result` under `key`, whole or not at all.
    pub fn store<T: Serialize>(&self, key: &str, result: &T) -> io::Result<()> {
        let body = serde_json::to_string(result)?;
        let text = format!("{{\"sha256\":\"{}\",\"result\":{body}}}\n", digest(&body));
        let hidden = self.folder.join(format!(".{key}.{}", std::process::id()));
        let written = File::create(&hidden)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .and_then(|()| fs::rename(&hidden, self.path(key)));
        if written.is_err() {
            let _ = fs::remove_file(&hidden); // half a file is of no use, and the first error says enough
        }
        written
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}.json"))
    }
}

/// The name of a result: a hash of all that it depends on.
pub fn key(parts: &[&str]) -> String {
    let mut all = Sha256::new();
    for part in parts {
        all.update(part.len().to_le_bytes());
        all.update(part.as_bytes());
    }
    hex(&all.finalize())
}

fn digest(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_stored_is_loaded_with_the_same_bits() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path(), false).unwrap();
        let values = vec![0.1 + 0.2, 1.0 / 3.0, 1e-310, f64::MAX];
        assert_eq!(cache.load::<Vec<f64>>("a"), None);
        cache.store("a", &values).unwrap();
        assert_eq!(cache.load::<Vec<f64>>("a"), Some(values));
        assert_eq!(Cache::open(folder.path(), true).unwrap().load::<Vec<f64>>("a"), None);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing hidden stays");
    }

    #[test]
    fn what_was_changed_or_cut_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path(), false).unwrap();
        cache.store("a", &vec![1.5, 2.5]).unwrap();
        let path = folder.path().join("a.json");
        let whole = fs::read_to_string(&path).unwrap();
        for broken in
            [whole.replace("2.5", "2.6"), whole[..whole.len() / 2].into(), String::new(), "{}\n".into()]
        {
            assert_ne!(broken, whole);
            fs::write(&path, &broken).unwrap();
            assert_eq!(cache.load::<Vec<f64>>("a"), None, "{broken:?}");
        }
        fs::write(&path, whole).unwrap();
        assert_eq!(cache.load::<Vec<f64>>("a"), Some(vec![1.5, 2.5]));
    }

    #[test]
    fn keys_keep_their_parts_apart() {
        assert_ne!(key(&["ab", "c"]), key(&["a", "bc"]));
        assert_eq!(key(&["ab", "c"]).len(), 64);
    }
}
