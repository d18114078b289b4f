//! Data leak test. One group has a mark in every field. All users outside of it call every route with the ids of the
//! group and every filter, and listen on sockets while the group is active. None of them may receive a mark. As a
//! control, the same walk by staff must find every mark.

mod mark_search;
mod marked_groups;
mod probe;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};

use mark_search::find_marks;
use marked_groups::MarkedGroup;
use probe::{Leaks, Prober, RouteTable};
use test_support::topics::{LATER, group};
use test_support::{Client, LessonFixture, TestApp, TestUser, raw_socket, until};

/// The frames that a socket received.
struct FrameRecorder {
    frames: Arc<Mutex<Vec<String>>>,
    task: tokio::task::JoinHandle<()>,
}

impl FrameRecorder {
    async fn open(app: &TestApp, person: &TestUser) -> Self {
        let mut socket = raw_socket::Socket::open(app, &person.cookie).await;
        let frames = Arc::new(Mutex::new(Vec::new()));
        let received = Arc::clone(&frames);
        let task = tokio::spawn(async move {
            while let Some(frame) = socket.next().await {
                received.lock().unwrap().push(frame);
            }
        });
        Self { frames, task }
    }

    fn received_count(&self) -> usize {
        self.frames.lock().unwrap().len()
    }

    /// Returns the marks in the frames received after the first `frames` ones.
    fn marks_after(&self, frames: usize, marks: &BTreeSet<String>) -> BTreeSet<String> {
        let text = self.frames.lock().unwrap()[frames..].join("\n");
        find_marks(text.as_bytes(), marks)
    }

    async fn until(&self, text: &str) {
        let seen = async || self.frames.lock().unwrap().iter().any(|frame| frame.contains(text));
        until(text, seen).await;
    }
}

impl Drop for FrameRecorder {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Returns every mark that one user finds about both groups. With `tries_changes`, the user also tries every change.
async fn find_all(
    app: &TestApp,
    client: Client,
    groups: &[&MarkedGroup],
    marks: &BTreeSet<String>,
    tries_changes: bool,
) -> Leaks {
    let table = RouteTable::read();
    let findings = Leaks::default();
    let mut prober = Prober {
        app,
        client,
        marks,
        findings,
    };
    for group in groups {
        prober.read_all(&table, &group.lesson, &group.sample_ids(app)).await;
        if tries_changes {
            prober
                .try_changes(&table, &group.lesson, &group.sample_ids(app), true)
                .await;
        }
    }
    prober.findings
}

/// Returns what Ada reads of a group. Attempts of other users must not change it.
async fn state(app: &TestApp, group: &MarkedGroup) -> Vec<(String, Value)> {
    let ada = app.as_(&app.world.ada);
    let lesson = &group.lesson;
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
async fn assert_authorized_users_find_all_marks(app: &TestApp, open: &MarkedGroup, not_started: &MarkedGroup) {
    let (world, groups) = (&app.world, [open, not_started]);
    let all_marks = union(&[&open.all_marks(), &not_started.all_marks()]);
    let mut by_staff = BTreeSet::new();
    for person in [&world.ada, &world.adam] {
        by_staff.extend(find_all(app, app.as_(person), &groups, &all_marks, false).await.all());
    }
    let marks = union(&[
        &open.marks,
        &open.staff_marks,
        &not_started.marks,
        &not_started.staff_marks,
    ]);
    let unseen: Vec<_> = marks.difference(&by_staff).collect();
    assert!(
        unseen.is_empty(),
        "the staff find no {unseen:?}: the walk proves nothing of them"
    );
    let by_ben = find_all(app, app.as_(&world.ben), &groups, &all_marks, false)
        .await
        .all();
    let unseen: Vec<_> = open.marks.difference(&by_ben).collect();
    assert!(unseen.is_empty(), "a member finds no {unseen:?}");
    let not_for_ben = union(&[&open.staff_marks, &not_started.all_marks()]);
    let too_much: Vec<_> = by_ben.intersection(&not_for_ben).collect();
    assert!(too_much.is_empty(), "a member finds {too_much:?}");
}

/// All other users send every read and try every change. `valleys` is the group of one of them.
async fn assert_outsiders_find_no_mark(
    app: &TestApp,
    outsiders: [&TestUser; 8],
    (open, not_started): (&MarkedGroup, &MarkedGroup),
    valleys: &str,
) {
    let (world, groups) = (&app.world, [open, not_started]);
    let all_marks = union(&[&open.all_marks(), &not_started.all_marks()]);
    let before = [state(app, open).await, state(app, not_started).await];
    let all = outsiders.map(async |person| find_all(app, app.as_(person), &groups, &all_marks, true).await);
    for (person, mut found) in outsiders.into_iter().zip(join_all(all).await) {
        if person.id == world.tom.id {
            let outline = union(&[&open.outline(), &not_started.outline()]);
            found
                .by_route
                .retain(|(route, mark)| !(OUTLINES.contains(&route.as_str()) && outline.contains(mark)));
        }
        assert!(found.by_route.is_empty(), "{} finds {:#?}", person.name, found.by_route);
    }
    let found = find_all(app, app.stranger(), &groups, &all_marks, true).await;
    assert!(found.by_route.is_empty(), "a stranger finds {:#?}", found.by_route);
    // Ids of the user's own group and room give no access to objects of other groups in the same request.
    let mut mixed = MarkedGroup::new("open", open.lesson.clone());
    mixed.lesson.group = valleys.to_owned();
    let own = app.as_(&world.eli).get(&format!("/groups/{valleys}")).await.expect(200);
    mixed.lesson.work_room = own["workRoomId"].as_str().unwrap().to_owned();
    let mut eli = Prober {
        app,
        client: app.as_(&world.eli),
        marks: &all_marks,
        findings: Leaks::default(),
    };
    let table = RouteTable::read();
    eli.read_all(&table, &mixed.lesson, &mixed.sample_ids(app)).await;
    eli.try_changes(&table, &mixed.lesson, &open.sample_ids(app), false)
        .await;
    assert!(
        eli.findings.by_route.is_empty(),
        "Eli finds {:#?}",
        eli.findings.by_route
    );
    for (group, before) in groups.into_iter().zip(before) {
        for (now, then) in state(app, group).await.into_iter().zip(before) {
            let differs = |name: &&String| now.1[name.as_str()] != then.1[name.as_str()];
            let changed: Vec<_> = now
                .1
                .as_object()
                .into_iter()
                .flat_map(|read| read.keys())
                .filter(differs)
                .collect();
            assert!(now == then, "there is a change of {}: {changed:?}", now.0);
        }
    }
}

with_document_server!(
    #[long_on_postgres]
    outsiders_receive_no_data_of_a_group,
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
        let mut recorders = Vec::new();
        for person in outsiders {
            recorders.push((person, FrameRecorder::open(app, person).await));
        }
        let (ada_frames, ben_frames) = (
            FrameRecorder::open(app, &world.ada).await,
            FrameRecorder::open(app, &world.ben).await,
        );

        let mut open = MarkedGroup::new("open", lesson.clone());
        let mut hidden = lesson.clone();
        hidden.group = lesson.hidden_group.clone();
        let mut not_started = MarkedGroup::new("veil", hidden);
        open.run_lesson(fixture, &world.ben, &world.ben, Some(&world.cem)).await;
        not_started.run_lesson(fixture, &world.ada, &world.dana, None).await;
        open.request_help(app).await;
        let staff_marks = union(&[
            &open.marks,
            &open.staff_marks,
            &not_started.marks,
            &not_started.staff_marks,
        ]);
        let not_bens = union(&[&open.staff_marks, &not_started.all_marks()]);
        assert_authorized_users_find_all_marks(app, &open, &not_started).await;
        assert_outsiders_find_no_mark(app, outsiders, (&open, &not_started), &valleys).await;

        // From here on, the members must not see their own group either.
        let path = format!("/groups/{}", open.lesson.group);
        ada.patch(&path, json!({"startDate": LATER})).await.expect(200);
        ben_frames.until("group:removed").await;
        let seen = ben_frames.received_count();
        let afterwards = open.mark("afterwards");
        let rename = json!({"name": afterwards});
        ada.patch(&path, rename).await.expect(200);
        let room = format!("/workrooms/{}", open.lesson.work_room);
        let new = json!({"title": open.mark("later-title"), "documentType": "word"});
        ada.post(&format!("{room}/documents"), new).await.expect(201);
        let context = json!({"content": open.mark("later-words")});
        ada.post(&format!("{room}/messages"), context).await.expect(201);
        let marks = union(&[
            &open.marks,
            &open.staff_marks,
            &open.former_marks,
            &not_started.all_marks(),
        ]);
        for person in [&world.ben, &world.cem] {
            let found = find_all(app, app.as_(person), &[&open, &not_started], &marks, true).await;
            assert!(found.by_route.is_empty(), "{} finds {:#?}", person.name, found.by_route);
        }
        ada.delete(&path).await.expect(200);
        ada.delete(&format!("/groups/{}", not_started.lesson.group))
            .await
            .expect(200);
        ada_frames.until("group:deleted").await;
        tokio::time::sleep(Duration::from_millis(300)).await;

        let received = ada_frames.marks_after(0, &staff_marks);
        assert!(received.len() > 5, "the staff receive the events: {received:?}");
        assert!(!ben_frames.marks_after(0, &open.marks).is_empty());
        let received = ben_frames.marks_after(seen, &marks);
        assert!(received.is_empty(), "Ben heard {received:?}");
        let received = ben_frames.marks_after(0, &not_bens);
        assert!(received.is_empty(), "Ben heard {received:?}");
        let all_marks = union(&[&open.all_marks(), &not_started.all_marks()]);
        for (person, recorder) in &recorders {
            let received = recorder.marks_after(0, &all_marks);
            assert!(received.is_empty(), "{} heard {received:?}", person.name);
        }
    }
);
