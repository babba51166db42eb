//! `fairwire-gateway run`.

use super::subscriber::fold;
use fairwire_service::config::Config;
use fairwire_service::service;
use fairwire_service::service::{Configured, Options, ServiceError, files_of};
use fairwire_terminal::failure::{Ending, Failure};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// How gateways start.
#[derive(Clone, Copy)]
pub(crate) struct How {
    pub wait: bool,
    pub take_over: bool,
    pub no_seccomp: bool,
    pub no_real_time: bool,
}

pub(crate) fn run(paths: &[PathBuf], how: How) -> Result<Ending, Failure> {
    let gateways = paths.iter().map(|path| configured(path)).collect::<Result<_, _>>()?;
    let never = AtomicBool::new(false);
    let How { wait, take_over, no_seccomp, no_real_time } = how;
    let options = Options { sites: fairwire_page::bind, no_seccomp, no_real_time, wait, take_over };
    match service::run(gateways, &options, &never) {
        Ok(()) => Ok(Ending::Done),
        Err(ServiceError::Unfit(error)) => Err(error.into()),
        Err(error) => Err(failure(&error)),
    }
}

fn configured(path: &Path) -> Result<Configured, Failure> {
    files_of(path).iter().skip(1).for_each(|sheet| fold(sheet));
    let config = Config::load(path)?;
    // The path must be absolute, because a reload may run in another working directory.
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    Ok(Configured { config, path })
}

fn failure(error: &ServiceError) -> Failure {
    if error.is_users() {
        Failure::user(error, error.remedy())
    } else {
        Failure::Ours(format!("{error} ({})", error.remedy()))
    }
}
