//! Changes of single subscribers in the running gateway, and the journal of these changes.

use super::bed::{Bed, Gateway, INSIDE};
use fairwire_core::Seed;
use fairwire_service::config::{Config, journal_of, table};
use fairwire_testing::program::Running;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

fn with_leaves(name: &str, people: &str) -> Option<(Bed, PathBuf, Gateway)> {
    let bed = Bed::new(name)?;
    bed.write("people.csv", people);
    let text = bed.text().replace("[download]", "[subscribers]\nfile = \"people.csv\"\n[download]");
    let each = "\n[[class]]\nname = \"unclaimed\"\ndownload.each = \"20 Mbit/s\"\n";
    let config = bed.write("gateway.toml", &(text.replace("faba", "classful") + each));
    let gateway = bed.start(&config);
    Some((bed, config, gateway))
}

fn change(bed: &Bed, words: &[&str]) -> (Option<i32>, String) {
    let output = bed.call(&[&["subscriber"], words].concat());
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&said).into_owned())
}

fn got(bed: &Bed, path: &str) -> Vec<(String, u64)> {
    let usage = String::from_utf8_lossy(&bed.call(&["usage", path]).stdout).into_owned();
    let of = |line: &str| {
        let values: Vec<&str> = line.split(',').collect();
        (values[3] == "download").then(|| (values[4].to_owned(), values[6].parse().expect("a number")))
    };
    usage.lines().skip(1).filter_map(of).collect()
}

#[test]
fn subscribers_change_without_a_reload_and_the_journal_keeps_them() {
    const FILE: &str = "name,addresses\nann,10.77.0.1\n";
    let Some((bed, config, gateway)) = with_leaves("journal", FILE) else { return };
    let path = config.to_str().expect("UTF-8");
    let people = config.with_file_name("people.csv");
    let hosts = bed.hosts();
    hosts.wait_until_it_passes();
    let address = format!("addresses={INSIDE}");
    let (code, said) = change(&bed, &["set", path, "bob", &address, "download_ceiling=200 kbit/s"]);
    assert!(code == Some(0) && said.starts_with("new: bob\n"), "{said}");
    assert!(said.contains("nothing was forwarded for 0.000 ms"), "{said}");
    assert_eq!(fs::read_to_string(&people).expect("it is there"), FILE);
    let (code, said) = change(&bed, &["set", path, "bob", &address]);
    assert!(code == Some(0) && said.contains("nothing changed"), "the same again: {said}");
    let record = || [people.clone(), journal_of(&people)].map(|path| fs::read(path).unwrap_or_default());
    let recorded = record();
    let (code, said) = change(&bed, &["set", path, "eve", &address]);
    assert_eq!(record(), recorded, "a refused change");
    assert!(code == Some(2) && said.contains("`bob`") && said.contains("has it already"), "{said}");

    change(&bed, &["set", path, "bob", "weight=2"]);
    let burst = || (0..40).for_each(|_| drop(hosts.outside.send_to(&[0; 1000], (INSIDE, 7000))));
    burst();
    let (code, said) = change(&bed, &["remove", path, "bob"]);
    assert!(code == Some(0) && said.starts_with("gone: bob\n"), "{said}");
    assert!(said.contains("every packet has its place"), "{said}");
    let (code, said) = change(&bed, &["set", path, "eve", &address]);
    assert!(code == Some(0) && said.starts_with("new: eve\n"), "{said}");
    burst();
    let until = Instant::now() + Duration::from_secs(20);
    while bed.status(&config)["ways"][0]["backlog_packets"].as_u64() != Some(0) {
        assert!(Instant::now() < until, "what waited for bob never left");
        thread::sleep(Duration::from_millis(20));
    }
    thread::sleep(Duration::from_millis(700)); // counters are copied twice a second
    let got_now = got(&bed, path);
    let of = |name: &str| got_now.iter().find(|(known, _)| known == name).map(|(_, bytes)| *bytes);
    assert!(of("bob").is_none() && of("ann") == Some(0), "{got_now:?}");
    assert!(of("eve") >= Some(40_000) && of("unclaimed") >= Some(10_000), "{got_now:?}");
    // `totals` also counts ARP frames (below 2000 B), which have no class.
    let totals = bed.status(&config)["ways"][0]["totals"]["bytes_out"].as_u64().expect("a number");
    let all: u64 = got_now.iter().map(|(_, bytes)| bytes).sum();
    assert!(all <= totals && all + 2000 > totals, "{totals}: {got_now:?}");

    let (exit, said) = gateway.end();
    assert!(exit.success() && !said.contains("MISSING"), "{exit} {said}");
    assert!(journal_of(&people).exists());
    let gateway = bed.start(&config);
    let text = format!("name,addresses,download_ceiling\nann,10.77.0.1,\neve,{INSIDE},\n");
    assert_eq!(fs::read_to_string(&people).expect("it is there"), text);
    assert!(!journal_of(&people).exists(), "it is in the file");
    let (exit, said) = gateway.end();
    assert!(exit.success() && !said.contains("MISSING"), "{exit} {said}");
}

#[test]
fn more_subscribers_arrive_in_a_row_than_there_are_vacant_leaves() {
    let Some((bed, config, gateway)) = with_leaves("many", "name,addresses\nann,10.77.0.1\n") else { return };
    let path = config.to_str().expect("UTF-8");
    let mut reloaded = 0;
    for number in 0..200 {
        let address = format!("addresses=10.78.0.{number}");
        let (code, said) = change(&bed, &["set", path, &format!("n{number}"), &address]);
        assert!(code == Some(0) && said.starts_with(&format!("new: n{number}\n")), "{said}");
        reloaded += u64::from(!said.contains("nothing was forwarded for 0.000 ms"));
    }
    // The first tree has 64 vacant leaves, and each rebuild adds 65. So 200 subscribers need three
    // rebuilds.
    assert_eq!(reloaded, 3);
    assert_eq!(got(&bed, path).len(), 2 + 200);
    let (exit, said) = gateway.end();
    assert!(exit.success() && !said.contains("MISSING"), "{exit} {said}");
}

#[test]
fn two_thousand_concurrent_additions_are_answered_and_kept() {
    const CLIENTS: usize = 10;
    const EACH: usize = 200;
    let Some((bed, config, gateway)) = with_leaves("crowd", "name,addresses\nann,10.77.0.1\n") else {
        return;
    };
    let path = config.to_str().expect("UTF-8");
    thread::scope(|scope| {
        for client in 0..CLIENTS {
            let bed = &bed;
            scope.spawn(move || {
                for number in 0..EACH {
                    let (name, address) =
                        (format!("n{client}-{number}"), format!("addresses=10.{}.0.{number}", 80 + client));
                    let (code, said) = change(bed, &["set", path, &name, &address]);
                    assert!(code == Some(0) && said.starts_with(&format!("new: {name}\n")), "{said}");
                }
            });
        }
    });
    assert_eq!(got(&bed, path).len(), 2 + CLIENTS * EACH, "with ann and unclaimed");
    let text = table(&config.with_file_name("people.csv")).and_then(|table| table.merged());
    assert_eq!(text.expect("both can be read").0.lines().count(), 2 + CLIENTS * EACH);
    let (exit, said) = gateway.end();
    assert!(exit.success() && !said.contains("MISSING"), "{exit} {said}");
}

fn weight(people: &Path) -> u64 {
    let text = table(people).and_then(|table| table.merged()).expect("both can be read").0;
    let line = text.lines().find(|line| line.starts_with("ann,")).expect("she is there");
    line.rsplit(',').next().and_then(|weight| weight.parse().ok()).expect("a weight")
}

#[test]
fn a_client_killed_at_any_moment_leaves_the_old_or_the_new_state() {
    let mut file = "name,addresses,weight\nann,10.77.0.1,1\n".to_owned();
    for number in 0..5000 {
        let _ = writeln!(file, "n{number},10.78.{}.{},1", number / 250, number % 250);
    }
    let Some((bed, config, gateway)) = with_leaves("killed", &file) else { return };
    let path = config.to_str().expect("UTF-8");
    let people = config.with_file_name("people.csv");
    // Every fourth client must merge a long journal.
    let long = "[{\"name\":\"x\",\"before\":null,\"after\":null}]\n".repeat(1600);
    let mut rng = Seed(1).stream("kills");
    let began = Instant::now();
    for weight in ["weight=2", "weight=1"].iter().cycle().take(10) {
        assert_eq!(change(&bed, &["set", path, "ann", weight]).0, Some(0));
    }
    let whole = began.elapsed().as_micros() as u32 / 10;
    let mut counts = [0; 2];
    for round in 1..100 {
        let was = 1000 + round;
        let (code, said) = change(&bed, &["set", path, "ann", &format!("weight={was}")]);
        assert_eq!((code, weight(&people)), (Some(0), was), "{said}");
        if round % 4 == 0 {
            let old = fs::read_to_string(journal_of(&people)).unwrap_or_default();
            fs::write(journal_of(&people), old + &long).expect("it is ours");
        }
        let weight_now = format!("weight={round}");
        let mut command = bed.fairwire(&["subscriber", "set", path, "ann", &weight_now]);
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let client = bed.hosts.gateway.started(|| Running::start(&mut command)).expect("it starts");
        thread::sleep(Duration::from_micros(u64::from(rng.below(2 * whole))));
        drop(client);
        // The gateway holds the lock until it has handled the request of the killed client.
        fs::File::open(&people).and_then(|file| file.lock()).expect("it is ours");
        let is = weight(&people);
        assert!(is == was || is == round, "{is} in the place of {was} or {round}");
        counts[usize::from(is == round)] += 1;
        let (_, said) = change(&bed, &["set", path, "ann", &format!("weight={is}")]);
        assert!(said.contains("nothing changed"), "the gateway has another than the record: {said}");
        Config::load(&config).expect("the next gateway can start");
    }
    assert!(counts.iter().all(|count| *count > 5), "too fast or too slow to be of use: {counts:?}");
    let reload = bed.call(&["reload", path]);
    let said = String::from_utf8_lossy(&reload.stdout).into_owned();
    assert!(said.contains("nothing changed") && !journal_of(&people).exists(), "{said}");
    let (exit, said) = gateway.end();
    assert!(exit.success() && !said.contains("MISSING"), "{exit} {said}");
}
