//! Finds the other programs of a set that is installed together.

use std::ffi::OsStr;
use std::path::PathBuf;

/// The file of the program `name`: in this process's folder, in the parent folder (test programs
/// are one folder below the others), or in a folder of `PATH`. `None` if it is in none.
pub fn find(name: &str) -> Option<PathBuf> {
    let own = std::env::current_exe().ok();
    let near = own.iter().flat_map(|file| file.ancestors().skip(1).take(2).map(PathBuf::from));
    let path = std::env::var_os("PATH");
    let installed = std::env::split_paths(path.as_deref().unwrap_or(OsStr::new("")));
    near.chain(installed).map(|folder| folder.join(name)).find(|file| file.is_file())
}
