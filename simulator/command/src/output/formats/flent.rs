//! flent (flent.org) data files, version 4: JSON compressed by gzip.

use crate::gzip;
use crate::output::flent::Sampled;
use serde_json::{Map, Value, json};

const VERSION: u32 = 4;
/// The flent test whose plots show any number of downloads and uploads, and a ping.
const TEST: &str = "rrul_be_nflows";
/// A constant date, because runs have none.
const T0: &str = "1970-01-01T00:00:00.000000Z";

pub(in crate::output) fn file(run: &Sampled) -> Vec<u8> {
    gzip::packed(json(run).to_string().as_bytes())
}

fn json(run: &Sampled) -> Value {
    let mut results = Map::new();
    let (mut raw, mut meta) = (Map::new(), Map::new());
    for (key, name, unit, values) in series(run) {
        let known = || values.iter().zip(&run.times).filter_map(|(value, at)| Some((*at, (*value)?)));
        let count = known().count() as f64;
        let mean = known().map(|(_, value)| value).sum::<f64>() / count;
        let mut about = json!({ "UNITS": unit });
        if count > 0.0 {
            about["MEAN_VALUE"] = mean.into();
        }
        if let Some(name) = name {
            about["FLOW"] = name.into();
        }
        raw.insert(key.clone(), known().map(|(at, value)| json!({ "t": at, "val": value })).collect());
        meta.insert(key.clone(), about);
        results.insert(key, values.into());
    }
    json!({
        "version": VERSION,
        "metadata": metadata(run, meta),
        "x_values": run.times,
        "results": results,
        "raw_values": raw,
    })
}

fn metadata(run: &Sampled, series: Map<String, Value>) -> Value {
    let Sampled { scenario, discipline, stage, seed, engine, version, .. } = run;
    let on = if stage.is_empty() { String::new() } else { format!(" on {stage}") };
    let count = |is_up: bool| run.flows.iter().filter(|flow| flow.is_tcp && flow.is_up == is_up).count();
    json!({
        "NAME": TEST,
        "TITLE": format!("{scenario}: {discipline}{on}, seed {seed}"),
        "NOTE": format!("fairwire {version}, engine {engine}, scenario {scenario}"),
        "SCENARIO": scenario,
        "DISCIPLINE": discipline,
        "STAGE": stage,
        "SEED": seed,
        "ENGINE": engine,
        "TIME": T0,
        "T0": T0,
        "STEP_SIZE": run.every_s,
        "LENGTH": run.length_s,
        "TOTAL_LENGTH": run.length_s,
        "HOST": "fairwire",
        "HOSTS": ["fairwire"],
        "LOCAL_HOST": "fairwire",
        "IP_VERSION": 4,
        "TEST_PARAMETERS": { "download_streams": count(false).to_string(), "upload_streams": count(true).to_string() },
        "SERIES_META": series,
    })
}

/// One value per sample; a missing value becomes null.
type Values = Vec<Option<f64>>;

/// The key, flow, unit and values of each series. Rates are in Mbit/s.
fn series(run: &Sampled) -> Vec<(String, Option<&str>, &'static str, Values)> {
    const RATE: &str = "Mbits/s";
    let mut all = Vec::new();
    let mut totals: Vec<Values> = Vec::new();
    for (is_up, way) in [(false, "download"), (true, "upload")] {
        let of =
            |is_tcp: bool| run.flows.iter().filter(move |flow| (flow.is_up, flow.is_tcp) == (is_up, is_tcp));
        for (number, flow) in (1..).zip(of(true)) {
            all.push((format!("TCP {way} BE::{number}"), Some(&*flow.name), RATE, flow.mbps.clone()));
        }
        for (number, flow) in (1..).zip(of(false)) {
            all.push((format!("UDP {way}::{number}"), Some(&*flow.name), RATE, flow.mbps.clone()));
        }
        let count = of(true).count() as f64;
        if count > 0.0 {
            let sum = added(of(true).map(|flow| &flow.mbps), run.times.len());
            let mean = sum.iter().map(|sum| sum.map(|sum| sum / count)).collect();
            all.push((format!("TCP {way} avg"), None, RATE, mean));
            all.push((format!("TCP {way} sum"), None, RATE, sum.clone()));
            totals.push(sum);
        }
    }
    all.push(("TCP totals".into(), None, RATE, added(totals.iter(), run.times.len())));
    all.push(("Ping (ms) ICMP".into(), None, "ms", run.ping_ms.clone()));
    all.push(("Ping (ms) avg".into(), None, "ms", run.ping_ms.clone()));
    all
}

fn added<'a>(all: impl Iterator<Item = &'a Values> + Clone, len: usize) -> Values {
    let at = |sample: usize| all.clone().filter_map(|values| values[sample]).reduce(|sum, value| sum + value);
    (0..len).map(at).collect()
}
