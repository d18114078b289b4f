//! The OpenAPI document is complete: every route describes its parameters, its responses and its errors.
//! `test-support/src/openapi_check.rs` checks every response of every test against the document.

use std::collections::BTreeSet;

use api::endpoint::Row;
use better_auth::error::AuthError;
use domain::error_code::{CausedBy, ErrorCode};
use serde_json::Value;

use test_support::clients_are_installed;
use test_support::openapi_check::document;
use test_support::openapi_examples;

/// Returns where to add missing documentation.
fn source_of(row: &Row) -> String {
    format!(
        "{} {} (crates/api/src/{}.rs or a file beside it)",
        row.method,
        row.path,
        row.noun.replace('-', "_")
    )
}

/// Checks all routes and reports everything that is missing at once.
fn check_all_routes(missing: impl Fn(&Row, &Value) -> Vec<String>) {
    let document = document();
    let faults = document.rows.iter().flat_map(|row| {
        let found = missing(row, document.operation(row));
        found.into_iter().map(move |what| format!("{}: {what}", source_of(row)))
    });
    let faults: Vec<String> = faults.collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn every_route_and_every_parameter_is_described() {
    check_all_routes(|_, operation| {
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
fn every_operation_has_a_unique_id() {
    let mut seen = std::collections::HashMap::new();
    for row in &document().rows {
        let name = document().operation(row)["operationId"].as_str().unwrap_or_default();
        let context = format!("{} {}", row.method, row.path);
        let before = seen.insert(name, context.clone());
        let clash = before.is_some() || name.is_empty();
        assert!(
            !clash,
            "{context}: operationId {name} is that of {before:?}; write operation_id = \"..\" into its \
             #[utoipa::path]"
        );
    }
}

#[test]
fn every_error_response_has_documented_codes() {
    for (name, response) in document().value["components"]["responses"].as_object().unwrap() {
        for code in response["x-codes"].as_array().unwrap() {
            let code = code.as_str().unwrap();
            let described = response["description"].as_str().unwrap().lines();
            let context = described.filter_map(|line| line.strip_prefix(&format!("`{code}`: ")));
            assert!(
                context.into_iter().any(|meaning| !meaning.is_empty()),
                "{code} (of {name}) has no description: add it to crates/domain/src/error_code.rs"
            );
            if let Some(own) = ErrorCode::parse(code) {
                assert_eq!(
                    name.split('.').next(),
                    Some(own.status().to_string().as_str()),
                    "{code}"
                );
            }
        }
    }
    check_all_routes(|row, operation| {
        let responses = operation["responses"].as_object().unwrap();
        let refusals = responses.keys().filter(|status| status.as_str() >= "400");
        let without: Vec<_> = refusals
            .filter(|status| {
                let codes = document().codes(row, status.parse().unwrap());
                // No error codes are required if the response has its own body (the readiness check) or is a 416.
                let shaped = responses[*status]["content"].is_object() || *status == "416";
                codes.is_empty() && !shaped
            })
            .map(|status| format!("{status} names no code: description = \"CODE, ..\""))
            .collect();
        without
    });
}

#[test]
fn every_route_has_a_recorded_example() {
    let examples = openapi_examples::committed();
    check_all_routes(|row, operation| {
        let example = &examples["routes"][format!("{} {}", row.method, row.path)];
        if !example.is_null() {
            return openapi_examples::faults(row, example);
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
            return Vec::new(); // Only errors, bytes, or an empty body.
        }
        vec!["no example: run a test in which it succeeds with GROUPWORK_EXAMPLES=1, then `make describe`".to_owned()]
    });
}

#[test]
fn every_example_belongs_to_a_route() {
    let known: Vec<String> = document()
        .rows
        .iter()
        .map(|row| format!("{} {}", row.method, row.path))
        .collect();
    let examples = openapi_examples::committed();
    let gone: Vec<_> = examples["routes"]
        .as_object()
        .unwrap()
        .keys()
        .filter(|name| !known.contains(name))
        .collect();
    assert!(gone.is_empty(), "take out of docs/examples.json: {gone:?}");
}

sqlite!(docs_page_needs_no_other_host_and_no_inline_script, |app| {
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
async fn openapi_document_passes_validation() {
    if !clients_are_installed() {
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
    let context = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && context.starts_with("ok"), "{context}");
}

/// Collects every id under this key in an example.
fn ids_of<'v>(value: &'v Value, key: &str, found: &mut Vec<&'v str>) {
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                found.extend(inner.as_str().filter(|_| name == key));
                ids_of(inner, key, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| ids_of(item, key, found)),
        _ => {}
    }
}

#[test]
fn examples_belong_to_one_school() {
    // Actions on other organizations, or by users who come from them.
    let is_elsewhere = |name: &str| name.contains("/tenants") || name.contains("invitation");
    let examples = openapi_examples::committed();
    let routes = examples["routes"].as_object().unwrap();
    let mut story = String::new();
    for (name, example) in routes.iter().filter(|(name, _)| !is_elsewhere(name)) {
        let mut ids = Vec::new();
        ids_of(example, "organizationId", &mut ids);
        for id in ids {
            if story.is_empty() {
                id.clone_into(&mut story);
            }
            assert_eq!(
                id, story,
                "the example of {name} is of another school; see tests/README.md"
            );
        }
    }
    assert!(!story.is_empty());
}

/// Returns the rows of the first table below a heading of docs/api-contract.md, without the header row.
fn contract_table(heading: &str) -> Vec<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/api-contract.md");
    let page = std::fs::read_to_string(path).unwrap();
    let below = page
        .lines()
        .skip_while(|line| line.trim_start_matches('#').trim() != heading || !line.starts_with('#'))
        .skip(1);
    let table = below
        .skip_while(|line| !line.starts_with('|'))
        .take_while(|line| line.starts_with('|'));
    table.skip(2).map(str::to_owned).collect()
}

/// Compares a table of docs/api-contract.md with the rows from the code.
#[track_caller]
fn assert_table(heading: &str, expected: &[String]) {
    let found = contract_table(heading);
    assert!(
        found == expected,
        "docs/api-contract.md, {heading}: the table has to be\n{}\nand is\n{}",
        expected.join("\n"),
        found.join("\n")
    );
}

#[test]
fn error_codes_are_those_of_the_contract() {
    let document = document();
    let mut codes = BTreeSet::new();
    for row in document.rows.iter().filter(|row| row.noun != "auth") {
        for status in document.operation(row)["responses"].as_object().unwrap().keys() {
            let status: u16 = status.parse().unwrap();
            codes.extend(document.codes(row, status).into_iter().map(|code| (status, code)));
        }
    }
    let responses = document.value["components"]["responses"].as_object().unwrap();
    let meaning = |code: &str| {
        let start = format!("`{code}`: ");
        let mut lines = responses
            .values()
            .filter_map(|response| response["description"].as_str())
            .flat_map(str::lines);
        lines
            .find_map(|line| line.strip_prefix(&start).map(str::to_owned))
            .unwrap_or_default()
    };
    let rows = codes
        .into_iter()
        .map(|(status, code)| format!("| {status} | `{code}` | {} |", meaning(code)));
    assert_table("Error codes", &rows.collect::<Vec<_>>());
}

#[test]
fn client_translates_the_error_codes_that_users_meet() {
    /// Errors that the client itself detects.
    const CLIENT_CODES: [&str; 6] = ["BROKEN_OFF", "EXCEL", "NO_ROWS", "OFFLINE", "UNKNOWN", "UNSENT_CHANGES"];
    let library: BTreeSet<_> = AuthError::all().into_iter().filter_map(|error| error.code).collect();
    for language in ["en", "de"] {
        let read = |file: &str, section: &str| {
            let path = format!(
                "{}/../../web/src/i18n/{language}/{file}.json",
                env!("CARGO_MANIFEST_DIR")
            );
            let texts: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
            texts[section].as_object().unwrap().clone()
        };
        let mut texts = read("refused", "refused");
        texts.extend(read("common", "problem"));
        let is_code = |key: &&String| key.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
        let translated: BTreeSet<&str> = texts.keys().filter(is_code).map(String::as_str).collect();
        for code in ErrorCode::ALL {
            let is_expected = code.caused_by() == CausedBy::User;
            assert_eq!(
                translated.contains(code.as_str()),
                is_expected,
                "{language}: translation of {code}"
            );
        }
        for code in translated {
            let is_known = ErrorCode::parse(code).is_some() || library.contains(code) || CLIENT_CODES.contains(&code);
            assert!(is_known, "{language}: no error has the code {code}");
        }
    }
}

/// Formats a number with a comma between thousands, as in docs/api-contract.md.
fn with_thousands_separator(number: i64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[test]
fn rates_are_those_of_the_contract() {
    use domain::rate::Rate;
    let rates = [
        (Rate::Read, "GET requests of a user"),
        (Rate::Change, "other requests of a user"),
        (Rate::Commit, "commits of a user in the built-in editor"),
        (Rate::Chat, "chat messages of a user"),
        (Rate::Export, "exports of a user"),
        (Rate::Help, "help requests of a group"),
        (Rate::Import, "imports of an organization"),
        (Rate::Roster, "requests of an organization to roster servers"),
        (Rate::Address, "requests without a session from an address"),
        (Rate::Socket, "sockets that a user opens"),
        (Rate::Poll, "socket polls of a user"),
        (Rate::Document, "requests of the document server per document and route"),
    ];
    let row = |(rate, what): (Rate, &str)| {
        let limit = rate.limit();
        format!(
            "| {what} | {} | {} s |",
            with_thousands_separator(limit.hits),
            with_thousands_separator(limit.window)
        )
    };
    assert_table("Rates", &rates.into_iter().map(row).collect::<Vec<_>>());
}

#[test]
fn sign_in_limits_are_those_of_the_contract() {
    use domain::sign_in_limit::{ACCOUNT, ADDRESS, CONSECUTIVE, FailureLimit, GUESSING, PAIR, PAIR_WHILE_GUESSING};
    let limits: [(&str, FailureLimit); 5] = [
        ("failures of one account from one address, known or not", PAIR),
        ("failures of one account from all addresses that are not known", ACCOUNT),
        (
            "failing accounts from one address; closes it for accounts that are not known there",
            ADDRESS,
        ),
        (
            "failing accounts from one address; from here on the next row counts there",
            GUESSING,
        ),
        (
            "failures of one account from such an address, known or not",
            PAIR_WHILE_GUESSING,
        ),
    ];
    let row = |(what, limit): (&str, FailureLimit)| format!("| {what} | {} | {} s |", limit.failures, limit.window);
    let mut rows: Vec<String> = limits.into_iter().map(row).collect();
    rows.push(format!(
        "| consecutive failures of one account from addresses that are not known; closes it for them | {CONSECUTIVE} | – |"
    ));
    assert_table("Failed sign-ins", &rows);
}

#[test]
fn lengths_of_texts_are_those_of_the_contract() {
    let schemas = document().value["components"]["schemas"].as_object().unwrap();
    let mut rows: Vec<String> = schemas
        .iter()
        .filter(|(_, schema)| schema["type"] == "string")
        .filter_map(|(name, schema)| {
            let most = with_thousands_separator(schema["maxLength"].as_i64()?);
            let least = schema["minLength"].as_i64().unwrap_or(0);
            Some(format!("| `{name}` | {least} | {most} |"))
        })
        .collect();
    rows.sort();
    assert_table("Lengths of texts", &rows);
}

#[test]
fn upload_types_are_those_of_the_contract() {
    let row = |kind: &domain::file::FileType| format!("| `{}` | `{}` |", kind.as_str(), kind.mime());
    let types: Vec<String> = domain::file::FileType::ALL.iter().map(row).collect();
    assert_table("Upload types", &types);
}

#[test]
fn legacy_formats_are_those_of_the_contract() {
    let row = |format: &domain::file::LegacyFormat| format!("| `{format}` | `{}` |", format.successor());
    let formats: Vec<String> = domain::file::LegacyFormat::ALL.iter().map(row).collect();
    assert_table("Older Office formats", &formats);
}

#[test]
fn every_route_in_the_specification_exists() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/specification.md");
    let page = std::fs::read_to_string(path).unwrap();
    let documented = document();
    for line in page.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [method @ ("GET" | "POST" | "PATCH" | "DELETE"), path, ..] = cells[..] else {
            continue;
        };
        let path = path.replace(":id", "{id}");
        let is_there = documented
            .rows
            .iter()
            .any(|row| row.method == method && row.path == path);
        assert!(is_there, "{method} {path} of docs/specification.md is no route");
    }
}

/// Returns the anchor of a heading of a Markdown page.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text
        .chars()
        .filter(|character| character.is_alphanumeric() || " -_".contains(*character));
    kept.map(|character| if character == ' ' { '-' } else { character })
        .collect()
}

#[test]
fn links_to_the_contract_lead_to_its_headings() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/api-contract.md")).unwrap();
    let anchors: Vec<String> = page.lines().filter(|line| line.starts_with('#')).map(anchor).collect();
    let mut folders = vec![root.join("crates"), root.join("docs"), root.join("web/src")];
    let mut files = vec![
        root.join("README.md"),
        root.join("ARCHITECTURE.md"),
        root.join("CONTRIBUTING.md"),
    ];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if ["rs", "md", "ts", "tsx", "sql"]
                .iter()
                .any(|kind| path.extension().is_some_and(|is| is == *kind))
            {
                files.push(path);
            }
        }
    }
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for link in text.split("api-contract.md#").skip(1) {
            let end = link.find(|character: char| !character.is_alphanumeric() && !"-_".contains(character));
            let named = &link[..end.unwrap_or(link.len())];
            let is_there = named.is_empty() || anchors.iter().any(|anchor| anchor == named);
            assert!(is_there, "{}: docs/api-contract.md has no #{named}", file.display());
        }
    }
}
