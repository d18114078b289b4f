//! Compares the publication of topics in the model with its SQL equivalent: every combination of a topic and an
//! exception of a group, three moments around the publication, and every kind of viewer.

use std::collections::BTreeSet;

use common::clock;
use db::ReadTx;
use db::assignments::AssignmentFilter;
use db::groups::GroupFilter;
use domain::access::Viewer;
use domain::details::{AssignmentDetails, GroupAssignmentDetails, GroupDetails};
use domain::id::{AssignmentId, GroupId, UserId};
use domain::time::Timestamp;
use serde_json::{Value, json};

use test_support::request_context::ViewedAs;
use test_support::topics::{LATER, group, id, link, topic};
use test_support::{TestApp, World, not_found_body};

/// Timestamp around which topics are published and the second group starts.
const START: i64 = 1_800_000_000_000;

/// The publications to combine: none, a draft, and times around [`START`].
fn publications() -> [Value; 5] {
    let at = |offset: i64| json!({"publishAt": Timestamp::from_millis(START + offset)});
    [json!({}), json!({"isDraft": true}), at(-1), at(0), at(1)]
}

fn with(mut body: Value, more: &Value) -> Value {
    for (key, value) in more.as_object().unwrap() {
        body[key] = value.clone();
    }
    body
}

/// The links that are visible to a viewer: topic and group.
type VisibleLinks = BTreeSet<(AssignmentId, GroupId)>;

/// All topics with their links, and the groups, as an administrator reads them.
type Facts = (Vec<AssignmentDetails>, Vec<GroupDetails>);

/// Returns the links that the model shows to the viewer.
fn visible_by_model(viewer: &Viewer, user: &UserId, now: Timestamp, (topics, groups): &Facts) -> VisibleLinks {
    let sees_group = |link: &GroupAssignmentDetails| {
        let group = groups
            .iter()
            .find(|group| group.group.id == link.link.group_id)
            .unwrap();
        let is_member = group.member_ids().contains(user);
        let manages = !matches!(viewer, Viewer::Student(_));
        group
            .group
            .visible_to(viewer, is_member, manages, group.class.status, now)
    };
    let links = topics.iter().flat_map(|topic| &topic.links);
    links
        .filter(|link| link.link.visible_to(viewer, sees_group(link), &link.assignment, now))
        .map(|link| (link.assignment.id.clone(), link.link.group_id.clone()))
        .collect()
}

/// Returns the links that the statements find. All statements must agree.
fn visible_by_statements(scope: &mut ReadTx<'_>, now: Timestamp, (topics, groups): &Facts) -> VisibleLinks {
    let is_staff = scope.viewer().is_staff();
    let mut found = VisibleLinks::new();
    for topic in topics {
        let id = &topic.assignment.id;
        let shown = scope.assignment(id);
        assert!(shown.is_ok() || !is_staff);
        let links = shown.map_or_else(|_| Vec::new(), |seen| seen.details.links);
        let shown = links.into_iter().map(|link| (id.clone(), link.link.group_id));
        let shown: VisibleLinks = shown.collect();
        let files = scope.files_of_assignment(id).unwrap();
        assert_eq!(files.is_empty(), shown.is_empty() && !is_staff, "files of {id}");
        for link in &topic.links {
            let (group, own) = (&link.link.group_id, &link.link.id);
            let is_seen = shown.contains(&(id.clone(), group.clone()));
            assert_eq!(scope.work_of_link(own).is_ok(), is_seen);
            assert_eq!(scope.attempts_at(own).is_ok(), is_seen);
            let published = link.is_published(now);
            assert_eq!(scope.is_published(id, group).unwrap(), is_seen.then_some(published));
            let file = topic.attachments.first().map(|file| &file.id).unwrap();
            assert_eq!(scope.template(group, file).is_ok(), published, "the template of {id}");
            let of_group = AssignmentFilter {
                group_id: Some(group.clone()),
                ..AssignmentFilter::default()
            };
            let listed = scope.assignments(&of_group).unwrap();
            assert_eq!(listed.iter().any(|seen| seen.details.assignment.id == *id), is_seen);
            let on_topic = GroupFilter {
                assignment_id: Some(id.clone()),
                ..GroupFilter::default()
            };
            let listed = scope.groups(&on_topic).unwrap();
            assert_eq!(listed.iter().any(|seen| seen.details.group.id == *group), is_seen);
        }
        found.extend(shown);
    }
    let listed = scope.assignments(&AssignmentFilter::default()).unwrap();
    let links = listed.into_iter().flat_map(|seen| seen.details.links);
    let listed: VisibleLinks = links.map(|link| (link.assignment.id, link.link.group_id)).collect();
    assert_eq!(listed, found, "the list of topics");
    for group in groups {
        let id = &group.group.id;
        let Ok(seen) = scope.whole_group(id) else { continue };
        let links = seen.links.into_iter().map(|link| (link.assignment.id, id.clone()));
        let of_group: VisibleLinks = found.iter().filter(|(_, group)| group == id).cloned().collect();
        assert_eq!(links.collect::<VisibleLinks>(), of_group, "the topics of {id}");
        let candidates = scope.submission_candidates(id).unwrap().into_iter();
        let candidates: BTreeSet<_> = candidates.map(|topic| topic.assignment_id).collect();
        let published = topics.iter().flat_map(|topic| &topic.links);
        let published = published.filter(|link| link.link.group_id == *id && link.is_published(now));
        let published: BTreeSet<_> = published.map(|link| link.assignment.id.clone()).collect();
        assert_eq!(candidates, published, "the candidates of {id}");
    }
    found
}

async fn read<T: Send + 'static>(
    app: &TestApp,
    (viewer, viewed_as): (&str, ViewedAs),
    now: Timestamp,
    look: impl FnOnce(&mut ReadTx<'_>) -> T + Send + 'static,
) -> T {
    let context = app.request_context(&app.world.north, viewer, viewed_as, now).await;
    app.app
        .store()
        .read(context, move |scope| Ok(look(scope)))
        .await
        .unwrap()
}

both!(publication_in_statements_and_model_agrees, |app| {
    let World {
        seven_b,
        ada,
        ben,
        cem,
        dana,
        adam,
        ..
    } = &app.world;
    let client = app.as_(ada);
    let started = group(&client, seven_b, &[ben], json!({})).await;
    let hidden = json!({"startDate": Timestamp::from_millis(START)});
    let hidden = group(&client, seven_b, &[ben, cem], hidden).await;
    for of_topic in publications() {
        for own in publications() {
            let groups = json!([with(json!({"groupId": started}), &own), {"groupId": hidden}]);
            let made = topic(&client, seven_b, with(json!({"groups": groups}), &of_topic)).await;
            let files = format!("/assignments/{}/attachments", id(&made));
            client.upload(&files, "map.txt", b"map".to_vec(), &[]).await.expect(201);
        }
    }
    let groups = [started, hidden].map(GroupId::new);
    let facts: Facts = read(app, (&adam.id, ViewedAs::Admin), clock::now(), move |scope| {
        let topics = scope.assignments(&AssignmentFilter::default()).unwrap();
        let groups = groups.iter().map(|id| scope.whole_group(id).unwrap());
        let groups = groups.collect();
        (topics.into_iter().map(|seen| seen.details).collect(), groups)
    })
    .await;
    assert_eq!(facts.0.len(), 25);
    let mut counts = BTreeSet::new();
    for now in [START - 1, START, START + 1].map(Timestamp::from_millis) {
        let viewers = [
            (ben, ViewedAs::Student),
            (cem, ViewedAs::Student),
            (dana, ViewedAs::Student),
            (ada, ViewedAs::Teacher),
        ];
        for (person, viewed_as) in viewers {
            let viewer = app
                .request_context(&app.world.north, &person.id, viewed_as, now)
                .await
                .viewer;
            let by_model = visible_by_model(&viewer, &UserId::new(&person.id), now, &facts);
            let asked = facts.clone();
            let by_statements = read(app, (&person.id, viewed_as), now, move |scope| {
                visible_by_statements(scope, now, &asked)
            })
            .await;
            assert_eq!(
                by_statements,
                by_model,
                "{} at {}",
                person.name,
                now.as_millis() - START
            );
            counts.insert(by_model.len());
        }
    }
    assert!(counts.len() >= 6, "the cases differ: {counts:?}");
});

both!(student_cannot_see_unpublished_topic, |app| {
    let World {
        seven_b, ada, ben, cem, ..
    } = &app.world;
    let client = app.as_(ada);
    let own = group(&client, seven_b, &[ben], json!({})).await;
    let others = group(&client, seven_b, &[cem], json!({})).await;
    let text = json!({"title": "Secret", "description": "Secret text", "isDraft": true, "groupIds": [own, others]});
    let draft = topic(&client, seven_b, text).await;
    let path = format!("/assignments/{}", id(&draft));
    let files = format!("{path}/attachments");
    let file = client
        .upload(&files, "Secret.docx", DOCX.to_vec(), &[])
        .await
        .expect(201);
    let student = app.as_(ben);
    let shown = student.get(&format!("/groups/{own}")).await.expect(200);
    let room = shown["workRoomId"].as_str().unwrap();
    let paths = [
        "/groups".to_owned(),
        "/assignments".to_owned(),
        "/assignments?search=Secret".to_owned(),
        format!("/assignments?groupId={own}"),
        format!("/groups?assignmentId={}", id(&draft)),
        format!("/groups/{own}"),
        format!("/workrooms/{room}"),
        format!("/assignments/submission-candidates?groupId={own}"),
        format!("/users/{}/groups", ben.id),
        format!("/feedback?groupAssignmentId={}", id(link(&draft, &own))),
    ];
    for path in &paths {
        let body = student.get(path).await.expect(200).to_string();
        for marker in ["Secret", &id(&draft), &id(&file)] {
            let is_asked = path.contains(marker);
            assert!(is_asked || !body.contains(marker), "{path} contains {marker}: {body}");
        }
        if path.starts_with("/groups?assignmentId") {
            assert_eq!(body, "[]");
        }
    }
    let unknown = not_found_body(student.get("/assignments/0190a1b2-0000-7000-8000-000000000001").await);
    let hidden = [
        path.clone(),
        files.clone(),
        format!("{files}/{}/download", id(&file)),
        format!("/feedback/group-assignments/{}/submissions", id(link(&draft, &own))),
    ];
    for path in &hidden {
        assert_eq!(not_found_body(student.get(path).await), unknown, "{path}");
    }
    let documents = format!("/workrooms/{room}/documents");
    let linked = json!({"title": "Mine", "fileExtension": "docx", "assignmentId": id(&draft)});
    student.post(&documents, linked.clone()).await.refused(404, "NOT_FOUND");
    let from_file = json!({"title": "Mine", "templateAttachmentId": id(&file)});
    student.post(&documents, from_file).await.refused(404, "NOT_FOUND");
    client
        .post(&documents, linked)
        .await
        .refused(409, "ASSIGNMENT_NOT_PUBLISHED");
    let mine = json!({"title": "Mine", "fileExtension": "docx"});
    let mine = id(&student.post(&documents, mine).await.expect(201));
    let seen = client.get(&path).await.expect(200);
    assert_eq!(
        link(&seen, &own)["status"],
        "NOT_STARTED",
        "a hidden topic is not started"
    );
    let submit = format!("/workrooms/documents/{mine}/submit");
    let named = json!({"assignmentId": id(&draft)});
    student.post(&submit, named.clone()).await.refused(404, "NOT_FOUND");
    client
        .post(&submit, named)
        .await
        .refused(409, "ASSIGNMENT_NOT_PUBLISHED");

    // An exception publishes the topic for one group only.
    let now = json!({"publishAt": "2020-01-01T00:00:00Z"});
    client.patch(&format!("{path}/groups/{own}"), now).await.expect(200);
    let seen = student.get(&path).await.expect(200);
    assert_eq!(seen["title"], "Secret");
    assert!(seen.get("isDraft").is_none() && seen.get("publishAt").is_none());
    assert!(seen["groupAssignments"][0].get("isDraft").is_none());
    app.as_(cem).get(&path).await.refused(404, "NOT_FOUND");
    client.patch(&path, json!({"isDraft": false})).await.expect(200);
    app.as_(cem).get(&path).await.expect(200);
    // A time in the distant future hides it again.
    client.patch(&path, json!({"publishAt": LATER})).await.expect(200);
    app.as_(cem).get(&path).await.refused(404, "NOT_FOUND");
});

const DOCX: &[u8] = include_bytes!("../../../adapters/templates/blank.docx");
