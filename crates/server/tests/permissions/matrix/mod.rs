//! Checks the permission matrix (`crates/api/access`) through HTTP: every cell, on both databases. A rejected caller
//! receives only the error. An id that the caller may not know gets the same response as an id that does not exist. No
//! row changes and no socket receives an event. A permitted caller receives the response, without data that is hidden
//! from them.

mod fixture;
mod people;
mod requests;
mod restore;
mod rows;

use std::collections::{BTreeMap, BTreeSet};

use api::router;
use domain::access::{Access, EffectiveRole};
use futures_util::future::join_all;

use self::fixture::MatrixFixture;
use self::people::MatrixActor;
use self::requests::call;
use self::restore::ServiceSnapshot;
use self::rows::{ACTORS, MatrixRow, matrix_rows, pending_rows};
use crate::earlier_events::discard_earlier_events;
use test_support::{Answer, SocketListener, TestApp, clients_are_installed, environment};

/// Returns the access rule of each route.
fn access_by_route() -> BTreeMap<(String, String), Access> {
    let rows = router::description().1.into_iter();
    rows.map(|row| ((row.method.to_owned(), row.path), row.access))
        .collect()
}

#[test]
fn every_route_has_cells_and_every_row_has_a_route() {
    let routes: BTreeSet<_> = access_by_route().into_keys().collect();
    let named = |matrix_rows: &[MatrixRow]| -> BTreeSet<(String, String)> {
        matrix_rows
            .iter()
            .map(|line| (line.method.to_owned(), line.path.to_owned()))
            .collect()
    };
    let matrix_rows = matrix_rows();
    let called = named(&matrix_rows);
    let without: Vec<_> = routes.difference(&called).collect();
    assert!(
        without.is_empty(),
        "routes without cells, see crates/api/access: {without:#?}"
    );
    let dead: Vec<_> = called.difference(&routes).collect();
    assert!(dead.is_empty(), "cells without a route: {dead:#?}");
    let pending = named(&pending_rows());
    let there: Vec<_> = pending.intersection(&routes).collect();
    assert!(
        there.is_empty(),
        "move these from access/pending.csv to their noun: {there:#?}"
    );
    let mut seen = BTreeSet::new();
    for line in &matrix_rows {
        let key = (line.method, line.path, line.situation);
        assert!(seen.insert(key), "{key:?} stands there twice");
    }
}

/// The rows to send: all, or the one that `GROUPWORK_MATRIX_ROW` names for a mutant (`scripts/mutants`), as
/// `GET /classes/{id} draft`.
fn rows_to_send() -> Vec<MatrixRow> {
    let mut rows = matrix_rows();
    if let Some(only) = environment("GROUPWORK_MATRIX_ROW") {
        rows.retain(|row| format!("{} {} {}", row.method, row.path, row.situation).trim() == only);
        assert_eq!(rows.len(), 1, "rows of {only}");
    }
    rows
}

/// One cell to call.
#[derive(Clone, Copy)]
struct MatrixCell<'a> {
    line: &'a MatrixRow,
    actor: &'a MatrixActor,
    expected: &'a str,
}

impl MatrixCell<'_> {
    fn description(&self) -> String {
        let MatrixRow {
            method,
            path,
            situation,
            ..
        } = self.line;
        let column = ACTORS[self.actor.column];
        format!("{method} {path} {situation} {column} {}", self.actor.name)
    }

    fn is_permitted(&self) -> bool {
        self.expected == "yes"
    }

    /// Whether the call changes nothing: a rejection or a read.
    fn changes_nothing(&self) -> bool {
        if WRITING_ROUTES.contains(&self.line.path) {
            return false;
        }
        !self.is_permitted() || self.line.method == "GET"
    }
}

/// Returns the cells of some rows. Users of another school who fail the access check of the route are rejected there.
fn cells_of<'a>(
    fixture: &'a MatrixFixture,
    access_by_route: &BTreeMap<(String, String), Access>,
    matrix_rows: impl Iterator<Item = &'a MatrixRow>,
) -> Vec<MatrixCell<'a>> {
    let mut found = Vec::new();
    for line in matrix_rows {
        let access = access_by_route[&(line.method.to_owned(), line.path.to_owned())];
        for actor in &fixture.actors {
            let is_member = line.situation == "hidden" && actor.column == 1;
            let actor = if is_member { &fixture.dana } else { actor };
            let cell = line.cells[actor.column];
            let stops = actor.column == 7 && access.needs_organization() && !access.allows(actor.effective_role);
            let expected = match cell {
                _ if stops => "403",
                "own" => line.cells[own_column(actor.effective_role)],
                cell => cell,
            };
            if expected != "-" {
                found.push(MatrixCell { line, actor, expected });
            }
        }
    }
    found
}

/// Returns the column of a user with this `EffectiveRole` who belongs to the school.
fn own_column(effective_role: EffectiveRole) -> usize {
    match effective_role {
        EffectiveRole::Student => 1,
        EffectiveRole::Teacher => 4,
        _ => 6,
    }
}

/// Formats the response in the notation of the matrix.
fn matrix_notation(answer: &Answer) -> String {
    let code = serde_json::from_slice::<serde_json::Value>(&answer.bytes).ok();
    let code = code.and_then(|body| body["code"].as_str().map(str::to_owned));
    let (status, code) = (answer.status, code.unwrap_or_default());
    match (status, code.as_str()) {
        (200..=299, _) => "yes".to_owned(),
        (401, "UNAUTHENTICATED" | "UNAUTHORIZED") | (403, "FORBIDDEN_ROLE") | (404, "NOT_FOUND") | (_, "") => {
            status.to_string()
        }
        _ => format!("{status} {code}"),
    }
}

/// Returns the faults of the response to a cell.
async fn faults(app: &TestApp, fixture: &MatrixFixture, cell: MatrixCell<'_>) -> Vec<String> {
    let answer = call(app, fixture, cell.line, fixture.lesson(cell.line.situation), cell.actor).await;
    let mut faults = Vec::new();
    let got = matrix_notation(&answer);
    log_response(&cell, &got);
    if got != cell.expected {
        let text = String::from_utf8_lossy(&answer.bytes)
            .chars()
            .take(200)
            .collect::<String>();
        faults.push(format!("{}: {got}, not {}: {text}", cell.description(), cell.expected));
    }
    if got == "404" && cell.expected == "404" {
        let unknown = call(app, fixture, cell.line, &fixture.unknown_lesson, cell.actor).await;
        if !is_identical(&answer, &unknown) {
            faults.push(format!(
                "{}: an id nobody has is answered otherwise",
                cell.description()
            ));
        }
    }
    let text = String::from_utf8_lossy(&answer.bytes);
    let is_own = cell.line.path == PERSONAL_EXPORT;
    for word in cell
        .actor
        .forbidden
        .iter()
        .filter(|word| !is_own && text.contains(**word))
    {
        faults.push(format!("{}: {word} is not his to read", cell.description()));
    }
    faults
}

/// Whether two rejections are identical byte for byte, except for the time.
fn is_identical(one: &Answer, other: &Answer) -> bool {
    let headers = |answer: &Answer| {
        let mut headers = answer.headers.clone();
        headers.remove("date");
        headers.remove("event-position");
        headers
    };
    one.status == other.status && one.bytes == other.bytes && headers(one) == headers(other)
}

/// Rejections and downloads that write on purpose. A session that selects a foreign school has no active school
/// afterwards, as in better-auth. A wrong password and a data export are recorded in the activity log.
const WRITING_ROUTES: [&str; 6] = [
    "/auth/organization/set-active",
    "/users/me/email",
    "/activity-logs/export.csv",
    "/assignments/{id}/export.zip",
    "/assignments/{id}/grades.csv",
    "/classes/{id}/grade-book.csv",
];

/// The personal export contains everything that the user wrote, including what has since become hidden from them.
const PERSONAL_EXPORT: &str = "/users/me/export";

/// Appends every response to a file, as a help for editing the matrix: `GROUPWORK_MATRIX=/tmp/cells`.
fn log_response(cell: &MatrixCell<'_>, got: &str) {
    use std::io::Write as _;
    let Some(path) = environment("GROUPWORK_MATRIX") else {
        return;
    };
    let MatrixRow {
        method,
        path: route,
        situation,
        ..
    } = cell.line;
    let column = ACTORS[cell.actor.column];
    let name = &cell.actor.name;
    let mut file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .unwrap();
    writeln!(file, "{method},{route},{situation},{column},{name},{got}").unwrap();
}

both!(rejections_and_reads_change_and_leak_nothing, |app| {
    let fixture = MatrixFixture::create(app).await;
    let (matrix_rows, access_by_route) = (rows_to_send(), access_by_route());
    let snapshot = ServiceSnapshot::take(app).await;
    let mut sockets = Vec::new();
    if clients_are_installed() {
        for person in [&app.world.ada, &app.world.adam, &app.world.ben] {
            sockets.push(SocketListener::connect(app, person).await);
        }
        discard_earlier_events(app, &mut sockets).await;
    }
    let mut all = Vec::new();
    for line in &matrix_rows {
        let cells = cells_of(&fixture, &access_by_route, std::iter::once(line));
        let quiet = cells.into_iter().filter(MatrixCell::changes_nothing);
        // One password is hashed at a time, and a request does not wait long for the others.
        if line.path.starts_with("/auth/sign-in/") {
            for cell in quiet {
                all.extend(faults(app, &fixture, cell).await);
            }
        } else {
            let found = join_all(quiet.map(|cell| faults(app, &fixture, cell))).await;
            all.extend(found.into_iter().flatten());
        }
        let mut changed = snapshot.restore().await;
        // A PDF is rendered once and stored.
        changed.retain(|table| !(table == "converted_files" && line.path.ends_with("/pdf")));
        if !changed.is_empty() {
            let MatrixRow {
                method,
                path,
                situation,
                ..
            } = line;
            all.push(format!(
                "{method} {path} {situation}: a refusal or a reader changed {changed:?}"
            ));
        }
    }
    assert!(all.is_empty(), "{} faults:\n{}", all.len(), all.join("\n"));
    for socket in &mut sockets {
        socket.expect_no_event(300).await;
    }
});

both!(permitted_changes_succeed, |app| {
    let fixture = MatrixFixture::create(app).await;
    let (matrix_rows, access_by_route) = (rows_to_send(), access_by_route());
    let snapshot = ServiceSnapshot::take(app).await;
    let mut all = Vec::new();
    let cells = cells_of(&fixture, &access_by_route, matrix_rows.iter());
    for cell in cells.into_iter().filter(|cell| !cell.changes_nothing()) {
        all.extend(faults(app, &fixture, cell).await);
        snapshot.restore().await;
    }
    assert!(all.is_empty(), "{} faults:\n{}", all.len(), all.join("\n"));
});
