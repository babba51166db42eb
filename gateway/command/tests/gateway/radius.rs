//! Leases from a file, and RADIUS requests that FreeRADIUS's client sends: reports of sessions, and
//! changes of subscribers.

use super::bed::Bed;
use fairwire_service::config::table;
use fairwire_testing::program::Running;
use std::io::Write;
use std::process::{Command, Stdio};

fn send(bed: &Bed, at: &str, kind: &str, secret: &str, attributes: &str) -> String {
    let mut command = Command::new("radclient");
    command.args(["-x", "-r", "1", "-t", "3", at, kind, secret]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut client = bed.hosts.gateway.started(|| Running::start(&mut command)).expect("it starts");
    let mut input = client.stdin.take().expect("a pipe");
    input.write_all(attributes.as_bytes()).expect("it reads");
    drop(input);
    let output = client.output();
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

#[test]
fn sessions_and_changes_reach_the_subscriber_file_and_the_gateway() {
    let Some(bed) = Bed::new("radius") else { return };
    if Command::new("radclient").arg("-v").output().is_err() {
        let mut stderr = std::io::stderr();
        let _ =
            writeln!(stderr, "SKIPPED: radclient is missing; on Debian: apt-get install freeradius-utils");
        return;
    }
    let people = bed.write("people.csv", "name,mac\nann,02:00:00:00:77:09\nbob,\n");
    let text = bed.text().replace(
        "[download]",
        "[subscribers]\nfile = \"people.csv\"\n[[class]]\nname = \"gold\"\n[download]",
    );
    let config = bed.write("gateway.toml", &text.replace("faba", "hfaba"));
    let secret = bed.write("secret", "testing123\n");
    let path = config.to_str().expect("UTF-8");
    let gateway = bed.start(&config);
    let follow = ["follow", path, "--radius", "127.0.0.1:0", "--secret-file"];
    let follower = bed.begin(&[&follow[..], &[secret.to_str().expect("UTF-8")]].concat());
    let line = follower.wait_for("RADIUS requests are answered at");
    let at = line.rsplit(' ').next().expect("an address");
    let send = |kind, secret, attributes: &str| send(&bed, at, kind, secret, attributes);
    let there = || table(&people).and_then(|table| table.merged()).expect("it is there").0;

    let session = "NAS-Identifier=bras1\nAcct-Session-Id=s1\nFramed-IP-Address=10.10.0.2\n";
    let said = send("acct", "testing123", &format!("Acct-Status-Type=Start\nUser-Name=bob\n{session}"));
    assert!(said.contains("Received Accounting-Response"), "{said}");
    assert_eq!(there(), "name,mac,leased\nann,02:00:00:00:77:09,\nbob,,10.10.0.2\n");
    follower.wait_for("bob: 10.10.0.2");
    let reloads = || bed.status(&config)["reloads"].clone();
    assert_eq!(reloads(), 1);

    let said = send("acct", "wrong", &format!("Acct-Status-Type=Stop\nUser-Name=bob\n{session}"));
    assert!(said.contains("No reply"), "{said}");
    follower.wait_for("which has another secret");
    assert!(there().contains("10.10.0.2"), "who does not know the secret changes nothing");

    let said = send("coa", "testing123", "User-Name=ann\nFilter-Id=gold\nWISPr-Bandwidth-Max-Down=5000000\n");
    assert!(said.contains("CoA-NAK") && said.contains("Invalid-Attribute-Value"), "{said}");
    let said = send(
        "coa",
        "testing123",
        "Calling-Station-Id=02-00-00-00-77-09\nFilter-Id=gold\nMessage-Authenticator=0x00\n",
    );
    assert!(said.contains("Received CoA-ACK"), "{said}");
    assert!(there().contains("ann,02:00:00:00:77:09,,gold,no\n"), "{}", there());
    let said = send("coa", "testing123", "User-Name=eve\nFilter-Id=gold\n");
    assert!(said.contains("CoA-NAK") && said.contains("Session-Context-Not-Found"), "{said}");
    let said = send("coa", "testing123", "User-Name=ann\nFilter-Id=none\n");
    assert!(said.contains("CoA-NAK") && said.contains("Invalid-Attribute-Value"), "{said}");

    let said = send("acct", "testing123", "Acct-Status-Type=Accounting-On\nNAS-Identifier=bras1\n");
    assert!(said.contains("Received Accounting-Response"), "{said}");
    assert!(there().contains("\nbob,,,,\n"), "{}", there());
    let said = send("disconnect", "testing123", "User-Name=bob\n");
    assert!(said.contains("Received Disconnect-ACK"), "{said}");
    assert_eq!(reloads(), 3, "what changes nothing is no reload");
    let (exit, said) = follower.end();
    assert!(exit.success(), "{said}");
    let (exit, said) = gateway.end();
    assert!(exit.success(), "{said}");
}

#[test]
fn left_out_leases_are_in_the_status_until_they_are_resolved() {
    let Some(bed) = Bed::new("leases") else { return };
    bed.write("people.csv", "name,mac\nann,02:00:00:00:77:09\nbob,02:00:00:00:77:0a\n");
    let text = bed.text().replace("[download]", "[subscribers]\nfile = \"people.csv\"\n[download]");
    let config = bed.write("gateway.toml", &text.replace("faba", "hfaba"));
    let of_both = "0 02:00:00:00:77:09 10.10.0.7 x *\n0 02:00:00:00:77:0a 10.10.0.7 x *\n";
    let leases = bed.write("leases", of_both);
    let [path, leases] = [&config, &leases].map(|path| path.to_str().expect("UTF-8"));
    let gateway = bed.start(&config);
    let left_out = |text: &str| {
        std::fs::write(leases, text).expect("the folder is ours");
        let followed = bed.call(&["follow", path, "--leases", leases, "--once"]);
        assert!(followed.status.success(), "{}", String::from_utf8_lossy(&followed.stderr));
        bed.status(&config)["left_out"].clone()
    };
    let [first] = left_out(of_both).as_array().expect("a list").clone().try_into().expect("one line");
    assert!(
        first.as_str().expect("text").starts_with("10.10.0.7 is leased to 02:00:00:00:77:09 ("),
        "{first}"
    );
    let shown = bed.call(&["status", path]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("\nLeft out of the subscribers:\n10.10.0.7 is"));
    assert_eq!(left_out("0 02:00:00:00:77:09 10.10.0.7 x *\n"), serde_json::json!([]));
    let (exit, said) = gateway.end();
    assert!(exit.success(), "{said}");
}
