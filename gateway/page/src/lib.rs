//! The page for browsers: the gateway's present and past, and why packets were dropped.
//!
//! Separate threads read the [`Board`], so the datapath never waits. The server sends only numbers
//! and names, as JSON; the page renders them as text, never as markup.

pub mod drops;
pub mod history;
pub mod http;
pub mod live;
mod lock;
mod recorder;
pub mod replay;
mod routes;
mod sites;

pub use recorder::record;
pub use routes::routes;
pub use sites::bind;

use crate::http::Latest;
use drops::Drops;
use fairwire_catalogue::BuildError;
use fairwire_core::Time;
use fairwire_datapath::arrivals::Arrival;
use fairwire_datapath::capture::class_path;
use fairwire_linux::clock;
use fairwire_service::config::PlanContext;
use fairwire_service::telemetry::Board;
use fairwire_service::telemetry::about::max_arrivals;
use fairwire_wire::Way;
use history::History;
use live::Live;
use lock::lock;
use replay::{Minute, Outcome, ReplayAnswer, Unit};
use std::sync::{Arc, Mutex, MutexGuard};

/// The components of the page.
#[derive(Debug)]
pub struct Watch {
    /// The gateway's measurements.
    pub board: Arc<Board>,
    /// The latest observation, in the served forms.
    pub latest: Arc<Latest>,
    /// The viewers.
    pub live: Arc<Live>,
    history: Mutex<History>,
    drops: Mutex<Drops>,
    /// The arrivals of the last minute in each direction, by number of the [`Way`].
    minutes: [Mutex<Minute>; 2],
    replaying: Mutex<()>,
    context: PlanContext,
}

impl Watch {
    /// The page for `board`. Replays use `context` to build disciplines.
    pub fn new(board: Arc<Board>, latest: Arc<Latest>, history: History, context: PlanContext) -> Arc<Self> {
        let live = Live::new(board.clone(), latest.clone());
        let about = board.about();
        let max = about.config.as_ref().map_or(0, |config| max_arrivals(config));
        Arc::new(Watch {
            board,
            latest,
            live,
            history: Mutex::new(history),
            drops: Mutex::default(),
            minutes: [0, 1].map(|_| Mutex::new(Minute::new(max))),
            replaying: Mutex::new(()),
            context,
        })
    }

    fn minute(&self, way: Way) -> MutexGuard<'_, Minute> {
        lock(&self.minutes[way as usize])
    }

    /// Replays the last minute through the discipline `name`. This takes a second or two: use a
    /// thread of low priority.
    ///
    /// # Errors
    /// If no replay is possible.
    pub fn replay(&self, way: Way, name: &str) -> Result<ReplayAnswer, ReplayError> {
        let _one = self.replaying.try_lock().map_err(|_| ReplayError::Busy)?;
        let about = self.board.about();
        let config = about.config.as_ref().ok_or(ReplayError::Off)?;
        let built =
            |name: &str| config.other_discipline(way, name, &self.context)?.ok_or(ReplayError::Unshaped);
        // The disciplines are built before arrivals are copied, so a wrong name costs no copy.
        let (present, other) = (built(&about.ways[way as usize].discipline)?, built(name)?);
        let arrivals: Vec<Arrival> = self.minute(way).copy();
        let (Some(first), Some(last)) = (arrivals.first(), arrivals.last()) else {
            return Err(ReplayError::Empty);
        };
        let flows = self.board.flow_names(way);
        let name_of = |unit| match unit {
            Unit::Class(class) => class_path(&about.book, class),
            Unit::Flow(flow) => flows.get(&flow).cloned().unwrap_or_else(|| "one that is gone".to_owned()),
        };
        let has_classes = about.book.len() > 1;
        let of = |built, name: &str| Outcome {
            discipline: name.to_owned(),
            ..replay::replay(built, &arrivals, has_classes, &name_of)
        };
        let epoch = clock::calendar().since(clock::now());
        let second = |at: Time| (at + epoch).ns() / 1_000_000_000;
        Ok(ReplayAnswer {
            way,
            seconds: last.at.since(first.at).secs(),
            happened: self.history().happened(way, second(first.at), second(last.at)),
            present: of(present, &about.ways[way as usize].discipline),
            other: of(other, name),
        })
    }

    /// The past.
    pub fn history(&self) -> MutexGuard<'_, History> {
        lock(&self.history)
    }

    fn drops(&self) -> MutexGuard<'_, Drops> {
        lock(&self.drops)
    }
}

/// Why there is no replay.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// Another replay is running.
    #[error("another replay is being made; try again in a moment")]
    Busy,
    /// Arrivals are not kept.
    #[error("arrivals are not kept: `telemetry.page.arrivals` is 0")]
    Off,
    /// The direction has no discipline.
    #[error("this way is not shaped")]
    Unshaped,
    /// No packet arrived, or more packets arrived than could be kept.
    #[error("nothing arrived in the last minute that could be replayed")]
    Empty,
    /// The discipline is unknown, or cannot work on this link.
    #[error(transparent)]
    Build(#[from] BuildError),
}
