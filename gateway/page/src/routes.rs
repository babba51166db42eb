//! The page's requests.

use super::history::{PastRequest, Span};
use super::live::{LookError, Wanted, shown};
use super::{ReplayError, Watch, drops};
use crate::http::Marks;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE, HeaderMap};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use fairwire_control::snapshot::{ClassSnapshot, FlowSnapshot, Snapshot};
use fairwire_wire::Way;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;

const MAX_LISTED: usize = 200;
/// The maximum length of a search text, in bytes. All names are shorter.
const MAX_SEARCH_BYTES: usize = 256;

/// The routes for the page, below `/api/`.
pub fn routes(watch: Arc<Watch>) -> Router {
    Router::new()
        .route("/api/snapshot", get(snapshot))
        .route("/api/stream", get(stream))
        .route("/api/classes", get(classes))
        .route("/api/flows", get(flows))
        .route("/api/history", get(history))
        .route("/api/drops", get(last_drops))
        .route("/api/capture", get(capture))
        .route("/api/disciplines", get(disciplines))
        .route("/api/replay", get(replay))
        .with_state(watch)
}

type Refused = (StatusCode, String);

fn json(value: &impl Serialize) -> Response {
    let text = serde_json::to_vec(value).expect("numbers and names can be written");
    ([(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store")], text).into_response()
}

async fn beside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Refused> {
    spawn_blocking(work).await.map_err(|_| {
        (StatusCode::INTERNAL_SERVER_ERROR, "this is a fault of fairwire; its log says more\n".into())
    })
}

#[derive(Serialize)]
struct NowAnswer {
    #[serde(flatten)]
    snapshot: Snapshot,
}

async fn snapshot(State(watch): State<Arc<Watch>>) -> Result<Response, Refused> {
    let snapshot = beside(move || shown(&watch.latest.snapshot())).await?;
    Ok(json(&NowAnswer { snapshot }))
}

#[derive(Deserialize)]
struct StreamQuery {
    /// A list of [`Wanted`] as JSON.
    picks: Option<String>,
}

async fn stream(
    State(watch): State<Arc<Watch>>,
    Query(query): Query<StreamQuery>,
    marks: Option<Extension<Arc<Marks>>>,
) -> Result<Response, Refused> {
    let wanted: Vec<Wanted> = match &query.picks {
        None => Vec::new(),
        Some(picks) => serde_json::from_str(picks)
            .map_err(|error| (StatusCode::BAD_REQUEST, format!("`picks`: {error}\n")))?,
    };
    let events = watch.live.look(wanted, marks.map(|Extension(marks)| marks)).map_err(|error| {
        let status = match error {
            LookError::Full => StatusCode::SERVICE_UNAVAILABLE,
            LookError::Picks { .. } => StatusCode::BAD_REQUEST,
        };
        (status, format!("{error}\n"))
    })?;
    let headers = [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-store")];
    Ok((headers, Body::from_stream(events)).into_response())
}

#[derive(Deserialize)]
struct ListQuery {
    way: Way,
    /// Text that the names must contain. Upper and lower case are equal.
    #[serde(default)]
    search: String,
    #[serde(default)]
    order: ListOrder,
    #[serde(default)]
    offset: usize,
    #[serde(default = "usual_limit")]
    limit: usize,
}

fn usual_limit() -> usize {
    MAX_LISTED
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ListOrder {
    /// Most traffic first.
    #[default]
    Got,
    /// Most drops first.
    Drops,
    /// The item furthest below its due rate comes first.
    Short,
    Name,
}

trait Listed: Clone + Serialize {
    fn name(&self) -> &str;
    fn got_bps(&self) -> f64;
    /// The rate due to the item, in bit/s; never above its offered rate.
    fn due_bps(&self) -> f64;
    fn drops_per_s(&self) -> f64;
}

impl Listed for ClassSnapshot {
    fn name(&self) -> &str {
        &self.class
    }
    fn got_bps(&self) -> f64 {
        self.throughput_bps
    }
    fn due_bps(&self) -> f64 {
        self.fair_bps.min(self.offered_bps)
    }
    fn drops_per_s(&self) -> f64 {
        self.drops_per_s
    }
}

impl Listed for FlowSnapshot {
    fn name(&self) -> &str {
        &self.flow
    }
    fn got_bps(&self) -> f64 {
        self.throughput_bps
    }
    fn due_bps(&self) -> f64 {
        self.offered_bps
    }
    fn drops_per_s(&self) -> f64 {
        self.drops_per_s
    }
}

#[derive(Serialize)]
struct ListAnswer<T> {
    /// All items.
    all: usize,
    found: usize,
    list: Vec<T>,
}

async fn classes(
    State(watch): State<Arc<Watch>>,
    Query(query): Query<ListQuery>,
) -> Result<Response, Refused> {
    check(&query)?;
    let answer = beside(move || {
        let snapshot = watch.latest.snapshot();
        let all: &[ClassSnapshot] = snapshot.ways.get(query.way as usize).map_or(&[], |way| &way.classes);
        listed(all, &query)
    });
    Ok(json(&answer.await?))
}

/// Flows that sent during the last second.
async fn flows(State(watch): State<Arc<Watch>>, Query(query): Query<ListQuery>) -> Result<Response, Refused> {
    check(&query)?;
    let answer = beside(move || listed(&watch.board.active_flows(query.way), &query));
    Ok(json(&answer.await?))
}

fn check(query: &ListQuery) -> Result<(), Refused> {
    let length = query.search.len();
    if length > MAX_SEARCH_BYTES {
        let why = format!("`search` has {length} bytes; allowed: at most {MAX_SEARCH_BYTES}\n");
        return Err((StatusCode::BAD_REQUEST, why));
    }
    Ok(())
}

fn listed<T: Listed>(all: &[T], query: &ListQuery) -> ListAnswer<T> {
    let wanted = query.search.trim().to_lowercase();
    let has_it = |entry: &&T| wanted.is_empty() || entry.name().to_lowercase().contains(&wanted);
    let mut found: Vec<&T> = all.iter().filter(has_it).collect();
    let short = |entry: &T| entry.due_bps() - entry.got_bps();
    match query.order {
        ListOrder::Got => found.sort_by(|a, b| b.got_bps().total_cmp(&a.got_bps())),
        ListOrder::Drops => found.sort_by(|a, b| b.drops_per_s().total_cmp(&a.drops_per_s())),
        ListOrder::Short => found.sort_by(|a, b| short(b).total_cmp(&short(a))),
        ListOrder::Name => found.sort_by(|a, b| a.name().cmp(b.name())),
    }
    let count = found.len();
    let some = found.into_iter().skip(query.offset).take(query.limit.min(MAX_LISTED)).cloned();
    ListAnswer { all: all.len(), found: count, list: some.collect() }
}

#[derive(Deserialize)]
struct HistoryQuery {
    span: Span,
    class: Option<String>,
}

async fn history(
    State(watch): State<Arc<Watch>>,
    Query(query): Query<HistoryQuery>,
) -> Result<Response, Refused> {
    let request = PastRequest { span: query.span, class: query.class };
    Ok(json(&beside(move || watch.history().read(&request)).await?))
}

#[derive(Deserialize)]
struct DropsQuery {
    limit: Option<usize>,
}

async fn last_drops(State(watch): State<Arc<Watch>>, Query(query): Query<DropsQuery>) -> Response {
    let limit = query.limit.unwrap_or(drops::KEPT).min(drops::KEPT);
    json(&watch.drops().last(limit))
}

async fn capture(State(watch): State<Arc<Watch>>) -> Result<Response, Refused> {
    let bytes = beside(move || watch.board.capture_bytes()).await?;
    let mut headers = HeaderMap::new();
    for (name, value) in [
        (CONTENT_TYPE, "application/vnd.tcpdump.pcap"),
        (CONTENT_DISPOSITION, "attachment; filename=\"fairwire.pcapng\""),
        (CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, value.parse().expect("it is a value"));
    }
    Ok((headers, bytes).into_response())
}

async fn disciplines() -> Response {
    let names: Vec<&str> = fairwire_catalogue::all().iter().map(|entry| entry.name).collect();
    json(&names)
}

#[derive(Deserialize)]
struct ReplayQuery {
    way: Way,
    discipline: String,
}

const REPLAY_NICE: i32 = 19;

async fn replay(
    State(watch): State<Arc<Watch>>,
    Query(query): Query<ReplayQuery>,
) -> Result<Response, Refused> {
    let (sender, answer) = oneshot::channel();
    let run = move || {
        // If this is not permitted, the priority stays as it is.
        let _ = rustix::process::nice(REPLAY_NICE);
        // If the client has left, no answer is needed.
        let _ = sender.send(watch.replay(query.way, &query.discipline));
    };
    let started = std::thread::Builder::new().name("replay".into()).spawn(run);
    started
        .map_err(|error| (StatusCode::SERVICE_UNAVAILABLE, format!("no thread for a replay: {error}\n")))?;
    let fault = |_| (StatusCode::INTERNAL_SERVER_ERROR, "this is a fault of fairwire\n".to_owned());
    match answer.await.map_err(fault)? {
        Ok(outcome) => Ok(json(&outcome)),
        Err(error) => {
            let status = match error {
                ReplayError::Busy => StatusCode::SERVICE_UNAVAILABLE,
                _ => StatusCode::BAD_REQUEST,
            };
            Err((status, format!("{error}\n")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(query: &str, count: usize) -> (usize, Vec<String>) {
        let class = |n: usize| ClassSnapshot {
            class: format!("Home-{n:05}"),
            throughput_bps: (n % 97) as f64,
            offered_bps: 100.0,
            fair_bps: 50.0,
            drops_per_s: (n % 13) as f64,
            ..ClassSnapshot::default()
        };
        let classes: Vec<ClassSnapshot> = (0..count).map(class).collect();
        let answer = listed(&classes, &serde_json::from_str(query).expect("a query"));
        (answer.found, answer.list.into_iter().map(|class| class.class).collect())
    }

    #[test]
    fn a_list_is_searched_case_insensitively_and_comes_in_pages() {
        let (found, names) =
            names(r#"{"way":"download","search":"home-0001","order":"name","limit":3}"#, 20_000);
        assert_eq!(
            (found, &names[..]),
            (10, &["Home-00010", "Home-00011", "Home-00012"].map(String::from)[..])
        );
    }

    #[test]
    fn a_list_is_bounded_and_starts_at_the_requested_offset() {
        let (found, first) = names(r#"{"way":"upload","limit":100000}"#, 20_000);
        assert_eq!((found, first.len()), (20_000, MAX_LISTED));
        assert_eq!(names(r#"{"way":"upload","offset":20000}"#, 20_000).1, Vec::<String>::new());
        // Class n has rate n % 97 and n % 13 drops. Class 0 has rate 0, and thus the largest
        // shortfall.
        assert_eq!(first[0], "Home-00096");
        assert_eq!(names(r#"{"way":"upload","order":"drops"}"#, 20_000).1[0], "Home-00012");
        assert_eq!(names(r#"{"way":"upload","order":"short"}"#, 20_000).1[0], "Home-00000");
    }

    #[test]
    fn flows_are_ordered_by_their_shortfall() {
        let flow = |name: &str, offered_bps, throughput_bps| FlowSnapshot {
            flow: name.to_owned(),
            offered_bps,
            throughput_bps,
            ..FlowSnapshot::default()
        };
        let flows = [flow("tcp a", 10.0, 10.0), flow("udp b", 90.0, 20.0), flow("tcp c", 30.0, 25.0)];
        let query = serde_json::from_str(r#"{"way":"upload","order":"short"}"#).expect("a query");
        let order: Vec<String> = listed(&flows, &query).list.into_iter().map(|flow| flow.flow).collect();
        assert_eq!(order, ["udp b", "tcp c", "tcp a"]);
        let query = serde_json::from_str(r#"{"way":"upload","search":"TCP"}"#).expect("a query");
        assert_eq!((listed(&flows, &query).found, listed(&flows, &query).all), (2, 3));
    }
}
