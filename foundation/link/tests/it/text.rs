//! Links from a text, and messages in pieces.

use fairwire_link::{Cause, Ecn, Joiner, Link, Piece, cut};
use std::time::Duration;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn all_keys() -> String {
    let list = "steps = [['1 s', '4 Mbit/s']]\noutages = [['5 s', '1 s']]\nreorder = [0.1, '2 ms']";
    let jitter = "normal_jitter = ['1 ms', '200 us', 0.5]\nduplicate = 0.1\nkeep_lost = true";
    let rest = "mark_ecn = true\nbuffer = '40 packets'\nmtu = 1200\ndevice = 2\nseed = 7\nname = 'up'";
    format!("rate = '8 Mbit/s'\ndelay = '10 ms'\n{list}\n{jitter}\n{rest}\n[queue.red]\nweight = 0.1\n")
}

fn run(mut link: Link<u32>) -> Vec<(u32, Duration, Option<Cause>)> {
    let mut all = Vec::new();
    for n in 0..2000 {
        link.send(n, 1000, 1, Ecn::Ect0, ms(n.into())).unwrap();
        all.extend(std::iter::from_fn(|| link.receive(ms(n.into()))));
    }
    all.into_iter().map(|arrival| (arrival.payload, arrival.arrived, arrival.mark)).collect()
}

#[test]
fn a_text_describes_the_link_that_the_methods_do() {
    let methods = Link::new("8 Mbit/s", "10 ms").queue("{ red = { weight = 0.1 } }").mark_ecn();
    let methods = methods.buffer("40 packets").mtu(1200).device(2).seed(7).name("up").keep_lost();
    let methods = methods.steps([("1 s", "4 Mbit/s")]).outages([("5 s", "1 s")]).reorder(0.1, "2 ms");
    let methods = methods.normal_jitter("1 ms", "200 us", 0.5).duplicate(0.1).build().unwrap();
    let toml = Link::from_text(&all_keys()).unwrap().build().unwrap();
    let value: serde_json::Value = toml::from_str(&all_keys()).unwrap();
    let json = Link::from_text(&value.to_string()).unwrap().build().unwrap();
    let expected = run(methods);
    let count = |cause| expected.iter().filter(|(_, _, mark)| *mark == cause).count();
    assert!(count(Some(Cause::Early)) > 0, "4 Mbit/s for 8 fill it");
    assert!(expected.iter().any(|(_, _, mark)| mark.is_none()));
    assert_eq!(run(toml), expected);
    assert_eq!(run(json), expected);
}

#[test]
fn a_wrong_text_is_refused_with_its_line() {
    let refused = |text: &str| match Link::<u32>::from_text(text).and_then(|link| link.build()) {
        Ok(_) => panic!("taken: {text}"),
        Err(bad) => bad.to_string(),
    };
    let start = "rate = '8 Mbit/s'\ndelay = '10 ms'\n";
    for (text, expected) in [
        (String::new(), "missing field `rate`"),
        ("rate = 5\n".into(), "at line 1"),
        (format!("{start}los = 1\n"), "unknown field `los`"),
        (format!("{start}los = 1\n"), "at line 3"),
        (format!("{start}loss = 'all'\n"), "allowed: a probability, or"),
        (format!("{start}loss = 2\n"), "`loss` of the link: 2 is no probability"),
        (format!("{start}queue = 'drr+lqdd'\n"), "drr+lqd"),
        (format!("{start}[queue.red]\ngentel = true\n"), "gentle"),
        ("{ \"rate\": 5 }".into(), "at line 1 column"),
        ("{".into(), "EOF"),
        ("\u{0}garbage".into(), "at line 1"),
    ] {
        let said = refused(&text);
        assert!(said.contains(expected), "{text:?}: {said}");
    }
}

#[test]
fn a_message_is_joined_once_when_its_last_piece_arrives() {
    for (bytes, header, sizes) in
        [(1, 0, vec![1]), (1000, 40, vec![1040]), (1461, 40, vec![1500, 41]), (4500, 0, vec![1500; 3])]
    {
        let pieces: Vec<_> = cut("m", 9, bytes, header, 1500).unwrap().collect();
        assert_eq!(pieces.iter().map(|(_, bytes)| *bytes).collect::<Vec<_>>(), sizes);
        let mut joiner = Joiner::new();
        let twice = pieces.iter().rev().chain(&pieces).map(|(piece, _)| piece.clone());
        let whole: Vec<_> = twice.map(|piece| joiner.join(piece)).collect();
        assert_eq!(whole.iter().position(Option::is_some), Some(pieces.len() - 1));
        assert_eq!(whole.iter().flatten().count(), 1, "{bytes}");
        assert_eq!(joiner.incomplete().count(), 0);
    }
    for (bytes, header, mtu) in [(0, 0, 1500), (10, 1500, 1500), (10, 2000, 1500), (usize::MAX, 0, 1)] {
        let refused = cut("m", 1, bytes, header, mtu).unwrap_err();
        assert_eq!((refused.payload, refused.bytes, refused.mtu), ("m", bytes, mtu));
    }
}

#[test]
fn a_message_that_lost_a_piece_is_incomplete_until_it_is_forgotten() {
    let mut link = Link::<Piece<u64>>::new("8 Mbit/s", "1 ms").buffer("30 packets").build().unwrap();
    let mut joiner = Joiner::new();
    for message in 0..3 {
        for (piece, bytes) in cut(message, message, 20_000, 0, 1000).unwrap() {
            link.send(piece, bytes, message, Ecn::NotEct, ms(0)).unwrap();
        }
    }
    let whole: Vec<_> = std::iter::from_fn(|| link.receive(ms(500)))
        .filter_map(|arrival| joiner.join(arrival.payload))
        .collect();
    assert_eq!(whole, [0], "31 of 60 pieces fit: 20 and 11");
    assert_eq!(joiner.incomplete().collect::<Vec<_>>(), [1]);
    joiner.forget_below(2);
    assert_eq!(joiner.incomplete().count(), 0);
}
