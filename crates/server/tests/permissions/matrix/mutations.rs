//! Disables each clause of the policy in a running service and requires that the matrix detects it: a clause that can
//! be removed unnoticed is untested. The switch is process-wide, so the test runs in a separate process.

use std::process::Command;

use api::permission_matrix::{self, MatrixRow};
use domain::policy::{self, Clause};

use super::fixture::MatrixFixture;
use super::restore::ServiceSnapshot;
use super::{access_by_route, cells_of, faults, matrix_rows};
use test_support::{DatabaseKind, TestApp, environment};

/// For each clause, the smallest part of the matrix that must fail without it.
const MUTATIONS: &[(Clause, &str, &str, &str)] = &[
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
const CHILD_PROCESS: &str = "GROUPWORK_CLAUSES";

#[test]
fn matrix_detects_each_disabled_clause_on_sqlite() {
    run_in_child_process("child_process::on_sqlite");
}

#[test]
#[ignore = "long: make test-resilience"]
fn matrix_detects_each_disabled_clause_on_postgres() {
    if test_support::database::server().is_some() {
        run_in_child_process("child_process::on_postgres");
    }
}

#[test]
fn every_clause_has_a_mutation() {
    let without_mutation = |clause: &&Clause| !MUTATIONS.iter().any(|(mutated, ..)| mutated == *clause);
    let without_mutation: Vec<_> = Clause::ALL.iter().filter(without_mutation).collect();
    assert!(without_mutation.is_empty(), "{without_mutation:?}");
}

#[test]
fn only_tests_can_disable_clauses() {
    let workspace = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut manifests = vec!["Cargo.toml".to_owned(), "bench/Cargo.toml".to_owned()];
    for entry in std::fs::read_dir(workspace.join("crates")).unwrap() {
        let entry = entry.unwrap();
        if entry.path().join("Cargo.toml").exists() && entry.file_name() != "domain" {
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
    let model = std::fs::read_to_string(workspace.join("crates/domain/Cargo.toml")).unwrap();
    assert!(!model.contains("default ="), "the switches are off unless asked for");
}

fn run_in_child_process(name: &str) {
    let name = format!("{}::{name}", module_path!().split_once("::").unwrap().1);
    let faults = std::env::temp_dir().join(format!("groupwork-clauses-{}", std::process::id()));
    let output = Command::new(std::env::current_exe().unwrap())
        .args([&name, "--exact", "--nocapture"])
        .env(CHILD_PROCESS, "1")
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

mod child_process {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn on_sqlite() {
        run_mutations(DatabaseKind::Sqlite).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn on_postgres() {
        run_mutations(DatabaseKind::Postgres).await;
    }
}

async fn run_mutations(kind: DatabaseKind) {
    if environment(CHILD_PROCESS).is_none() {
        return;
    }
    let app = TestApp::start(kind).await.unwrap();
    let fixture = MatrixFixture::create(&app).await;
    let (matrix_rows, pending) = (matrix_rows(), permission_matrix::pending().unwrap());
    let snapshot = ServiceSnapshot::take(&app).await;
    let mut undetected = Vec::new();
    for (clause, method, path, situation) in MUTATIONS {
        let is_it = |line: &&MatrixRow| line.method == *method && line.path == *path && line.situation == *situation;
        let Some(line) = matrix_rows.iter().find(is_it) else {
            assert!(pending.iter().any(|line| is_it(&line)), "nobody watches {clause}");
            println!("{clause}: {method} {path} is not there yet");
            continue;
        };
        let before = failing_cells(&app, &fixture, line, &snapshot).await;
        assert!(before.is_empty(), "{before:?}");
        policy::switch(*clause, false);
        let after = failing_cells(&app, &fixture, line, &snapshot).await;
        policy::switch(*clause, true);
        if after.is_empty() {
            undetected.push(*clause);
        }
        println!(
            "{clause}: {} cells of {method} {path} {situation} went red",
            after.len()
        );
    }
    assert!(
        undetected.is_empty(),
        "the table does not notice that these are switched off: {undetected:?}"
    );
    app.close().await;
}

/// Returns the faults of one row of the matrix.
async fn failing_cells(
    app: &TestApp,
    fixture: &MatrixFixture,
    line: &MatrixRow,
    snapshot: &ServiceSnapshot,
) -> Vec<String> {
    let mut all = Vec::new();
    for cell in cells_of(fixture, &access_by_route(), std::iter::once(line)) {
        all.extend(faults(app, fixture, cell).await);
        snapshot.restore().await;
    }
    all
}
