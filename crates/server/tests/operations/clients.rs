//! The official clients of better-auth and Socket.IO run against this service. They are Node programs in
//! `tests/clients`.

use serde_json::{Value, json};

use test_support::accounts::{PASSWORD, enable};
use test_support::{FRONTEND, SecondInstance, TestApp, TestUser, clients_are_installed, environment};

const CLIENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/clients");

/// The interpreter with the second OpenID Connect provider, which `scripts/setup-tests` installs.
const IDPYOIDC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/idpyoidc/bin/python");

async fn world(app: &TestApp) -> Value {
    let world = &app.world;
    let students = [&world.ben, &world.cem, &world.dana, &world.eli];
    for person in [&world.ada, &world.adam, &world.zoe, &world.root]
        .into_iter()
        .chain(students)
    {
        enable(app, person).await;
    }
    let login = |person: &TestUser| json!({"email": person.email, "password": PASSWORD});
    json!({
        "baseUrl": app.base,
        "frontendOrigin": FRONTEND,
        "people": {
            "teacher": login(&world.ada),
            "admin": login(&world.adam),
            "students": students.map(login),
            "stranger": login(&world.zoe),
            "superAdmin": login(&world.root),
        },
        "dataDir": app.folder(),
    })
}

async fn run_client(app: &TestApp, program: &str) {
    run_client_with(app, program, &[]).await;
}

async fn run_client_with(app: &TestApp, program: &str, arguments: &[&str]) {
    run_client_in(&world(app).await, program, arguments).await;
}

async fn run_client_in(world: &Value, program: &str, arguments: &[&str]) {
    if !clients_are_installed() {
        return;
    }
    let mut node = tokio::process::Command::new("node");
    node.arg(std::path::Path::new(CLIENTS).join(program))
        .arg(world.to_string())
        .args(arguments)
        .env_remove("NODE_OPTIONS")
        .kill_on_drop(true);
    let output = node.output().await.unwrap();
    let output_text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}:\n{output_text}");
    assert!(
        output_text.starts_with("ok 1 "),
        "{program} printed nothing:\n{output_text}"
    );
}

both!(better_auth_client_works, |app| {
    run_client(app, "better-auth-calls.mjs").await;
});

both!(better_auth_client_manages_own_account, |app| {
    run_client(app, "better-auth-account.mjs").await;
});

both!(better_auth_client_uses_second_factor, |app| {
    run_client(app, "better-auth-two-factor.mjs").await;
});

both!(better_auth_username_client_works, |app| {
    run_client(app, "better-auth-usernames.mjs").await;
});

both!(better_auth_sso_client_signs_in_at_a_certified_provider, |app| {
    run_client_with(app, "better-auth-sso.mjs", &["node-oidc-provider"]).await;
});

fn is_idpyoidc_installed() -> bool {
    let is_installed = std::path::Path::new(IDPYOIDC).is_file();
    if !is_installed {
        assert!(
            environment("CI").is_none(),
            "idpyoidc is required in CI: run scripts/setup-tests"
        );
        test_support::report_skipped("idpyoidc is not installed; scripts/setup-tests installs it");
    }
    is_installed
}

both!(better_auth_sso_client_signs_in_at_a_provider_of_another_make, |app| {
    if is_idpyoidc_installed() {
        run_client_with(app, "better-auth-sso.mjs", &["idpyoidc"]).await;
    }
});

/// Signs in with `response_mode=form_post`. Browsers send cookies with forms of other sites with TLS only, so the service is
/// an instance whose FRONTEND_URL has it.
async fn run_form_post(app: &TestApp, make: &str) {
    const SECURE: &str = "https://school.test";
    let instance = SecondInstance::start(app, &[&format!("--frontend-url={SECURE}")]).await;
    let mut world = world(app).await;
    world["baseUrl"] = json!(instance.base);
    world["frontendOrigin"] = json!(SECURE);
    run_client_in(&world, "better-auth-sso.mjs", &[make, "form_post"]).await;
    instance.close().await;
}

both!(form_of_a_certified_provider_signs_in, |app| {
    run_form_post(app, "node-oidc-provider").await;
});

both!(form_of_a_provider_of_another_make_signs_in, |app| {
    if is_idpyoidc_installed() {
        run_form_post(app, "idpyoidc").await;
    }
});

both!(better_auth_admin_client_works, |app| {
    run_client(app, "better-auth-admin.mjs").await;
});
