//! A client generated from docs/openapi.json runs a whole lesson against the started binary. It compiles with `tsc
//! --strict` and contains no cast. The program is `tests/clients/lesson`. Its exchanges are compared with the document
//! and become the document's examples.

use std::path::{Path, PathBuf};
use std::process::Command;

use common::clock;
use db::platform::CrossTenantReason;
use db::platform::organizations::NewOrganization;
use db::platform::users::NewUserAccount;
use db::{Store, Tenant};
use document_server_simulator::{Simulator, SimulatorSettings};
use domain::access::{MemberRole, PlatformRole};
use domain::id::OrganizationId;
use reqwest::Url;
use serde_json::{Value, json};

use test_support::openapi_check::{Exchange, check};
use test_support::{DOCSERVER_SECRET, DatabaseKind, FRONTEND, ServerEnv, clients_are_installed};

const PASSWORD: &str = "Zirkel und Lineal";
const CLIENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/clients");
const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");

/// Returns the source files of the program.
fn sources() -> Vec<PathBuf> {
    let folder = std::fs::read_dir(Path::new(CLIENTS).join("lesson")).unwrap();
    let mut files: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Runs a Node program in a folder and returns its output; panics when it fails.
fn node(folder: &Path, arguments: &[&str], world: Option<&Path>) -> String {
    let mut node = Command::new("node");
    node.args(arguments).current_dir(folder).env_remove("NODE_OPTIONS");
    if let Some(world) = world {
        node.env("GROUPWORK_WORLD", world);
    }
    let output = node.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "node {arguments:?}:\n{printed}");
    printed
}

/// Generates the client, compiles the program with it, and returns the folder with `out/lesson.js`.
fn compile_client() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in sources() {
        std::fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
    }
    let modules = Path::new(CLIENTS).join("node_modules").canonicalize().unwrap();
    std::os::unix::fs::symlink(&modules, folder.path().join("node_modules")).unwrap();
    let document = Path::new(DOCUMENT).canonicalize().unwrap();
    let generator = "node_modules/openapi-typescript/bin/cli.js";
    node(
        folder.path(),
        &[generator, document.to_str().unwrap(), "-o", "schema.d.ts"],
        None,
    );
    node(folder.path(), &["node_modules/typescript/bin/tsc", "-p", "."], None);
    folder
}

/// Creates the users of the lesson and returns them by their names in the program.
async fn people(store: &Store) -> Value {
    let hash = better_auth::password::hash(PASSWORD);
    let north = organization(store, "North School", "north").await;
    let south = organization(store, "South School", "south").await;
    let mut addresses = serde_json::Map::new();
    let all = [
        ("platform", "Rut Okonkwo", "rut@platform.example", None),
        (
            "admin",
            "Adam Berg",
            "adam@north.example",
            Some((&north, MemberRole::Admin)),
        ),
        (
            "teacher",
            "Ada Hartmann",
            "ada@north.example",
            Some((&north, MemberRole::Teacher)),
        ),
        (
            "colleague",
            "Tom Weber",
            "tom@north.example",
            Some((&north, MemberRole::Teacher)),
        ),
        (
            "ben",
            "Ben Okafor",
            "ben@north.example",
            Some((&north, MemberRole::Student)),
        ),
        (
            "ana",
            "Ana Silva",
            "ana@north.example",
            Some((&north, MemberRole::Student)),
        ),
        (
            "cem",
            "Cem Arslan",
            "cem@north.example",
            Some((&north, MemberRole::Student)),
        ),
        (
            "dana",
            "Dana Novak",
            "dana@north.example",
            Some((&north, MemberRole::Student)),
        ),
        (
            "stranger",
            "Zoe Martin",
            "zoe@south.example",
            Some((&south, MemberRole::Teacher)),
        ),
    ];
    for (key, name, email, membership) in all {
        addresses.insert(key.to_owned(), json!(email));
        let role = if membership.is_some() {
            PlatformRole::Student
        } else {
            PlatformRole::SuperAdmin
        };
        let user = NewUserAccount::provisioned(name, email, role, Some(hash.clone()));
        let membership = membership.map(|(tenant, role)| (tenant.clone(), role));
        let write = store.platform_write(CrossTenantReason::CommandLine, move |platform| {
            platform.insert_user(&user, clock::now())?;
            if let Some((tenant, role)) = &membership {
                platform.insert_member(tenant, &user.id, *role, clock::now())?;
            }
            Ok(())
        });
        write.await.unwrap();
    }
    Value::Object(addresses)
}

async fn organization(store: &Store, name: &str, slug: &str) -> Tenant {
    let new = NewOrganization {
        id: OrganizationId::new(clock::new_id()),
        name: name.to_owned(),
        slug: slug.to_owned(),
        custom_domain: None,
    };
    let written = store.platform_write(CrossTenantReason::CommandLine, move |platform| {
        platform.insert_organization(&new, clock::now())
    });
    written.await.unwrap()
}

/// Compares every exchange of the lesson with the document. The exchanges of one database become its examples.
fn check_all(exchanges: &str, is_of_lesson: bool) {
    for line in exchanges.lines() {
        let exchange: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| exchange[key].as_str().unwrap_or_default();
        let request = Some(exchange["request"].clone()).filter(|request| !request.is_null());
        check(&Exchange {
            method: text("method"),
            url: &Url::parse(text("url")).unwrap(),
            request,
            sent: text("sent"),
            status: u16::try_from(exchange["status"].as_u64().unwrap()).unwrap(),
            media: text("media"),
            answer: text("answer").as_bytes(),
            is_of_lesson,
        });
    }
}

async fn run_lesson(kind: DatabaseKind) {
    if !clients_are_installed() {
        return;
    }
    let Some(mut env) = ServerEnv::new(kind) else { return };
    let folder = tokio::task::spawn_blocking(compile_client).await.unwrap();
    let people = people(&env.store().await).await;
    let practice = Simulator::start(SimulatorSettings::new(DOCSERVER_SECRET))
        .await
        .unwrap();
    env.set("DOCSERVER_URL", &practice.url());
    let mut service = env.start("serve");
    service.ready().await;
    let exchanges = folder.path().join("exchanges");
    let world = json!({
        "baseUrl": service.base, "origin": FRONTEND, "exchanges": exchanges, "password": PASSWORD, "people": people,
    });
    let file = folder.path().join("world.json");
    std::fs::write(&file, world.to_string()).unwrap();
    let at = folder.path().to_owned();
    let playing = tokio::task::spawn_blocking(move || node(&at, &["out/lesson.js"], Some(&file)));
    let printed = playing.await.unwrap();
    println!("{printed}");
    assert!(
        printed.lines().filter(|line| line.starts_with("ok ")).count() >= 13,
        "{printed}"
    );
    // The examples come from one database, so that they are consistent.
    check_all(
        &std::fs::read_to_string(&exchanges).unwrap(),
        kind == DatabaseKind::Sqlite,
    );
    assert!(service.stop().success());
    practice.stop().await;
    env.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn generated_client_runs_lesson_on_sqlite() {
    run_lesson(DatabaseKind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: make test-resilience"]
async fn generated_client_runs_lesson_on_postgres() {
    run_lesson(DatabaseKind::Postgres).await;
}

#[test]
fn generated_client_lesson_contains_no_cast() {
    const CASTS: [&str; 9] = [" as ", "<any>", ": any", "any[]", "@ts-", "!.", "![", "!;", "!)"];
    for file in sources() {
        if file.extension().is_none_or(|extension| extension != "ts") {
            continue;
        }
        for (number, line) in std::fs::read_to_string(&file).unwrap().lines().enumerate() {
            let is_comment = line.trim_start().starts_with("/*") || line.trim_start().starts_with("//");
            let code = if is_comment { "" } else { line };
            let found = CASTS.iter().find(|cast| code.contains(**cast));
            assert!(
                found.is_none(),
                "{}:{}: {found:?} in {line}",
                file.display(),
                number + 1
            );
        }
    }
}
