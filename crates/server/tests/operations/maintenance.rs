//! Maintenance mode: it is set at the command line, running instances notice it, and nothing but the API is read-only.

use serde_json::{Value, json};
use test_support::{Answer, Client, DatabaseKind, ServerEnv, World, until};

fn run(env: &ServerEnv, arguments: &[&str]) -> String {
    let output = env.command(arguments, &[]).output().unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(output.status.success(), "{arguments:?}: {text}");
    text
}

async fn maintenance(client: &Client) -> Value {
    client.get("/health").await.expect(200)["maintenance"].clone()
}

async fn add_subject(client: &Client, name: &str) -> Answer {
    client.post("/subjects", json!({"name": name})).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn api_is_read_only_during_maintenance() {
    for kind in [DatabaseKind::Sqlite, DatabaseKind::Postgres] {
        let Some(mut env) = ServerEnv::new(kind) else { return };
        let world = World::create(&env.store().await, &env.database).await;
        let create = ["admin", "create", "--email", "it@platform.test", "--name", "Irma"];
        let created = run(&env, &create);
        let password = created.split_once("(shown once): ").unwrap().1.lines().next().unwrap();
        let mut service = env.start("serve");
        service.ready().await;
        let adam = Client::new(&service.base, Some(world.adam.cookie.clone()));
        let stranger = Client::new(&service.base, None);
        assert!(run(&env, &["maintenance", "status"]).contains("maintenance mode is off"));
        assert_eq!(maintenance(&stranger).await, Value::Null);
        let before = add_subject(&adam, "Before").await;
        assert!(!before.headers.contains_key("x-maintenance"));
        before.expect(201);

        let text = run(&env, &["maintenance", "on", "--message", "Back at 18:00."]);
        assert!(
            text.contains("maintenance mode is on since") && text.contains(": Back at 18:00."),
            "{text}"
        );
        until("the instance notices it", async || {
            maintenance(&stranger).await.is_object()
        })
        .await;
        let notice = maintenance(&stranger).await;
        assert_eq!(notice["message"], "Back at 18:00.");
        let refused = add_subject(&adam, "Meanwhile").await;
        assert_eq!(
            (refused.header("retry-after"), refused.header("x-maintenance")),
            ("30", "on")
        );
        refused.refused(503, "MAINTENANCE");
        assert_eq!(
            add_subject(&stranger, "Meanwhile").await.status,
            401,
            "permission is checked first"
        );
        let new = json!({"name": "New", "email": "new@school.test", "password": "a long password of a person"});
        assert_eq!(stranger.post("/auth/sign-up/email", new).await.status, 503);
        assert_eq!(stranger.get("/auth/verify-email?token=x").await.status, 503);
        // Reading, signing in and the document server go on.
        let subjects = adam.get("/subjects").await.expect(200).to_string();
        assert!(
            subjects.contains("Before") && !subjects.contains("Meanwhile"),
            "{subjects}"
        );
        let credentials = json!({"email": "it@platform.test", "password": password});
        stranger.post("/auth/sign-in/email", credentials).await.expect(200);
        let callback = stranger
            .post("/workrooms/documents/unknown/callback", json!({"status": 4}))
            .await;
        callback.refused(401, "DOCSERVER_TOKEN_MISSING");
        stranger.get("/health/ready").await.expect(200);

        // A second call changes the message alone.
        run(&env, &["maintenance", "on", "--message", "Back at 19:00."]);
        until("the new message", async || {
            maintenance(&stranger).await["message"] == "Back at 19:00."
        })
        .await;
        assert_eq!(maintenance(&stranger).await["since"], notice["since"]);
        assert!(run(&env, &["maintenance", "off"]).contains("maintenance mode is off"));
        until("the instance notices it", async || {
            maintenance(&stranger).await.is_null()
        })
        .await;
        add_subject(&adam, "After").await.expect(201);
        service.stop();
        env.close();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn instance_that_starts_during_maintenance_is_read_only_at_once() {
    let mut env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let world = World::create(&env.store().await, &env.database).await;
    run(&env, &["maintenance", "on"]);
    let service = env.start("serve");
    let adam = Client::new(&service.base, Some(world.adam.cookie.clone()));
    add_subject(&adam, "Meanwhile").await.refused(503, "MAINTENANCE");
    service.stop();
    let doctor = env.command(&["doctor"], &[]).output().unwrap();
    let text = String::from_utf8_lossy(&doctor.stdout);
    assert!(text.contains("nothing can be changed"), "{text}");
    let output = env
        .command(&["maintenance", "on", "--message", ""], &[])
        .output()
        .unwrap();
    assert!(!output.status.success(), "an empty message is refused");
    env.close();
}
