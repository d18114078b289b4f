//! Calls every cell of docs/access.md: for each route and each `EffectiveRole`, the access check passes or rejects as the
//! `Access` of the route requires. Also checks that the generated files are current.

use api::endpoint::Row;
use api::router;
use domain::access::{Access, EffectiveRole};
use groupwork::cli::describe;
use reqwest::Method;
use serde_json::json;

use test_support::Answer;
use test_support::samples::path_with_unknown_ids;

fn method(row: &Row) -> Method {
    row.method.parse().unwrap()
}

/// Returns the expected error of the access check, or `None` if it passes.
fn expected_rejection(access: Access, effective_role: EffectiveRole) -> Option<(u16, &'static str)> {
    match access {
        Access::Anyone => None,
        Access::DocumentServer => Some((401, "DOCSERVER_TOKEN_MISSING")),
        _ if effective_role == EffectiveRole::Anonymous => Some((401, "UNAUTHENTICATED")),
        access if access.allows(effective_role) => None,
        access if access.needs_organization() && effective_role == EffectiveRole::NonMember => {
            Some((400, "NO_ACTIVE_ORGANIZATION"))
        }
        _ => Some((403, "FORBIDDEN_ROLE")),
    }
}

both!(every_route_allows_or_rejects_each_role, |app| {
    let world = &app.world;
    let people = [
        (EffectiveRole::NonMember, &world.nobody),
        (EffectiveRole::Student, &world.ben),
        (EffectiveRole::Teacher, &world.ada),
        (EffectiveRole::Admin, &world.adam),
        (EffectiveRole::Admin, &world.olga),
        (EffectiveRole::SuperAdmin, &world.root),
    ];
    let mut clients: Vec<_> = people
        .map(|(effective_role, person)| (effective_role, app.as_(person)))
        .to_vec();
    clients.push((EffectiveRole::Anonymous, app.stranger()));
    // A school can grant some admin permissions to its teachers. The table shows the permissions that can be granted.
    let lets = json!({"metadata": {"features": {"teachersAddSubjects": true}}});
    app.as_(&world.adam).patch("/admin/settings", lets).await.expect(200);
    let (_, rows) = router::description();
    assert!(rows.len() > 10);
    for row in &rows {
        for (effective_role, client) in &clients {
            // Signing out or selecting another organization would change the caller of the next cell.
            if row.path.starts_with("/auth/") && *effective_role != EffectiveRole::Anonymous {
                continue;
            }
            let body = (row.method != "GET").then(|| json!({}));
            let answer = client.send(method(row), &path_with_unknown_ids(&row.path), body).await;
            assert_response(row, *effective_role, answer);
        }
    }
});

fn assert_response(row: &Row, effective_role: EffectiveRole, answer: Answer) {
    let context = format!("{} {} as {effective_role:?}", row.method, row.path);
    let status = answer.status;
    let code = serde_json::from_slice(&answer.bytes)
        .ok()
        .and_then(|body: serde_json::Value| body["code"].as_str().map(str::to_owned));
    if let Some((expected, expected_code)) = expected_rejection(row.access, effective_role) {
        let under_auth = row.path.starts_with("/auth/");
        let fits = status == expected && (under_auth || code.as_deref() == Some(expected_code));
        assert!(fits, "{context}: {status} {code:?}, not {expected} {expected_code}");
    } else {
        let stopped = matches!(
            code.as_deref(),
            Some("UNAUTHENTICATED" | "FORBIDDEN_ROLE" | "NOT_A_MEMBER")
        );
        assert!(!stopped && status < 500, "{context}: {status} {code:?}");
    }
}

#[test]
fn the_generated_files_are_current() {
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let committed = |name: &str| std::fs::read_to_string(docs.join(name)).unwrap_or_default();
    let access = describe::access_text(&router::description().1).unwrap();
    assert!(
        committed("access.md") == access,
        "docs/access.md is stale: run `make describe`"
    );
    let openapi = describe::openapi_text().unwrap();
    assert!(
        committed("openapi.json").trim_end() == openapi,
        "docs/openapi.json is stale: run `make describe`"
    );
    let events = describe::events_text().unwrap();
    assert!(
        committed("events.json").trim_end() == events,
        "docs/events.json is stale: run `make describe`"
    );
}

#[test]
fn every_route_is_described_and_declared_once() {
    let (document, rows) = router::description();
    let mut seen = std::collections::HashSet::new();
    for row in &rows {
        assert!(
            seen.insert((row.method, row.path.clone())),
            "{} {} is declared twice",
            row.method,
            row.path
        );
        let text = serde_json::to_value(&document.paths.paths[&row.path]).unwrap();
        let operation = &text[row.method.to_lowercase()];
        assert!(
            operation["summary"].is_string(),
            "{} {} has no summary",
            row.method,
            row.path
        );
        assert_eq!(operation["x-access"], format!("{:?}", row.access));
    }
}
