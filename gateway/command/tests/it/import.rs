//! `fairwire-gateway import` without a running gateway.

use super::GATEWAY;
use fairwire_testing::program::{code, stderr, stdout};
use std::fs;
use std::path::Path;

const HEAD: &str = "Circuit ID,Circuit Name,Device ID,Device Name,Parent Node,MAC,IPv4,IPv6,Download Min Mbps,\
                    Upload Min Mbps,Download Max Mbps,Upload Max Mbps,Comment\n";
const NETWORK: &str = r#"{"Tower":{"downloadBandwidthMbps":900,"uploadBandwidthMbps":400,"type":"Site",
    "children":{"AP 1":{"downloadBandwidthMbps":500,"uploadBandwidthMbps":500,"type":"AP"}}}}"#;

fn tower(folder: &Path) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/gateway/tower.toml");
    let text = fs::read_to_string(page).expect("the recipe");
    let socket = folder.join("none.sock").display().to_string();
    let text = text.replace("[telemetry]\n", &format!("[telemetry]\nsocket = \"{socket}\"\n"));
    let config = folder.join("tower.toml");
    fs::write(&config, text).expect("the folder is ours");
    config.display().to_string()
}

fn devices() -> String {
    let circuit = |n: usize| format!("{n},,d{n},,AP 1,,10.0.0.{n},,155,155,155,155,\n");
    let circuits: String = (10..20).map(circuit).collect();
    format!("{HEAD}# by the CRM\n{circuits}10,,d,,AP 1,,\"10.0.1.3, 10.0.1.4\",,155,155,155,155,\n")
}

#[test]
fn lists_of_libreqos_become_classes_and_subscribers_with_differences_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = tower(folder.path());
    let file = |name: &str| folder.path().join(name).display().to_string();
    let write =
        |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("the folder is ours");
    write("ShapedDevices.csv", &devices());
    write("network.json", NETWORK);
    let (devices_file, network, plans) = (file("ShapedDevices.csv"), file("network.json"), file("plans.csv"));
    let import = |more: &[&str]| {
        let all = ["import", "libreqos", &config, &devices_file, "--network", &network];
        GATEWAY.run(&[&all[..], more].concat())
    };
    let typed = fs::read_to_string(&config).expect("it is there");
    let dry = import(&["--dry-run"]);
    assert_eq!(code(&dry), 1, "{}", stderr(&dry));
    assert!(!Path::new(&plans).exists() && fs::read_to_string(&config).expect("it is there") == typed);

    let done = import(&[]);
    let (said, notes) = (stdout(&done), stderr(&done));
    assert_eq!(code(&done), 0, "{notes}");
    assert_eq!(said, stdout(&dry), "a dry run shows the same");
    let scaled = "download: 1550 Mbit/s are guaranteed below `AP 1`, which has 500";
    assert!(notes.contains(scaled), "{notes}");
    assert!(
        said.contains("+ class name = \"AP 1\", parent = \"Tower\", download = { ceiling = \"500 Mbit/s\" }"),
        "{said}"
    );
    let table = fs::read_to_string(&plans).expect("it was made");
    assert_eq!(table.lines().count(), 11, "{table}");
    let first = "10,10.0.0.10 10.0.1.3 10.0.1.4,AP 1,50 Mbit/s,155 Mbit/s,40 Mbit/s,155 Mbit/s\n";
    assert!(table.contains(first), "{table}");
    let check = GATEWAY.run(&["check", &config, "--offline"]);
    let shown = stdout(&check);
    assert!(shown.contains("10 subscribers, 5 classes"), "{shown}{}", stderr(&check));
    assert!(shown.contains("        10: 50 Mbit/s"), "{shown}");

    let leased = table.replacen("upload_ceiling\n", "upload_ceiling,leased\n", 1);
    let leased =
        leased.replace("155 Mbit/s\n", "155 Mbit/s,\n").replacen("155 Mbit/s,\n", "155 Mbit/s,10.9.0.1\n", 1);
    write("plans.csv", &leased);
    let again = import(&[]);
    assert_eq!((code(&again), stdout(&again)), (0, String::new()), "{}", stderr(&again));
    assert_eq!(fs::read_to_string(&plans).expect("it is there"), leased);

    write(
        "ShapedDevices.csv",
        &devices().replace("19,,d19,,AP 1,,10.0.0.19,,155,155,155,155,\n", "").replacen(
            "155,155,155,155",
            "1,1,7.5,2",
            1,
        ),
    );
    write("network.json", &NETWORK.replace("\"AP 1\":", "\"AP 2\":{},\"AP 1\":"));
    let other = import(&[]);
    let said = stdout(&other);
    assert_eq!(code(&other), 0, "{}", stderr(&other));
    for part in [
        "- 19\n",
        "~ 10: download_guaranteed: 50 Mbit/s -> ",
        "download_ceiling: 155 Mbit/s -> 7500 kbit/s",
        "+ class name = \"AP 2\"",
    ] {
        assert!(said.contains(part), "no `{part}` in: {said}");
    }
    assert!(fs::read_to_string(&plans).expect("it is there").contains("2 Mbit/s,10.9.0.1\n"));
    let text = fs::read_to_string(&config).expect("it is there");
    assert!(text.starts_with(typed.trim_end()) && text.matches("[[class]]").count() == 4 + 3, "{text}");

    let before = (text, fs::read_to_string(&plans).expect("it is there"));
    write("network.json", &NETWORK.replace("AP 1", "north"));
    let refused = import(&[]);
    assert_eq!(code(&refused), 2);
    let after = [&config, &plans].map(|path| fs::read_to_string(path).expect("it is there"));
    assert_eq!(before, after.into());
}

#[test]
fn bad_libreqos_lists_are_refused_and_misplaced_ones_are_recognized() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = tower(folder.path());
    let plans = folder.path().join("plans.csv");
    let devices = folder.path().join("d.csv").display().to_string();
    fs::write(&devices, "name,addresses\nann,10.0.0.1\n").expect("the folder is ours");
    let refused = GATEWAY.run(&["import", "libreqos", &config, &devices]);
    assert_eq!(code(&refused), 2);
    assert!(stderr(&refused).contains("line 1 has no column `Circuit ID`"), "{}", stderr(&refused));
    assert!(!plans.exists());
    fs::write(&plans, self::devices()).expect("the folder is ours");
    let check = GATEWAY.run(&["check", &config, "--offline"]);
    assert_eq!(code(&check), 2);
    let message = stderr(&check);
    assert!(
        message.contains("that is a table of LibreQoS") && message.contains("fairwire-gateway import"),
        "{message}"
    );
}
