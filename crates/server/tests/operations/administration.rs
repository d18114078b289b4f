//! Administrators and schools on the command line, without the service.

use serde_json::{Value, json};
use test_support::{Client, DatabaseKind, ServerEnv, World};

fn run(env: &ServerEnv, arguments: &[&str]) -> (bool, String) {
    let output = env.command(arguments, &[]).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

#[track_caller]
fn run_ok(env: &ServerEnv, arguments: &[&str]) -> String {
    let (is_fine, text) = run(env, arguments);
    assert!(is_fine, "{arguments:?}: {text}");
    text
}

fn password(text: &str) -> &str {
    let after = text.split_once("(shown once): ").unwrap_or_else(|| panic!("{text}")).1;
    after.lines().next().unwrap()
}

async fn sign_in(base: &str, email: &str, password: &str) -> u16 {
    let body = json!({"email": email, "password": password});
    Client::new(base, None).post("/auth/sign-in/email", body).await.status
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_administrator_gets_new_password_and_can_be_disabled() {
    for kind in [DatabaseKind::Sqlite, DatabaseKind::Postgres] {
        let Some(mut env) = ServerEnv::new(kind) else { return };
        let world = World::create(&env.store().await, &env.database).await;
        let create = ["admin", "create", "--email", "it@platform.test", "--name", "Irma"];
        let first = password(&run_ok(&env, &create)).to_owned();
        let mut service = env.start("serve");
        service.ready().await;
        let base = service.base.clone();
        assert_eq!(sign_in(&base, "it@platform.test", &first).await, 200);

        let listed = run_ok(&env, &["admin", "list"]);
        assert!(listed.contains("active    it@platform.test  Irma"), "{listed}");
        assert!(!listed.contains(&world.ada.email), "{listed}");
        let text = run_ok(&env, &["admin", "reset-password", "--email", "IT@platform.test"]);
        let second = password(&text).to_owned();
        assert_eq!(sign_in(&base, "it@platform.test", &first).await, 401);
        assert_eq!(sign_in(&base, "it@platform.test", &second).await, 200);
        run_ok(&env, &["admin", "disable", "--email", "it@platform.test"]);
        assert_eq!(sign_in(&base, "it@platform.test", &second).await, 403);
        assert!(run_ok(&env, &["admin", "list"]).contains("disabled  it@platform.test"));
        run_ok(&env, &["admin", "enable", "--email", "it@platform.test"]);
        assert_eq!(sign_in(&base, "it@platform.test", &second).await, 200);

        // A lost second factor.
        let reset = ["admin", "reset-second-factor", "--email", world.adam.email.as_str()];
        assert!(run_ok(&env, &reset).contains("has no second factor"));
        let user = world.adam.id.clone();
        let prepare = move |platform: &mut db::platform::PlatformTx<'_>| {
            let (user, now) = (domain::id::UserId::new(user.clone()), common::clock::now());
            platform.insert_second_factor("factor", &user, "sealed", now)?;
            platform.verify_mailbox(&user, now)?;
            platform.confirm_second_factor(&user, now)
        };
        let store = env.store().await;
        store
            .platform_write(db::platform::CrossTenantReason::CommandLine, prepare)
            .await
            .unwrap();
        drop(store);
        let adam = Client::new(&base, Some(world.adam.cookie.clone()));
        assert_eq!(adam.get("/users/me").await.expect(200)["hasSecondFactor"], true);
        let text = run_ok(&env, &reset);
        assert!(
            text.contains("was removed") && text.contains("an email to the user is queued"),
            "{text}"
        );
        adam.get("/users/me").await.expect(401);
        assert!(run_ok(&env, &reset).contains("has no second factor"));

        // Other users: their sessions end.
        let ada = Client::new(&base, Some(world.ada.cookie.clone()));
        ada.get("/users/me").await.expect(200);
        run_ok(&env, &["admin", "reset-password", "--email", &world.ada.email]);
        ada.get("/users/me").await.expect(401);
        let (is_fine, text) = run(&env, &["admin", "disable", "--email", "none@platform.test"]);
        assert!(
            !is_fine && text.contains("there is no account none@platform.test"),
            "{text}"
        );
        service.stop();
        env.close();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn school_is_created_with_owner_and_listed_with_its_usage() {
    for kind in [DatabaseKind::Sqlite, DatabaseKind::Postgres] {
        let Some(mut env) = ServerEnv::new(kind) else { return };
        drop(env.store().await);
        let create = |slug: &str, email: &str| {
            let arguments = [
                "school",
                "create",
                "--name",
                "Example School",
                "--slug",
                slug,
                "--owner-email",
                email,
                "--owner-name",
                "Hedda Head",
            ];
            run(&env, &arguments)
        };
        let (is_fine, text) = create("example", "head@school.test");
        assert!(is_fine, "{text}");
        let password = password(&text).to_owned();
        assert!(!create("example", "other@school.test").0, "the short name is taken");
        assert!(!create("not a slug", "other@school.test").0);
        assert!(!create("third", "no address").0);
        let (is_fine, text) = create("second", "head@school.test");
        assert!(is_fine && text.contains("is invited by email"), "{text}");

        let schools: Value = serde_json::from_str(&{
            let output = env.command(&["school", "list", "--json"], &[]).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        })
        .unwrap();
        let slugs: Vec<_> = schools
            .as_array()
            .unwrap()
            .iter()
            .map(|school| &school["slug"])
            .collect();
        assert_eq!(slugs.len(), 2, "{schools}");
        let example = schools
            .as_array()
            .unwrap()
            .iter()
            .find(|school| school["slug"] == "example")
            .unwrap();
        assert_eq!(
            (&example["members"], &example["status"]),
            (&json!(1), &json!("ACTIVE")),
            "{example}"
        );
        assert!(run_ok(&env, &["school", "list"]).contains("Example School"));

        let mut service = env.start("serve");
        service.ready().await;
        assert_eq!(sign_in(&service.base, "head@school.test", &password).await, 200);
        service.stop();
        env.close();
    }
}
