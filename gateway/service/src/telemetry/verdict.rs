//! The current fairness in one readable sentence.

use fairwire_control::snapshot::WaySnapshot;
use fairwire_core::Rate;

/// The largest difference from the fair share that counts as fair, in percentage points of the
/// link. A TCP connection varies by this much from second to second.
const FAIR_POINTS: f64 = 5.0;
const FAIR_JAIN: f64 = 0.9;

pub(super) fn sentence(ways: &[WaySnapshot]) -> String {
    let parts: Vec<String> = ways.iter().map(|way| format!("{}: {}", way.way, of_way(way))).collect();
    let mut sentence = parts.join("; ") + ".";
    sentence[..1].make_ascii_uppercase();
    sentence
}

fn of_way(way: &WaySnapshot) -> String {
    let left = rate(way.throughput_bps);
    if way.rate_bps == 0 {
        return format!("not shaped, {left} pass");
    }
    let link = format!("{left} of {}", rate(way.rate_bps as f64));
    // If some traffic bypasses the gateway, the sharing of the line is unknown.
    let shared = match way.bypass_bps > 0.0 {
        true => format!("{} pass the gateway by, unshaped, beside {link} through it", rate(way.bypass_bps)),
        false => sharing(way, &link),
    };
    let most = way.starving.iter().max_by(|(_, a), (_, b)| a.total_cmp(b));
    let starving =
        most.map(|(name, part)| format!("; `{name}` loses {:.0} % of what comes for it", part * 100.0));
    shared + &starving.unwrap_or_default()
}

fn sharing(way: &WaySnapshot, link: &str) -> String {
    let has_classes = way.class_count > 1;
    let is_fair = match has_classes {
        true => way.worst_share_error_points <= FAIR_POINTS,
        false => way.jain >= FAIR_JAIN,
    };
    let how_far = match has_classes {
        true => format!("no class further than {:.1} points from its share", way.worst_share_error_points),
        false => format!("Jain's index {:.3}", way.jain),
    };
    match (way.active_flows, way.wanting_flows, is_fair) {
        (0, ..) => "idle".to_owned(),
        (active, 0, _) => {
            format!("{} what {} sent, {link}", got(active), if active == 1 { "it" } else { "they" })
        }
        (_, 1, _) if !has_classes => format!("one flow wants more than it gets, {link}"),
        // The word "fairly" requires classes, since only classes identify the owners of flows.
        (_, wanting, true) => {
            let how = if has_classes { "fairly" } else { "equally" };
            format!("{} {how}, {link}, {how_far}", shared(wanting))
        }
        (_, wanting, false) if has_classes => format!(
            "{} NOT get {}, {link}, one class is {:.1} points from its share",
            wants(wanting),
            if wanting == 1 { "its share" } else { "their shares" },
            way.worst_share_error_points
        ),
        (_, wanting, false) => format!("{} NOT share equally, {link}, {how_far}", wants(wanting)),
    }
}

fn wants(wanting: u64) -> String {
    match wanting {
        1 => "one flow wants more but does".to_owned(),
        _ => format!("{wanting} flows want more but do"),
    }
}

fn shared(wanting: u64) -> String {
    match wanting {
        1 => "one flow wants more, and the link is shared".to_owned(),
        _ => format!("{wanting} flows want more and share"),
    }
}

fn got(active: u64) -> String {
    if active == 1 { "one flow gets".to_owned() } else { format!("all {active} flows get") }
}

fn rate(bps: f64) -> String {
    match Rate::from_bps(bps.round() as u64) {
        Some(rate) => rate.rounded().to_string(),
        None => "0 bit/s".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(active_flows: u64, wanting_flows: u64, jain: f64, worst: f64, class_count: u64) -> WaySnapshot {
        WaySnapshot {
            way: "download".into(),
            rate_bps: 20_000_000,
            throughput_bps: 19_876_543.0,
            active_flows,
            wanting_flows,
            jain,
            worst_share_error_points: worst,
            class_count,
            ..WaySnapshot::default()
        }
    }

    #[test]
    fn the_verdict_says_whether_backlogged_flows_share_fairly() {
        for (way, said) in [
            (way(0, 0, 1.0, 0.0, 1), "Download: idle."),
            (way(1, 0, 1.0, 0.0, 1), "Download: one flow gets what it sent, 19.9 Mbit/s of 20 Mbit/s."),
            (way(7, 0, 1.0, 0.0, 1), "Download: all 7 flows get what they sent, 19.9 Mbit/s of 20 Mbit/s."),
            (way(7, 1, 1.0, 0.0, 1), "Download: one flow wants more than it gets, 19.9 Mbit/s of 20 Mbit/s."),
            (
                way(7, 3, 0.998, 0.4, 5),
                "Download: 3 flows want more and share fairly, 19.9 Mbit/s of 20 Mbit/s, no class further than 0.4 points from its share.",
            ),
            (
                way(7, 3, 0.998, 0.0, 1),
                "Download: 3 flows want more and share equally, 19.9 Mbit/s of 20 Mbit/s, Jain's index 0.998.",
            ),
            (
                way(7, 3, 0.4, 0.4, 1),
                "Download: 3 flows want more but do NOT share equally, 19.9 Mbit/s of 20 Mbit/s, Jain's index 0.400.",
            ),
            (
                way(7, 3, 0.99, 7.5, 5),
                "Download: 3 flows want more but do NOT get their shares, 19.9 Mbit/s of 20 Mbit/s, one class is 7.5 points \
                 from its share.",
            ),
        ] {
            assert_eq!(sentence(&[way]), said);
        }
        let starving = [("others".to_owned(), 0.76), ("10.0.0.9".to_owned(), 0.3)].into();
        let seen = WaySnapshot { starving, ..way(7, 0, 1.0, 0.0, 1) };
        assert_eq!(
            sentence(std::slice::from_ref(&seen)),
            "Download: all 7 flows get what they sent, 19.9 Mbit/s of 20 Mbit/s; `others` loses 76 % of what comes for it."
        );
        let half_seen = WaySnapshot { bypass_bps: 8.4e6, starving: Default::default(), ..seen };
        assert_eq!(
            sentence(&[half_seen]),
            "Download: 8.4 Mbit/s pass the gateway by, unshaped, beside 19.9 Mbit/s of 20 Mbit/s through it."
        );
        let open = WaySnapshot { way: "upload".into(), throughput_bps: 1e6, ..WaySnapshot::default() };
        assert_eq!(sentence(&[open]), "Upload: not shaped, 1 Mbit/s pass.");
    }
}
