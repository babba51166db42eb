//! Loads kernel modules in the guest, which has no `modprobe`.

use rustix::io::Errno;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The modules of the running kernel.
#[derive(Debug)]
pub struct Modules {
    folder: PathBuf,
    /// By module name: the module's path below `folder`, and the paths of its dependencies.
    known: BTreeMap<String, (String, Vec<String>)>,
}

impl Modules {
    /// Reads the list of dependencies in `folder`.
    pub fn read(folder: &Path) -> io::Result<Modules> {
        let text = fs::read_to_string(folder.join("modules.dep"))?;
        Ok(Modules { folder: folder.to_owned(), known: text.lines().filter_map(line).collect() })
    }

    /// Loads `name` and its dependencies. A module that is already loaded is no error, but a
    /// missing module is.
    pub fn load(&self, name: &str) -> io::Result<()> {
        let Some((path, needs)) = self.known.get(name) else {
            return Err(io::Error::new(io::ErrorKind::NotFound, format!("this kernel has no module {name}")));
        };
        // The list starts with the most direct dependency, so its last entry must be loaded first.
        for path in needs.iter().rev().chain([path]) {
            self.insert(path)?;
        }
        Ok(())
    }

    /// Loads `name` if this kernel has such a module. If not, it may be built in.
    pub fn load_if_known(&self, name: &str) -> io::Result<()> {
        if self.known.contains_key(name) { self.load(name) } else { Ok(()) }
    }

    fn insert(&self, path: &str) -> io::Result<()> {
        let file = File::open(self.folder.join(path))?;
        match rustix::system::finit_module(file, c"", 0) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(io::Error::other(format!("loading {path}: {error}"))),
        }
    }
}

/// `a/b/name.ko: a/c/other.ko`
fn line(line: &str) -> Option<(String, (String, Vec<String>))> {
    let (path, needs) = line.split_once(':')?;
    let name = Path::new(path).file_name()?.to_str()?.split('.').next()?.replace('-', "_");
    Some((name, (path.to_owned(), needs.split_whitespace().map(str::to_owned).collect())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_a_module_its_file_and_its_dependencies() {
        let (name, (path, needs)) =
            line("kernel/net/sched/sch-x.ko: kernel/a.ko kernel/b.ko").expect("well-formed");
        assert_eq!((name.as_str(), path.as_str()), ("sch_x", "kernel/net/sched/sch-x.ko"));
        assert_eq!(needs, ["kernel/a.ko", "kernel/b.ko"]);
        assert_eq!(line("no colon"), None);
    }
}
