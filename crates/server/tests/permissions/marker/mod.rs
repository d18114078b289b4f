//! Data leak test. One group has a mark in every field. All users outside of it call every route with the ids of the
//! group and every filter, and listen on sockets while the group is active. None of them may receive a mark. As a
//! control, the same walk by staff must find every mark.

mod finder;
mod story;
mod walk;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};

use finder::found;
use story::Secret;
use test_support::topics::{LATER, group};
use test_support::{Client, LessonFixture, Person, TestApp, raw_socket, until};
use walk::{Finds, Looker, Table};

/// The frames that a socket received.
struct Ear {
    frames: Arc<Mutex<Vec<String>>>,
    listening: tokio::task::JoinHandle<()>,
}

impl Ear {
    async fn open(app: &TestApp, person: &Person) -> Self {
        let mut socket = raw_socket::Socket::open(app, &person.cookie).await;
        let frames = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&frames);
        let listening = tokio::spawn(async move {
            while let Some(frame) = socket.next().await {
                heard.lock().unwrap().push(frame);
            }
        });
        Self { frames, listening }
    }

    fn heard(&self) -> usize {
        self.frames.lock().unwrap().len()
    }

    /// Returns the marks in the frames received after the first `frames` ones.
    fn marks_after(&self, frames: usize, marks: &BTreeSet<String>) -> BTreeSet<String> {
        let text = self.frames.lock().unwrap()[frames..].join("\n");
        found(text.as_bytes(), marks)
    }

    async fn until(&self, text: &str) {
        let told = async || self.frames.lock().unwrap().iter().any(|frame| frame.contains(text));
        until(text, told).await;
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

/// Returns every mark that one user finds about both groups. With `meddles`, the user also tries every change.
async fn finds(app: &TestApp, client: Client, secrets: &[&Secret], marks: &BTreeSet<String>, meddles: bool) -> Finds {
    let table = Table::read();
    let finds = Finds::default();
    let mut looker = Looker {
        app,
        client,
        marks,
        finds,
    };
    for secret in secrets {
        looker.look(&table, &secret.lesson, &secret.named(app)).await;
        if meddles {
            looker.meddle(&table, &secret.lesson, &secret.named(app), true).await;
        }
    }
    looker.finds
}

/// Returns what Ada reads of a group. Attempts of other users must not change it.
async fn state(app: &TestApp, secret: &Secret) -> Vec<(String, Value)> {
    let ada = app.as_(&app.world.ada);
    let lesson = &secret.lesson;
    let paths = [
        format!("/groups/{}", lesson.group),
        format!("/workrooms/{}", lesson.work_room),
        format!("/workrooms/documents/{}/versions", lesson.document),
    ];
    let mut state = Vec::new();
    for path in paths {
        let read = ada.get(&path).await.expect(200);
        state.push((path, read));
    }
    state
}

fn union(sets: &[&BTreeSet<String>]) -> BTreeSet<String> {
    sets.iter().flat_map(|set| set.iter().cloned()).collect()
}

/// Routes on which a teacher of another class reads outlines.
const OUTLINES: [&str; 4] = [
    "GET /groups",
    "GET /groups/{id}",
    "GET /classes/{id}/groups",
    "GET /courses/{id}",
];

/// Users with access find all marks in the same walk, which proves that the walk covers every field. A member finds the
/// marks of their group.
async fn those_who_may_know_find_it_all(app: &TestApp, open: &Secret, veiled: &Secret) {
    let (world, secrets) = (&app.world, [open, veiled]);
    let everything = union(&[&open.everything(), &veiled.everything()]);
    let mut by_staff = BTreeSet::new();
    for person in [&world.ada, &world.adam] {
        by_staff.extend(finds(app, app.as_(person), &secrets, &everything, false).await.all());
    }
    let marks = union(&[&open.marks, &open.staff_marks, &veiled.marks, &veiled.staff_marks]);
    let unseen: Vec<_> = marks.difference(&by_staff).collect();
    assert!(
        unseen.is_empty(),
        "the staff find no {unseen:?}: the walk proves nothing of them"
    );
    let by_ben = finds(app, app.as_(&world.ben), &secrets, &everything, false)
        .await
        .all();
    let unseen: Vec<_> = open.marks.difference(&by_ben).collect();
    assert!(unseen.is_empty(), "a member finds no {unseen:?}");
    let not_his = union(&[&open.staff_marks, &veiled.everything()]);
    let too_much: Vec<_> = by_ben.intersection(&not_his).collect();
    assert!(too_much.is_empty(), "a member finds {too_much:?}");
}

/// All other users send every read and try every change. `valleys` is the group of one of them.
async fn nobody_outside_finds_any(
    app: &TestApp,
    outsiders: [&Person; 8],
    (open, veiled): (&Secret, &Secret),
    valleys: &str,
) {
    let (world, secrets) = (&app.world, [open, veiled]);
    let everything = union(&[&open.everything(), &veiled.everything()]);
    let before = [state(app, open).await, state(app, veiled).await];
    let all = outsiders.map(async |person| finds(app, app.as_(person), &secrets, &everything, true).await);
    for (person, mut found) in outsiders.into_iter().zip(join_all(all).await) {
        if person.id == world.tom.id {
            let outline = union(&[&open.outline(), &veiled.outline()]);
            found
                .by_route
                .retain(|(route, mark)| !(OUTLINES.contains(&route.as_str()) && outline.contains(mark)));
        }
        assert!(found.by_route.is_empty(), "{} finds {:#?}", person.name, found.by_route);
    }
    let found = finds(app, app.stranger(), &secrets, &everything, true).await;
    assert!(found.by_route.is_empty(), "a stranger finds {:#?}", found.by_route);
    // Ids of the user's own group and room give no access to objects of other groups in the same request.
    let mut mixed = Secret::new("open", open.lesson.clone());
    mixed.lesson.group = valleys.to_owned();
    let own = app.as_(&world.eli).get(&format!("/groups/{valleys}")).await.expect(200);
    mixed.lesson.work_room = own["workRoomId"].as_str().unwrap().to_owned();
    let mut eli = Looker {
        app,
        client: app.as_(&world.eli),
        marks: &everything,
        finds: Finds::default(),
    };
    let table = Table::read();
    eli.look(&table, &mixed.lesson, &mixed.named(app)).await;
    eli.meddle(&table, &mixed.lesson, &open.named(app), false).await;
    assert!(eli.finds.by_route.is_empty(), "Eli finds {:#?}", eli.finds.by_route);
    for (secret, before) in secrets.into_iter().zip(before) {
        for (now, then) in state(app, secret).await.into_iter().zip(before) {
            let differs = |name: &&String| now.1[name.as_str()] != then.1[name.as_str()];
            let changed: Vec<_> = now
                .1
                .as_object()
                .into_iter()
                .flat_map(|read| read.keys())
                .filter(differs)
                .collect();
            assert!(now == then, "somebody changed {}: {changed:?}", now.0);
        }
    }
}

with_document_server!(
    #[long_on_postgres]
    nobody_else_finds_a_mark_of_a_group,
    |fixture| {
        let (app, world) = (&fixture.app, &fixture.app.world);
        let lesson = LessonFixture::create(app).await;
        let ada = app.as_(&world.ada);
        let class = &world.seven_b;
        let valleys = group(&ada, class, &[&world.eli], json!({"name": "Valleys"})).await;
        let attach = format!("/assignments/{}/groups", lesson.assignment);
        ada.post(&attach, json!({"groupIds": [valleys]})).await.expect(200);

        let outsiders = [
            &world.eli,
            &world.dana,
            &world.finn,
            &world.tom,
            &world.zara,
            &world.zoe,
            &world.zack,
            &world.nobody,
        ];
        let mut ears = Vec::new();
        for person in outsiders {
            ears.push((person, Ear::open(app, person).await));
        }
        let (ada_hears, ben_hears) = (Ear::open(app, &world.ada).await, Ear::open(app, &world.ben).await);

        let mut open = Secret::new("open", lesson.clone());
        let mut hidden = lesson.clone();
        hidden.group = lesson.hidden_group.clone();
        let mut veiled = Secret::new("veil", hidden);
        open.live(fixture, &world.ben, &world.ben, Some(&world.cem)).await;
        veiled.live(fixture, &world.ada, &world.dana, None).await;
        open.asks_for_help(app).await;
        let staff_marks = union(&[&open.marks, &open.staff_marks, &veiled.marks, &veiled.staff_marks]);
        let not_bens = union(&[&open.staff_marks, &veiled.everything()]);
        those_who_may_know_find_it_all(app, &open, &veiled).await;
        nobody_outside_finds_any(app, outsiders, (&open, &veiled), &valleys).await;

        // From here on, the members must not see their own group either.
        let path = format!("/groups/{}", open.lesson.group);
        ada.patch(&path, json!({"startDate": LATER})).await.expect(200);
        ben_hears.until("group:removed").await;
        let told = ben_hears.heard();
        let afterwards = open.mark("afterwards");
        let rename = json!({"name": afterwards});
        ada.patch(&path, rename).await.expect(200);
        let room = format!("/workrooms/{}", open.lesson.work_room);
        let new = json!({"title": open.mark("later-title"), "documentType": "word"});
        ada.post(&format!("{room}/documents"), new).await.expect(201);
        let said = json!({"content": open.mark("later-words")});
        ada.post(&format!("{room}/messages"), said).await.expect(201);
        let marks = union(&[&open.marks, &open.staff_marks, &open.former_marks, &veiled.everything()]);
        for person in [&world.ben, &world.cem] {
            let found = finds(app, app.as_(person), &[&open, &veiled], &marks, true).await;
            assert!(found.by_route.is_empty(), "{} finds {:#?}", person.name, found.by_route);
        }
        ada.delete(&path).await.expect(200);
        ada.delete(&format!("/groups/{}", veiled.lesson.group))
            .await
            .expect(200);
        ada_hears.until("group:deleted").await;
        tokio::time::sleep(Duration::from_millis(300)).await;

        let heard = ada_hears.marks_after(0, &staff_marks);
        assert!(heard.len() > 5, "the staff hear of it all: {heard:?}");
        assert!(!ben_hears.marks_after(0, &open.marks).is_empty());
        let heard = ben_hears.marks_after(told, &marks);
        assert!(heard.is_empty(), "Ben heard {heard:?}");
        let heard = ben_hears.marks_after(0, &not_bens);
        assert!(heard.is_empty(), "Ben heard {heard:?}");
        let everything = union(&[&open.everything(), &veiled.everything()]);
        for (person, ear) in &ears {
            let heard = ear.marks_after(0, &everything);
            assert!(heard.is_empty(), "{} heard {heard:?}", person.name);
        }
    }
);
