//! Actions on a school: its lists, its users, its entry on the platform.

use common::clock;
use db::platform::CrossTenantReason;
use domain::id::UserId;
use serde_json::{Value, json};

use super::{Scenario, id};
use test_support::name_server::{self, NameRecords};
use test_support::rows::{execute, texts};
use test_support::samples::{Ids, Sample, sample};
use test_support::until;

pub(super) async fn change_school(scenario: &mut Scenario<'_>) {
    let world = &scenario.app.world;
    let adam = &world.adam;
    let subject = scenario
        .call(adam, "POST /subjects", &[], json!({"name": "Art"}), &["SUBJECT_CREATE"])
        .await;
    let subject = id(&subject);
    let body = json!({"code": "ART"});
    scenario
        .call(
            adam,
            "PATCH /subjects/{id}",
            &[&subject],
            body.clone(),
            &["SUBJECT_UPDATE"],
        )
        .await;
    scenario
        .call(adam, "PATCH /subjects/{id}", &[&subject], body, &[])
        .await;
    scenario
        .call(
            adam,
            "DELETE /subjects/{id}",
            &[&subject],
            Value::Null,
            &["SUBJECT_DELETE"],
        )
        .await;
    let homeroom = scenario
        .call(
            adam,
            "POST /homerooms",
            &[],
            json!({"name": "7C"}),
            &["HOMEROOM_CREATE"],
        )
        .await;
    let homeroom = id(&homeroom);
    let (body, students) = (
        json!({"gradeLevel": "7"}),
        json!({"studentIds": [world.ben.id, world.cem.id]}),
    );
    scenario
        .call(adam, "PATCH /homerooms/{id}", &[&homeroom], body, &["HOMEROOM_UPDATE"])
        .await;
    let route = "POST /homerooms/{id}/students";
    scenario
        .call(adam, route, &[&homeroom], students.clone(), &["HOMEROOM_MEMBER_ADDED"])
        .await;
    scenario.call(adam, route, &[&homeroom], students, &[]).await;
    let (route, ids) = (
        "DELETE /homerooms/{id}/students/{studentId}",
        [homeroom.as_str(), &world.ben.id],
    );
    scenario
        .call(adam, route, &ids, Value::Null, &["HOMEROOM_MEMBER_REMOVED"])
        .await;
    scenario
        .call(
            adam,
            "DELETE /homerooms/{id}",
            &[&homeroom],
            Value::Null,
            &["HOMEROOM_DELETE"],
        )
        .await;
    let settings = json!({"metadata": {"features": {"teachersAddSubjects": true, "documentPlayback": true}}});
    scenario
        .call(adam, "PATCH /admin/settings", &[], settings.clone(), &["TENANT_UPDATE"])
        .await;
    scenario.call(adam, "PATCH /admin/settings", &[], settings, &[]).await;
    let sessions = scenario
        .app
        .as_(adam)
        .get(&format!("/admin/sessions?userId={}", world.eli.id))
        .await;
    let session = sessions.expect(200)["data"][0].clone();
    scenario
        .call(
            adam,
            "DELETE /admin/sessions/{id}",
            &[&id(&session)],
            Value::Null,
            &["AUTH_DELETE"],
        )
        .await;
}

pub(super) async fn change_api_tokens(scenario: &mut Scenario<'_>) {
    let adam = &scenario.app.world.adam;
    let body = json!({"name": "Timetable program", "scopes": ["provisioning"]});
    let created = scenario
        .call(adam, "POST /admin/api-tokens", &[], body, &["TENANT_CREATE"])
        .await;
    let route = "DELETE /admin/api-tokens/{id}";
    scenario
        .call(adam, route, &[&id(&created)], Value::Null, &["TENANT_DELETE"])
        .await;
}

pub(super) async fn follow_homeroom(scenario: &mut Scenario<'_>) {
    let adam = &scenario.app.world.adam;
    let body = json!({"name": "9X", "academicYear": "2032/2033"});
    let homeroom = scenario
        .call(adam, "POST /homerooms", &[], body, &["HOMEROOM_CREATE"])
        .await;
    let body = json!({"name": "9X", "academicYear": "2032/2033", "homeroomId": homeroom["id"]});
    let class = scenario.call(adam, "POST /classes", &[], body, &["CLASS_CREATE"]).await;
    let (route, body) = ("POST /classes/{id}/following", json!({"followsHomeroom": true}));
    scenario
        .call(adam, route, &[&id(&class)], body, &["CLASS_UPDATE"])
        .await;
}

pub(super) async fn change_rosters(scenario: &mut Scenario<'_>) {
    let (app, adam) = (scenario.app, &scenario.app.world.adam);
    let sample = sample("POST", "/admin/rosters", &Ids::unknown());
    let Sample::Json(body) = sample else { unreachable!() };
    let source = scenario
        .call(adam, "POST /admin/rosters", &[], body, &["TENANT_CREATE"])
        .await;
    let source = id(&source);
    let insert = format!(
        "INSERT INTO roster_runs (organization_id, id, source_id, kind, state, counts, applied, job_key, difference, created_at)
        VALUES ('{}', 'waiting', '{source}', 'ON_DEMAND', 'WAITING', '{{}}', '{{}}', 'waiting', 'sample', 1)",
        app.world.north
    );
    execute(&app.database, insert).await;
    let route = "POST /admin/rosters/{id}/runs/{runId}/discard";
    scenario
        .call(adam, route, &[&source, "waiting"], json!({}), &["TENANT_UPDATE"])
        .await;
    let body = json!({"name": "Office"});
    scenario
        .call(adam, "PATCH /admin/rosters/{id}", &[&source], body, &["TENANT_UPDATE"])
        .await;
    scenario
        .call(
            adam,
            "DELETE /admin/rosters/{id}",
            &[&source],
            Value::Null,
            &["TENANT_DELETE"],
        )
        .await;
}

pub(super) async fn change_mail_domains(scenario: &mut Scenario<'_>) {
    let world = &scenario.app.world;
    let (adam, root) = (&world.adam, &world.root);
    let name = name_server::domain();
    let body = json!({"domain": name});
    let domain = scenario
        .call(adam, "POST /admin/domains", &[], body.clone(), &["TENANT_CREATE"])
        .await;
    let record = domain["recordValue"].as_str().unwrap().to_owned();
    name_server::set(&name, NameRecords::Texts(vec![record]));
    let (route, domain) = ("POST /admin/domains/{id}/check", id(&domain));
    scenario
        .call(adam, route, &[&domain], json!({}), &["TENANT_UPDATE"])
        .await;
    scenario.call(adam, route, &[&domain], json!({}), &[]).await;
    let route = "POST /tenants/{id}/domains";
    scenario
        .call(root, route, &[&world.north], body.clone(), &["TENANT_UPDATE"])
        .await;
    scenario.call(root, route, &[&world.north], body.clone(), &[]).await;
    let route = "DELETE /admin/domains/{id}";
    scenario
        .call(adam, route, &[&domain], Value::Null, &["TENANT_DELETE"])
        .await;
    let set = scenario
        .call(
            root,
            "POST /tenants/{id}/domains",
            &[&world.north],
            body,
            &["TENANT_UPDATE"],
        )
        .await;
    let route = "DELETE /tenants/{id}/domains/{domainId}";
    scenario
        .call(root, route, &[&world.north, &id(&set)], Value::Null, &["TENANT_DELETE"])
        .await;
}

pub(super) async fn change_users(scenario: &mut Scenario<'_>) {
    let world = &scenario.app.world;
    let adam = &world.adam;
    let new = |name: &str| json!({"name": name, "email": format!("{name}@test.example"), "role": "STUDENT"});
    let member = async |scenario: &Scenario<'_>, name: &str| {
        let found = scenario
            .app
            .as_(adam)
            .get(&format!("/admin/members?search={name}"))
            .await;
        id(&found.expect(200)["data"][0])
    };
    let pupil = id(&scenario
        .call(adam, "POST /users", &[], new("nora"), &["USER_CREATE"])
        .await);
    let edit = json!({"name": "Nora N."});
    scenario
        .call(adam, "PATCH /users/{id}", &[&pupil], edit.clone(), &["USER_UPDATE"])
        .await;
    scenario.call(adam, "PATCH /users/{id}", &[&pupil], edit, &[]).await;
    let route = "POST /users/{id}/reset-password";
    scenario.call(adam, route, &[&pupil], json!({}), &["USER_UPDATE"]).await;
    let (route, holder) = ("POST /users/{id}/reset-second-factor", UserId::new(pupil.as_str()));
    let confirm = move |platform: &mut db::platform::PlatformTx<'_>| {
        platform.insert_second_factor("factor", &holder, "sealed", clock::now())?;
        platform.confirm_second_factor(&holder, clock::now())
    };
    let store = scenario.app.app.store();
    let confirmed = store.platform_write(CrossTenantReason::CommandLine, confirm);
    confirmed.await.unwrap();
    scenario
        .call(adam, route, &[&pupil], json!({}), &["AUTH_FACTOR_RESET"])
        .await;
    scenario.call(adam, route, &[&pupil], json!({}), &[]).await;
    let (route, teacher) = ("PATCH /admin/members/{id}", json!({"role": "teacher"}));
    let nora = member(scenario, "nora").await;
    scenario
        .call(adam, route, &[&nora], teacher.clone(), &["USER_ROLE_CHANGED"])
        .await;
    scenario.call(adam, route, &[&nora], teacher, &[]).await;
    scenario
        .call(adam, "DELETE /users/{id}", &[&pupil], Value::Null, &["USER_DELETE"])
        .await;
    scenario
        .call(adam, "POST /users", &[], new("otto"), &["USER_CREATE"])
        .await;
    let otto = member(scenario, "otto").await;
    let forgotten = id(&scenario
        .call(adam, "POST /users", &[], new("vera"), &["USER_CREATE"])
        .await);
    let (route, body) = ("POST /admin/gdpr/erase", json!({"userId": forgotten}));
    scenario.call(adam, route, &[], body.clone(), &["USER_DELETE"]).await;
    scenario.call(adam, route, &[], body, &[]).await;
    let route = "DELETE /admin/members/{id}";
    scenario
        .call(adam, route, &[&otto], Value::Null, &["USER_DELETE"])
        .await;
}

pub(super) async fn change_tenants(scenario: &mut Scenario<'_>) {
    let world = &scenario.app.world;
    let (adam, root) = (&world.adam, &world.root);
    let users = json!({"users": [{"email": "ida@import.example", "firstName": "Ida", "role": "student"}]});
    scenario
        .call(adam, "POST /users/import", &[], users, &["USER_IMPORT"])
        .await;
    let new = json!({"name": "West", "slug": "west", "ownerEmail": "wes@test.example", "ownerName": "Wes"});
    let made = scenario
        .call(root, "POST /tenants", &[], new, &["TENANT_CREATE", "USER_CREATE"])
        .await;
    let west = id(&made["tenant"]);
    for (route, body, received) in [
        ("PATCH /tenants/{id}", json!({"name": "Far West"}), "TENANT_UPDATE"),
        ("POST /tenants/{id}/suspend", json!({}), "TENANT_UPDATE"),
        ("POST /tenants/{id}/activate", json!({}), "TENANT_UPDATE"),
    ] {
        scenario.call(root, route, &[&west], body, &[received]).await;
    }
    // The purge that follows also deletes the log, possibly before the test can read it.
    let (path, confirm) = (format!("/tenants/{west}"), json!({"confirm": "west"}));
    let gone = scenario
        .app
        .as_(root)
        .send(reqwest::Method::DELETE, &path, Some(confirm))
        .await;
    assert!(gone.status < 300, "{}", gone.status);
    scenario
        .called
        .insert(("DELETE".to_owned(), "/tenants/{id}".to_owned()));
    // A later preview must not run while the purge is in progress.
    let app = scenario.app;
    until("the school is purged", async || {
        let left =
            "SELECT id FROM organizations WHERE slug = 'west' UNION ALL SELECT id FROM jobs WHERE finished_at IS NULL";
        texts(&app.database, left.to_owned()).await.is_empty()
    })
    .await;
    scenario.new_records().await;
}
