use super::*;
use fairwire_experiment::view::FlowView;
use fairwire_terminal::screen::picture;

fn flow(name: &str, bps: f64, fair_bps: Option<f64>, window: Option<f64>) -> FlowView {
    FlowView { name: name.into(), bps, fair_bps, dropped: 7, window }
}

fn link(name: &str, step: u64) -> LinkView {
    LinkView {
        name: name.into(),
        rate_bps: 10e6,
        sent_bps: 9.9e6,
        backlog_packets: 10 * (step % 9),
        backlog_bytes: 12_000,
        wait_p50_s: 0.01,
        wait_p99_s: 0.0205,
        dropped: 3 * step,
        marked: Some(0),
        lost: 0,
        flows: vec![flow("udp.1", 5e6, Some(1e6), None), flow("tcp.1", 0.5e6, Some(1e6), Some(12.0))],
    }
}

fn scene() -> Scene {
    let mut scene = Scene { title: "selfish  12.0 s".into(), keys: "q quit".into(), ..Scene::default() };
    for step in 0..30 {
        scene.take(View { at_s: step as f64, links: vec![link("tail-drop", step), link("faba", step)] });
    }
    scene
}

fn shown(scene: &Scene, width: u16, height: u16) -> String {
    picture(width, height, &|frame| draw(frame, scene))
}

#[test]
fn two_links_are_side_by_side_with_their_flows_and_pictures() {
    let text = shown(&scene(), 120, 30);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "selfish  12.0 s");
    assert!(
        lines[1].contains("tail-drop  9.90 Mbit/s of 10.0 Mbit/s") && lines[1].contains("faba"),
        "{text}"
    );
    assert!(lines[2].contains("p50 10.0 ms, p99 20.5 ms"), "{text}");
    assert_eq!(text.matches("waiting, up to 80 packets").count(), 2, "{text}");
    assert_eq!(text.matches("dropped and marked, up to 3").count(), 2, "{text}");
    // In the bar of 20 cells, a stroke at a fifth marks the fair share.
    let udp = lines.iter().find(|line| line.contains("udp.1")).expect("a row");
    assert!(udp.contains(&format!("###|{}", "#".repeat(16))), "{udp}");
    let tcp = lines.iter().find(|line| line.contains("tcp.1")).expect("a row");
    assert!(tcp.contains("## |") && tcp.contains(" 12 "), "{tcp}");
    assert_eq!(lines.last(), Some(&"q quit"));
}

#[test]
fn a_narrow_terminal_stacks_the_links_and_a_tiny_one_cuts_them() {
    let text = shown(&scene(), 60, 24);
    let places: Vec<usize> =
        ["tail-drop", "faba"].iter().map(|name| text.find(name).expect("it is there")).collect();
    assert!(places[0] < places[1] && text.lines().all(|line| line.chars().count() <= 60), "{text}");
    for (width, height) in [(20, 8), (10, 3), (3, 2), (1, 1)] {
        let text = shown(&scene(), width, height);
        assert!(text.lines().count() <= usize::from(height), "{text}");
    }
    assert!(shown(&scene(), 30, 8).contains("tail-drop"));
}

#[test]
fn empty_scenes_and_nan_are_drawn_too() {
    assert!(shown(&Scene::default(), 80, 24).trim().is_empty());
    let mut scene = scene();
    let mut view = scene.view.clone();
    view.links[0].wait_p99_s = f64::NAN;
    view.links.pop();
    scene.trouble = Some("`link.rate` is `0`".into());
    scene.take(view);
    let text = shown(&scene, 80, 24);
    assert!(text.contains("`link.rate` is `0`") && !text.contains("faba"), "{text}");
}
