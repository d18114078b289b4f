//! Ranks: users act on lower ranks and assign lower ranks only. Owners also act on owners. The last owner cannot be
//! removed.

use domain::access::{MemberRole, PlatformRole};
use serde_json::{Value, json};

use test_support::rows::{execute, texts};
use test_support::school_people::{SchoolPerson, in_school, insert_person, member_of_north};
use test_support::{Answer, Client, TestApp};

/// Rank 5 is the platform administrator; 4 to 1 are the member roles from owner to student.
const ROLES: [(u8, MemberRole); 4] = [
    (4, MemberRole::Owner),
    (3, MemberRole::Admin),
    (2, MemberRole::Teacher),
    (1, MemberRole::Student),
];

/// Returns whether a user of one rank may act on a user of another.
fn may_act_on(actor: u8, target: u8) -> bool {
    actor == 5 || actor > target || (actor, target) == (4, 4)
}

async fn create_target(app: &TestApp, rank: u8) -> SchoolPerson {
    let role = ROLES.iter().find(|(number, _)| *number == rank.min(4)).unwrap().1;
    let platform = if rank == 5 {
        PlatformRole::SuperAdmin
    } else {
        PlatformRole::Student
    };
    in_school(app, &app.world.north, role, platform).await
}

/// Checks the response of a cell of the matrix. With `at_gate`, teachers and students are rejected by the role check of
/// the route.
#[track_caller]
fn assert_cell(context: &str, actor: u8, allowed: bool, at_gate: bool, answer: Answer) {
    if allowed {
        assert!(answer.status < 300, "{context}: {} {}", answer.status, answer.json());
    } else if at_gate && actor <= 2 {
        answer.refused(403, "FORBIDDEN_ROLE");
    } else {
        assert_eq!(answer.json()["code"], "FORBIDDEN_RANK", "{context}: {}", answer.status);
    }
}

async fn actors(app: &TestApp) -> Vec<(u8, Client)> {
    let world = &app.world;
    let choose = format!(
        "UPDATE sessions SET active_organization_id = '{}' WHERE user_id = '{}'",
        world.north, world.root.id
    );
    execute(&app.database, choose).await;
    [
        (5, &world.root),
        (4, &world.olga),
        (3, &world.adam),
        (2, &world.ada),
        (1, &world.ben),
    ]
    .map(|(rank, person)| (rank, app.as_(person)))
    .to_vec()
}

both!(users_act_only_on_lower_role_levels, |app| {
    for (actor, client) in actors(app).await {
        for rank in 1..=5 {
            let context = |what: &str| format!("{actor} {what} {rank}");
            let person = create_target(app, rank).await;
            let user = format!("/users/{}", person.person.id);
            let answer = client.patch(&user, json!({"name": "Renamed"})).await;
            assert_cell(
                &context("renames"),
                actor,
                actor >= 3 && may_act_on(actor, rank),
                true,
                answer,
            );
            let answer = client
                .patch(&user, json!({"externalId": format!("{actor}{rank}")}))
                .await;
            assert_cell(
                &context("numbers"),
                actor,
                actor >= 3 && may_act_on(actor, rank),
                true,
                answer,
            );
            let answer = client.post(&format!("{user}/reset-password"), json!({})).await;
            if (actor, rank) == (2, 1) {
                answer.refused(403, "FORBIDDEN_ROLE"); // A student whom the teacher does not teach.
            } else {
                assert_cell(
                    &context("resets"),
                    actor,
                    actor >= 3 && may_act_on(actor, rank),
                    actor == 1,
                    answer,
                );
            }
            for (new, role) in ROLES {
                let person = create_target(app, rank).await;
                let answer = client
                    .patch(&format!("/admin/members/{}", person.member), json!({"role": role}))
                    .await;
                let same = rank.min(4) == new;
                let allowed = actor >= 3 && may_act_on(actor, rank) && (same || may_act_on(actor, new));
                assert_cell(&context(&format!("makes {role} of")), actor, allowed, true, answer);
            }
            let answer = client.patch(&user, json!({"isActive": false})).await;
            assert_cell(
                &context("switches off"),
                actor,
                actor >= 3 && may_act_on(actor, rank),
                true,
                answer,
            );
            let answer = client.delete(&user).await;
            assert_cell(
                &context("removes"),
                actor,
                actor >= 3 && may_act_on(actor, rank),
                true,
                answer,
            );
            let person = create_target(app, rank).await;
            let answer = client.delete(&format!("/admin/members/{}", person.member)).await;
            assert_cell(
                &context("ends"),
                actor,
                actor >= 3 && may_act_on(actor, rank),
                true,
                answer,
            );
        }
    }
});

both!(users_create_only_lower_role_levels, |app| {
    for (actor, client) in actors(app).await {
        for (rank, role) in [(3, "ADMIN"), (2, "TEACHER"), (1, "STUDENT")] {
            let email = format!("{actor}-{rank}@test.example");
            let new = json!({"name": "New", "email": email, "role": role, "sendInvite": true});
            let answer = client.post("/users", new).await;
            assert_cell(
                &format!("{actor} makes {rank}"),
                actor,
                actor >= 3 && may_act_on(actor, rank),
                true,
                answer,
            );
            let made = texts(
                &app.database,
                format!("SELECT m.role FROM members m JOIN users u ON u.id = m.user_id WHERE u.email = '{email}'"),
            )
            .await;
            assert_eq!(
                made.len(),
                usize::from(actor >= 3 && may_act_on(actor, rank)),
                "{actor} {rank}"
            );
        }
    }
});

tenants!(own_role_and_last_owner_cannot_be_changed, |app| {
    let (world, olga, adam) = (&app.world, app.as_(&app.world.olga), app.as_(&app.world.adam));
    let own = format!("/admin/members/{}", member_of_north(app, &world.olga).await);
    let root = app.as_(&world.root);
    olga.patch(&own, json!({"role": "admin"}))
        .await
        .refused(403, "FORBIDDEN_RANK");
    olga.delete(&own).await.refused(409, "LAST_OWNER");
    olga.delete(&format!("/users/{}", world.olga.id))
        .await
        .refused(409, "LAST_OWNER");
    olga.patch(&format!("/users/{}", world.olga.id), json!({"isActive": false}))
        .await
        .refused(409, "LAST_OWNER");
    root.patch(
        &format!("{own}?organizationId={}", world.north),
        json!({"role": "admin"}),
    )
    .await
    .refused(409, "LAST_OWNER");
    let adams = format!("/admin/members/{}", member_of_north(app, &world.adam).await);
    adam.patch(&adams, json!({"role": "owner"}))
        .await
        .refused(403, "FORBIDDEN_RANK");
    adam.delete(&adams).await.refused(403, "FORBIDDEN_RANK");
    // An owner who cannot sign in does not count as a remaining owner.
    let other = in_school(app, &world.north, MemberRole::Owner, PlatformRole::Student).await;
    olga.patch(&format!("/users/{}", other.person.id), json!({"isActive": false}))
        .await
        .expect(200);
    olga.delete(&own).await.refused(409, "LAST_OWNER");
    olga.patch(&format!("/users/{}", other.person.id), json!({"isActive": true}))
        .await
        .expect(200);
    olga.delete(&own).await.expect(200);
});

async fn count_owners(app: &TestApp) -> usize {
    let owners = format!(
        "SELECT id FROM members WHERE organization_id = '{}' AND role = 'owner'",
        app.world.north
    );
    texts(&app.database, owners).await.len()
}

both!(owners_demoting_each_other_leave_one_owner, |app| {
    let north = &app.world.north;
    let nobody_owns =
        format!("UPDATE members SET role = 'student' WHERE organization_id = '{north}' AND role = 'owner'");
    for round in 0..20 {
        execute(&app.database, nobody_owns.clone()).await;
        let one = in_school(app, north, MemberRole::Owner, PlatformRole::Student).await;
        let other = in_school(app, north, MemberRole::Owner, PlatformRole::Student).await;
        let (first, second) = (app.as_(&one.person), app.as_(&other.person));
        let (one_path, other_path) = (
            format!("/admin/members/{}", one.member),
            format!("/admin/members/{}", other.member),
        );
        // In every other round both leave at the same time.
        let answers = if round % 2 == 0 {
            let role = || json!({"role": "admin"});
            tokio::join!(first.patch(&other_path, role()), second.patch(&one_path, role()))
        } else {
            tokio::join!(first.delete(&one_path), second.delete(&other_path))
        };
        let done = [answers.0.status, answers.1.status]
            .iter()
            .filter(|status| **status == 200)
            .count();
        assert_eq!(
            (count_owners(app).await, done),
            (1, 1),
            "round {round}: {} {}",
            answers.0.status,
            answers.1.status
        );
    }
});

tenants!(only_the_role_in_the_school_counts, |app| {
    let roles = ROLES.iter().map(|(rank, role)| (*rank, Some(*role))).chain([(0, None)]);
    for (rank, role) in roles {
        for platform in PlatformRole::ALL {
            let person = insert_person(app, &app.world.north, role, *platform).await;
            let client = app.as_(&person);
            let rank = if *platform == PlatformRole::SuperAdmin { 5 } else { rank };
            for (path, needed) in [("/subjects", 1), ("/users", 2), ("/admin/members", 3)] {
                let answer = client.get(path).await;
                let context = format!("{platform} and {role:?} on {path}");
                match rank {
                    0 => drop(answer.refused(403, "NOT_A_MEMBER")),
                    rank if rank >= needed => assert_eq!(answer.status, 200, "{context}"),
                    _ => assert_eq!(
                        (answer.status, &answer.json()["code"]),
                        (403, &Value::from("FORBIDDEN_ROLE")),
                        "{context}"
                    ),
                }
            }
        }
    }
});
