//! The locations of studies: compiled into the command, or in a folder.

use crate::study::Study;
use fairwire_core::spelling;
use fairwire_document::{Problem, read_text};
use fairwire_scenario::ScenarioError;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

/// The files of the repository's studies, each as folder, name and text.
const EMBEDDED: &[(&str, &str, &str)] = include!(concat!(env!("OUT_DIR"), "/studies.rs"));

const MAX_BYTES: u64 = 4 << 20;

/// The files of one study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// The study's name, such as `2003-kamra-faba`.
    pub name: String,
    /// The prefix of file names in errors, such as `studies/2003-kamra-faba/`.
    pub prefix: String,
    /// The TOML files by name.
    pub files: BTreeMap<String, String>,
}

/// The studies built into the command, by name.
pub fn embedded() -> Vec<Folder> {
    let mut folders: Vec<Folder> = Vec::new();
    for (study, name, text) in EMBEDDED {
        if folders.last().is_none_or(|folder| folder.name != *study) {
            let prefix = format!("studies/{study}/");
            folders.push(Folder { name: study.to_string(), prefix, files: BTreeMap::new() });
        }
        let folder = folders.last_mut().expect("one was just made sure");
        folder.files.insert(name.to_string(), text.to_string());
    }
    folders.retain(|folder| folder.files.contains_key("study.toml"));
    folders
}

/// Is `folder` built into the command with the same files? Files of recorded results may differ.
pub fn is_embedded(folder: &Folder) -> bool {
    let files = |folder: &Folder| {
        let mut files = folder.files.clone();
        files.retain(|name, _| !["verdicts.toml", "calibration.toml"].contains(&name.as_str()));
        files
    };
    embedded().iter().any(|own| own.name == folder.name && files(own) == files(folder))
}

/// The subfolders of `path` that have a `study.toml`, sorted by name.
pub fn read(path: &Path) -> Result<Vec<Folder>, ScenarioError> {
    let unreadable = |path: &Path| {
        let path = path.to_path_buf();
        move |cause: io::Error| {
            ScenarioError::from(match cause.kind() {
                io::ErrorKind::NotFound => Problem::NotFound {
                    path,
                    nearest: Vec::new(),
                    wanted: "a folder of studies, such as `studies`",
                },
                io::ErrorKind::NotADirectory => Problem::NotADirectory { path },
                _ => Problem::Unreadable { path, cause },
            })
        }
    };
    let mut folders = Vec::new();
    for entry in fs::read_dir(path).map_err(unreadable(path))? {
        let inner = entry.map_err(unreadable(path))?.path();
        if !inner.join("study.toml").is_file() {
            continue;
        }
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(&inner).map_err(unreadable(&inner))? {
            let file = entry.map_err(unreadable(&inner))?.path();
            if file.extension().is_none_or(|ending| ending != "toml") || !file.is_file() {
                continue;
            }
            let text = read_text(&file, MAX_BYTES, "a study in TOML")?;
            files.insert(name_of(&file), text);
        }
        folders.push(Folder { name: name_of(&inner), prefix: format!("{}/", inner.display()), files });
    }
    folders.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(folders)
}

/// The error for a name that belongs to neither an exhibit nor a paper.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown exhibit `{given}`")]
pub struct UnknownExhibit {
    /// The given name.
    pub given: String,
    /// The exhibits of the named paper, or all papers if the paper is also unknown.
    pub allowed: Vec<String>,
    /// The most likely intended names, if any are similar.
    pub likely: Vec<String>,
}

/// The exhibits that `names` selects; without names, all. A name is `PAPER` or `PAPER.EXHIBIT`.
pub fn chosen<'a>(studies: &'a [Study], names: &[String]) -> Result<Vec<(&'a Study, usize)>, UnknownExhibit> {
    let all = || studies.iter().flat_map(|study| (0..study.len()).map(move |at| (study, at)));
    let is_meant =
        |name: &String, (study, at): &(&Study, usize)| *name == study.spec.paper || *name == study.name(*at);
    if let Some(name) = names.iter().find(|name| !all().any(|one| is_meant(name, &one))) {
        return Err(unknown(name, studies));
    }
    Ok(all().filter(|one| names.is_empty() || names.iter().any(|name| is_meant(name, one))).collect())
}

fn unknown(name: &str, studies: &[Study]) -> UnknownExhibit {
    let papers: Vec<String> = studies.iter().map(|study| study.spec.paper.clone()).collect();
    let exhibits: Vec<String> =
        studies.iter().flat_map(|study| (0..study.len()).map(|at| study.name(at))).collect();
    let known = papers.iter().chain(&exhibits).map(String::as_str);
    let likely = spelling::likely(name, known).into_iter().map(str::to_owned).collect();
    let paper = name.split('.').next().unwrap_or_default();
    let of_paper: Vec<String> =
        exhibits.iter().filter(|exhibit| exhibit.split('.').next() == Some(paper)).cloned().collect();
    let allowed = if of_paper.is_empty() { papers } else { of_paper };
    UnknownExhibit { given: name.into(), allowed, likely }
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
