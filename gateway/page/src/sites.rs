//! The addresses at which a gateway serves metrics and the page, and their permitted readers.

use crate::history::{Bounds, History};
use crate::http::{Latest, Readers, Site, listen, serve};
use crate::{Watch, record, routes};
use fairwire_service::config::spec::PageSpec;
use fairwire_service::config::user::User;
use fairwire_service::config::{Config, PlanContext};
use fairwire_service::service::log::say;
use fairwire_service::service::{ServiceError, place};
use fairwire_service::sites::{BoundSites, ServeError, history_of};
use fairwire_service::telemetry::{Board, process};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;

/// The default size of a history, in bytes.
const SIZE: u64 = 64 << 20;
/// The default time for which slots of one minute are kept, in seconds.
const KEEP_S: u64 = 7 * 24 * 3600;

struct Sites {
    metrics: Option<TcpListener>,
    page: Option<(TcpListener, Option<PathBuf>, Bounds)>,
    readers: Readers,
}

/// Listens on the addresses in `config`, or takes the listeners among `handed` that have these
/// addresses.
///
/// Also opens the sources of this process's telemetry, and creates the history's folder for `user`.
/// The process will later run as this user.
pub fn bind(
    config: &Config,
    user: Option<&User>,
    handed: &mut Vec<TcpListener>,
) -> Result<Box<dyn BoundSites>, ServiceError> {
    process::open();
    let telemetry = &config.spec().telemetry;
    let token = config.token()?;
    let mut bound = |address: &String| {
        let address: SocketAddr = address.parse().expect("the configuration was checked");
        let is_it = |other: &TcpListener| other.local_addr().is_ok_and(|there| there == address);
        match handed.iter().position(is_it) {
            Some(place) => Ok(handed.swap_remove(place)),
            None => listen(address, token.as_deref()),
        }
    };
    // If metrics and the page share an address, the page's listener serves both.
    let page_address = telemetry.page.as_ref().map(|page| &page.address);
    let metrics = telemetry.metrics.as_ref().filter(|address| Some(*address) != page_address);
    let metrics = metrics.map(&mut bound).transpose()?;
    let page = match &telemetry.page {
        None => None,
        Some(page) => {
            let history = history_of(config);
            if let Some(history) = &history {
                make_folder_of(history, user);
            }
            Some((bound(&page.address)?, history, bounds(page)))
        }
    };
    Ok(Box::new(Sites { metrics, page, readers: Readers { token, hosts: telemetry.hosts.clone() } }))
}

impl BoundSites for Sites {
    fn copies(&self) -> Vec<TcpListener> {
        let page = self.page.as_ref().map(|(listener, ..)| listener);
        self.metrics.iter().chain(page).filter_map(|listener| listener.try_clone().ok()).collect()
    }

    fn serve(
        self: Box<Self>,
        board: &Arc<Board>,
        context: &PlanContext,
        stop: &Arc<AtomicBool>,
    ) -> Result<Option<JoinHandle<()>>, ServiceError> {
        let Sites { metrics, page, readers } = *self;
        let latest = Latest::of(board.clone());
        let mut sites: Vec<Site> =
            metrics.into_iter().map(|listener| Site::metrics(listener, &readers, latest.clone())).collect();
        let mut recorder = None;
        if let Some((listener, path, bounds)) = page {
            let history = History::open(path.as_deref(), bounds);
            if let Some(fault) = history.fault() {
                say(format_args!("{fault}"));
            }
            let watch = Watch::new(board.clone(), latest.clone(), history, *context);
            recorder = Some(record(watch.clone(), stop.clone()).map_err(ServeError::from)?);
            sites.push(Site::page(listener, &readers, latest, routes(watch)));
        }
        if !sites.is_empty() {
            // The serving thread is not joined: it ends with the process, or shortly after `stop`.
            serve(sites, stop.clone())?;
        }
        Ok(recorder)
    }
}

fn bounds(page: &PageSpec) -> Bounds {
    Bounds {
        bytes: page.size.map_or(SIZE, |size| size.0.0),
        keep_s: page.keep.map_or(KEEP_S, |keep| keep.0.ns() / 1_000_000_000),
    }
}

/// Creates the folder of `history` for `user`. A failure is reported only when the history is
/// opened.
fn make_folder_of(history: &Path, user: Option<&User>) {
    let Some(folder) = history.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists())
    else {
        return;
    };
    if place::make_folder(folder).is_ok()
        && let Some(user) = user
    {
        let _ = place::give_folder(folder, user);
    }
}
