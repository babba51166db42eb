//! Pictures of finished results: every type in every format, drawn only from files.

use crate::common::{Contest, code, run, stderr};
use crate::transfers::WEB;
use std::fs;

const SHOWN: [&str; 9] =
    ["rate", "queue", "delay", "window", "completion", "slowdown", "wait", "scatter", "bars"];

fn done(args: &[&str]) {
    let output = run(args);
    assert_eq!(code(&output), 0, "{args:?}: {}", stderr(&output));
}

fn finished() -> Contest {
    let contest = Contest::of(WEB);
    let path = |name: &str| contest.path(name).display().to_string();
    let (file, out) = (contest.file(), path("out"));
    done(&["run", &file, "--set", "seeds=\"1..=2\"", "--out", &out]);
    let [series, transfers, histogram] = ["series.csv", "transfers.parquet", "histogram.csv"]
        .map(|name| contest.path("out").join(name).display().to_string());
    done(&[
        "run",
        &file,
        "--series",
        &series,
        "--series-flows",
        "--plot",
        &path("run.svg"),
        "--transfers",
        &transfers,
    ]);
    done(&["run", &file, "--histogram", &histogram, "--one-way"]);
    contest
}

#[test]
fn a_finished_folder_is_drawn_as_every_plot_and_format() {
    let contest = finished();
    let out = contest.path("out").display().to_string();
    for show in SHOWN {
        for ending in ["svg", "pdf", "tex"] {
            let figure = contest.path(&format!("{show}.{ending}")).display().to_string();
            for more in [&[][..], &["--bare", "--width", "two-column"]] {
                done(&[&["plot", out.as_str(), "--show", show, "--figure", figure.as_str()], more].concat());
                let bytes = fs::read(&figure).expect("it was written");
                let text = String::from_utf8_lossy(&bytes);
                match ending {
                    "svg" => assert!(text.starts_with("<svg") && text.contains("<path"), "{show}"),
                    "pdf" => assert!(text.starts_with("%PDF") && text.contains("/FontFile2"), "{show}"),
                    _ => assert!(text.contains("\\addplot") && text.contains("fq-codel"), "{show}"),
                }
            }
        }
    }
}

fn curves(svg: &str) -> Vec<&str> {
    svg.split("<path class=\"line ").skip(1).map(|rest| rest.split("/>").next().unwrap_or_default()).collect()
}

#[test]
fn a_finished_series_gives_the_picture_of_its_run() {
    let contest = finished();
    let figure = contest.path("again.svg").display().to_string();
    done(&["plot", &contest.path("out").display().to_string(), "--show", "rate", "--figure", &figure]);
    let [run, again] =
        ["run.svg", "again.svg"].map(|name| fs::read_to_string(contest.path(name)).expect("a picture"));
    assert!(curves(&run).len() > 4, "{run}");
    assert_eq!(curves(&run), curves(&again));
}

#[test]
fn two_queues_and_the_delays_of_groups_have_separate_lines() {
    let contest = Contest::of(&TWO_QUEUES.replace("\n    ", "\n"));
    let path = |name: &str| contest.path(name).display().to_string();
    let (series, queue, delay) = (path("series.csv"), path("queue.svg"), path("delay.svg"));
    done(&["run", &contest.file(), "--series", &series]);
    done(&["plot", &series, "--show", "queue", "--figure", &queue]);
    done(&["plot", &series, "--show", "delay", "--only", "prague,cubic", "--figure", &delay]);
    let [queue, delay] = [queue, delay].map(|path| fs::read_to_string(path).expect("a picture"));
    for name in ["bottleneck", "bottleneck: l4s", "bottleneck: classic"] {
        assert!(queue.contains(&format!(">{name}<")), "{name}: {queue}");
    }
    assert!(delay.contains(">prague<") && delay.contains(">cubic<"), "{delay}");
    assert!(!delay.contains(">bottleneck<"), "{delay}");
}

const TWO_QUEUES: &str = r#"format = 2
    name = "two-queues"
    duration = "5 s"
    seeds = 1
    disciplines = ["dualpi2"]
    [link]
    rate = "10 Mbit/s"
    delay = "10 ms"
    buffer = "100 ms"
    [[flow]]
    group = "prague"
    source = "bulk"
    access = { rate = "1 Gbit/s", delay = "1 ms" }
    tcp = { control = "prague" }
    [[flow]]
    group = "cubic"
    source = "bulk"
    access = { rate = "1 Gbit/s", delay = "1 ms" }
    tcp = { control = "cubic" }
"#;

#[test]
fn a_missing_measure_is_refused_with_the_available_ones() {
    let contest = finished();
    let out = contest.path("out").display().to_string();
    let refused = |more: &[&str]| {
        let figure = contest.path("none.svg").display().to_string();
        let output = run(&[&["plot", out.as_str(), "--figure", figure.as_str()], more].concat());
        assert_eq!(code(&output), 2, "{more:?}: {}", stderr(&output));
        assert!(!contest.path("none.svg").exists(), "{more:?}");
        stderr(&output)
    };
    let measure = refused(&["--show", "rate", "--of", "egres"]);
    assert!(measure.contains("did you mean `egress`?") && measure.contains("`backlog`"), "{measure}");
    assert!(refused(&["--show", "bars", "--of", "share.none"]).contains("`share.bulk`"));
    assert!(refused(&["--show", "heat"]).contains("the store of a sweep"));
    assert!(refused(&["--show", "completion", "--only", "none"]).contains("`--only`"));
}

#[test]
fn a_sweep_over_two_axes_is_lines_and_a_heat_map() {
    let contest = Contest::of(WEB);
    let path = |name: &str| contest.path(name).display().to_string();
    let plan = "format = 1\nscenario = \"short.toml\"\nset = [\"duration=6 s\"]\nmeasures = [\"jain\", \"transfer_slowdown_p90.web.to_10kB\"]\n\
                [vary]\n\"link.rate\" = [\"5 Mbit/s\", \"10 Mbit/s\"]\n\"link.buffer\" = [\"50 ms\", \"100 ms\"]\n";
    fs::write(contest.path("plan.toml"), plan).expect("a plan");
    done(&["sweep", &path("plan.toml"), "--store", &path("store")]);
    let drawn = |more: &[&str]| {
        let figure = path("sweep.tex");
        done(&[&["plot", &path("store"), "--figure", &figure], more].concat());
        fs::read_to_string(figure).expect("a picture")
    };
    let heat = drawn(&["--show", "heat", "--of", "transfer_slowdown_p90.web.to_10kB"]);
    assert_eq!(heat.matches("\\nextgroupplot").count(), 2, "one for each discipline: {heat}");
    let cells = |text: &str| {
        text.split("coordinates {")
            .nth(1)
            .map_or(0, |rest| rest.split("};").next().unwrap_or_default().matches('[').count())
    };
    assert_eq!((cells(&heat), heat.contains("nan")), (4, false), "{heat}");
    let lines = drawn(&["--over", "link.buffer"]);
    assert_eq!(lines.matches("\\addplot").count(), 4, "two disciplines at two rates: {lines}");
    let panels = drawn(&["--over", "link.buffer", "--panels", "link.rate"]);
    assert_eq!(panels.matches("\\nextgroupplot").count(), 2, "one for each rate: {panels}");
    assert_eq!(panels.matches("\\addplot").count(), 4, "{panels}");
    let only = drawn(&["--over", "link.buffer", "--only", "10 Mbit/s"]);
    assert_eq!(only.matches("\\addplot").count(), 2, "two disciplines at one rate: {only}");
    let refused = |more: &[&str]| {
        let output = run(&[&["plot", &path("store"), "--figure", &path("none.svg")], more].concat());
        assert_eq!(code(&output), 2, "{more:?}");
        stderr(&output)
    };
    let twice = refused(&["--over", "link.buffer", "--panels", "link.buffer"]);
    assert!(twice.contains("allowed: `link.rate`"), "{twice}");
    assert!(refused(&["--only", "10 Mbit"]).contains("did you mean `10 Mbit/s`?"));
}

#[test]
fn an_option_without_effect_and_a_missing_name_are_refused() {
    let contest = finished();
    let out = contest.path("out").display().to_string();
    let refused = |more: &[&str], wanted: &str| {
        let figure = contest.path("none.svg").display().to_string();
        let output = run(&[&["plot", out.as_str(), "--figure", figure.as_str()], more].concat());
        assert_eq!(code(&output), 2, "{more:?}");
        assert!(stderr(&output).contains(wanted), "{more:?}: {}", stderr(&output));
    };
    refused(&["--show", "bars", "--only", "web"], "`--only` is given");
    refused(&["--show", "slowdown", "--of", "jain"], "allowed: `--only`");
    refused(&["--show", "rate", "--over", "link.rate"], "allowed: `--of`, `--only`, `--seed`");
    refused(&["--show", "scatter", "--seed", "1"], "`--seed` is given");
    refused(&["--show", "rate", "--seed", "77"], "allowed: 1");
    refused(&["--show", "completion", "--only", "wbe"], "did you mean `web`?");
}

#[test]
fn a_line_breaks_where_there_is_no_sample() {
    let contest = Contest::of(WEB);
    let rows: String = [1, 2, 3, 7, 8]
        .iter()
        .map(|at| format!("red,1,{at}.000000000,group,web,sojourn mean,s,0.0{at}\n"))
        .collect();
    let series = contest.path("series.csv");
    fs::write(&series, format!("discipline,seed,time_s,kind,name,measure,unit,value\n{rows}")).unwrap();
    let figure = contest.path("gap.svg");
    let [series, figure] = [series, figure].map(|path| path.display().to_string());
    done(&["plot", &series, "--show", "delay", "--only", "web", "--figure", &figure]);
    let picture = fs::read_to_string(&figure).expect("a picture");
    let line = curves(&picture).into_iter().find(|line| line.contains("d=\"M")).expect("a line");
    assert_eq!(line.matches('M').count(), 2, "{line}");
}
