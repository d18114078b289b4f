//! Runs one lesson with the official clients against the built binary: with the demo in its default state, and with a
//! service on PostgreSQL and a document server simulator. The steps are defined in `tests/clients/`.

use std::path::Path;
use std::process::Command;

use common::clock;
use db::platform::CrossTenantReason;
use db::platform::organizations::NewOrganization;
use db::platform::users::NewUserAccount;
use db::{Store, Tenant};
use document_server_simulator::{Simulator, SimulatorSettings};
use domain::access::{MemberRole, PlatformRole};
use domain::id::OrganizationId;
use serde_json::{Value, json};

use test_support::{DOCSERVER_SECRET, DatabaseKind, FRONTEND, ServerEnv, ServerProcess, clients_are_installed};

const PASSWORD: &str = "a password for the lesson";
/// The number of steps of the lesson.
const STEPS: usize = 8;

const CLIENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/clients");

/// Runs the lesson to the end. Every step must print `ok`.
pub fn run_lesson_client(world: &Value) {
    let output = Command::new("node")
        .arg("story.mjs")
        .current_dir(CLIENTS)
        .env("GROUPWORK_WORLD", world.to_string())
        .env_remove("NODE_OPTIONS")
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    println!("{printed}");
    assert!(output.status.success(), "the lesson failed:\n{printed}");
    let received = printed.lines().filter(|line| line.starts_with("ok ")).count();
    assert_eq!(received, STEPS, "the lesson has another number of steps:\n{printed}");
}

/// Parses the output of the demo into the description of its world.
fn world_of_demo(demo: &mut ServerProcess, data_dir: &Path) -> Value {
    let password = demo.wait_for_line(|line| {
        let rest = line.strip_prefix("Everybody signs in with the password ")?;
        Some(rest.to_owned())
    });
    let password = password.unwrap();
    let mut sign_ins = Vec::new();
    let end = demo.wait_for_line(|line| {
        if let Some((part, email)) = line.trim().rsplit_once(' ').filter(|(_, email)| email.contains('@')) {
            sign_ins.push((part.trim().to_owned(), json!({"email": email, "password": password})));
        }
        line.starts_with("Ctrl-C").then_some(())
    });
    end.unwrap();
    let of = |part: &str| -> Vec<Value> {
        let found = sign_ins.iter().filter(|(name, _)| name.starts_with(part));
        found.map(|(_, login)| login.clone()).collect()
    };
    json!({
        "baseUrl": demo.base, "dataDir": data_dir,
        "people": {
            "teacher": of("teacher of 7b")[0], "admin": of("administrator")[0], "students": of("student of"),
            "stranger": of("teacher of another school")[0],
        },
    })
}

/// Inserts two schools with users who have passwords.
pub async fn people_with_passwords(store: &Store) -> Value {
    let hash = better_auth::password::hash(PASSWORD);
    let school = organization(store, "school").await;
    let other = organization(store, "other").await;
    let join = async |name: &str, tenant: &Tenant, role: MemberRole| {
        let email = format!("{name}@lesson.example");
        let user = NewUserAccount::provisioned(name, &email, PlatformRole::Student, Some(hash.clone()));
        let tenant = tenant.clone();
        let write = store.platform_write(CrossTenantReason::CommandLine, move |platform| {
            platform.insert_user(&user, clock::now())?;
            platform.insert_member(&tenant, &user.id, role, clock::now())
        });
        write.await.unwrap();
        json!({"email": email, "password": PASSWORD})
    };
    let mut students = Vec::new();
    for name in ["ben", "ana", "cem", "dana"] {
        students.push(join(name, &school, MemberRole::Student).await);
    }
    json!({
        "teacher": join("ada", &school, MemberRole::Teacher).await,
        "admin": join("adam", &school, MemberRole::Admin).await,
        "students": students,
        "stranger": join("zoe", &other, MemberRole::Teacher).await,
    })
}

async fn organization(store: &Store, slug: &str) -> Tenant {
    let new = NewOrganization {
        id: OrganizationId::new(clock::new_id()),
        name: slug.to_owned(),
        slug: slug.to_owned(),
        custom_domain: None,
    };
    let written = store.platform_write(CrossTenantReason::CommandLine, move |platform| {
        platform.insert_organization(&new, clock::now())
    });
    written.await.unwrap()
}

#[test]
fn demo_runs_lesson_and_stops_cleanly() {
    if !clients_are_installed() {
        return;
    }
    let mut env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    // Disables the simulated users of the demo, so that only the users of the lesson act.
    env.set("GROUPWORK_DEMO_STILL", "true");
    // The lesson uses the protocol of a document server.
    env.set("GROUPWORK_DEMO_DOCUMENT_SERVER", "simulator");
    let mut demo = env.start("demo");
    let world = world_of_demo(&mut demo, env.folder());
    run_lesson_client(&world);
    assert!(demo.stop().success());

    // The school still exists, and a second lesson can run in it.
    let mut demo = env.start("demo");
    let world = world_of_demo(&mut demo, env.folder());
    run_lesson_client(&world);
    assert!(demo.stop().success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn service_on_postgres_runs_lesson() {
    if !clients_are_installed() {
        return;
    }
    let Some(mut env) = ServerEnv::new(DatabaseKind::Postgres) else {
        return;
    };
    let people = people_with_passwords(&env.store().await).await;
    let document_server = Simulator::start(SimulatorSettings::new(DOCSERVER_SECRET))
        .await
        .unwrap();
    env.set("DOCSERVER_URL", &document_server.url());
    env.set("METRICS_LISTEN", "127.0.0.1:0");
    let mut service = env.start("serve");
    service.ready().await;
    let world = json!({
        "baseUrl": service.base, "frontendOrigin": FRONTEND, "dataDir": env.folder(), "people": people,
    });
    let telling = tokio::task::spawn_blocking(move || run_lesson_client(&world));
    telling.await.unwrap();
    assert!(service.stop().success());
    document_server.stop().await;
    env.close();
}
