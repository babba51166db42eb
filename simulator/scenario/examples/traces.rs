//! Writes the built-in traces into the given folder, or into `traces`.

use fairwire_scenario::traces;
use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "traces".into()));
    std::fs::create_dir_all(&folder)?;
    for trace in traces::ALL {
        std::fs::write(folder.join(format!("{}.trace", trace.name)), trace.text())?;
    }
    Ok(())
}
