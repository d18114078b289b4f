//! One group with a mark in every field, and everybody else with open eyes: all other people call every route of the table
//! with the ids of the group, with every filter, and listen while the group lives. Nobody finds a mark (contract 11,
//! reliability T2, T3). The walk is worth something because the same walk of the staff finds every single one.

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
use test_support::{Client, LessonFixture, Person, TestApp, raw, until};
use walk::{Finds, Looker, Table};

/// What a socket heard, frame by frame.
struct Ear {
    frames: Arc<Mutex<Vec<String>>>,
    listening: tokio::task::JoinHandle<()>,
}

impl Ear {
    async fn open(app: &TestApp, person: &Person) -> Self {
        let mut socket = raw::Socket::open(app, &person.cookie).await;
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

    /// The marks among what was heard after the first so many frames.
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

/// Everything one person finds about both groups; `meddles` says whether he also tries every change.
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

/// What Ada reads of a group: nobody else's attempt may change it.
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

/// Where a teacher of another class reads outlines.
const OUTLINES: [&str; 4] = [
    "GET /groups",
    "GET /groups/{id}",
    "GET /classes/{id}/groups",
    "GET /courses/{id}",
];

/// Who may know finds all of it by the same walk, so the walk has eyes for every field; a member finds what is his.
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

/// All others ask for everything and try every change; `valleys` is the group of one of them.
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
    // What is one's own does not open what is not: the own group and room, and things of the others in them.
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

studio!(
    #[long_on_postgres]
    nobody_else_finds_a_mark_of_a_group,
    |studio| {
        let (app, world) = (&studio.app, &studio.app.world);
        let lesson = LessonFixture::begin(app).await;
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
        open.live(studio, &world.ben, &world.ben, Some(&world.cem)).await;
        veiled.live(studio, &world.ada, &world.dana, None).await;
        open.asks_for_help(app).await;
        let staff_marks = union(&[&open.marks, &open.staff_marks, &veiled.marks, &veiled.staff_marks]);
        let not_bens = union(&[&open.staff_marks, &veiled.everything()]);
        those_who_may_know_find_it_all(app, &open, &veiled).await;
        nobody_outside_finds_any(app, outsiders, (&open, &veiled), &valleys).await;

        // From now on its own members are not to see the group either.
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
