//! Configurations, and their refusals.

use fairwire_core::scheduler::Fcfs;
use fairwire_core::{Discipline, Dropper, Duration, Ignore, Limit, Packet, Queue, Rate, Seed, Time};
use fairwire_datapath::class_book::UNCLAIMED;
use fairwire_datapath::classify::{FlowKind, Framing, LinkKind};
use fairwire_datapath::hand_over::hand_over;
use fairwire_service::config::{ClassSupport, Config, PlanContext, schema};
use fairwire_wire::Way;
use std::fmt::Write as _;
use std::path::Path;

const HEAD: &str = r#"format = 2
name = "test"
[wire]
inside = "in0"
outside = "out0"
"#;

const MADE: PlanContext =
    PlanContext { secret: [7; 16], seed: Seed(1), frame_bytes: 1514, link: LinkKind::Ethernet };

fn text(rest: &str) -> String {
    format!("{HEAD}{rest}")
}

fn config(rest: &str) -> Config {
    Config::parse("gw.toml", &text(rest), None).unwrap_or_else(|error| panic!("{error}"))
}

fn with_csv(rest: &str, csv: &str) -> Result<Config, String> {
    let text = text(&format!("[subscribers]\nfile = \"s.csv\"\n{rest}"));
    Config::parse("gw.toml", &text, Some(("s.csv", csv))).map_err(|error| error.to_string())
}

fn csv_refusal(rest: &str, csv: &str) -> String {
    match with_csv(rest, csv) {
        Ok(_) => panic!("this was not refused: {csv}"),
        Err(error) => error,
    }
}

fn file(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/gateway").join(name)
}

#[test]
fn the_examples_are_valid() {
    for name in ["home.toml", "bump.toml", "wisp.toml"] {
        let config = Config::load(&file(name)).unwrap_or_else(|error| panic!("{error}"));
        let plan = config.plan(&MADE).unwrap_or_else(|error| panic!("{error}"));
        assert!(plan.forward.shaper.is_some() && plan.backward.shaper.is_some());
        assert_eq!(config.notes(), [""; 0], "{name}");
    }
    let wisp = Config::load(&file("wisp.toml")).unwrap();
    assert_eq!(wisp.book().len(), 1 + 3 + 9);
    assert_eq!(wisp.shaping(Way::Download).unwrap().discipline, "hfaba");
    assert_eq!(wisp.shaping(Way::Upload).unwrap().flows, FlowKind::Subscriber);
}

#[test]
fn the_recipe_of_a_diffserv_domain_is_valid() {
    for name in ["diffserv/ingress.toml", "diffserv/core.toml", "diffserv/egress.toml"] {
        let config = Config::load(&file(name)).unwrap_or_else(|error| panic!("{error}"));
        config.plan(&MADE).unwrap_or_else(|error| panic!("{error}"));
        let counts_only = config.notes().iter().any(|note| note.contains("they are only counted"));
        assert_eq!(counts_only, name.contains("egress"), "{name}: {:?}", config.notes());
    }
}

#[test]
fn an_example_fits_the_schema() {
    let properties = schema()["properties"].as_object().unwrap().clone();
    let table: toml::Table = toml::from_str(&std::fs::read_to_string(file("wisp.toml")).unwrap()).unwrap();
    for key in table.keys() {
        assert!(properties.contains_key(key), "{key}");
    }
}

#[test]
fn the_committed_schema_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/gateway.json");
    let schema = format!("{:#}\n", schema());
    if std::env::var_os("FAIRWIRE_RENEW").is_some() {
        std::fs::write(&path, &schema).expect("the schema can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == schema, "docs/schema/gateway.json is stale: `make schema`");
}

#[test]
fn omitted_keys_have_their_defaults() {
    let plain = config("[download]\nrate = \"10 Mbit/s\"");
    let shaping = plain.shaping(Way::Download).unwrap();
    assert_eq!(
        (shaping.discipline, shaping.flows, shaping.within, shaping.sharing),
        ("fq-codel", FlowKind::Inside, true, ClassSupport::None)
    );
    assert_eq!(shaping.buffer.to_string(), "50 ms");
    assert_eq!(shaping.framing, Framing::ETHERNET);
    assert!(plain.shaping(Way::Upload).is_none());
    let bare = config("[download]\nrate = \"10 Mbit/s\"\nframing = { overhead_bytes = -14 }");
    let framing = bare.shaping(Way::Download).unwrap().framing;
    assert_eq!(framing, Framing { overhead_bytes: -14, minimum_bytes: 1, is_atm: false });
    let classes =
        "[download]\nrate = \"10 Mbit/s\"\n[upload]\nrate = \"1 Mbit/s\"\n[[class]]\nname = \"a\"\n";
    assert_eq!(config(classes).shaping(Way::Upload).unwrap().discipline, "hfaba");
    let bounded = config(&format!("{classes}upload = {{ ceiling = \"500 kbit/s\" }}\n"));
    assert_eq!(bounded.shaping(Way::Upload).unwrap().discipline, "classful");
    assert_eq!(bounded.shaping(Way::Download).unwrap().discipline, "hfaba");
}

#[test]
fn other_protocols_get_a_hundredth_by_default() {
    let of = |rest: &str| {
        let config = config(&format!("[download]\nrate = \"50 Mbit/s\"\n{rest}"));
        let plan = config.plan(&MADE).expect("it can be built");
        (
            plan.forward.shaper.expect("it is shaped").not_ip.to_string(),
            config.explain().ways[0].shaping.as_ref().map(|way| way.not_ip_bps),
        )
    };
    assert_eq!(of(""), ("500 kbit/s".to_owned(), Some(500_000)));
    assert_eq!(of("not_ip = \"50 Mbit/s\""), ("50 Mbit/s".to_owned(), Some(50_000_000)));
}

#[test]
fn a_rate_that_follows_the_line_starts_at_the_configured_rate() {
    let way = |keys: &str| format!("[download]\nrate = \"20 Mbit/s\"\nautorate = {{ {keys} }}\n");
    let given = config(&way("max = \"50 Mbit/s\"")).shaping(Way::Download).unwrap().autorate;
    let given = given.expect("it follows");
    assert_eq!(
        [given.min, given.start, given.max].map(|rate| rate.to_string()),
        ["2 Mbit/s", "20 Mbit/s", "50 Mbit/s"]
    );
    assert!(config("[download]\nrate = \"20 Mbit/s\"").shaping(Way::Download).unwrap().autorate.is_none());
    for (keys, message) in [
        ("min = \"21 Mbit/s\"", "`download.autorate.min` is 21 Mbit/s"),
        ("max = \"19 Mbit/s\"", "`download.autorate.max` is 19 Mbit/s"),
        ("target = \"1 us\"", "`download.autorate.target` is 1 us"),
        ("keep = 2.0", "`download.autorate.keep` is 2"),
    ] {
        let error = Config::parse("gw.toml", &text(&way(keys)), None).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn no_default_rewards_more_connections() {
    let of = |keys: &str| {
        let config = config(&format!("[download]\nrate = \"10 Mbit/s\"\n{keys}"));
        let shaping = config.shaping(Way::Download).unwrap();
        (shaping.discipline, shaping.flows, shaping.within)
    };
    assert_eq!(of("discipline = \"drr\""), ("drr", FlowKind::Inside, true));
    assert_eq!(of("discipline = \"cake-like\""), ("cake-like", FlowKind::Inside, true));
    assert_eq!(of("discipline = \"faba\""), ("faba", FlowKind::Inside, false));
    assert_eq!(of("flows = \"inside\""), ("faba", FlowKind::Inside, false));
    assert_eq!(of("flows = \"5-tuple\""), ("faba", FlowKind::FiveTuple, false));
    assert_eq!(of("flows = [\"mac\", \"5-tuple\"]"), ("fq-codel", FlowKind::Mac, true));
    let per_class = "discipline = \"drr\"\n[discipline.drr]\nper = \"class\"";
    assert_eq!(of(per_class), ("drr", FlowKind::Inside, false));
    assert_eq!(of("[[class]]\nname = \"a\""), ("hfaba", FlowKind::Inside, false));
}

const BOTH: &str = "[download]\nrate = \"10 Mbit/s\"\n[upload]\nrate = \"2 Mbit/s\"\n";

#[test]
fn a_discipline_without_weights_or_levels_is_refused_with_suitable_ones() {
    let nested = "[[class]]\nname = \"a\"\n[[class]]\nname = \"b\"\nparent = \"a\"\n";
    let flat = "[[class]]\nname = \"a\"\nweight = 2\n";
    let with = |name: &str, rest: &str| {
        let text = text(&format!("[download]\nrate = \"10 Mbit/s\"\ndiscipline = \"{name}\"\n{rest}"));
        Config::parse("gw.toml", &text, None)
            .map(|config| config.shaping(Way::Download).unwrap().sharing)
            .map_err(|e| e.to_string())
    };
    assert!(with("drr", nested).is_err() && with("red", flat).is_err());
    for name in ["faba", "afd-nft", "drr", "sfq-start", "scfq", "fbfq", "wf2q+", "drr+faba", "scfq+red"] {
        assert_eq!(with(name, flat), Ok(ClassSupport::Weights), "{name}");
    }
    assert_eq!(
        with("lqd", &format!("{flat}[discipline.lqd]\nscheduler = \"drr\"\n")),
        Ok(ClassSupport::Weights)
    );
    assert!(with("lqd", &format!("{flat}[discipline.lqd]\nscheduler = \"fcfs\"\n")).is_err());
    assert_eq!(with("tail-drop", &flat.replace("weight = 2", "")), Ok(ClassSupport::None));
    assert!(with("hfaba", &format!("{flat}[discipline.hfaba]\nclass = []\n")).is_err());
}

#[test]
fn many_faults_of_the_subscriber_file_are_reported_at_once_and_at_most_ten() {
    let refused = |csv: &str| csv_refusal(BOTH, csv);
    let message = refused("name,vlan\nann,0\nbob,7\n,8\ncat,9,9\n");
    let lines: Vec<&str> = message.lines().collect();
    assert!(lines[0].starts_with("s.csv:2:5: `vlan` is `0`"), "{message}");
    assert!(lines[1].starts_with("s.csv:4:1: `name` is ``, but a name is needed; allowed: "), "{message}");
    assert!(lines[2].starts_with("s.csv:5:1: `line` is a list of 3 values"), "{message}");
    assert_eq!(lines.len(), 3, "{message}");
    let rows = |row: &str| row.repeat(50);
    for (what, csv) in [
        ("values", format!("name,vlan\n{}", rows("ann,0\n"))),
        ("names", format!("name,addresses\n{}", rows("ann,\n"))),
        ("VLANs", format!("name,vlan\n{}", (0..50).map(|at| format!("a{at},7\n")).collect::<String>())),
        (
            "prefixes",
            format!("name,addresses\n{}", (0..50).map(|at| format!("a{at},10.0.0.1\n")).collect::<String>()),
        ),
    ] {
        assert_eq!(refused(&csv).lines().count(), 10, "{what}");
    }
}

#[test]
fn a_prefix_may_lie_in_another_and_the_longest_counts() {
    let csv = "name,addresses\nann,10.0.0.0/8 2001:db8::/32\nbob,10.1.0.0/16\ncat,10.1.2.3 2001:db8:1::/48\ndan,10.2.0.0/16\n";
    let config = with_csv(BOTH, csv).expect("each prefix is there once");
    let note =
        config.notes().iter().find(|note| note.contains("longest counts")).expect("it may be a mistake");
    assert!(
        note.contains("`10.1.0.0/16` of `bob` in `10.0.0.0/8` of `ann`, `10.1.2.3/32` of `cat` in `10.1.0.0/16` of `bob`"),
        "{note}"
    );
    assert!(note.ends_with(" and 1 more"), "{note}");
    let one = with_csv(BOTH, "name,addresses\nann,10.0.0.0/8 10.1.0.0/16\n").expect("all of it is hers");
    assert!(!one.notes().iter().any(|note| note.contains("longest counts")));
}

#[test]
fn columns_that_no_commas_separate_are_refused_with_the_remedy() {
    for (csv, named) in [("name;addresses\nann;10.0.0.1\n", "semicolons"), ("name\tvlan\nann\t7\n", "tabs")] {
        let error = csv_refusal(BOTH, csv);
        assert!(error.contains(named) && error.contains("allowed: commas"), "{error}");
    }
}

#[test]
fn a_ceiling_above_that_of_its_parent_is_noted() {
    let notes = |ceiling: &str, more: &str| {
        let text = format!(
            "[download]\nrate = \"50 Mbit/s\"\n{more}[[class]]\nname = \"a\"\ndownload = {{ ceiling = \"10 Mbit/s\" }}\n\
             [[class]]\nname = \"b\"\nparent = \"a\"\ndownload = {{ ceiling = \"{ceiling}\" }}\n"
        );
        let notes = config(&text).notes().to_vec();
        notes.into_iter().filter(|note| note.contains("bounds nothing")).collect::<Vec<_>>()
    };
    assert_eq!(notes("9 Mbit/s", ""), [""; 0]);
    let above = notes("11 Mbit/s", "");
    assert!(above.len() == 1 && above[0].contains("`b`") && above[0].contains("10 Mbit/s"), "{above:?}");
    let csv = "name,addresses,download_ceiling\nann,10.0.0.1,4 Gbit/s\nbob,10.0.0.2,5 Mbit/s\n";
    let config = with_csv(BOTH, csv).expect("it is no fault");
    let note = config.notes().iter().find(|note| note.contains("bounds nothing")).expect("a slip of a unit");
    assert!(note.contains("`ann`") && !note.contains("more"), "{note}");
    let csv = "name,addresses,download_ceiling\nann,10.0.0.1,4096 bit/s\nbob,10.0.0.2,64 kbit/s\n";
    let config = with_csv(BOTH, csv).expect("it is no fault");
    let note = config.notes().iter().find(|note| note.contains("kbit/s?")).expect("another slip");
    assert!(note.contains("`ann` has a ceiling of 4096 bit/s: is it"), "{note}");
}

#[test]
fn control_packets_get_a_fiftieth_by_default_and_at_most_the_link() {
    let of = |rest: &str| {
        let config = config(&format!("[download]\nrate = \"50 Mbit/s\"\n{rest}"));
        config.plan(&MADE).expect("it can be built").forward.shaper.expect("it is shaped").control.to_string()
    };
    assert_eq!([of(""), of("control = \"3 Mbit/s\"")], ["1 Mbit/s", "3 Mbit/s"]);
}

#[test]
fn a_deceptive_name_is_refused() {
    let refused = |csv: &str| csv_refusal(BOTH, csv);
    for c in ['\u{202e}', '\u{2066}', '\u{200f}', '\u{2028}', '\u{1b}'] {
        let message = refused(&format!("name,vlan\nann{c}bob,7\n"));
        assert!(
            message.contains("cannot be printed, or that changes") && !message.contains(c),
            "{message:?}"
        );
    }
    assert!(with_csv(BOTH, "name,vlan\nDvořák 山田,7\n").is_ok());
}

#[test]
fn a_missing_subscriber_file_is_reported_at_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gw.toml");
    std::fs::write(&path, text(&format!("{BOTH}[subscribers]\nfile = \"subscriber.csv\"\n"))).unwrap();
    std::fs::write(folder.path().join("subscribers.csv"), "name,vlan\nann,7\n").unwrap();
    let error = Config::load(&path).unwrap_err().to_string();
    assert!(error.contains("gw.toml:11:8: there is no file"), "{error}");
    assert!(error.contains("did you mean") && error.contains("subscribers.csv`?"), "{error}");
    std::fs::write(&path, text(&format!("{BOTH}[subscribers]\nfile = \"subscribers.csv\"\n"))).unwrap();
    assert_eq!(Config::load(&path).unwrap().book().len(), 2);
}

#[test]
fn the_tree_lists_parents_first_and_subscribers_below_their_classes() {
    let rest =
        format!("{BOTH}[[class]]\nname = \"b\"\nparent = \"a\"\n[[class]]\nname = \"a\"\nweight = 3\n");
    let config =
        with_csv(&rest, "\u{feff}name,vlan,class,weight\r\n\"ann, and co\",7,b,2\r\nbob,8,,\r\n").unwrap();
    let book = config.book();
    let rates: Vec<_> =
        book.iter().map(|(_, class)| (class.name.as_str(), class.parent, class.weight.get())).collect();
    assert_eq!(
        rates,
        [
            ("unclaimed", None, 1.0),
            ("a", None, 3.0),
            ("b", Some(1), 1.0),
            ("ann, and co", Some(2), 2.0),
            ("bob", None, 1.0)
        ]
    );
    assert!(book.is_leaf(UNCLAIMED) && !book.is_leaf(2) && book.is_leaf(3));
    let tree = &config.explain().ways[0].tree;
    let busy: Vec<f64> = tree.iter().map(|class| class.busy_bps).collect();
    assert_eq!(busy, [2e6, 6e6, 6e6, 6e6, 2e6]);
}

#[test]
fn changes_are_reported_and_those_that_keep_classes_are_recognized() {
    let rest = |rate: &str| format!("[download]\nrate = \"{rate}\"\n[[class]]\nname = \"a\"\n");
    let csv = "name,vlan,class,weight\nann,7,a,1\nbob,8,a,1\n";
    let before = with_csv(&rest("10 Mbit/s"), csv).unwrap();
    assert!(before.changes(&before).is_empty);
    let heavier = with_csv(&rest("10 Mbit/s"), &csv.replace("bob,8,a,1", "bob,8,a,2.5")).unwrap();
    let changes = before.changes(&heavier);
    assert!(changes.is_edit && !changes.is_empty && changes.needs_restart.is_empty());
    let weights: Vec<_> = changes.new_weights.iter().map(|(class, weight)| (*class, weight.get())).collect();
    assert_eq!(weights, [(3, 2.5)]);
    assert_eq!(changes.lines, ["another weight: bob: 1 -> 2.5"]);
    assert_eq!(*before.class_map(&heavier), [0, 1, 2, 3]);
    let other = with_csv(&rest("20 Mbit/s"), "name,vlan,class,weight\nbob,8,a,1\ncat,9,a,1\n").unwrap();
    let changes = before.changes(&other);
    assert_eq!(
        changes.lines,
        [
            "`download.rate`: \"10 Mbit/s\" -> \"20 Mbit/s\"",
            "gone: ann",
            "new: cat",
            "addresses, VLANs or matches of classes"
        ]
    );
    assert!(!changes.is_edit);
    assert_eq!(*before.class_map(&other), [0, 1, 0, 2]);
    let moved = Config::parse("gw.toml", &text(&rest("10 Mbit/s")).replace("in0", "in1"), None).unwrap();
    let still = Config::parse("gw.toml", &text(&rest("10 Mbit/s")), None).unwrap();
    assert_eq!(still.changes(&moved).needs_restart, ["wire.inside"]);
    // Subscribers in another order have other numbers in the discipline.
    let swapped = with_csv(&rest("10 Mbit/s"), "name,vlan,class,weight\nbob,8,a,2\nann,7,a,1\n").unwrap();
    assert!(!before.changes(&swapped).is_edit);
    assert_eq!(*before.class_map(&swapped), [0, 1, 3, 2]);
    // The tree depends on classes and subscribers, but not on a VLAN or a suspension.
    for (edited, is_edit) in [
        ("name,vlan,class,weight\nann,17,a,1\nbob,8,a,1\n", true),
        ("name,vlan,class,weight,suspended\nann,7,a,1,yes\nbob,8,a,1,\n", true),
        ("name,vlan,class,weight\nann,7,a,1\nbob,8,,1\n", false),
        ("name,vlan,class,weight\nann,7,a,1\nbob,8,a,1\ncat,9,a,1\n", false),
    ] {
        let edited = with_csv(&rest("10 Mbit/s"), edited).unwrap();
        assert_eq!(before.changes(&edited).is_edit, is_edit, "{:?}", before.changes(&edited).lines);
    }
}

fn many(subscribers: u32, rates: bool) -> (String, String) {
    let mut rest = String::from("[download]\nrate = \"10 Gbit/s\"\n[upload]\nrate = \"5 Gbit/s\"\n");
    for plan in 0..subscribers / 20 {
        let _ = write!(rest, "[[class]]\nname = \"plan {plan}\"\nweight = {}\n", 1 + plan % 5);
    }
    let mut csv = String::from("name,addresses,class,weight,download_guaranteed,download_ceiling\n");
    for n in 0..subscribers {
        let (a, b) = (n >> 8, n & 255);
        let rate = if rates { "100 kbit/s,100 Mbit/s" } else { "," };
        let _ = writeln!(
            csv,
            "s{n},100.{}.{a}.{b} 2001:db8:{:x}:{:x}00::/56,plan {},{},{rate}",
            64 + (n >> 16),
            n >> 8,
            n & 255,
            n / 20,
            1 + n % 3
        );
    }
    (rest, csv)
}

#[test]
fn twenty_thousand_subscribers_are_checked_and_built() {
    for (rates, discipline) in [(false, "hfaba"), (true, "classful")] {
        let (rest, csv) = many(20_000, rates);
        let config = with_csv(&rest, &csv).unwrap();
        assert_eq!(config.book().len(), 1 + 1000 + 20_000);
        assert_eq!(config.shaping(Way::Download).unwrap().discipline, discipline);
        let plan = config.plan(&MADE).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(plan.forward.classes, 21_001);
        let busy: f64 = config.explain().ways[0]
            .tree
            .iter()
            .filter(|class| class.level == 1)
            .map(|class| class.busy_bps)
            .sum();
        let rate = Rate::from_bps(10_000_000_000).unwrap().bps() as f64;
        assert!((busy / rate - 1.0).abs() < 1e-9, "{busy}"); // only rounding
    }
}

struct TailDrop;

impl Dropper for TailDrop {}

#[test]
fn a_tree_that_grows_beyond_eager_leaves_and_shrinks_keeps_its_backlog() {
    let discipline = |subscribers: u32| {
        let (rest, csv) = many(subscribers, true);
        let config = with_csv(&rest, &csv).unwrap();
        let plan = config.plan(&MADE).unwrap_or_else(|error| panic!("{error}"));
        (config, plan.forward.shaper.expect("shaped").discipline)
    };
    let (mut config, mut present) = discipline(900);
    let first =
        config.book().iter().filter(|(_, class)| class.name.starts_with('s')).map(|(number, _)| number);
    let first: Vec<u32> = first.collect();
    assert_eq!(first.len(), 900);
    let mut at = Time::ZERO;
    for (frame, &class) in (0..).zip(first.iter().cycle().take(2700)) {
        at += Duration::from_us(1);
        let packet = Packet { class, ..Packet::new(frame, 1000, u64::from(frame % 7).into(), at) };
        present.enqueue(packet, at, &mut Ignore);
    }
    assert_eq!(present.backlog().packets, 2700);
    for subscribers in [2000, 900, 980, 1040, 900] {
        let (next, new) = discipline(subscribers);
        let map = config.class_map(&next);
        let mut renumbered = Vec::new();
        present.drain(&mut |packet| renumbered.push(Packet { class: map[packet.class as usize], ..packet }));
        renumbered.sort_by_key(|packet| packet.arrived);
        assert!(renumbered.iter().all(|packet| packet.class != UNCLAIMED), "{subscribers}");
        let mut old = Queue::new(Limit::packets(2700), Fcfs, TailDrop);
        renumbered.into_iter().for_each(|packet| old.enqueue(packet, at, &mut Ignore));
        present = hand_over(&mut old, new, at);
        assert_eq!((old.backlog().packets, present.backlog().packets), (0, 2700), "{subscribers}");
        config = next;
    }
    let mut sent = vec![false; 2700];
    while let Some(ready) = present.ready_at() {
        at = at.max(ready);
        let packet = present.dequeue(at, &mut Ignore).expect("ready");
        assert!(!std::mem::replace(&mut sent[packet.frame as usize], true), "{packet:?} left twice");
        at += Duration::from_us(1);
    }
    assert!(sent.iter().all(|&is_sent| is_sent));
}

#[test]
fn fair_droppers_count_bytes_by_default() {
    let config = |discipline: &str, more: &str| {
        let text = format!(
            "format = 2\nname = \"t\"\n[wire]\ninside = \"a\"\noutside = \"b\"\n[download]\nrate = \"8 Mbit/s\"\nbuffer = \"15140 B\"\ndiscipline = \"{discipline}\"\n{more}"
        );
        Config::parse("t.toml", &text, None).expect("it makes sense")
    };
    // Two flows offer equal bytes, one in long packets, one in short packets. Returns the ratio
    // short / long of sent bytes.
    let kept = |config: &Config| {
        let plan = config.direction(Way::Download, &MADE).expect("it is built");
        let mut discipline = plan.shaper.expect("it is shaped").discipline;
        let mut now = Time::ZERO;
        let mut sent = [0_u64; 2];
        for step in 0..40_000_u32 {
            for (flow, len) in [(1_u64, 1514_u32), (2, 151)] {
                // Each flow offers 2 MB/s, twice the link's rate.
                let every = len / 151;
                if step % every == 0 {
                    let packet = Packet::new(step * 2 + flow as u32, len, flow.into(), now);
                    discipline.enqueue(packet, now, &mut Ignore);
                }
            }
            now += Duration::from_us(75);
            // At 8 Mbit/s, twenty steps of 75 us send 1500 bytes, about one long packet.
            if step % 20 == 0 {
                let mut room = 1514_i64;
                while room > 0 {
                    let Some(packet) = discipline.dequeue(now, &mut Ignore) else { break };
                    room -= i64::from(packet.len);
                    sent[packet.flow.0 as usize - 1] += u64::from(packet.len);
                }
            }
        }
        sent[1] as f64 / sent[0] as f64
    };
    for discipline in ["faba", "hfaba"] {
        let bytes = kept(&config(discipline, ""));
        let packets =
            kept(&config(discipline, &format!("[discipline.{discipline}]\nmeasure = \"packets\"\n")));
        assert!((0.6..1.7).contains(&bytes), "{discipline}: {bytes}");
        assert!(packets < 0.3, "{discipline}: {packets}");
    }
    // With `defaults = "reference"`, `faba` counts packets, as in a scenario.
    let reference = kept(&config("faba\"\ndefaults = \"reference", ""));
    assert!(reference < 0.3, "{reference}");
}

const EDGE: &str = r#"
[upload]
rate = "10 Mbit/s"
dscp = "af1"
discipline = { conditioner = { class = [
  { id = 1, marker = { adaptive-token-bucket = { rate = "1 Mbit/s" } } },
  { id = 2, marker = { adaptive-token-bucket = { rate = "2 Mbit/s" } } },
] } }
[[class]]
name = "gold"
match = { inside = ["10.0.1.0/24"] }
[[class]]
name = "silver"
match = { inside = ["10.0.2.0/24"] }
"#;

fn edge_refusal(rest: &str) -> String {
    match Config::parse("gw.toml", &text(rest), None) {
        Ok(_) => panic!("this was not refused: {rest}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn an_edge_that_cannot_work_is_refused() {
    let ingress = "[ingress]\nlisten = \"192.0.2.1:9830\"\nkey_file = \"a.key\"\n";
    let egress = "[egress]\nreport_to = \"[2001:db8::1]:9830\"\nkey_file = \"b.key\"\n";
    config(&format!("{EDGE}{ingress}{egress}"));
    for (rest, why) in [
        (ingress.into(), "uploads have no markers whose targets reports could move"),
        (format!("[download]\nrate = \"1 Mbit/s\"\n{egress}"), "0 classes and subscribers"),
        (format!("{EDGE}{}", ingress.replace(":9830", "")), "that is not an address with a port"),
        (format!("{EDGE}{}", egress.replace("9830", "0")), "that is not an address with a port"),
        (format!("{EDGE}{ingress}{}", egress.replace("b.key", "a.key")), "its key is that of `ingress` too"),
    ] {
        let refusal = edge_refusal(&rest);
        assert!(refusal.contains(why), "{refusal}");
    }
    let refusal = edge_refusal(&EDGE.replace("id = 2", "id = 9"));
    assert!(refusal.contains("class.#2.id` is 9") && refusal.contains("from 1 to"), "{refusal}");
    let many: String = (0..65).fold(String::new(), |mut text, number| {
        let _ = writeln!(text, "[[class]]\nname = \"c{number}\"");
        text
    });
    let refusal = edge_refusal(&format!("{many}{egress}"));
    assert!(refusal.contains("65 classes and subscribers"), "{refusal}");
}

#[test]
fn a_fresh_report_moves_only_the_target_of_its_class() {
    let config = config(EDGE);
    let mut upload = config.plan(&MADE).expect("it can be built").backward.shaper.expect("shaped").discipline;
    let at = |ms| Time::ZERO + Duration::from_ms(ms);
    upload.on_report(1, fairwire_core::RateRequest::Increase, at(1000), at(100));
    upload.on_report(0, fairwire_core::RateRequest::Increase, at(1000), at(100));
    upload.on_report(u32::MAX, fairwire_core::RateRequest::Increase, at(1000), at(100));
    let mut target = |class| upload.target_bps(class, at(1000));
    assert!(target(1).expect("it adapts") > 1.004e6, "{:?}", target(1));
    assert_eq!((target(2), target(0), target(u32::MAX)), (Some(2e6), None, None));
    assert_eq!(upload.target_bps(1, at(3_600_000)), Some(1e6));
}
