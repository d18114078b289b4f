//! Disables each clause of the policy in a running service and requires that the matrix detects it: a clause that can
//! be removed unnoticed is untested. The switch is process-wide, so the test runs in a separate process.

use std::process::Command;

use api::permission_matrix::{self, MatrixRow};
use model::policy::{self, Clause};

use super::stage::Stage;
use super::undo::Undo;
use super::{cells_of, faults, gates, lines};
use test_support::{Kind, TestApp, environment};

/// For each clause, the smallest part of the matrix that must fail without it.
const WATCHED: &[(Clause, &str, &str, &str)] = &[
    (Clause::RoleOfRoute, "GET", "/courses", ""),
    (Clause::Tenant, "GET", "/classes/{id}", ""),
    (Clause::EnrolledInClass, "GET", "/classes/{id}", ""),
    (Clause::ClassNoDraft, "GET", "/classes/{id}", "draft"),
    (Clause::ClassNoDraft, "GET", "/workrooms/{id}", "draft"),
    (Clause::TeacherOfClass, "GET", "/workrooms/{id}", ""),
    (Clause::ManagesClass, "PATCH", "/groups/{id}", ""),
    (Clause::OwnsClass, "POST", "/classes/{id}/teachers", "cotaught"),
    (Clause::HandsClassOver, "PATCH", "/classes/{id}", "handover"),
    (Clause::ClassWritable, "PATCH", "/groups/{id}", "archived"),
    (Clause::MemberOfGroup, "GET", "/groups/{id}", ""),
    (Clause::GroupStarted, "GET", "/groups/{id}", "hidden"),
    (
        Clause::FileOfGroup,
        "GET",
        "/assignments/{id}/attachments/{attachmentId}/download",
        "others",
    ),
    (
        Clause::FilePublished,
        "GET",
        "/assignments/{id}/attachments/{attachmentId}/download",
        "staged",
    ),
    (Clause::DocumentUnlocked, "PATCH", "/workrooms/documents/{id}", "locked"),
    (
        Clause::DocumentDraft,
        "PUT",
        "/workrooms/documents/{id}/content",
        "submitted",
    ),
    (Clause::DocumentAuthor, "DELETE", "/workrooms/documents/{id}", "others"),
    (Clause::GradePublished, "GET", "/workrooms/documents/{id}", "submitted"),
    (Clause::FeedbackForStudents, "GET", "/feedback", ""),
    (
        Clause::MessageAuthor,
        "PATCH",
        "/workrooms/{id}/messages/{messageId}",
        "",
    ),
    (Clause::MessageAddressed, "GET", "/messages/{id}", "direct"),
    (Clause::RoleLevel, "PATCH", "/users/{id}", "above"),
    (Clause::AccountAtHome, "PATCH", "/users/{id}", "shared"),
];

/// Environment variable that marks the separate process in which clauses are disabled.
const ALONE: &str = "GROUPWORK_CLAUSES";

#[test]
fn no_clause_goes_unnoticed_on_sqlite() {
    in_a_process_of_its_own("switched::on_sqlite");
}

#[test]
#[ignore = "long: make test-resilience"]
fn no_clause_goes_unnoticed_on_postgres() {
    if test_support::database::server().is_some() {
        in_a_process_of_its_own("switched::on_postgres");
    }
}

#[test]
fn every_clause_is_watched() {
    let unwatched = |clause: &&Clause| !WATCHED.iter().any(|(watched, ..)| watched == *clause);
    let unwatched: Vec<_> = Clause::ALL.iter().filter(unwatched).collect();
    assert!(unwatched.is_empty(), "{unwatched:?}");
}

#[test]
fn only_tests_can_switch_clauses_off() {
    let workspace = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut manifests = vec!["Cargo.toml".to_owned(), "bench/Cargo.toml".to_owned()];
    for entry in std::fs::read_dir(workspace.join("crates")).unwrap() {
        let entry = entry.unwrap();
        if entry.path().join("Cargo.toml").exists() && entry.file_name() != "model" {
            manifests.push(format!("crates/{}/Cargo.toml", entry.file_name().display()));
        }
    }
    assert!(manifests.len() > 10, "{manifests:?}");
    for manifest in manifests {
        let text = std::fs::read_to_string(workspace.join(&manifest)).unwrap();
        let built = text.split("[dev-dependencies]").next().unwrap();
        assert!(
            !built.contains("switches"),
            "{manifest} asks for the switches outside of tests"
        );
    }
    let model = std::fs::read_to_string(workspace.join("crates/model/Cargo.toml")).unwrap();
    assert!(!model.contains("default ="), "the switches are off unless asked for");
}

fn in_a_process_of_its_own(name: &str) {
    let name = format!("{}::{name}", module_path!().split_once("::").unwrap().1);
    let faults = std::env::temp_dir().join(format!("groupwork-clauses-{}", std::process::id()));
    let output = Command::new(std::env::current_exe().unwrap())
        .args([&name, "--exact", "--nocapture"])
        .env(ALONE, "1")
        // With a disabled clause, the service returns responses that the OpenAPI document does not describe.
        .env("GROUPWORK_UNDOCUMENTED", &faults)
        .env_remove("GROUPWORK_EXAMPLES")
        .output()
        .unwrap();
    drop(std::fs::remove_file(faults));
    let said = String::from_utf8_lossy(&output.stdout);
    println!("{said}");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("1 passed"), "no test is called {name}");
}

mod switched {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn on_sqlite() {
        story(Kind::Sqlite).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn on_postgres() {
        story(Kind::Postgres).await;
    }
}

async fn story(kind: Kind) {
    if environment(ALONE).is_none() {
        return;
    }
    let app = TestApp::start(kind).await.unwrap();
    let stage = Stage::set(&app).await;
    let (lines, pending) = (lines(), permission_matrix::pending().unwrap());
    let undo = Undo::keep(&app).await;
    let mut unnoticed = Vec::new();
    for (clause, method, path, situation) in WATCHED {
        let is_it = |line: &&MatrixRow| line.method == *method && line.path == *path && line.situation == *situation;
        let Some(line) = lines.iter().find(is_it) else {
            assert!(pending.iter().any(|line| is_it(&line)), "nobody watches {clause}");
            println!("{clause}: {method} {path} is not there yet");
            continue;
        };
        let before = red(&app, &stage, line, &undo).await;
        assert!(before.is_empty(), "{before:?}");
        policy::switch(*clause, false);
        let after = red(&app, &stage, line, &undo).await;
        policy::switch(*clause, true);
        if after.is_empty() {
            unnoticed.push(*clause);
        }
        println!(
            "{clause}: {} cells of {method} {path} {situation} went red",
            after.len()
        );
    }
    assert!(
        unnoticed.is_empty(),
        "the table does not notice that these are switched off: {unnoticed:?}"
    );
    app.close().await;
}

/// Returns the faults of one row of the matrix.
async fn red(app: &TestApp, stage: &Stage, line: &MatrixRow, undo: &Undo) -> Vec<String> {
    let mut all = Vec::new();
    for cell in cells_of(stage, &gates(), std::iter::once(line)) {
        all.extend(faults(app, stage, cell).await);
        undo.undo().await;
    }
    all
}
