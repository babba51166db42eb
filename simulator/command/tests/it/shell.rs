//! Runs commands behind a link. A relay connects them to this process, so the tests leave the
//! machine's network unchanged.

#![allow(clippy::disallowed_methods, reason = "a real link takes real time")]

use crate::common::{code, fairwire, stderr, stdout};
use fairwire_testing::program::Running;
use fairwire_testing::skipped;
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use std::{fs, thread};

fn shell(args: &[&str]) -> Option<Output> {
    let output = fairwire().args(["lab", "shell", "--outside", "relay"]).args(args).output();
    let output = output.expect("the binary starts");
    if stderr(&output).contains("may not make network namespaces") {
        skipped("a shell behind a link: no right to make namespaces");
        return None;
    }
    Some(output)
}

fn service(bytes: usize) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = listener.local_addr().expect("it is bound").port();
    thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            thread::spawn(move || {
                let _ = connection.write_all(&vec![b'x'; bytes]);
                let _ = connection.shutdown(std::net::Shutdown::Write);
                let _ = connection.read_to_end(&mut Vec::new());
            });
        }
    });
    port
}

fn fetch(port: u16) -> String {
    format!("exec 3<>/dev/tcp/100.64.0.1/{port} && cat <&3 | wc -c")
}

#[test]
fn the_exit_code_is_the_commands_own() {
    let cases: [(&[&str], i32); 4] = [
        (&["--", "true"], 0),
        (&["--", "sh", "-c", "exit 7"], 7),
        (&["--", "sh", "-c", "kill -KILL $$"], 137),
        (&["--", "no-such-program-at-all"], 2),
    ];
    for (args, expected) in cases {
        let Some(output) = shell(args) else { return };
        assert_eq!(code(&output), expected, "{args:?}: {}", stderr(&output));
    }
    let mut command = fairwire();
    command.args(["lab", "shell", "--outside", "relay"]).env("SHELL", "/bin/sh").stdin(Stdio::null());
    assert_eq!(code(&command.output().expect("the binary starts")), 0);
}

#[test]
fn a_service_of_this_machine_is_reached_at_most_at_the_rate_of_the_link() {
    let port = service(300_000);
    let begun = Instant::now();
    let args = ["--rate", "2 Mbit/s", "--delay", "20 ms", "--", "bash", "-c", &fetch(port)];
    let Some(output) = shell(&args) else { return };
    assert_eq!(stdout(&output).trim(), "300000", "{}", stderr(&output));
    // At 2 Mbit/s, 300 000 B of data and 208 headers of 52 B take 1.24 s, even without round trips.
    assert!(begun.elapsed() >= Duration::from_millis(1240), "{:?}", begun.elapsed());
}

#[test]
fn a_closed_port_is_refused_and_lost_packets_are_retransmitted() {
    let closed = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let closed = closed.expect("a port is free").port();
    let Some(output) = shell(&["--", "bash", "-c", &fetch(closed)]) else { return };
    assert_ne!(stdout(&output).trim(), "300000");
    let port = service(100_000);
    let args = ["--discipline", "fq-codel", "--buffer", "10 packets", "--", "bash", "-c", &fetch(port)];
    let Some(output) = shell(&args) else { return };
    assert_eq!(stdout(&output).trim(), "100000", "{}", stderr(&output));
}

#[test]
fn a_nested_shell_passes_both_links_and_leaves_the_outer_one_unchanged() {
    let port = service(50_000);
    let inner = format!(
        "exec {} -q lab shell --outside machine --delay '30 ms' -- bash -c '{}'",
        env!("CARGO_BIN_EXE_fairwire"),
        fetch(port)
    );
    let script = format!(
        "before=$(cat /proc/net/dev | cut -d: -f1); (time -p bash -c \"{}\") 2>&1; \
         after=$(cat /proc/net/dev | cut -d: -f1); [ \"$before\" = \"$after\" ] && echo as before",
        inner.replace('"', "\\\"")
    );
    let Some(output) = shell(&["--rate", "50 Mbit/s", "--delay", "10 ms", "--", "bash", "-c", &script])
    else {
        return;
    };
    let text = stdout(&output);
    if text.contains("nf_tables") || stderr(&output).contains("nftables") {
        return skipped(format_args!("a shell within a shell: {text} {}", stderr(&output)));
    }
    assert!(text.contains("50000") && text.contains("as before"), "{text} {}", stderr(&output));
    let real = text.lines().find_map(|line| line.strip_prefix("real ")).expect("the time");
    // At least three round trips of 2 × (10 + 30) ms through both links.
    assert!(real.trim().parse::<f64>().expect("seconds") >= 0.24, "{real}");
}

fn below(root: u32) -> BTreeSet<u32> {
    let parent = |id: u32| -> Option<u32> {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    };
    let all: Vec<(u32, u32)> = fs::read_dir("/proc")
        .expect("it is there")
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|id| Some((id, parent(id)?)))
        .collect();
    let mut found = BTreeSet::from([root]);
    while let Some((id, _)) = all.iter().find(|(id, parent)| found.contains(parent) && !found.contains(id)) {
        found.insert(*id);
    }
    found.remove(&root);
    found
}

fn is_there(id: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

#[test]
fn a_killed_shell_leaves_nothing_behind() {
    if shell(&["--", "true"]).is_none() {
        return;
    }
    let mut command = fairwire();
    command.args(["lab", "shell", "--outside", "relay", "--", "sh", "-c", "sleep 1000 & sleep 1001; true"]);
    let mut child = Running::start(command.stderr(Stdio::null())).expect("the binary starts");
    let until = Instant::now() + Duration::from_secs(20);
    // Four processes: the first process of the namespace, its shell, and two sleepers.
    let mut started = BTreeSet::new();
    while started.len() < 4 && Instant::now() < until {
        started = below(child.id());
        thread::yield_now();
    }
    assert!(started.len() >= 4, "{started:?}");
    child.kill().expect("it runs");
    child.wait().expect("it was killed");
    while started.iter().any(|id| is_there(*id)) && Instant::now() < until {
        thread::yield_now();
    }
    let left: Vec<&u32> = started.iter().filter(|id| is_there(**id)).collect();
    assert!(left.is_empty(), "{left:?} of {started:?}");
    let sockets = fs::read_to_string("/proc/net/unix").expect("it is there");
    assert!(!sockets.contains(&format!("fairwire-lab-shell-{}", child.id())));
}

#[test]
fn a_request_to_end_ends_the_command_with_its_signal_number() {
    if shell(&["--", "true"]).is_none() {
        return;
    }
    let mut command = fairwire();
    command.args(["lab", "shell", "--outside", "relay", "--", "sh", "-c", "echo up; sleep 1000"]);
    let mut child = Running::start(command.stdout(Stdio::piped())).expect("the binary starts");
    let mut line = [0; 3];
    child.stdout.as_mut().expect("it is a pipe").read_exact(&mut line).expect("it says so");
    let ended = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(ended.expect("kill is there").success());
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), Some(143), "128 and the number of SIGTERM");
}

fn listener() -> (u16, Receiver<TcpStream>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = listener.local_addr().expect("it is bound").port();
    let (sender, connections) = channel();
    thread::spawn(move || listener.incoming().flatten().try_for_each(|one| sender.send(one)));
    (port, connections)
}

#[test]
fn sent_data_arrives_after_the_command_has_ended() {
    let (port, connections) = listener();
    let send = format!("head -c 200000 /dev/zero > /dev/tcp/100.64.0.1/{port}");
    let args = ["--rate", "2 Mbit/s", "--delay", "50 ms", "--", "bash", "-c", &send];
    // A separate thread reads the connection, because `fairwire` runs until all data has arrived.
    let read = thread::spawn(move || {
        let mut bytes = Vec::new();
        connections.recv().ok().map(|mut connection| connection.read_to_end(&mut bytes).map_err(|e| e.kind()))
    });
    let Some(output) = shell(&args) else { return };
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(read.join().expect("it does not panic"), Some(Ok(200_000)), "{}", stderr(&output));
}

#[test]
fn unfinished_connections_are_reset_and_a_second_signal_ends_at_once() {
    if shell(&["--", "true"]).is_none() {
        return;
    }
    let (port, connections) = listener();
    let send = format!("head -c 50000000 /dev/zero > /dev/tcp/100.64.0.1/{port}");
    let mut command = fairwire();
    command.args(["lab", "shell", "--outside", "relay", "--rate", "1 Gbit/s", "--", "bash", "-c", &send]);
    let mut child = Running::start(command.stderr(Stdio::piped())).expect("the binary starts");
    let mut connection = connections.recv().expect("the command connects");
    // The test reads only one mebibyte before `fairwire` ends. So the buffers along the path stay
    // full, and some data is not delivered.
    connection.read_exact(&mut vec![0; 1 << 20]).expect("it has come");
    let status = ended_by_signals(&mut child);
    assert_eq!(status, Some(143), "128 and the number of SIGTERM");
    let mut said = String::new();
    child.stderr.take().expect("it is a pipe").read_to_string(&mut said).expect("it is text");
    assert!(said.contains("not all that it sent has arrived"), "{said}");
    let rest = connection.read_to_end(&mut Vec::new()).map_err(|error| error.kind());
    assert_eq!(rest, Err(std::io::ErrorKind::ConnectionReset));
}

/// Sends SIGTERM until the child ends, because a signal is lost if the previous one is not handled
/// yet.
fn ended_by_signals(child: &mut Child) -> Option<i32> {
    let until = Instant::now() + Duration::from_secs(8); // less than its own patience
    loop {
        let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
        assert!(sent.expect("kill is there").success() && Instant::now() < until);
        if let Some(status) = child.try_wait().expect("it is ours") {
            return status.code();
        }
        thread::sleep(Duration::from_millis(100));
    }
}
