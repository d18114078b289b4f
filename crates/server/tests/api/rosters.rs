//! Rosters: runs read a server, show the difference, stop before too many people leave, and apply the rest. The attacks
//! come from a roster server or from the administrator of another school.

use serde_json::{Value, json};

use common::clock;
use service::jobs::roster_run;
use test_support::fake_roster_server::{FakeRosterServer, ROSTER_CLIENT, ROSTER_SECRET, RosterData, one_roster_school};
use test_support::rows::{execute, texts};
use test_support::{Client, SecondInstance, TestApp, until};

/// A roster server and its source in North.
struct SchoolRoster {
    server: FakeRosterServer,
    path: String,
}

impl SchoolRoster {
    /// Adds a source with these fields in addition.
    async fn start(app: &TestApp, data: RosterData, more: Value) -> Self {
        let server = FakeRosterServer::start(data).await;
        let path = add_source(&app.as_(&app.world.adam), &server, more).await;
        Self { server, path }
    }

    /// Starts a run and returns it when it has ended or waits.
    async fn run(&self, client: &Client) -> Value {
        let started = client.post(&format!("{}/runs", self.path), json!({})).await.expect(201);
        self.ended(client, &started).await
    }

    async fn dry_run(&self, client: &Client) -> Value {
        let body = json!({"isDryRun": true});
        let started = client.post(&format!("{}/runs", self.path), body).await.expect(201);
        self.ended(client, &started).await
    }

    async fn ended(&self, client: &Client, run: &Value) -> Value {
        let path = format!("{}/runs/{}", self.path, run["id"].as_str().unwrap());
        let mut found = Value::Null;
        until("the run ends", async || {
            found = client.get(&path).await.expect(200);
            !["QUEUED", "RUNNING"].contains(&found["state"].as_str().unwrap())
        })
        .await;
        found
    }

    async fn confirm(&self, client: &Client, run: &Value) -> Value {
        let path = format!("{}/runs/{}/confirm", self.path, run["id"].as_str().unwrap());
        let confirmed = client
            .post(&path, json!({"difference": run["difference"]}))
            .await
            .expect(200);
        self.ended(client, &confirmed).await
    }

    /// Returns the external ids of the entries of a run with one effect.
    async fn entries(&self, client: &Client, run: &Value, effect: &str) -> Vec<String> {
        let path = format!(
            "{}/runs/{}/entries?limit=200&effect={effect}",
            self.path,
            run["id"].as_str().unwrap()
        );
        let page = client.get(&path).await.expect(200);
        let entries = page["data"].as_array().unwrap().iter();
        entries
            .map(|entry| entry["externalId"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Removes users from the roster, and their enrollments.
    fn drop_users(&self, ids: &[&str]) {
        self.server.data(|data| {
            let is_gone = |id: &Value| ids.contains(&id.as_str().unwrap());
            data.lists
                .get_mut("users")
                .unwrap()
                .retain(|user| !is_gone(&user["sourcedId"]));
            data.lists
                .get_mut("enrollments")
                .unwrap()
                .retain(|row| !is_gone(&row["user"]["sourcedId"]));
        });
    }

    /// Changes a user of the roster.
    fn edit_user(&self, id: &str, edit: &Value) {
        self.server.data(|data| {
            let users = data.lists.get_mut("users").unwrap();
            let user = users.iter_mut().find(|user| user["sourcedId"] == id).unwrap();
            for (key, value) in edit.as_object().unwrap() {
                user[key] = value.clone();
            }
        });
    }
}

async fn add_source(client: &Client, server: &FakeRosterServer, more: Value) -> String {
    let mut body = json!({
        "name": "Administration", "protocol": "ONE_ROSTER_1_1", "url": server.url, "tokenUrl": server.token_url,
        "clientId": ROSTER_CLIENT, "clientSecret": ROSTER_SECRET, "isNightly": false,
    });
    for (key, value) in more.as_object().unwrap() {
        body[key] = value.clone();
    }
    let source = client.post("/admin/rosters", body).await.expect(201);
    format!("/admin/rosters/{}", source["id"].as_str().unwrap())
}

/// Returns the external ids of the members of North, sorted.
async fn members(app: &TestApp) -> Vec<String> {
    let query = format!(
        "SELECT external_id FROM members WHERE organization_id = '{}' AND external_id IS NOT NULL ORDER BY external_id",
        app.world.north
    );
    texts(&app.database, query).await.into_iter().flatten().collect()
}

fn count(run: &Value, key: &str) -> i64 {
    run["counts"][key].as_i64().unwrap()
}

tenants!(roster_is_imported_and_repeated_runs_change_nothing, |app| {
    let school = SchoolRoster::start(app, one_roster_school(30), json!({})).await;
    let adam = app.as_(&app.world.adam);
    let preview = school.dry_run(&adam).await;
    assert_eq!(
        (&preview["state"], count(&preview, "created")),
        (&json!("DONE"), 32),
        "{preview}"
    );
    assert_eq!(members(app).await, Vec::<String>::new());
    assert_eq!(school.entries(&adam, &preview, "JOINS").await.len(), 32 + 4);
    let first = school.run(&adam).await;
    assert_eq!(
        (&first["state"], count(&first, "created")),
        (&json!("DONE"), 32),
        "{first}"
    );
    assert_eq!(
        (count(&first, "classesCreated"), count(&first, "errors")),
        (4, 0),
        "{first}"
    );
    assert_eq!(first["startedBy"]["id"], json!(app.world.adam.id));
    assert_eq!(members(app).await.len(), 32);
    let second = school.run(&adam).await;
    assert_eq!(
        (count(&second, "created"), count(&second, "unchanged")),
        (0, 32),
        "{second}"
    );
    assert_eq!(
        (count(&second, "enrollmentsCreated"), count(&second, "left")),
        (0, 0),
        "{second}"
    );
    school.edit_user("U00003", &json!({"givenName": "Sofia"}));
    let third = school.run(&adam).await;
    assert_eq!(school.entries(&adam, &third, "CHANGES").await, ["U00003"]);
    let history = adam.get(&format!("{}/runs", school.path)).await.expect(200);
    let kinds: Vec<_> = history["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["kind"].clone())
        .collect();
    assert_eq!(kinds, ["ON_DEMAND", "ON_DEMAND", "ON_DEMAND", "DRY_RUN"]);
    let log = adam.get("/activity-logs?limit=100").await.expect(200).to_string();
    assert!(log.contains("rosterRun") && log.contains("\"state\":\"DONE\""), "{log}");
});

tenants!(run_that_would_end_too_many_waits_for_confirmation, |app| {
    let school = SchoolRoster::start(app, one_roster_school(50), json!({})).await;
    let adam = app.as_(&app.world.adam);
    school.run(&adam).await;
    // One of 52 is below five percent.
    school.drop_users(&["U00007"]);
    let run = school.run(&adam).await;
    assert_eq!((&run["state"], count(&run, "left")), (&json!("DONE"), 1), "{run}");
    assert!(!members(app).await.contains(&"U00007".to_owned()));
    school.drop_users(&["U00001", "U00002", "U00003"]);
    let waiting = school.run(&adam).await;
    assert_eq!(
        (&waiting["state"], count(&waiting, "left")),
        (&json!("WAITING"), 3),
        "{waiting}"
    );
    assert_eq!(
        school.entries(&adam, &waiting, "LEAVES").await,
        ["U00001", "U00002", "U00003"]
    );
    assert_eq!(members(app).await.len(), 51);
    let path = format!("{}/runs/{}", school.path, waiting["id"].as_str().unwrap());
    let other = json!({"difference": "another"});
    adam.post(&format!("{path}/confirm"), other)
        .await
        .refused(409, "ROSTER_RUN_CHANGED");
    // The roster changes between the question and the answer, so the run asks again.
    school.drop_users(&["U00004"]);
    let again = school.confirm(&adam, &waiting).await;
    assert_eq!(
        (&again["state"], count(&again, "left")),
        (&json!("WAITING"), 4),
        "{again}"
    );
    assert_ne!(again["difference"], waiting["difference"]);
    let done = school.confirm(&adam, &again).await;
    assert_eq!((&done["state"], count(&done, "left")), (&json!("DONE"), 4), "{done}");
    assert_eq!(done["confirmedBy"]["id"], json!(app.world.adam.id));
    assert_eq!(members(app).await.len(), 47);
    let confirm = json!({"difference": done["difference"]});
    adam.post(&format!("{path}/confirm"), confirm)
        .await
        .refused(409, "ROSTER_RUN_CHANGED");
});

tenants!(empty_roster_removes_nobody, |app| {
    let school = SchoolRoster::start(app, one_roster_school(10), json!({"leavePercent": 100})).await;
    let adam = app.as_(&app.world.adam);
    school.run(&adam).await;
    let before = members(app).await;
    school.server.data(|data| {
        for list in ["users", "classes", "enrollments"] {
            data.lists.insert(list, Vec::new());
        }
    });
    let run = school.run(&adam).await;
    assert_eq!(
        (&run["state"], &run["errorCode"]),
        (&json!("FAILED"), &json!("empty")),
        "{run}"
    );
    assert_eq!(members(app).await, before);
});

tenants!(discarded_run_removes_nobody, |app| {
    let school = SchoolRoster::start(app, one_roster_school(10), json!({})).await;
    let adam = app.as_(&app.world.adam);
    school.run(&adam).await;
    let before = members(app).await;
    school.drop_users(&["U00001", "U00002"]);
    let waiting = school.run(&adam).await;
    assert_eq!(waiting["state"], json!("WAITING"), "{waiting}");
    let path = format!("{}/runs/{}/discard", school.path, waiting["id"].as_str().unwrap());
    assert_eq!(
        adam.post(&path, json!({})).await.expect(200)["state"],
        json!("DISCARDED")
    );
    adam.post(&path, json!({})).await.refused(409, "ROSTER_RUN_CHANGED");
    assert_eq!(members(app).await, before);
});

tenants!(only_people_whom_the_source_brought_leave, |app| {
    let adam = app.as_(&app.world.adam);
    let by_hand = json!({"name": "Hanna Hand", "role": "STUDENT", "externalId": "U00002", "username": "hanna.hand"});
    let by_hand = adam.post("/users", by_hand).await;
    let by_hand = by_hand.expect(201);
    let first = SchoolRoster::start(app, one_roster_school(10), json!({"leavePercent": 100})).await;
    let second = SchoolRoster::start(
        app,
        one_roster_school(6),
        json!({"leavePercent": 100, "name": "Second"}),
    )
    .await;
    let run = first.run(&adam).await;
    assert_eq!((count(&run, "created"), count(&run, "errors")), (10, 0), "{run}");
    second.run(&adam).await;
    // U00005 is in both, U00009 in the first only, U00002 was added by hand.
    first.drop_users(&["U00002", "U00005", "U00009"]);
    let run = first.run(&adam).await;
    assert_eq!(first.entries(&adam, &run, "LEAVES").await, ["U00009"], "{run}");
    let left = members(app).await;
    assert!(
        left.contains(&"U00005".to_owned()) && left.contains(&"U00002".to_owned()),
        "{left:?}"
    );
    adam.get(&format!("/users/{}", by_hand["id"].as_str().unwrap_or_default()))
        .await;
    // A member who became an administrator in the meantime stays.
    let promote = format!(
        "UPDATE members SET role = 'admin' WHERE external_id = 'U00008' AND organization_id = '{}'",
        app.world.north
    );
    execute(&app.database, promote).await;
    first.drop_users(&["U00008"]);
    let run = first.run(&adam).await;
    assert_eq!(first.entries(&adam, &run, "LEAVES").await, Vec::<String>::new());
    assert!(members(app).await.contains(&"U00008".to_owned()));
});

tenants!(absent_people_stay_unless_the_source_ends_them, |app| {
    let school = SchoolRoster::start(
        app,
        one_roster_school(10),
        json!({"endsAbsent": false, "leavePercent": 100}),
    )
    .await;
    let adam = app.as_(&app.world.adam);
    school.run(&adam).await;
    school.drop_users(&["U00001"]);
    assert_eq!(count(&school.run(&adam).await, "left"), 0);
    school.edit_user("U00002", &json!({"status": "tobedeleted"}));
    let run = school.run(&adam).await;
    assert_eq!(school.entries(&adam, &run, "LEAVES").await, ["U00002"]);
    adam.patch(&school.path, json!({"endsAbsent": true})).await.expect(200);
    let run = school.run(&adam).await;
    assert_eq!(school.entries(&adam, &run, "LEAVES").await, ["U00001"], "{run}");
});

tenants!(student_who_changes_the_homeroom_leaves_the_former_one, |app| {
    let school = SchoolRoster::start(app, one_roster_school(50), json!({})).await;
    let adam = app.as_(&app.world.adam);
    school.run(&adam).await;
    school.server.data(|data| {
        for row in data.lists.get_mut("enrollments").unwrap() {
            if row["user"]["sourcedId"] == "U00000" {
                let class = if row["class"]["sourcedId"] == "H00000" {
                    "H00001"
                } else {
                    "C00001"
                };
                row["class"]["sourcedId"] = json!(class);
            }
        }
    });
    let run = school.run(&adam).await;
    assert_eq!(
        (count(&run, "enrollmentsLeft"), count(&run, "enrollmentsCreated")),
        (2, 2),
        "{run}"
    );
    let query = format!(
        "SELECT h.external_id FROM homeroom_enrollments e JOIN homerooms h ON h.id = e.homeroom_id
         JOIN members m ON m.user_id = e.student_id WHERE m.external_id = 'U00000' AND m.organization_id = '{}'",
        app.world.north
    );
    assert_eq!(texts(&app.database, query).await, [Some("H00001".to_owned())]);
});

/// Adds a teacher of the roster to a class of the roster, in which another teacher is the first.
fn list_co_teacher(data: &mut RosterData, class: &str, teacher: &str) {
    let enrollments = data.lists.get_mut("enrollments").unwrap();
    let mut row = enrollments[0].clone();
    row["sourcedId"] = json!(format!("E{class}{teacher}"));
    row["primary"] = json!("false");
    row["class"]["sourcedId"] = json!(class);
    row["user"]["sourcedId"] = json!(teacher);
    enrollments.push(row);
}

fn unlist_co_teacher(data: &mut RosterData, class: &str, teacher: &str) {
    let enrollments = data.lists.get_mut("enrollments").unwrap();
    enrollments.retain(|row| row["class"]["sourcedId"] != class || row["user"]["sourcedId"] != teacher);
}

/// A school of two classes; the teacher of each is listed as a co-teacher of the other one.
fn school_with_co_teachers() -> RosterData {
    let mut data = one_roster_school(50);
    list_co_teacher(&mut data, "C00000", "T00001");
    list_co_teacher(&mut data, "C00001", "T00000");
    data
}

/// Returns a class of the roster with its co-teachers.
async fn class_with_co_teachers(app: &TestApp, client: &Client, class: &str) -> (String, Vec<Value>) {
    let query = format!(
        "SELECT id FROM classes WHERE organization_id = '{}' AND external_id = '{class}'",
        app.world.north
    );
    let ids = texts(&app.database, query).await;
    let path = format!("/classes/{}", ids[0].as_deref().unwrap());
    let found = client.get(&path).await.expect(200);
    let teachers = found["coTeachers"].as_array().unwrap().iter();
    let names = teachers.map(|teacher| teacher["name"].clone()).collect();
    (path, names)
}

tenants!(co_teacher_whom_the_roster_no_longer_lists_leaves_the_class, |app| {
    let school = SchoolRoster::start(app, school_with_co_teachers(), json!({})).await;
    let (adam, ada) = (app.as_(&app.world.adam), &app.world.ada);
    let run = school.run(&adam).await;
    assert_eq!((count(&run, "errors"), count(&run, "enrollmentsLeft")), (0, 0), "{run}");
    let (path, names) = class_with_co_teachers(app, &adam, "C00000").await;
    assert_eq!(names, [json!("Tara1 Roster")]);
    adam.post(&format!("{path}/teachers"), json!({"userId": ada.id}))
        .await
        .expect(200);

    school.server.data(|data| unlist_co_teacher(data, "C00000", "T00001"));
    let preview = school.dry_run(&adam).await;
    assert_eq!(count(&preview, "enrollmentsLeft"), 1, "{preview}");
    assert_eq!(class_with_co_teachers(app, &adam, "C00000").await.1.len(), 2);
    let run = school.run(&adam).await;
    assert_eq!(
        (&run["state"], count(&run, "enrollmentsLeft")),
        (&json!("DONE"), 1),
        "{run}"
    );
    assert_eq!(
        class_with_co_teachers(app, &adam, "C00000").await.1,
        [json!(ada.name)],
        "the co-teacher whom an administrator added stays"
    );
    assert_eq!(
        class_with_co_teachers(app, &adam, "C00001").await.1,
        [json!("Tara0 Roster")],
        "the roster lists the other one"
    );
    let log = adam.get("/activity-logs?category=CLASS&limit=5").await.expect(200);
    let removed = &log["data"][0]["details"]["coTeachersRemoved"];
    assert_eq!(removed[0]["name"], json!("Tara1 Roster"), "{log}");
    assert_eq!(count(&school.run(&adam).await, "enrollmentsLeft"), 0);
});

tenants!(
    co_teacher_whom_a_person_added_stays_when_the_roster_unlists_them,
    |app| {
        let school = SchoolRoster::start(app, one_roster_school(50), json!({"leavePercent": 100})).await;
        let adam = app.as_(&app.world.adam);
        school.run(&adam).await;
        let (path, names) = class_with_co_teachers(app, &adam, "C00000").await;
        assert_eq!(names, Vec::<Value>::new());
        let query = format!(
            "SELECT user_id FROM members WHERE organization_id = '{}' AND external_id = 'T00001'",
            app.world.north
        );
        let ids = texts(&app.database, query).await;
        let tara = json!({"userId": ids[0]});
        adam.post(&format!("{path}/teachers"), tara).await.expect(200);
        for change in [list_co_teacher, unlist_co_teacher] {
            school.server.data(|data| change(data, "C00000", "T00001"));
            let run = school.run(&adam).await;
            assert_eq!(count(&run, "enrollmentsLeft"), 0, "{run}");
            let names = class_with_co_teachers(app, &adam, "C00000").await.1;
            assert_eq!(names, [json!("Tara1 Roster")]);
        }
    }
);

tenants!(co_teachers_count_for_the_brake, |app| {
    let school = SchoolRoster::start(app, school_with_co_teachers(), json!({"leavePercent": 0})).await;
    let adam = app.as_(&app.world.adam);
    school.run(&adam).await;
    school.server.data(|data| unlist_co_teacher(data, "C00000", "T00001"));
    let run = school.run(&adam).await;
    assert_eq!(
        (&run["state"], count(&run, "enrollmentsLeft")),
        (&json!("WAITING"), 1),
        "{run}"
    );
    assert_eq!(class_with_co_teachers(app, &adam, "C00000").await.1.len(), 1);
    let run = school.confirm(&adam, &run).await;
    assert_eq!(
        (&run["state"], count(&run, "enrollmentsLeft")),
        (&json!("DONE"), 1),
        "{run}"
    );
    assert_eq!(class_with_co_teachers(app, &adam, "C00000").await.1.len(), 0);
    // Without `endsAbsent`, and with a source of students only, no co-teacher leaves.
    for setting in [
        json!({"endsAbsent": false}),
        json!({"endsAbsent": true, "roles": "STUDENTS"}),
    ] {
        adam.patch(&school.path, setting).await.expect(200);
        school.server.data(|data| unlist_co_teacher(data, "C00001", "T00000"));
        let run = school.run(&adam).await;
        assert_eq!(
            (&run["state"], count(&run, "enrollmentsLeft")),
            (&json!("DONE"), 0),
            "{run}"
        );
        assert_eq!(class_with_co_teachers(app, &adam, "C00001").await.1.len(), 1);
    }
});

tenants!(enrollments_that_two_sources_know_do_not_alternate, |app| {
    let adam = app.as_(&app.world.adam);
    let settings = |name: &str| json!({"leavePercent": 100, "name": name});
    let first = SchoolRoster::start(app, school_with_co_teachers(), settings("First")).await;
    let mut other = one_roster_school(50);
    other.lists.get_mut("enrollments").unwrap().retain(|row| {
        let user = row["user"]["sourcedId"].as_str().unwrap();
        user.starts_with('T') || user > "U00009"
    });
    let second = SchoolRoster::start(app, other, settings("Second")).await;
    for _ in 0..2 {
        for (school, listed) in [(&first, true), (&second, false)] {
            let run = school.run(&adam).await;
            assert_eq!(
                (count(&run, "errors"), count(&run, "enrollmentsLeft")),
                (0, 0),
                "{listed}: {run}"
            );
        }
    }
    assert_eq!(class_with_co_teachers(app, &adam, "C00000").await.1.len(), 1);
});

tenants!(roster_cannot_change_ranks_or_take_foreign_accounts, |app| {
    let school = SchoolRoster::start(app, one_roster_school(10), json!({"leavePercent": 100})).await;
    let (adam, world) = (app.as_(&app.world.adam), &app.world);
    let ranks = format!(
        "SELECT id || role FROM users WHERE id = '{}' UNION SELECT user_id || role FROM members
         WHERE role IN ('owner', 'admin') AND organization_id = '{}' ORDER BY 1",
        world.root.id, world.north
    );
    let before = texts(&app.database, ranks.clone()).await;
    for (id, person) in [
        ("U00001", &world.olga),
        ("U00002", &world.root),
        ("U00003", &world.zoe),
        ("U00004", &world.adam),
    ] {
        school.edit_user(id, &json!({"email": person.email, "givenName": "Mallory"}));
    }
    school.edit_user("U00005", &json!({"role": "administrator"}));
    let run = school.run(&adam).await;
    assert_eq!(run["state"], json!("DONE"), "{run}");
    assert_eq!(texts(&app.database, ranks.clone()).await, before);
    let rejected = school.entries(&adam, &run, "REJECTED").await;
    assert!(
        rejected.contains(&"U00001".to_owned()) && rejected.contains(&"U00004".to_owned()),
        "{rejected:?}"
    );
    let invited = school.entries(&adam, &run, "INVITED").await;
    assert!(invited.contains(&"U00003".to_owned()), "{invited:?}");
    let named = texts(
        &app.database,
        "SELECT id FROM users WHERE name LIKE 'Mallory%'".to_owned(),
    )
    .await;
    assert_eq!(named, []);
    let joined = format!(
        "SELECT user_id FROM members WHERE organization_id = '{}' AND user_id IN ('{}', '{}')",
        world.north, world.zoe.id, world.root.id
    );
    assert_eq!(texts(&app.database, joined).await, []);
    // A repeated run sends no second invitation.
    let invitations = format!(
        "SELECT id || ' ' || CAST(updated_at AS TEXT) FROM invitations WHERE organization_id = '{}' ORDER BY id",
        world.north
    );
    let before = texts(&app.database, invitations.clone()).await;
    school.run(&adam).await;
    assert_eq!(texts(&app.database, invitations).await, before);
});

tenants!(administrator_of_another_school_finds_no_roster, |app| {
    let school = SchoolRoster::start(app, one_roster_school(4), json!({})).await;
    let adam = app.as_(&app.world.adam);
    let run = school.run(&adam).await;
    let zara = app.as_(&app.world.zara);
    let run_path = format!("{}/runs/{}", school.path, run["id"].as_str().unwrap());
    for path in [
        format!("{}/runs", school.path),
        run_path.clone(),
        format!("{run_path}/entries?effect=JOINS"),
    ] {
        zara.get(&path).await.refused(404, "NOT_FOUND");
    }
    zara.patch(&school.path, json!({"name": "Mine"}))
        .await
        .refused(404, "NOT_FOUND");
    zara.delete(&school.path).await.refused(404, "NOT_FOUND");
    for (path, body) in [
        (format!("{}/test", school.path), json!({})),
        (format!("{}/runs", school.path), json!({})),
        (format!("{run_path}/confirm"), json!({"difference": run["difference"]})),
        (format!("{run_path}/discard"), json!({})),
    ] {
        zara.post(&path, body).await.refused(404, "NOT_FOUND");
    }
    assert_eq!(zara.get("/admin/rosters").await.expect(200), json!([]));
    // A run of another source of the same school is not found below this one.
    let other = add_source(&adam, &school.server, json!({"name": "Other"})).await;
    adam.get(&format!("{other}/runs/{}", run["id"].as_str().unwrap()))
        .await
        .refused(404, "NOT_FOUND");
    app.as_(&app.world.ada).get("/admin/rosters").await.expect(403);
});

tenants!(client_secret_of_roster_is_never_shown, |app| {
    let school = SchoolRoster::start(app, one_roster_school(4), json!({})).await;
    let adam = app.as_(&app.world.adam);
    let tested = adam.post(&format!("{}/test", school.path), json!({})).await.expect(200);
    assert_eq!(tested["people"], json!(5), "{tested}");
    let listed = adam.get("/admin/rosters").await.expect(200).to_string();
    // A stored secret is not sent to a new address.
    let moved = json!({"url": "http://127.0.0.1:9/"});
    adam.patch(&school.path, moved).await.refused(400, "VALIDATION_ERROR");
    let edited = json!({"clientSecret": "another secret"});
    let edited = adam.patch(&school.path, edited).await.expect(200).to_string();
    let failed = adam.post(&format!("{}/test", school.path), json!({})).await;
    let failed = failed.refused(409, "ROSTER_FAILED").to_string();
    assert!(failed.contains("token_refused"), "{failed}");
    let log = adam.get("/activity-logs?limit=50").await.expect(200).to_string();
    let stored = texts(&app.database, "SELECT client_secret FROM roster_sources".to_owned()).await;
    for text in [listed, edited, failed, log, format!("{stored:?}")] {
        assert!(
            !text.contains(ROSTER_SECRET) && !text.contains("another secret"),
            "{text}"
        );
    }
    let run = school.run(&adam).await;
    assert_eq!(
        (&run["state"], &run["errorCode"]),
        (&json!("FAILED"), &json!("token_refused")),
        "{run}"
    );
});

tenants!(invalid_roster_sources_are_rejected, |app| {
    let adam = app.as_(&app.world.adam);
    let server = FakeRosterServer::start(RosterData::default()).await;
    for (field, value) in [
        ("url", json!("http://roster.school.example")),
        ("url", json!("https://10.0.0.1/roster")),
        ("url", json!("https://169.254.169.254/latest")),
        ("tokenUrl", json!("https://192.168.1.1/token")),
        ("tokenUrl", json!("ftp://roster.school.example")),
        ("clientSecret", json!("")),
        ("protocol", json!("CSV")),
        ("roles", json!("ADMINS")),
        ("leavePercent", json!(101)),
        ("nightlyHour", json!(24)),
    ] {
        let mut body = json!({
            "name": "Administration", "protocol": "ONE_ROSTER_1_1", "url": server.url, "tokenUrl": server.token_url,
            "clientId": ROSTER_CLIENT, "clientSecret": ROSTER_SECRET,
        });
        body[field] = value;
        adam.post("/admin/rosters", body).await.refused(400, "VALIDATION_ERROR");
    }
    for n in 0..10 {
        add_source(&adam, &server, json!({"name": format!("Source {n}")})).await;
    }
    let one_more = json!({
        "name": "One more", "protocol": "SCHULCONNEX", "url": server.url, "tokenUrl": server.token_url, "clientId": "c",
        "clientSecret": "s",
    });
    adam.post("/admin/rosters", one_more)
        .await
        .refused(409, "LIMIT_REACHED");
});

both!(nightly_run_happens_once_and_missed_nights_are_done_once, |app| {
    // Half a day from now, so that no other night comes during the test.
    let hour = (clock::now().as_millis() / 3_600_000 + 12) % 24;
    let school = SchoolRoster::start(
        app,
        one_roster_school(4),
        json!({"isNightly": true, "nightlyHour": hour}),
    )
    .await;
    let adam = app.as_(&app.world.adam);
    let source = adam.get("/admin/rosters").await.expect(200)[0].clone();
    assert!(source["nextRunAt"].is_string(), "{source}");
    execute(&app.database, "UPDATE roster_sources SET next_run_at = 1".to_owned()).await;
    let rounds = (0..4).map(|_| roster_run::start_due(app.app.transactor(), clock::now()));
    for round in futures_util::future::join_all(rounds).await {
        round.unwrap();
    }
    app.app.jobs().notify();
    let runs = adam.get(&format!("{}/runs", school.path)).await.expect(200);
    assert_eq!(runs["data"].as_array().unwrap().len(), 1, "{runs}");
    let run = school.ended(&adam, &runs["data"][0]).await;
    assert_eq!(
        (&run["kind"], &run["state"]),
        (&json!("NIGHTLY"), &json!("DONE")),
        "{run}"
    );
    assert_eq!(run["startedBy"], Value::Null);
    // A night that fails is not repeated before the next one.
    adam.patch(&school.path, json!({"clientSecret": "wrong"}))
        .await
        .expect(200);
    execute(&app.database, "UPDATE roster_sources SET next_run_at = 1".to_owned()).await;
    for _ in 0..3 {
        roster_run::start_due(app.app.transactor(), clock::now()).await.unwrap();
        app.app.jobs().notify();
    }
    let runs = adam.get(&format!("{}/runs", school.path)).await.expect(200);
    let run = school.ended(&adam, &runs["data"][0]).await;
    assert_eq!(
        (&run["state"], &run["errorCode"]),
        (&json!("FAILED"), &json!("token_refused")),
        "{run}"
    );
    assert_eq!(runs["data"].as_array().unwrap().len(), 2, "{runs}");
});

both!(interrupted_run_is_taken_over_or_ends, |app| {
    let school = SchoolRoster::start(app, one_roster_school(30), json!({})).await;
    let adam = app.as_(&app.world.adam);
    // The runner of a dead process holds the job: nothing else can run until its lease expires.
    app.app.jobs().close().await;
    let started = adam.post(&format!("{}/runs", school.path), json!({})).await.expect(201);
    adam.post(&format!("{}/runs", school.path), json!({}))
        .await
        .refused(409, "ROSTER_RUN_OPEN");
    execute(
        &app.database,
        "UPDATE jobs SET status = 'RUNNING', attempts = 1, lease_until = 1 WHERE kind = 'ROSTER_RUN'".to_owned(),
    )
    .await;
    execute(
        &app.database,
        "UPDATE roster_runs SET state = 'RUNNING', started_at = 1".to_owned(),
    )
    .await;
    let second = SecondInstance::start(app, &[]).await;
    let run = school.ended(&adam, &started).await;
    assert_eq!((&run["state"], count(&run, "created")), (&json!("DONE"), 32), "{run}");
    second.close().await;
    // A run whose job was given up does not stay open.
    let given_up = adam.post(&format!("{}/runs", school.path), json!({})).await.expect(201);
    execute(
        &app.database,
        "UPDATE jobs SET status = 'FAILED' WHERE kind = 'ROSTER_RUN'".to_owned(),
    )
    .await;
    roster_run::start_due(app.app.transactor(), clock::now()).await.unwrap();
    let run = school.ended(&adam, &given_up).await;
    assert_eq!(
        (&run["state"], &run["errorCode"]),
        (&json!("INTERRUPTED"), &json!("interrupted")),
        "{run}"
    );
});

tenants!(removed_source_leaves_people_and_no_rows, |app| {
    let school = SchoolRoster::start(app, one_roster_school(4), json!({})).await;
    let adam = app.as_(&app.world.adam);
    school.run(&adam).await;
    let before = members(app).await;
    adam.delete(&format!("{}?dryRun=1", school.path)).await.expect(200);
    adam.get(&format!("{}/runs", school.path)).await.expect(200);
    adam.delete(&school.path).await.expect(200);
    adam.get(&format!("{}/runs", school.path))
        .await
        .refused(404, "NOT_FOUND");
    assert_eq!(members(app).await, before);
    for table in ["roster_sources", "roster_runs", "roster_run_entries", "roster_origins"] {
        let rows = format!(
            "SELECT organization_id FROM {table} WHERE organization_id = '{}'",
            app.world.north
        );
        assert_eq!(texts(&app.database, rows).await, [], "{table}");
    }
});
