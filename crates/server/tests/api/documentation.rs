//! The OpenAPI document is complete: whatever route there is, a reader finds what it takes, what it answers, and why it
//! may refuse. (That it is true is checked at every answer of every test, `support/documented.rs`.)

use groupwork::http::endpoint::Row;
use serde_json::Value;

use crate::support::clients_are_there;
use crate::support::documented::document;
use crate::support::recorded;

/// Where to write what is missing.
fn place(row: &Row) -> String {
    format!(
        "{} {} (http/{}.rs or a file beside it)",
        row.method,
        row.path,
        row.noun.replace('-', "_")
    )
}

/// Goes through all routes and lists everything that is missing at once.
fn all_routes(missing: impl Fn(&Row, &Value) -> Vec<String>) {
    let document = document();
    let faults = document.rows.iter().flat_map(|row| {
        let found = missing(row, document.operation(row));
        found.into_iter().map(move |what| format!("{}: {what}", place(row)))
    });
    let faults: Vec<String> = faults.collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn every_route_and_every_parameter_is_described() {
    all_routes(|_, operation| {
        let mut missing = Vec::new();
        if operation["summary"]
            .as_str()
            .is_none_or(|summary| summary.trim().is_empty())
        {
            missing.push("no summary: begin the doc comment of its handler with one line".to_owned());
        }
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let parameter = document().resolved(parameter);
            if parameter["description"].as_str().is_none_or(str::is_empty) {
                let name = &parameter["name"];
                missing.push(format!(
                    "parameter {name} has no description: params((.., description = \"..\")) or a doc \
                     comment at its field"
                ));
            }
        }
        missing
    });
}

#[test]
fn every_operation_has_a_name_of_its_own() {
    let mut seen = std::collections::HashMap::new();
    for row in &document().rows {
        let name = document().operation(row)["operationId"].as_str().unwrap_or_default();
        let said = format!("{} {}", row.method, row.path);
        let before = seen.insert(name, said.clone());
        let clash = before.is_some() || name.is_empty();
        assert!(
            !clash,
            "{said}: operationId {name} is that of {before:?}; write operation_id = \"..\" into its \
             #[utoipa::path]"
        );
    }
}

#[test]
fn every_refusal_is_a_known_code_with_a_meaning() {
    for (name, response) in document().value["components"]["responses"].as_object().unwrap() {
        for code in response["x-codes"].as_array().unwrap() {
            let code = code.as_str().unwrap();
            let described = response["description"].as_str().unwrap().lines();
            let said = described.filter_map(|line| line.strip_prefix(&format!("`{code}`: ")));
            assert!(
                said.into_iter().any(|meaning| !meaning.is_empty()),
                "{code} (of {name}) means nothing: write its line into http/codes.rs"
            );
        }
    }
    all_routes(|row, operation| {
        let responses = operation["responses"].as_object().unwrap();
        let refusals = responses.keys().filter(|status| status.as_str() >= "400");
        let without: Vec<_> = refusals
            .filter(|status| {
                let codes = document().codes(row, status.parse().unwrap());
                // A body of its own (the readiness check), or a status that says all there is to say.
                let shaped = responses[*status]["content"].is_object() || *status == "416";
                codes.is_empty() && !shaped
            })
            .map(|status| format!("{status} names no code: description = \"CODE, ..\""))
            .collect();
        without
    });
}

#[test]
fn every_route_shows_a_real_exchange() {
    let examples = recorded::committed();
    all_routes(|row, operation| {
        let example = &examples["routes"][format!("{} {}", row.method, row.path)];
        if !example.is_null() {
            return recorded::faults(row, example);
        }
        let responses = operation["responses"].as_object().unwrap();
        let successes: Vec<_> = responses.iter().filter(|(status, _)| status.starts_with('2')).collect();
        let silent = successes.iter().all(|(_, response)| {
            let media = response["content"]
                .as_object()
                .into_iter()
                .flat_map(|content| content.keys());
            let mut shown = media.filter(|media| media.as_str() == "application/json" || media.starts_with("text/"));
            shown.next().is_none()
        });
        if successes.is_empty() || (silent && operation["requestBody"].is_null()) {
            return Vec::new(); // Nothing but refusals, bytes, or an empty body.
        }
        vec!["no example: run a test in which it succeeds with GROUPWORK_EXAMPLES=1, then `make describe`".to_owned()]
    });
}

#[test]
fn no_example_outlives_its_route() {
    let known: Vec<String> = document()
        .rows
        .iter()
        .map(|row| format!("{} {}", row.method, row.path))
        .collect();
    let examples = recorded::committed();
    let gone: Vec<_> = examples["routes"]
        .as_object()
        .unwrap()
        .keys()
        .filter(|name| !known.contains(name))
        .collect();
    assert!(gone.is_empty(), "take out of docs/examples.json: {gone:?}");
}

both!(the_page_needs_no_other_host_and_no_inline_script, |app| {
    let stranger = app.stranger();
    let page = stranger.get("/docs").await;
    assert_eq!(
        (page.status, page.header("content-type")),
        (200, "text/html; charset=utf-8")
    );
    let policy = page.header("content-security-policy").to_owned();
    assert!(
        policy.contains("default-src 'none'") && policy.contains("script-src 'self';"),
        "{policy}"
    );
    assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
    let text = String::from_utf8(page.bytes).unwrap();
    assert!(
        !text.contains("://") && !text.contains("<script>") && !text.contains("style="),
        "{text}"
    );
    let named = text.split(['"', '\'']).filter_map(|word| word.strip_prefix("docs/"));
    let named: Vec<&str> = named.collect();
    assert_eq!(named.len(), 4, "{named:?}");
    for name in named {
        let part = stranger.get(&format!("/docs/{name}")).await;
        let media = if name.rsplit('.').next() == Some("css") {
            "text/css"
        } else {
            "text/javascript"
        };
        assert_eq!(
            (part.status, part.header("content-type").split(';').next()),
            (200, Some(media)),
            "{name}"
        );
        assert!(part.bytes.len() > 100, "{name}");
    }
    for name in ["index.html", "..%2fpage.html", "oauth2-redirect.html"] {
        stranger.get(&format!("/docs/{name}")).await.refused(404, "NOT_FOUND");
    }
});

#[tokio::test]
async fn a_validator_finds_the_document_valid() {
    if !clients_are_there() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("openapi.json");
    std::fs::write(&path, document().value.to_string()).unwrap();
    let clients = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/clients");
    let mut node = tokio::process::Command::new("node");
    node.arg(format!("{clients}/openapi.mjs"))
        .arg(&path)
        .env_remove("NODE_OPTIONS")
        .kill_on_drop(true);
    let output = node.output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.starts_with("ok"), "{said}");
}
