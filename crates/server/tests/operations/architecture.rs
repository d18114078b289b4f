//! Architecture rules that cargo does not enforce: some items are used in one module only. The tests read the sources
//! as text, because no lint checks this.

use std::path::{Path, PathBuf};

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
    found
}

/// The sources of the crates that make up the service, with paths relative to `crates/`.
fn service_sources() -> Vec<(String, String)> {
    let crates = crates();
    let names = [
        "common",
        "document-pdf",
        "docx",
        "domain",
        "db",
        "adapters",
        "api-types",
        "auth",
        "realtime",
        "service",
        "backup",
        "api",
        "rich-text",
        "webauthn",
        "server",
    ];
    let folders = names.iter().map(|name| crates.join(name).join("src"));
    let files = folders.flat_map(|folder| sources(&folder));
    files
        .map(|(path, text)| (path.strip_prefix(&crates).unwrap().to_str().unwrap().to_owned(), text))
        .collect()
}

#[test]
fn database_drivers_clock_and_environment_are_used_in_one_place() {
    let sources = service_sources();
    let only = |needle: &str, allowed: &[&str]| {
        for (path, text) in &sources {
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            let is_used = code.into_iter().any(|line| line.contains(needle));
            let is_allowed = allowed.iter().any(|file| path.starts_with(file));
            assert!(!is_used || is_allowed, "{path} uses {needle}");
        }
    };
    only(
        "rusqlite",
        &[
            "db/src/sql.rs",
            "db/src/connection.rs",
            "db/src/sqlite_writer.rs",
            "db/src/db_error.rs",
            "db/src/migrate.rs",
            "db/src/dump/",
        ],
    );
    only(
        "postgres::",
        &[
            "db/src/sql.rs",
            "db/src/connection.rs",
            "db/src/db_error.rs",
            "db/src/dump/",
            "db/src/migrate/collation.rs",
            "db/src/server",
            "realtime/src/",
        ],
    );
    only("SystemTime::now", &["common/src/clock.rs"]);
    only("now_v7", &["common/src/clock.rs"]);
    only("env::var", &["server/src/config.rs"]);
}

/// Cargo rejects cycles between crates. This test checks the direction of the dependencies.
#[test]
fn crates_depend_on_lower_layers_only() {
    const LAYERS: &[&[&str]] = &[
        &["api-macros"],
        &["better-auth", "docx", "domain", "rich-text", "webauthn"],
        &["common", "api-types", "document-pdf"],
        &["db", "adapters"],
        &["auth", "backup"],
        &["realtime"],
        &["service"],
        &["api"],
        &["server"],
    ];
    let layer_of = |name: &str| LAYERS.iter().position(|layer| layer.contains(&name));
    for name in LAYERS.iter().copied().flatten() {
        let manifest = std::fs::read_to_string(crates().join(name).join("Cargo.toml")).unwrap();
        let dependencies = manifest.split("\n[dependencies]\n").nth(1).unwrap_or_default();
        let dependencies = dependencies.split("\n[").next().unwrap();
        for line in dependencies.lines() {
            let Some(dependency) = line.strip_prefix("groupwork-") else {
                continue;
            };
            let dependency = dependency.split(['.', ' ', '=']).next().unwrap();
            assert!(
                layer_of(dependency) < layer_of(name) && layer_of(dependency).is_some(),
                "{name} depends on {dependency}"
            );
        }
    }
}

/// ARCHITECTURE.md abbreviates `crates/db/src/store.rs` to `db/store.rs`.
#[test]
fn architecture_page_names_existing_files() {
    let root = crates().join("..");
    let page = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let is_source = |path: &str| Path::new(path).extension().is_some_and(|extension| extension == "rs");
    let paths: Vec<&str> = page
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|span| span.contains('/') && is_source(span) && !span.contains('<'))
        .collect();
    let exists = |path: &str| {
        let in_crate = path
            .split_once('/')
            .is_some_and(|(name, rest)| crates().join(name).join("src").join(rest).is_file());
        in_crate || root.join(path).is_file() || crates().join("server").join(path).is_file()
    };
    let missing: Vec<&str> = paths.iter().copied().filter(|path| !exists(path)).collect();
    assert!(paths.len() > 50, "{} paths found", paths.len());
    assert!(missing.is_empty(), "{missing:#?}");
}
