//! Finds the other programs that are installed together with this one.

use std::ffi::OsStr;
use std::path::PathBuf;

/// The path of the program `name`. Searches the folder of this process's program, the parent folder
/// (test programs are one folder deeper), and `PATH`.
pub fn find(name: &str) -> Option<PathBuf> {
    let own = std::env::current_exe().ok();
    let near = own.iter().flat_map(|file| file.ancestors().skip(1).take(2).map(PathBuf::from));
    let path = std::env::var_os("PATH");
    let installed = std::env::split_paths(path.as_deref().unwrap_or(OsStr::new("")));
    near.chain(installed).map(|folder| folder.join(name)).find(|file| file.is_file())
}
