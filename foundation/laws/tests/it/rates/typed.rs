//! What a user types for these disciplines: all of it is read, built and written back.

use super::beside::site;
use fairwire_catalogue::{Parameters, build};

const ALL_OF_IT: &str = r#"
[rqm]
buffer = "100 packets"
ecn = "mark"
scheduler = "fcfs"
measure = "bytes"
alpha = 2
alpha_units = "per-rtt"
reference_rtt = "80 ms"
beta = 0.7
gamma = 0.02
steepness = 0.5
smoothing = 0.9
estimator = "window"
window = "50 ms"
overload_rule = "nan-no-drop"
epsilon = 1e-6

[rem]
buffer = "100 packets"
ecn = "mark"
scheduler = "fcfs"
measure = "bytes"
target = "10 ms"
interval = "5 ms"
gamma = 0.01
alpha = 0.2
phi = 1.01
input_weight = 0.5
mark_at = "arrival"
drop_incapable = false

[blue]
buffer = "100 packets"
ecn = "mark"
scheduler = "fcfs"
measure = "bytes"
increase = 0.02
decrease = 0.002
freeze_time = "50 ms"
threshold = "20 KiB"
idle_decay = true

[avq]
buffer = "100 packets"
ecn = "mark"
scheduler = "fcfs"
measure = "packets"
utilization = 0.95
alpha = 0.5

[sfb]
buffer = "100 packets"
ecn = "mark"
scheduler = "fcfs"
measure = "bytes"
levels = 2
bins = 23
bin_size = "13 packets"
bin_limit = "16 packets"
increase = 0.005
decrease = 0.005
penalty_rate = 100
penalty_burst = 5
rehash_interval = "20 s"
warmup_time = "2 s"
mark_limit = 0.5

[red]
adaptive = true
adapt_interval = "100 ms"
adapt_increase = 0.02
adapt_decrease = 0.8
target_band = 0.4
"#;

#[test]
fn everything_that_can_be_typed_is_read_built_and_written_back() {
    let typed: Parameters = toml::from_str(ALL_OF_IT).expect("all right");
    for name in ["rqm", "rem", "blue", "avq", "sfb", "red"] {
        build(name, &typed, &site()).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    let written = toml::to_string(&typed).expect("plain data");
    assert_eq!(toml::from_str::<Parameters>(&written).expect("what we write"), typed);
    // Each line typed is a setting written, so no field goes missing on the way.
    let settings = |text: &str| text.lines().filter(|line| line.contains('=')).count();
    assert_eq!(settings(&written), settings(ALL_OF_IT));
}
