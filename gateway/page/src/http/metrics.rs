//! `GET /metrics`.

use super::latest::Latest;
use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, CONTENT_TYPE, VARY};
use axum::response::IntoResponse;
use axum::routing::get;
use fairwire_service::telemetry::exposition::Format;
use std::sync::Arc;

pub(super) fn routes(latest: Arc<Latest>) -> Router {
    Router::new().route("/metrics", get(metrics)).with_state(latest)
}

async fn metrics(State(latest): State<Arc<Latest>>, headers: HeaderMap) -> impl IntoResponse {
    let accepted = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let format = Format::accepted(accepted);
    ([(CONTENT_TYPE, format.content_type()), (VARY, "Accept")], latest.metrics(format))
}
