//! Checks visibility in two ways: through the functions of the model and through the statements that include their SQL
//! equivalents. The data are random schools, every viewer, and three moments around a start date.

use std::collections::{BTreeMap, BTreeSet};

use common::clock;
use db::connection::Connection;
use db::groups::GroupFilter;
use db::{Database, ReadTx, RequestContext};
use domain::access::Viewer;
use domain::class::Class;
use domain::group::Group;
use domain::id::{ClassId, GroupId, UserId};
use domain::time::Timestamp;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use test_support::request_context::ViewedAs;
use test_support::rows::execute;
use test_support::{TestApp, TestUser, World, not_found_body};

mod rows {
    db::statements! {
        CLASS = "INSERT INTO classes (organization_id, id, name, name_key, academic_year, status, teacher_id, created_at,
                updated_at)
            VALUES ($1, $2, 'random', 'random', '2026', $3, $4, 1, 1)";
        CO_TEACHER = "INSERT INTO class_teachers (organization_id, class_id, user_id, created_at) VALUES ($1, $2, $3, 1)";
        ENROLMENT = "INSERT INTO class_enrollments (organization_id, id, class_id, student_id, enrolled_at)
            VALUES ($1, $2, $3, $4, 1)";
        GROUP = "INSERT INTO groups (organization_id, id, name, name_key, group_number, class_id, start_date, created_by_id,
                created_at, updated_at)
            VALUES ($1, $2, 'random', 'random', $3, $4, $5, $6, 1, 1)";
        ROOM = "INSERT INTO work_rooms (organization_id, id, group_id, created_at, updated_at) VALUES ($1, $2, $2, 1, 1)";
        MEMBER = "INSERT INTO group_members (organization_id, id, class_id, group_id, user_id, joined_at)
            VALUES ($1, $2, $3, $4, $5, 1)";
    }
}

/// Timestamp around which groups start.
const START: i64 = 1_800_000_000_000;

#[derive(Debug, Clone)]
struct RandomClass {
    status: &'static str,
    is_adas: bool,
    has_co_teacher: bool,
    enrolled: Vec<bool>,
    groups: Vec<RandomGroup>,
}

#[derive(Debug, Clone)]
struct RandomGroup {
    start: Option<i64>,
    members: Vec<bool>,
}

fn random_group() -> impl Strategy<Value = RandomGroup> {
    let start = prop_oneof![Just(None), (-1_i64..=1).prop_map(|offset| Some(START + offset))];
    (start, prop::collection::vec(any::<bool>(), 5)).prop_map(|(start, members)| RandomGroup { start, members })
}

fn random_class() -> impl Strategy<Value = RandomClass> {
    let status = prop_oneof![Just("ACTIVE"), Just("DRAFT"), Just("ARCHIVED")];
    let enrolled = prop::collection::vec(prop::bool::weighted(0.8), 5);
    (
        status,
        any::<bool>(),
        any::<bool>(),
        enrolled,
        prop::collection::vec(random_group(), 0..4),
    )
        .prop_map(|(status, is_adas, has_co_teacher, enrolled, groups)| RandomClass {
            status,
            is_adas,
            has_co_teacher,
            enrolled,
            groups,
        })
}

/// The inserted rows, with the facts that the model functions take as arguments.
#[derive(Debug, Clone)]
struct StoredClass {
    class: ClassId,
    co_teachers: Vec<UserId>,
    enrolled: BTreeSet<UserId>,
    groups: Vec<(GroupId, BTreeSet<UserId>)>,
}

fn insert_classes(database: &Database, world: &World, classes: &[RandomClass]) -> Vec<StoredClass> {
    let mut connection = match database {
        Database::Sqlite(path) => Connection::open_sqlite(path, false).unwrap(),
        Database::Postgres(url) => Connection::open_postgres(url).unwrap(),
    };
    let north = world.north.as_str();
    let students = [&world.ben, &world.cem, &world.dana, &world.eli, &world.finn].map(|person| person.id.as_str());
    let chosen = |marks: &[bool], among: &BTreeSet<&str>| -> BTreeSet<String> {
        let marked = students
            .iter()
            .zip(marks)
            .filter(|(_, marked)| **marked)
            .map(|(student, _)| *student);
        marked
            .filter(|student| among.contains(student))
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(rows::STATEMENTS.len(), 6);
    let mut run = |name: &str, arguments: &[db::sql::Value<'_>]| {
        let (_, statement) = rows::STATEMENTS.iter().find(|(known, _)| *known == name).unwrap();
        connection.execute(statement, arguments).unwrap();
    };
    let mut facts = Vec::new();
    for class in classes {
        let id = clock::new_id();
        let (owner, other) = if class.is_adas {
            (&world.ada, &world.tom)
        } else {
            (&world.tom, &world.ada)
        };
        run("CLASS", db::args![north, id, class.status, owner.id]);
        let mut co_teachers = Vec::new();
        if class.has_co_teacher {
            run("CO_TEACHER", db::args![north, id, other.id]);
            co_teachers.push(UserId::new(&other.id));
        }
        let enrolled = chosen(&class.enrolled, &students.into());
        for student in &enrolled {
            run("ENROLMENT", db::args![north, clock::new_id(), id, student]);
        }
        let mut groups = Vec::new();
        for (number, group) in (1_i64..).zip(&class.groups) {
            let group_id = clock::new_id();
            run("GROUP", db::args![north, group_id, number, id, group.start, owner.id]);
            run("ROOM", db::args![north, group_id]);
            let members = chosen(&group.members, &enrolled.iter().map(String::as_str).collect());
            for member in &members {
                run("MEMBER", db::args![north, clock::new_id(), id, group_id, member]);
            }
            groups.push((GroupId::new(group_id), members.iter().map(UserId::new).collect()));
        }
        let enrolled = enrolled.iter().map(UserId::new).collect();
        facts.push(StoredClass {
            class: ClassId::new(id),
            co_teachers,
            enrolled,
            groups,
        });
    }
    facts
}

/// Everything the viewer can find in the database, through every query that applies the rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct VisibleIds {
    classes: BTreeSet<ClassId>,
    managed: BTreeSet<ClassId>,
    known: BTreeSet<GroupId>,
    seen: BTreeSet<GroupId>,
}

/// Returns what the model functions allow.
fn visible_by_model(
    viewer: &Viewer,
    user: &UserId,
    now: Timestamp,
    school: &[(StoredClass, Class, Vec<Group>)],
) -> VisibleIds {
    let mut found = VisibleIds::default();
    for (facts, class, groups) in school {
        let manages = class.managed_by(viewer, &facts.co_teachers);
        if class.visible_to(viewer, facts.enrolled.contains(user)) {
            found.classes.insert(class.id.clone());
        }
        if manages {
            found.managed.insert(class.id.clone());
        }
        for (group, (_, members)) in groups.iter().zip(&facts.groups) {
            let is_seen = group.visible_to(viewer, members.contains(user), manages, class.status, now);
            if is_seen {
                found.seen.insert(group.id.clone());
            }
            if is_seen || viewer.is_staff() {
                found.known.insert(group.id.clone());
            }
        }
    }
    found
}

/// Returns what the statements find. All queries must agree.
fn visible_by_statements(scope: &mut ReadTx<'_>, school: &[(StoredClass, Class, Vec<Group>)]) -> VisibleIds {
    let mut found = VisibleIds::default();
    let mut by_class = Vec::new();
    for (facts, _, groups) in school {
        if scope.class(&facts.class).is_ok() {
            found.classes.insert(facts.class.clone());
        }
        if scope.managed_class(&facts.class).is_ok() {
            found.managed.insert(facts.class.clone());
        }
        let filter = GroupFilter {
            class_id: Some(facts.class.clone()),
            ..GroupFilter::default()
        };
        by_class.extend(scope.groups(&filter).unwrap());
        for group in groups {
            if let Ok(known) = scope.group(&group.id) {
                found.known.insert(group.id.clone());
                assert_eq!(known.has_full_access, scope.whole_group(&group.id).is_ok());
                if known.has_full_access {
                    found.seen.insert(group.id.clone());
                }
            }
            let sees_room = found.seen.contains(&group.id);
            assert_eq!(
                scope.work_room(&group.work_room_id).is_ok(),
                sees_room,
                "the room of {}",
                group.id
            );
            assert_eq!(scope.work_room_of(&group.id).is_ok(), sees_room);
        }
    }
    let ours: BTreeSet<GroupId> = school
        .iter()
        .flat_map(|(_, _, groups)| groups)
        .map(|group| group.id.clone())
        .collect();
    let everything = scope.groups(&GroupFilter::default()).unwrap();
    for list in [everything, by_class] {
        let listed = list.iter().filter(|known| ours.contains(&known.details.group.id));
        let known: BTreeSet<_> = listed.clone().map(|known| known.details.group.id.clone()).collect();
        let seen = listed
            .filter(|known| known.has_full_access)
            .map(|known| known.details.group.id.clone())
            .collect();
        assert_eq!((&known, &seen), (&found.known, &found.seen), "lists and details agree");
    }
    let rooms: BTreeSet<_> = scope
        .work_rooms()
        .unwrap()
        .into_iter()
        .map(|room| room.room.group_id)
        .collect();
    assert_eq!(&rooms & &ours, found.seen, "rooms and groups agree");
    found
}

/// Returns for which of its members and of the teachers of its class the model functions open each group. The viewer of an
/// account that cannot be used is `None`.
fn people_by_model(
    accounts: &[(UserId, Option<Viewer>)],
    now: Timestamp,
    school: &[(StoredClass, Class, Vec<Group>)],
) -> BTreeMap<GroupId, BTreeSet<UserId>> {
    let mut found = BTreeMap::new();
    for (facts, class, groups) in school {
        for (group, (_, members)) in groups.iter().zip(&facts.groups) {
            let can_view = |(user, viewer): &&(UserId, Option<Viewer>)| {
                let (is_member, is_teacher) = (
                    members.contains(user),
                    class.teacher_id == *user || facts.co_teachers.contains(user),
                );
                let sees = |viewer: &Viewer| {
                    let manages = class.managed_by(viewer, &facts.co_teachers);
                    group.visible_to(viewer, is_member, manages, class.status, now)
                };
                (is_member || is_teacher) && viewer.as_ref().is_some_and(sees)
            };
            let people = accounts.iter().filter(can_view).map(|(user, _)| user.clone());
            found.insert(group.id.clone(), people.collect());
        }
    }
    found
}

/// Returns the users who can view each group according to the statement.
fn people_by_statement(
    scope: &mut ReadTx<'_>,
    school: &[(StoredClass, Class, Vec<Group>)],
) -> BTreeMap<GroupId, BTreeSet<UserId>> {
    let groups = school.iter().flat_map(|(_, _, groups)| groups);
    let able = groups.map(|group| {
        let people = scope.people_of_group(&group.id).unwrap().into_iter();
        let able = people.filter(|found| found.can_view).map(|found| found.person.id);
        (group.id.clone(), able.collect())
    });
    able.collect()
}

async fn read<T: Send + 'static>(
    app: &TestApp,
    standpoint: RequestContext,
    look: impl FnOnce(&mut ReadTx<'_>) -> T + Send + 'static,
) -> T {
    app.app
        .store()
        .read(standpoint, move |scope| Ok(look(scope)))
        .await
        .unwrap()
}

/// Inserts random classes; returns them as the model has them.
async fn random_school(app: &TestApp) -> Vec<(StoredClass, Class, Vec<Group>)> {
    let world = &app.world;
    let mut runner = TestRunner::deterministic();
    let classes = prop::collection::vec(random_class(), 24)
        .new_tree(&mut runner)
        .unwrap()
        .current();
    let facts = tokio::task::block_in_place(|| insert_classes(&app.database, world, &classes));
    let admin = app
        .request_context(&world.north, &world.adam.id, ViewedAs::Admin, clock::now())
        .await;
    read(app, admin, move |scope| {
        let whole = facts.into_iter().map(|facts| {
            let groups = facts
                .groups
                .iter()
                .map(|(id, _)| scope.whole_group(id).unwrap().group)
                .collect();
            (facts.clone(), scope.class(&facts.class).unwrap(), groups)
        });
        whole.collect()
    })
    .await
}

both!(visibility_in_statements_and_model_agrees, |app| {
    let world = &app.world;
    let school = random_school(app).await;
    let mut found_something = 0;
    for now in [START - 1, START, START + 1].map(Timestamp::from_millis) {
        let students = [&world.ben, &world.cem, &world.dana, &world.eli, &world.finn];
        let viewers = students.into_iter().map(|student| (student, ViewedAs::Student));
        let staff = [
            (&world.adam, ViewedAs::Admin),
            (&world.ada, ViewedAs::Teacher),
            (&world.tom, ViewedAs::Teacher),
        ];
        for (person, viewed_as) in viewers.chain(staff) {
            let standpoint = app.request_context(&world.north, &person.id, viewed_as, now).await;
            let visible_by_model = visible_by_model(&standpoint.viewer, &UserId::new(&person.id), now, &school);
            let asked = school.clone();
            let visible_by_statements = read(app, standpoint, move |scope| visible_by_statements(scope, &asked)).await;
            assert_eq!(
                visible_by_statements,
                visible_by_model,
                "{} at {}",
                person.name,
                now.as_millis() - START
            );
            found_something += usize::from(!visible_by_model.seen.is_empty());
        }
        // The other school sees none of this.
        let zara = app
            .request_context(&world.south, &world.zara.id, ViewedAs::Admin, now)
            .await;
        let asked = school.clone();
        assert_eq!(
            read(app, zara, move |scope| visible_by_statements(scope, &asked)).await,
            VisibleIds::default()
        );
    }
    assert!(
        found_something >= 20,
        "the random school is worth asking: {found_something}"
    );
});

both!(people_who_can_view_a_group_agree_with_the_model, |app| {
    let world = &app.world;
    let school = random_school(app).await;
    let student = |person: &TestUser| (UserId::new(&person.id), Some(Viewer::Student(UserId::new(&person.id))));
    let teacher = |person: &TestUser| (UserId::new(&person.id), Some(Viewer::Teacher(UserId::new(&person.id))));
    let none = |person: &TestUser| (UserId::new(&person.id), None);
    let World {
        adam,
        ada,
        tom,
        ben,
        cem,
        dana,
        eli,
        finn,
        ..
    } = world;
    let usual = [
        (UserId::new(&adam.id), Some(Viewer::Admin)),
        teacher(ada),
        teacher(tom),
        student(ben),
        student(cem),
        student(dana),
        student(eli),
        student(finn),
    ];
    // Roles that do not match the membership, and accounts that cannot be used.
    let unusual = [
        (UserId::new(&adam.id), Some(Viewer::Admin)),
        (UserId::new(&ada.id), Some(Viewer::Admin)),
        student(tom),
        teacher(ben),
        student(cem),
        none(dana),
        none(eli),
        none(finn),
    ];
    let changes = [
        format!("UPDATE members SET role = 'admin' WHERE user_id = '{}'", ada.id),
        format!("UPDATE members SET role = 'student' WHERE user_id = '{}'", tom.id),
        format!("UPDATE members SET role = 'teacher' WHERE user_id = '{}'", ben.id),
        format!("UPDATE members SET is_active = FALSE WHERE user_id = '{}'", dana.id),
        format!("UPDATE users SET is_active = FALSE WHERE id = '{}'", eli.id),
        format!("UPDATE users SET banned = TRUE WHERE id = '{}'", finn.id),
    ];
    for accounts in [usual, unusual] {
        let mut able = 0;
        for now in [START - 1, START, START + 1].map(Timestamp::from_millis) {
            let admin = app.request_context(&world.north, &adam.id, ViewedAs::Admin, now).await;
            let asked = school.clone();
            let found = read(app, admin, move |scope| people_by_statement(scope, &asked)).await;
            assert_eq!(
                found,
                people_by_model(&accounts, now, &school),
                "at {}",
                now.as_millis() - START
            );
            able += found.values().map(BTreeSet::len).sum::<usize>();
        }
        assert!(able >= 50, "the random school is worth asking: {able}");
        for change in &changes {
            execute(&app.database, change.clone()).await;
        }
    }
    // The other school has none of these groups.
    let zara = app
        .request_context(
            &world.south,
            &world.zara.id,
            ViewedAs::Admin,
            Timestamp::from_millis(START),
        )
        .await;
    let found = read(app, zara, move |scope| people_by_statement(scope, &school)).await;
    assert!(found.values().all(BTreeSet::is_empty));
});

/// Returns every request of a student, with the filters that could reveal a hidden group.
fn student_requests(class: &str, course: &str, subject: &str, topic: &str, group: &str) -> Vec<String> {
    let mut paths: Vec<String> = ["/groups", "/workrooms", "/assignments"].map(str::to_owned).to_vec();
    let filters = [
        format!("classId={class}"),
        format!("courseId={course}"),
        "courseId=none".to_owned(),
        format!("subjectId={subject}"),
        "search=Source".to_owned(),
    ];
    for noun in ["groups", "assignments"] {
        paths.extend(filters.iter().map(|filter| format!("/{noun}?{filter}")));
    }
    for more in [
        format!("assignmentId={topic}"),
        "needsHelp=0".to_owned(),
        "needsHelp=1".to_owned(),
        "mine=1".to_owned(),
    ] {
        paths.push(format!("/groups?{more}"));
    }
    paths.push(format!("/assignments?groupId={group}"));
    paths
}

both!(student_cannot_see_group_before_start_date, |app| {
    let World { seven_b, ada, ben, .. } = &app.world;
    let client = app.as_(ada);
    let new = |name: &str, start: Value| json!({"classId": seven_b.id, "courseId": seven_b.course, "name": name, "startDate": start, "memberIds": [ben.id]});
    let hidden = client
        .post("/groups", new("Source", json!("2099-01-01T00:00:00Z")))
        .await
        .expect(201);
    let shown = client.post("/groups", new("Bridge", json!(null))).await.expect(201);
    let groups = json!([{"groupId": hidden["id"], "descriptionOverride": "Secret"}, {"groupId": shown["id"]}]);
    let topic = json!({"title": "River", "deadline": "2099-01-01T00:00:00Z", "classId": seven_b.id,
        "courseId": seven_b.course, "isShared": false, "groups": groups});
    let topic = client.post("/assignments", topic).await.expect(201);
    let alone = json!({"title": "Sources", "deadline": "2099-01-01T00:00:00Z", "classId": seven_b.id,
        "courseId": seven_b.course, "groupIds": [hidden["id"]]});
    let alone = client.post("/assignments", alone).await.expect(201);

    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let (hidden_id, room) = (text(&hidden["id"]), text(&hidden["workRoomId"]));
    let markers = [
        hidden_id.clone(),
        room.clone(),
        "Source".to_owned(),
        "Secret".to_owned(),
        text(&alone["id"]),
    ];
    let student = app.as_(ben);
    let mut paths = student_requests(
        &seven_b.id,
        &seven_b.course,
        &seven_b.subject,
        &text(&topic["id"]),
        &hidden_id,
    );
    paths.push(format!("/groups/{}", text(&shown["id"])));
    paths.push(format!("/workrooms/{}", text(&shown["workRoomId"])));
    paths.push(format!("/assignments/{}", text(&topic["id"])));
    for path in &paths {
        let body = student.get(path).await.expect(200).to_string();
        for marker in &markers {
            assert!(!body.contains(marker.as_str()), "{path} betrays {marker}: {body}");
        }
    }
    let links = student
        .get(&format!("/assignments/{}", text(&topic["id"])))
        .await
        .expect(200);
    assert_eq!(links["groupAssignments"].as_array().unwrap().len(), 1);

    let unknown = not_found_body(student.get("/groups/0190a1b2-0000-7000-8000-000000000001").await);
    let paths_of_hidden_group = [
        format!("/groups/{hidden_id}"),
        format!("/workrooms/{room}"),
        format!("/workrooms/group/{hidden_id}"),
        format!("/workrooms/{room}/documents"),
        format!("/assignments/{}", text(&alone["id"])),
    ];
    for path in paths_of_hidden_group {
        assert_eq!(not_found_body(student.get(&path).await), unknown, "{path}");
    }
    student
        .get(&format!("/courses/{}", seven_b.course))
        .await
        .refused(403, "FORBIDDEN_ROLE");
    let course = client.get(&format!("/courses/{}", seven_b.course)).await.expect(200);
    assert_eq!(course["groups"].as_array().unwrap().len(), 2);

    // Once the group has started, it is visible with all of its content.
    client
        .patch(
            &format!("/groups/{hidden_id}"),
            json!({"startDate": "2020-01-01T00:00:00Z"}),
        )
        .await
        .expect(200);
    let groups = student.get("/groups").await.expect(200);
    assert_eq!(groups.as_array().unwrap().len(), 2);
    student.get(&format!("/workrooms/{room}")).await.expect(200);
});
