//! The recipes of docs/gateway, exactly as written, in namespaces.

use super::bed::{Bed, INSIDE};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{fs, thread};

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/gateway").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn configuration(bed: &Bed, name: &str) -> PathBuf {
    let own = format!("name = \"{}\"", bed.name);
    let text = page(&format!("{name}.toml")).replace(&format!("name = \"{name}\""), &own);
    let text = text.replace("\"in0\"", "\"g1\"").replace("\"out0\"", "\"g0\"");
    bed.write(&format!("{name}.toml"), &text)
}

fn class<'a>(status: &'a serde_json::Value, way: usize, name: &str) -> &'a serde_json::Value {
    let classes = status["ways"][way]["classes"].as_array().expect("a list");
    classes
        .iter()
        .find(|class| class["class"] == name)
        .unwrap_or_else(|| panic!("no `{name}` in {classes:?}"))
}

#[test]
fn the_recipe_of_a_tower_with_a_thousand_plans_works() {
    let Some(bed) = Bed::new("tower") else { return };
    let text = page("tower.md");
    let command = text
        .split("```sh")
        .filter_map(|block| block.split_once('\n')?.1.split("```").next())
        .find(|block| block.contains("> plans.csv"))
        .expect("it makes plans");
    let config = configuration(&bed, "tower");
    let folder = config.parent().expect("a folder");
    let made = Command::new("sh").args(["-c", command]).current_dir(folder).status().expect("sh runs");
    assert!(made.success());
    let path = config.to_str().expect("UTF-8");
    let plans = fs::read_to_string(folder.join("plans.csv")).expect("it was made");
    assert_eq!(plans.lines().count(), 1001, "{plans}");
    bed.write("plans.csv", &plans.replacen("10.64.0.0/29", &INSIDE.to_string(), 1));
    let check = bed.call(&["check", path]);
    let said = String::from_utf8_lossy(&check.stdout);
    assert!(check.status.success() && said.contains("1000 subscribers"), "{said}");
    let gateway = bed.start(&config);
    let hosts = bed.hosts();
    hosts.wait_until_it_passes();
    thread::sleep(Duration::from_millis(1200)); // classes are copied twice a second
    let status = bed.call(&["status", path, "--classes", "--format", "json"]);
    let status = serde_json::from_slice(&status.stdout).expect("JSON");
    assert_eq!(class(&status, 0, "customer 0")["parent"], "north");
    assert!(class(&status, 0, "customer 0")["bytes_out"].as_u64() > Some(0));
    assert_eq!(class(&status, 0, "customer 1")["bytes_out"], 0);
    let done = |command: &[&str]| {
        let output = bed.call(command);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    done(&["set-weight", path, "customer 0", "7"]);
    done(&["set-rate", path, "download", "900 Mbit/s"]);
    done(&["subscriber", "suspend", path, "customer 0"]);
    done(&["subscriber", "resume", path, "customer 0"]);
    let said = done(&["subscriber", "set", path, "customer 1", "download_ceiling=30 Mbit/s"]);
    assert!(said.contains("other values: customer 1\n0 packets that waited"), "no other tree: {said}");
    let said = done(&["subscriber", "set", path, "customer 1", "class=west", "addresses=10.99.0.0/29"]);
    assert!(said.contains("other values: customer 1\n"), "{said}");
    thread::sleep(Duration::from_millis(1200)); // classes are copied twice a second
    let status = bed.call(&["status", path, "--classes", "--format", "json"]);
    let status: serde_json::Value = serde_json::from_slice(&status.stdout).expect("JSON");
    assert_eq!(class(&status, 0, "customer 1")["parent"], "west");
    let said = done(&["reload", path]);
    assert!(!said.contains("customer 1") && !said.contains("addresses"), "it has read them: {said}");
    done(&["set-weight", path, "customer 0", "7"]);
    done(&["set-rate", path, "download", "900 Mbit/s"]);
    hosts.wait_until_it_passes();
    let set = || {
        thread::sleep(Duration::from_millis(200)); // a rebuilt tree must be copied first
        let status = bed.call(&["status", path, "--classes", "--format", "json"]);
        let status: serde_json::Value = serde_json::from_slice(&status.stdout).expect("JSON");
        (class(&status, 0, "customer 0")["weight"].clone(), status["ways"][0]["rate_bps"].clone())
    };
    assert_eq!(set(), (7.0.into(), 900_000_000.into()), "changes of others keep what was set");
    let said = done(&["reload", path]);
    assert!(said.contains("weight of customer 0: what the file says, again"), "{said}");
    assert!(said.contains("rate of download: what the file says, again"), "{said}");
    assert_eq!(set(), (4.0.into(), 950_000_000.into()));
    let (exit, said) = gateway.end();
    assert!(exit.success() && !said.contains("MISSING"), "{said}");
}

#[test]
fn the_recipe_of_a_campus_works() {
    let Some(bed) = Bed::new("campus") else { return };
    let config = configuration(&bed, "campus");
    let path = config.to_str().expect("UTF-8");
    let check = bed.call(&["check", path]);
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stderr));
    let gateway = bed.start(&config);
    let hosts = bed.hosts();
    hosts.wait_until_it_passes();
    let set = bed.call(&["set-weight", path, "students", "8"]);
    assert!(set.status.success(), "{}", String::from_utf8_lossy(&set.stderr));
    let status = bed.call(&["status", path, "--classes", "--format", "json"]);
    let status = serde_json::from_slice(&status.stdout).expect("JSON");
    assert_eq!(class(&status, 0, "students")["weight"], 8.0);
    let (exit, said) = gateway.end();
    assert!(exit.success(), "{said}");
}
