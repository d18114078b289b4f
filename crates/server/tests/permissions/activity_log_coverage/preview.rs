//! Previews of the routes that the scenario calls.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use api::router;
use serde_json::Value;

use test_support::rows::texts;
use test_support::tables::fingerprints;
use test_support::{Answer, TestApp, until};

/// The same request with `dryRun`, sent before the real one. It changes no row. A route without previews rejects it.
pub(super) struct Preview<'a> {
    app: &'a TestApp,
    pub(super) path: String,
    shown: String,
    before: BTreeMap<String, u64>,
    has_dry_run: bool,
}

impl<'a> Preview<'a> {
    pub(super) async fn begin(app: &'a TestApp, route: &str, path: &str) -> Self {
        let (method, template) = route.split_once(' ').unwrap();
        let template = template.split('?').next().unwrap();
        // An empty value means yes, like `1`.
        let value = if method == "DELETE" { "" } else { "=1" };
        let path = path.replace("?dryRun=1", "");
        let mark = if path.contains('?') { '&' } else { '?' };
        until("no background work of an earlier step changes rows", async || {
            let unfinished =
                "SELECT id FROM jobs WHERE status IN ('QUEUED', 'RUNNING') UNION ALL SELECT id FROM file_removals";
            let unfinished = unfinished.to_owned();
            texts(&app.database, unfinished).await.is_empty()
        })
        .await;
        Self {
            app,
            path: format!("{path}{mark}dryRun{value}"),
            shown: route.to_owned(),
            before: fingerprints(&app.database).await,
            has_dry_run: documents_dry_run(method, template),
        }
    }

    pub(super) async fn check(self, answer: Answer) {
        let route = self.shown;
        if self.has_dry_run {
            let context = String::from_utf8_lossy(&answer.bytes).into_owned();
            assert!(answer.status < 300, "preview of {route}: {} {context}", answer.status);
        } else {
            answer.invalid("dryRun");
        }
        let after = fingerprints(&self.app.database).await;
        let changed: Vec<_> = after
            .iter()
            .filter(|(table, rows)| self.before.get(*table) != Some(*rows))
            .collect();
        assert!(changed.is_empty(), "a preview of {route} changed {changed:?}");
    }
}

/// Whether the OpenAPI document lists the parameter for this route. It is required for routes that delete, finish, move,
/// copy or import.
fn documents_dry_run(method: &str, template: &str) -> bool {
    static DOCUMENT: LazyLock<Value> = LazyLock::new(|| serde_json::to_value(router::description().0).unwrap());
    let parameters = &DOCUMENT["paths"][template][method.to_lowercase()]["parameters"];
    let mut parameters = parameters.as_array().into_iter().flatten();
    let is_documented = parameters.any(|parameter| parameter["name"] == "dryRun");
    let is_due = method == "DELETE"
        || [
            "/finish",
            "/reopen",
            "/move",
            "/import",
            "/erase",
            "/generate",
            "/bulk",
            "/copies",
            "/record-work",
            "/following",
            "/homerooms/classes",
        ]
        .iter()
        .any(|end| template.ends_with(end));
    assert_eq!(is_documented, is_due, "dryRun of {method} {template}");
    is_documented
}
