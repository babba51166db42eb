//! What may be typed for these disciplines, and what is refused.

use super::site;
use fairwire_catalogue::{BuildError, Parameters, build};
use fairwire_core::{Duration, EcnPolicy};
use fairwire_laws::Site;
use fairwire_laws::compose::{cake_like, dual_pi2, fq_codel};
use fairwire_laws::dropper::{codel, pie};

fn refused(name: &str, typed: &str) -> (String, String) {
    let parameters: Parameters = toml::from_str(&format!("[{name}]\n{typed}")).expect("well-formed");
    match build(name, &parameters, &site(100)) {
        Err(BuildError::Parameter(bad)) => {
            assert_eq!(bad.discipline, name);
            (bad.parameter.to_string(), bad.to_string())
        }
        Err(other) => panic!("{name}: {typed}: {other}"),
        Ok(_) => panic!("{name}: {typed} was allowed"),
    }
}

#[test]
fn a_bad_parameter_is_refused_by_its_own_name() {
    for (name, typed, parameter) in [
        ("codel", "target = '0 ms'", "target"),
        ("codel", "interval = '2 h'", "interval"),
        ("codel", "mtu = '2 GiB'", "mtu"),
        ("codel", "ce_threshold = '1 ns'", "ce_threshold"),
        ("codel", "scheduler = { fcfs = { queues = 0 } }", "scheduler.fcfs.queues"),
        ("pie", "update = '0 ms'", "update"),
        ("pie", "alpha = -1", "alpha"),
        ("pie", "beta = nan", "beta"),
        ("pie", "mark_limit = 1.5", "mark_limit"),
        ("pie", "max_burst = '2 h'", "max_burst"),
        ("cobalt", "increase = 2", "increase"),
        ("cobalt", "decrease = -0.1", "decrease"),
        ("fq-codel", "queues = 0", "queues"),
        ("fq-codel", "queues = 65537", "queues"),
        ("fq-codel", "quantum = '255 B'", "quantum"),
        ("fq-codel", "batch = 0", "batch"),
        ("fq-pie", "quantum = '2 MiB'", "quantum"),
        ("fq-pie", "target = '0 ms'", "target"),
        ("cake-like", "queues = 9", "queues"),
        ("cake-like", "interval = '0 ms'", "interval"),
        ("dualpi2", "coupling = 0", "coupling"),
        ("dualpi2", "classic_share = 0", "classic_share"),
        ("dualpi2", "classic_share = 1.1", "classic_share"),
        ("dualpi2", "rtt_max = '0 ms'", "rtt_max"),
        ("dualpi2", "ramp = '2 h'", "ramp"),
    ] {
        let (found, message) = refused(name, typed);
        assert_eq!(found, parameter, "{name}: {typed}");
        assert!(message.contains("allowed: "), "{message}");
    }
}

#[test]
fn the_defaults_are_those_of_the_rfcs() {
    let codel = codel::Spec::default().check(&site(100)).expect("allowed").terms;
    assert_eq!(
        (codel.target, codel.interval, codel.mtu),
        (Duration::from_ms(5), Duration::from_ms(100), 1514)
    );
    assert_eq!(codel.ecn, EcnPolicy::Drop);
    let pie = pie::Spec::default().check(&site(100)).expect("allowed").terms;
    assert_eq!(
        (pie.target, pie.update, pie.max_burst),
        (Duration::from_ms(15), Duration::from_ms(15), Duration::from_ms(150))
    );
    assert_eq!((pie.alpha, pie.beta, pie.mark_limit), (0.125, 1.25, 0.1));
    let fq = fq_codel::Spec::default().check(&site(100)).expect("allowed");
    assert_eq!((fq.queues, fq.quantum, fq.batch), (1024, 1514, 64));
    assert_eq!(fq.limit.max_packets(), 100, "the site's buffer");
    assert_eq!(cake_like::Spec::default().check(&site(100)).expect("allowed").queues, 1024);
    let dual = dual_pi2::Spec::default().check(&site(100)).expect("allowed");
    assert_eq!(
        (dual.target, dual.update, dual.coupling),
        (Duration::from_ms(15), Duration::from_ms(15), 2.0)
    );
    // 0.1 x 0.015 / 0.1^2 and 0.3 / 0.1, to the last place or so.
    assert!((dual.alpha - 0.15).abs() < 1e-12 && (dual.beta - 3.0).abs() < 1e-12, "{dual:?}");
    assert_eq!(dual.ecn, EcnPolicy::Mark);
}

#[test]
fn a_long_typical_packet_lengthens_the_quantum_and_the_mtu() {
    let jumbo = Site { packet_bytes: 9000, ..site(100) };
    assert_eq!(codel::Spec::default().check(&jumbo).expect("allowed").terms.mtu, 9000);
    assert_eq!(fq_codel::Spec::default().check(&jumbo).expect("allowed").quantum, 9000);
}

#[test]
fn a_law_takes_the_bytes_that_its_page_says() {
    use fairwire_laws::dropper::{cobalt::Cobalt, codel::Codel, pie::Pie};
    assert_eq!([size_of::<Codel>(), size_of::<Pie>(), size_of::<Cobalt>()], [40, 80, 32]);
    assert!(size_of::<dual_pi2::DualPi2>() <= 752, "{}", size_of::<dual_pi2::DualPi2>());
}

#[test]
fn the_examples_of_the_pages_are_allowed() {
    let pages = [
        include_str!("../../../../laws/src/dropper/codel.rs"),
        include_str!("../../../../laws/src/dropper/pie.rs"),
        include_str!("../../../../laws/src/dropper/cobalt.rs"),
        include_str!("../../../../laws/src/compose/fq_codel.rs"),
        include_str!("../../../../laws/src/compose/fq_pie.rs"),
        include_str!("../../../../laws/src/compose/cake_like.rs"),
        include_str!("../../../../laws/src/compose/dual_pi2.rs"),
        include_str!("../../../../laws/src/scheduler/drr_plus_plus.rs"),
    ];
    for page in pages {
        let lines = page.lines().skip_while(|line| *line != "//! ```toml").skip(1);
        let typed: String =
            lines.take_while(|line| *line != "//! ```").map(|line| format!("{}\n", &line[4..])).collect();
        let file: std::collections::BTreeMap<String, toml::Table> = toml::from_str(&typed).expect(&typed);
        let table = &file["discipline"];
        let parameters: Parameters = table.clone().try_into().expect("known parameters");
        for name in table.keys() {
            assert!(build(name, &parameters, &site(100)).is_ok(), "{typed}");
        }
        assert_eq!(table.len(), 1, "{typed}");
    }
}
