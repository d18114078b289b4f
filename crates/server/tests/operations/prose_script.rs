//! `scripts/prose`: hits are counted in the right category, and the limits can only decrease.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Creates a repository with these files.
fn repository(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    for arguments in [&["init", "--quiet"][..], &["add", "--all"]] {
        let git = Command::new("git").current_dir(folder.path()).args(arguments).status();
        assert!(git.unwrap().success());
    }
    folder
}

fn prose(root: &Path, action: &str) -> Output {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scripts/prose");
    let mut command = Command::new(script);
    command.arg("--root").arg(root).arg(action).output().unwrap()
}

const CLEAN: &str = "/// Returns the id.\npub fn id() {}\n";
/// One hit in a comment, one in a log message, one reference. The string and the code span do not count.
const HITS: &str = concat!(
    "/// Nob",
    "ody, by contract 6.10; `letters` is a field.\n",
    "fn log() {\n    let told = \"// told\";\n    warn!(told, \"the user says no\");\n}\n"
);

#[test]
fn prose_check_fails_for_hits_and_references() {
    let root = repository(&[("crates/a/src/lib.rs", HITS), ("docs/page.md", "Plain.\n")]);
    let output = prose(root.path(), "--check");
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    for line in [
        "prose: crates/a: 2 hits, allowed: goal (scripts/prose --words shows them)",
        "prose: crates/a: 1 references, allowed: 0 (scripts/prose --words shows them)",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is missing in {text}");
    }
    assert!(!text.contains("docs"), "{text}");
}

#[test]
fn prose_check_fails_for_names_of_missing_files() {
    let comments = concat!(
        "//! See `crates/a/src/gone.rs`, `a/id.rs` and docs/page.md.\n",
        "pub const PATH: &str = \"src/gone.rs\";\n"
    );
    let files = [
        ("crates/a/src/lib.rs", comments),
        ("crates/a/src/id.rs", CLEAN),
        ("docs/page.md", "A release: `releases/<version>.json`.\n"),
    ];
    let output = prose(repository(&files).path(), "--check");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let named: Vec<_> = text.lines().filter(|line| line.contains("does not exist")).collect();
    assert_eq!(
        named,
        ["prose: crates/a/src/lib.rs:1: names crates/a/src/gone.rs, which does not exist"]
    );
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn prose_check_fails_for_names_of_missing_tests() {
    let page = concat!(
        "`rules::students::on_time`, `students::late`, `rules::students` and `a::id` exist.\n",
        "`rules::teachers::on_time` and `students::never` do not. `Filter::new` is not looked up.\n"
    );
    let files = [
        ("crates/a/src/lib.rs", CLEAN),
        (
            "crates/server/tests/api/rules/students.rs",
            "both!(on_time, |app| {});\n#[test]\nfn late() {}\n",
        ),
        ("docs/page.md", page),
    ];
    let output = prose(repository(&files).path(), "--check");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let named: Vec<_> = text.lines().filter(|line| line.contains("does not exist")).collect();
    assert_eq!(
        named,
        [
            "prose: docs/page.md:2: names rules::teachers::on_time, which does not exist",
            "prose: docs/page.md:2: names students::never, which does not exist",
        ]
    );
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn prose_words_lists_places() {
    let root = repository(&[("crates/a/src/lib.rs", HITS), ("crates/b/src/lib.rs", CLEAN)]);
    let output = prose(root.path(), "--words");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let places: Vec<_> = text.lines().collect();
    assert_eq!(
        places,
        [
            concat!("crates/a/src/lib.rs:1: nob", "ody"),
            concat!("crates/a/src/lib.rs:1: contr", "act 6.10"),
            concat!("crates/a/src/lib.rs:4: sa", "ys"),
        ]
    );
}

#[test]
fn prose_limits_only_fall() {
    let files = [("crates/a/src/lib.rs", HITS), ("crates/b/src/lib.rs", CLEAN)];
    let root = repository(&files);
    let (source, limits) = (root.path().join(files[0].0), root.path().join("scripts/prose-limits"));
    std::fs::create_dir_all(limits.parent().unwrap()).unwrap();
    assert!(prose(root.path(), "--write").status.success());
    assert!(prose(root.path(), "--check").status.success());
    // More hits: rejected, and no limits are written.
    std::fs::write(&source, HITS.repeat(2)).unwrap();
    assert_eq!(prose(root.path(), "--check").status.code(), Some(1));
    assert_eq!(prose(root.path(), "--write").status.code(), Some(1));
    // Fewer hits: accepted after the limits were written.
    std::fs::write(&source, CLEAN).unwrap();
    assert_eq!(prose(root.path(), "--check").status.code(), Some(1));
    assert!(prose(root.path(), "--write").status.success());
    assert!(prose(root.path(), "--check").status.success());
    // An area without hits needs no limit.
    assert!(std::fs::read_to_string(&limits).unwrap().contains("goal"));
}

#[test]
fn prose_check_requires_reason_for_shared_type_names() {
    let source = "pub struct Filter;\n";
    let root = repository(&[("crates/a/src/lib.rs", source), ("crates/b/src/lib.rs", source)]);
    assert_eq!(prose(root.path(), "--check").status.code(), Some(1));
    let reasons = root.path().join("scripts/prose-shared-types");
    std::fs::create_dir_all(reasons.parent().unwrap()).unwrap();
    for (text, is_accepted) in [
        ("Filter: one per crate\n", true),
        ("Filter:\n", false),
        ("Filter: one per crate\nOther: gone\n", false),
    ] {
        std::fs::write(&reasons, text).unwrap();
        assert!(prose(root.path(), "--write").status.success());
        assert_eq!(prose(root.path(), "--check").status.success(), is_accepted, "{text}");
    }
}
