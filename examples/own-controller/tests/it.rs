//! The controller works like fairwire's built-in controllers.

use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_own-controller"));
    command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR"));
    command.output().expect("the command was built")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn flows(set: &str) -> Vec<String> {
    let output = run(&["run", "gentle.toml", "-q", "--format", "json", "--set", set]);
    let printed = text(&output);
    assert!(output.status.success(), "{printed}");
    printed.lines().map(str::to_owned).collect()
}

#[test]
fn it_is_simulated_and_its_parameter_has_an_effect() {
    let kept = flows("flow.gentle.tcp.control={ gentle = { keeps = 0.9 } }");
    assert!(kept.iter().any(|line| line.contains("bulk gentle")), "{kept:?}");
    assert_ne!(kept, flows("flow.gentle.tcp.control={ gentle = { keeps = 0.2 } }"));
}

#[test]
fn it_is_listed_described_and_has_a_schema_like_the_others() {
    assert!(text(&run(&["list", "controllers"])).contains("gentle"));
    let page = text(&run(&["describe", "gentle"]));
    assert!(
        page.contains("The fraction of the window that remains after a loss (from 0.1 to 0.99)."),
        "{page}"
    );
    let schema = text(&run(&["schema", "scenario"]));
    assert!(schema.contains("Parameters of `gentle`."));
}

#[test]
fn it_is_checked_like_the_others() {
    for (control, message) in [
        ("{ gentle = { keeps = 2.0 } }", "allowed: a number from 0.1 to 0.99"),
        ("{ gentle = { kepes = 0.5 } }", "allowed: `keeps`"),
        ("{ gentle = { keeps = true } }", "--set:1:46"),
        ("\"gentel\"", "did you mean `gentle`?"),
    ] {
        let output =
            run(&["run", "gentle.toml", "-q", "--set", &format!("flow.gentle.tcp.control={control}")]);
        assert_eq!(output.status.code(), Some(2), "{control}");
        assert!(text(&output).contains(message), "{control}: {}", text(&output));
    }
}
