//! Defaults of the modern disciplines, and sizes of laws in bytes.

use super::site;
use fairwire_core::{Duration, EcnPolicy};
use fairwire_laws::Site;
use fairwire_laws::compose::{cake_like, dual_pi2, fq_codel};
use fairwire_laws::dropper::{codel, pie};

#[test]
fn the_defaults_are_those_of_the_rfcs() {
    let codel = codel::Spec::default().check(&site(100)).expect("allowed").1;
    assert_eq!(
        (codel.control.target, codel.control.interval, codel.mtu),
        (Duration::from_ms(5), Duration::from_ms(100), 1514)
    );
    assert_eq!(codel.ecn, EcnPolicy::Mark);
    let pie = pie::Spec::default().check(&site(100)).expect("allowed").1;
    assert_eq!(
        (pie.control.target, pie.control.update, pie.control.max_burst),
        (Duration::from_ms(15), Duration::from_ms(15), Duration::from_ms(150))
    );
    assert_eq!((pie.control.alpha, pie.control.beta, pie.control.mark_limit), (0.125, 1.25, 0.1));
    let fq = fq_codel::Spec::default().check(&site(100)).expect("allowed");
    assert_eq!((fq.queues, fq.quantum, fq.batch), (1024, 1514, 64));
    assert_eq!(fq.limit.max_packets(), 100, "the site's buffer");
    assert_eq!(cake_like::Spec::default().check(&site(100)).expect("allowed").queues, 1024);
    let dual = dual_pi2::Spec::default().check(&site(100)).expect("allowed");
    assert_eq!(
        (dual.target, dual.update, dual.coupling),
        (Duration::from_ms(15), Duration::from_ms(15), 2.0)
    );
    // RFC 9332: alpha = 0.1 Tupdate / RTT_max^2, and beta = 0.3 / RTT_max, with Tupdate = 0.015 s
    // and RTT_max = 0.1 s.
    assert!((dual.alpha - 0.15).abs() < 1e-12 && (dual.beta - 3.0).abs() < 1e-12, "{dual:?}");
    assert_eq!(dual.ecn, EcnPolicy::Mark);
}

#[test]
fn a_long_typical_packet_lengthens_the_quantum_and_the_mtu() {
    let jumbo = Site { packet_bytes: 9000, ..site(100) };
    assert_eq!(codel::Spec::default().check(&jumbo).expect("allowed").1.mtu, 9000);
    assert_eq!(fq_codel::Spec::default().check(&jumbo).expect("allowed").quantum, 9000);
}

#[test]
fn a_law_takes_the_bytes_that_its_page_says() {
    use fairwire_laws::dropper::{cobalt::Cobalt, codel::Codel, pie::Pie};
    assert_eq!([size_of::<Codel>(), size_of::<Pie>(), size_of::<Cobalt>()], [40, 80, 32]);
    assert!(size_of::<dual_pi2::DualPi2>() <= 912, "{}", size_of::<dual_pi2::DualPi2>());
}
