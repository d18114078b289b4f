//! The scripts behind `make test` and `.ci/run`: a part that fails stops no other part, and the summary fails.

use std::path::PathBuf;
use std::process::{Command, Output};

fn script(name: &str, arguments: &[&str]) -> Output {
    let scripts = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scripts");
    Command::new(scripts.join(name)).args(arguments).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Output of each runner when all of its tests pass.
const PASSED: [&str; 3] = [
    "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 1s",
    "      Tests  30 passed (30)",
    "ℹ pass 7\nℹ fail 0\nℹ cancelled 0\nℹ skipped 2\nℹ todo 0",
];

fn summary(lines: &[&str]) -> Output {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), lines.join("\n") + "\n").unwrap();
    script("test-summary", &[file.path().to_str().unwrap()])
}

#[test]
fn failed_part_does_not_stop_the_parts_after_it() {
    let output = script(
        "run-all",
        &[
            "Rust tests",
            "exit 101",
            "browser tests",
            "echo played",
            "lint",
            "false",
        ],
    );
    assert_eq!(output.status.code(), Some(1));
    let text = text(&output);
    assert!(text.contains("\nplayed\n"), "{text}");
    for line in [
        "part FAILED: Rust tests (exit status 101)",
        "part passed: browser tests",
        "part FAILED: lint (exit status 1)",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is missing in {text}");
    }
}

#[test]
fn parts_that_all_pass_succeed() {
    let output = script("run-all", &["a", "true", "b", "test -d /"]);
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(script("run-all", &["a name without a command"]).status.code(), Some(2));
}

#[test]
fn summary_counts_every_runner() {
    let output = summary(&PASSED);
    assert!(output.status.success());
    assert_eq!(
        text(&output),
        "49 passed (7 of them in a browser), 0 failed, 3 skipped\n"
    );
}

#[test]
fn summary_fails_when_any_runner_or_part_failed() {
    let [rust, client, browser] = PASSED;
    for (wrong, counted) in [
        (
            "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out",
            "2 failed",
        ),
        ("      Tests  1 failed | 29 passed (30)", "1 failed"),
        ("ℹ pass 6\nℹ fail 1", "1 failed"),
        ("ℹ cancelled 4", "4 failed"),
        ("part FAILED: Rust tests (exit status 101)", "1 parts failed"),
    ] {
        let output = summary(&[rust, client, browser, wrong]);
        assert!(!output.status.success(), "{wrong}");
        assert!(text(&output).contains(counted), "{wrong}: {}", text(&output));
    }
}

#[test]
fn summary_fails_when_a_runner_did_not_run() {
    for missing in PASSED {
        let lines: Vec<_> = PASSED.iter().copied().filter(|line| *line != missing).collect();
        assert!(!summary(&lines).status.success(), "without {missing}");
    }
}

/// Output of `make test-resilience` for the binary above.
const LONG: &str = "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 12 filtered out; finished in 9s";

fn summary_of_both(tests: &[&str], long: &str) -> Output {
    let files = [tests.join("\n"), long.to_owned()].map(|text| {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text + "\n").unwrap();
        file
    });
    let paths = files.each_ref().map(|file| file.path().to_str().unwrap());
    script("test-summary", &paths)
}

#[test]
fn summary_counts_long_tests_once() {
    let output = summary_of_both(&PASSED, LONG);
    assert!(output.status.success());
    assert_eq!(
        text(&output),
        "50 passed (7 of them in a browser), 0 failed, 2 skipped\n"
    );
}

#[test]
fn summary_fails_when_long_tests_failed_or_did_not_run() {
    let failed = LONG.replace("1 passed; 0 failed", "0 passed; 1 failed");
    assert!(!summary_of_both(&PASSED, &failed).status.success());
    assert!(!summary_of_both(&PASSED, "could not compile").status.success());
}
