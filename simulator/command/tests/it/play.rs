//! The playground's server.

use crate::common;

use common::{Contest, SCENARIO, code, fairwire, run, stderr};
use fairwire_testing::program::Running;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;

struct Server {
    _process: Running,
    address: String,
}

impl Server {
    fn start(scenario: &str) -> Self {
        let mut command = fairwire();
        command.args(["play", scenario, "--port", "0", "--no-open"]).stdout(Stdio::piped());
        let mut process = Running::start(&mut command).expect("the command was built");
        let mut line = String::new();
        let output = process.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(&mut line).expect("it prints its address");
        let address = line.split("http://").nth(1).and_then(|rest| rest.split('/').next());
        Server { address: address.expect(&line).to_owned(), _process: process }
    }

    fn answer(&self, request: &str, headers: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let length = body.len();
        let text = format!(
            "{request} HTTP/1.1\r\n{headers}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(text.as_bytes()).expect("it reads");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("it answers");
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        (status.expect(&answer), body.to_owned())
    }
}

#[test]
fn only_pages_of_this_machine_get_the_page_and_its_player() {
    let contest = Contest::of(SCENARIO);
    let server = Server::start(&contest.file());
    let ours = format!("Host: {}\r\n", server.address);
    let (status, page) = server.answer("GET /", &ours, "");
    assert_eq!(status, 200);
    assert!(page.contains("<title>fairwire play</title>"), "{page}");
    let (status, about) = server.answer("GET /server.json", &ours, "");
    assert_eq!(status, 200);
    assert!(about.contains(r#""hasPlayer":true"#) && about.contains("format = 2"), "{about}");
    let (status, catalogue) = server.answer("POST /player/a/catalogue", &ours, "");
    assert!(status == 200 && catalogue.contains("faba"));
    let (status, refused) = server.answer("POST /player/a/advance", &ours, r#"{"to_s": 1}"#);
    assert!(status == 422 && refused.contains("`start` comes first"), "{refused}");

    let foreign = "Host: example.org\r\n".to_owned();
    assert_eq!(server.answer("GET /server.json", &foreign, "").0, 421);
    let page_of_another_site = format!("{ours}Origin: http://example.org\r\n");
    assert_eq!(server.answer("POST /player/a/catalogue", &page_of_another_site, "").0, 403);
}

#[test]
fn a_contest_the_kernel_cannot_run_is_refused_and_the_page_continues() {
    let contest = Contest::of(SCENARIO);
    let server = Server::start(&contest.file());
    let ours = format!("Host: {}\r\n", server.address);
    let (status, why) = server.answer("POST /kernel", &ours, "format = 2\nname = \"x");
    assert_eq!(status, 422);
    assert!(why.contains("contest.toml:2") && !why.contains("/contest.toml"), "{why}");
    assert_eq!(server.answer("GET /", &ours, "").0, 200);
}

#[test]
fn a_used_port_and_a_bad_scenario_end_with_exit_code_2() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = taken.local_addr().expect("it is bound").port().to_string();
    let output = run(&["play", "--port", &port, "--no-open"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("another program listens there"), "{}", stderr(&output));

    let output = run(&["play", "there-is-none.toml", "--no-open", "--port", "0"]);
    assert_eq!(code(&output), 2);
    let many = Contest::of(&SCENARIO.replace("count = 3", "count = 2000"));
    let output = run(&["play", &many.file(), "--no-open", "--port", "0"]);
    assert_eq!(code(&output), 2, "{}", stderr(&output));
    assert!(stderr(&output).contains("at most 300"), "{}", stderr(&output));
}
