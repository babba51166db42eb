//! `fairwire-gateway follow` without a running gateway.

use fairwire_linux::clock;
use fairwire_testing::program::{Running, code, retried, stderr};
use md5::{Digest, Md5};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::UdpSocket;
use std::path::Path;
use std::process::{ChildStderr, Command, Stdio};
use std::time::Duration;

const SECRET: &[u8] = b"testing123";

/// Every fourth subscriber has an address, written as a prefix.
fn tower(folder: &Path, count: usize) -> String {
    let config = folder.join("tower.toml");
    let text = "format = 2\nname = \"follow-test\"\n[wire]\ninside = \"in0\"\noutside = \"out0\"\n\
                [telemetry]\nsocket = \"none.sock\"\n[subscribers]\nfile = \"plans.csv\"\n\
                [download]\nrate = \"1 Gbit/s\"\ndiscipline = \"classful\"\n\
                [upload]\nrate = \"1 Gbit/s\"\ndiscipline = \"classful\"\n[[class]]\nname = \"gold\"\n";
    fs::write(&config, text).expect("the folder is ours");
    let mut plans = "name,mac,addresses,leased,class,download_ceiling,download_burst\n".to_owned();
    for n in 0..count {
        let (high, low) = (n >> 8, n & 255);
        let typed = if n % 4 == 3 { format!("10.9.{high}.{low}/32") } else { String::new() };
        let _ = writeln!(plans, "c{n},,{typed},,,10 Mbit/s,20 Mbit/s for 5 s");
    }
    fs::write(folder.join("plans.csv"), plans).expect("the folder is ours");
    fs::write(folder.join("secret"), SECRET).expect("the folder is ours");
    config.display().to_string()
}

struct Follower {
    child: Running,
    log: BufReader<ChildStderr>,
    socket: UdpSocket,
}

impl Follower {
    fn start(folder: &Path, config: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fairwire-gateway"));
        command.args(["follow", config, "--radius", "127.0.0.1:0", "--secret-file"]);
        command.arg(folder.join("secret")).stderr(Stdio::piped());
        let mut child = Running::start(&mut command).expect("it starts");
        let mut log = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        log.read_line(&mut line).expect("it says where it is");
        let at = line.trim().rsplit(' ').next().expect("an address").to_owned();
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
        fairwire_linux::receive::enlarge_buffer(&socket, 8 << 20);
        socket.connect(at).expect("it is there");
        socket.set_read_timeout(Some(Duration::from_secs(60))).expect("it can");
        Follower { child, log, socket }
    }

    /// Returns the code and number of each answer, and the time until the last one.
    fn answers(&self, requests: &[Vec<u8>]) -> (BTreeSet<(u8, usize)>, Duration) {
        let start = clock::now();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for request in requests {
                    self.socket.send(request).expect("it is there");
                }
            });
            let mut answers = BTreeSet::new();
            let mut datagram = [0; 4096];
            while answers.len() < requests.len() {
                let length = retried(|| self.socket.recv(&mut datagram)).expect("each request is answered");
                assert!(length >= 20);
                // The last attribute, the Proxy-State, is the request's number.
                let number = u32::from_be_bytes(datagram[length - 4..length].try_into().unwrap()) as usize;
                assert!(number < requests.len(), "{number}");
                assert!(answers.insert((datagram[0], number)), "one answer each");
            }
            (answers, Duration::from_nanos(clock::now().since(start).ns()))
        })
    }

    fn log(mut self) -> String {
        let _ = rustix::process::kill_process(
            rustix::process::Pid::from_child(&self.child),
            rustix::process::Signal::TERM,
        );
        let mut log = String::new();
        self.log.read_to_string(&mut log).expect("text");
        assert!(self.child.wait().expect("it ends").success(), "{log}");
        log
    }
}

fn request(code: u8, number: usize, attributes: &[(u8, &[u8])]) -> Vec<u8> {
    let mut packet = vec![code, number as u8, 0, 0];
    packet.extend([0; 16]);
    let number = (number as u32).to_be_bytes();
    for (kind, value) in attributes.iter().copied().chain([(33, &number[..])]) {
        packet.extend([kind, value.len() as u8 + 2]);
        packet.extend(value);
    }
    let length = (packet.len() as u16).to_be_bytes();
    packet[2..4].copy_from_slice(&length);
    let authenticator = Md5::new().chain_update(&packet).chain_update(SECRET).finalize();
    packet[4..20].copy_from_slice(&authenticator);
    packet
}

fn start(number: usize, user: &str, address: [u8; 4]) -> Vec<u8> {
    let session = format!("s{number}");
    let all: [(u8, &[u8]); 5] =
        [(40, &[0, 0, 0, 1]), (1, user.as_bytes()), (32, b"bras"), (44, session.as_bytes()), (8, &address)];
    request(4, number, &all)
}

fn starts(count: usize) -> Vec<Vec<u8>> {
    let start = |n: usize| start(n, &format!("c{}", n / 3 * 4 + n % 3), [10, 1, (n >> 8) as u8, n as u8]);
    (0..count).map(start).collect()
}

#[test]
fn a_burst_of_sessions_with_a_bad_one_is_answered_without_loss() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = tower(folder.path(), 20_000);
    let follower = Follower::start(folder.path(), &config);
    let (_, of_good) = follower.answers(&starts(200));
    let mut some = starts(400).split_off(200);
    for (number, request) in some.iter_mut().enumerate() {
        let n = number + 200;
        // The file gives 10.9.0.7 to `c7`, so request 77 is bad.
        let address = if number == 77 { [10, 9, 0, 7] } else { [10, 1, 1, n as u8] };
        *request = start(number, &format!("c{}", n / 3 * 4 + n % 3), address);
    }
    let (answers, with_bad) = follower.answers(&some);
    assert!(answers.iter().all(|(code, _)| *code == 5));
    // With a separate write, check and reload for each request, `with_bad` was 145 times `of_good`.
    assert!(with_bad < of_good * 10, "{of_good:?} {with_bad:?}");
    let (answers, of_many) = follower.answers(&starts(2000));
    assert_eq!(answers.len(), 2000);
    // An idle core takes 1 s. A reload for each request would take minutes.
    assert!(of_many < Duration::from_secs(30), "{of_many:?}");
    let log = follower.log();
    assert!(log.contains("without 10.9.0.7, which is typed for `c7`"), "{log}");
    let plans = fs::read_to_string(folder.path().join("plans.csv")).expect("it is there");
    let leased = plans.lines().filter(|line| line.contains(",10.1.")).count();
    assert_eq!(leased, 2000);
}

#[test]
fn refused_changes_do_not_affect_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = tower(folder.path(), 100);
    let follower = Follower::start(folder.path(), &config);
    let change = |number: usize, bps: u32| {
        let limit = [&14122_u32.to_be_bytes()[..], &[8, 6], &bps.to_be_bytes()].concat();
        request(43, number, &[(1, format!("c{number}").as_bytes()), (26, &limit)])
    };
    // A ceiling of 30 Mbit/s is invalid: it exceeds the file's burst of 20 Mbit/s.
    let bad = [13, 57];
    let mut requests: Vec<Vec<u8>> =
        (0..60).map(|n| change(n, if bad.contains(&n) { 30_000_000 } else { 5_000_000 })).collect();
    requests.push(start(60, "c60", [10, 1, 0, 60]));
    let (answers, _) = follower.answers(&requests);
    for (code, number) in answers {
        let expected = match number {
            60 => 5,
            bad_one if bad.contains(&bad_one) => 45,
            _ => 44,
        };
        assert_eq!(code, expected, "{number}");
    }
    let plans = fs::read_to_string(folder.path().join("plans.csv")).expect("it is there");
    assert_eq!(plans.matches(",5 Mbit/s,").count(), 58);
    assert!(plans.contains("10.1.0.60"), "{plans}");

    fs::write(folder.path().join("plans.csv"), plans + "c1,,,,,,\n").expect("ours");
    let (answers, _) = follower.answers(&(0..50).map(|n| change(n, 6_000_000)).collect::<Vec<_>>());
    assert!(answers.iter().all(|(code, _)| *code == 45));
    let log = follower.log();
    assert_eq!(log.matches("the subscribers stay as they are").count(), 2 + 1, "{log}");
}

#[test]
fn contradictory_lease_files_cost_only_the_affected_address() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = tower(folder.path(), 0);
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("ours");
    write(
        "plans.csv",
        "name,mac,addresses,leased\nann,02:00:00:00:00:01,,\nbob,02:00:00:00:00:02,10.0.0.3/32,\n\
         eve,02:00:00:00:00:03,,\n",
    );
    write("a", "0 02:00:00:00:00:01 10.0.0.7 x *\n0 02:00:00:00:00:01 10.0.0.8 x *\nwhat\n");
    write(
        "b",
        "0 02:00:00:00:00:02 10.0.0.7 x *\n0 02:00:00:00:00:03 10.0.0.3 x *\n0 02:00:00:00:00:03 10.0.0.9 x *\n",
    );
    let [a, b] = ["a", "b"].map(|name| folder.path().join(name).display().to_string());
    let follow = ["follow", &config, "--leases", &a, "--leases", &b, "--once"];
    let output = super::GATEWAY.run(&follow);
    let log = stderr(&output);
    assert_eq!(code(&output), 0, "{log}");
    for part in [
        &format!("left out: 10.0.0.7 is leased to 02:00:00:00:00:01 ({a}:1) and 02:00:00:00:00:02 ({b}:1)"),
        &format!("left out: {b}:2: 10.0.0.3 of `eve`, since it is typed for `bob`"),
        &format!("left out: {a}: line 3 is `what`"),
    ] {
        assert!(log.contains(part.as_str()), "no `{part}` in: {log}");
    }
    let plans = fs::read_to_string(folder.path().join("plans.csv")).expect("it is there");
    assert!(plans.contains("01,,10.0.0.8\n") && plans.contains("03,,10.0.0.9\n"), "{plans}");
    write("b", "[section]\n");
    let output = super::GATEWAY.run(&follow);
    assert_eq!(code(&output), 2);
    assert_eq!(fs::read_to_string(folder.path().join("plans.csv")).expect("it is there"), plans);
}
