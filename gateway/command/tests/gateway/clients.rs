//! Clients of a gateway's socket and metrics.

use super::bed::Bed;
use fairwire_linux::netlink::{Address, LOOPBACK};
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::process::Command;

#[test]
fn one_client_can_neither_lock_the_others_out_nor_keep_the_gateway_from_ending() {
    let Some(bed) = Bed::new("greedy") else { return };
    let config = bed.config("");
    let path = config.to_str().expect("UTF-8");
    let gateway = bed.start(&config);
    let socket = bed.socket_file();
    let connect = || UnixStream::connect(&socket).expect("it listens");
    // There are more idle clients than a gateway accepts at once.
    let silent: Vec<UnixStream> = (0..40).map(|_| connect()).collect();
    for _ in 0..3 {
        let shown = bed.call(&["status", path]);
        assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
    }
    drop(silent);
    let mut hog = connect();
    hog.set_nonblocking(true).expect("a socket can");
    let _ = hog.write(&b"{\"request\":\"reload\"}\n".repeat(9400));
    drop(hog);
    gateway.wait_for("reloaded");
    let (exit, said) = gateway.end();
    assert!(exit.success() && !said.contains("MISSING"), "{exit} {said}");
    // One reload answers about 1000 of the at most 9400 requests, so about 10 reloads suffice.
    let reloads = said.matches("reloaded:").count();
    assert!(reloads < 20, "{reloads} reloads before it ended");
}

fn metrics(bed: &Bed, address: &str, authorization: &str) -> String {
    let script = format!(
        "exec 3<>/dev/tcp/{address}; printf 'GET /metrics HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n{authorization}\\r\\n' >&3; cat <&3"
    );
    let output = bed.output(Command::new("bash").args(["-c", &script]));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn metrics_beyond_loopback_need_the_token() {
    let Some(bed) = Bed::new("token") else { return };
    bed.write("token", "open-sesame-open-7\n");
    let address = Address { ip: [10, 88, 0, 1].into(), prefix_bits: 32 };
    bed.hosts.gateway.add_address(LOOPBACK, address).expect("it is ours");
    let text =
        bed.text().replace("[download]", "metrics = \"10.88.0.1:9820\"\ntoken_file = \"token\"\n[download]");
    let config = bed.write("gateway.toml", &text);
    let missing = bed.write("missing.toml", &text.replace("\"token\"", "\"no-such\""));
    for command in ["check", "run"] {
        let refused = bed.call(&[command, missing.to_str().expect("UTF-8")]);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(refused.status.code() == Some(2) && said.contains("missing.toml:9:14]"), "{command}: {said}");
    }
    let gateway = bed.start(&config);
    let address = "10.88.0.1/9820";
    for none in [
        "",
        "Authorization: Bearer open-sesame-open-8\\r\\n",
        "Authorization: Basic open-sesame-open-7\\r\\n",
    ] {
        let shown = metrics(&bed, address, none);
        assert!(shown.starts_with("HTTP/1.1 401 ") && !shown.contains("fairwire_"), "`{none}`: {shown}");
    }
    let shown = metrics(&bed, address, "Authorization: Bearer open-sesame-open-7\\r\\n");
    assert!(shown.starts_with("HTTP/1.1 200 ") && shown.contains("fairwire_uptime_seconds"), "{shown}");
    assert!(gateway.end().0.success());
}
