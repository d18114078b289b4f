//! Imports go downstairs only, never sideways; and a few things stand in one file only. Read as text, because no lint
//! sees it.

use std::path::{Path, PathBuf};

/// Rooms by floor. A room may import rooms of lower floors; `extra` lists what it may name beside that.
const FLOORS: &[(&str, u8)] = &[
    ("store", 1),
    ("files", 1),
    ("dns", 1),
    ("document_server", 1),
    ("mail", 1),
    ("views", 1),
    ("auth", 2),
    ("actions", 3),
    ("live", 3),
    ("changes", 4),
    ("editing", 5),
    ("jobs", 5),
    ("import", 5),
    ("backup", 5),
    ("http", 6),
    ("cli", 7),
];

/// What rooms may not import although it lies below them.
const NEVER: &[(&str, &str)] = &[("actions", "views")];

/// Ground that every room may stand on.
const GROUND: &[&str] = &[
    "error",
    "clock",
    "config",
    "app",
    "failpoint",
    "measures",
    "statements",
    "args",
    "manages_class",
    "sees_group",
    "knows_group",
    "knows_class",
    "unread_messages",
    "good_impersonation",
];

fn sources(room: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(room).unwrap() {
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

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The rooms a file names with `crate::room`.
fn named_rooms(text: &str) -> Vec<&str> {
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| line.match_indices("crate::").map(move |(at, _)| &line[at + 7..]))
        .filter_map(|rest| {
            let room = rest
                .split(|character: char| !character.is_alphanumeric() && character != '_')
                .next()?;
            (!room.is_empty()).then_some(room)
        })
        .collect()
}

#[test]
fn imports_go_downstairs_only() {
    let mut faults = Vec::new();
    for (room, floor) in FLOORS {
        for (path, text) in sources(&root().join(room)) {
            for named in named_rooms(&text) {
                let below = FLOORS.iter().find(|(name, _)| *name == named).map(|(_, floor)| floor);
                let fine = named == *room || GROUND.contains(&named) || below.is_some_and(|below| below < floor);
                if !fine || NEVER.contains(&(*room, named)) {
                    faults.push(format!("{}: crate::{named}", path.display()));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_app_is_built_and_used_upstairs_only() {
    for room in [
        "store",
        "files",
        "document_server",
        "views",
        "auth",
        "actions",
        "changes",
        "editing",
        "jobs",
        "import",
        "backup",
    ] {
        for (path, text) in sources(&root().join(room)) {
            assert!(!named_rooms(&text).contains(&"app"), "{} knows the app", path.display());
        }
    }
}

#[test]
fn some_things_stand_in_one_place() {
    let only = |needle: &str, allowed: &[&str]| {
        for (path, text) in sources(&root()) {
            let relative = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            let names = code.into_iter().any(|line| line.contains(needle));
            assert!(
                !names || allowed.iter().any(|file| relative.starts_with(file)),
                "{relative} names {needle}"
            );
        }
    };
    only(
        "rusqlite",
        &[
            "store/sql.rs",
            "store/connection.rs",
            "store/conflict.rs",
            "store/migrate.rs",
            "store/dump/",
        ],
    );
    only(
        "postgres::",
        &[
            "store/sql.rs",
            "store/connection.rs",
            "store/conflict.rs",
            "store/dump/",
            "store/migrate/collation.rs",
            "store/server",
            "live/",
        ],
    );
    only("SystemTime::now", &["clock.rs"]);
    only("now_v7", &["clock.rs"]);
    only("env::var", &["config.rs"]);
}

#[test]
fn files_are_short_enough_to_read() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for folder in [
        "model/src",
        "better-auth/src",
        "server/src",
        "server/tests",
        "practice-document-server/src",
    ] {
        for (path, text) in sources(&workspace.join(folder)) {
            let lines = text.lines().count();
            assert!(
                lines <= 460,
                "{} has {lines} lines; split it by what it holds",
                path.display()
            );
        }
    }
}
