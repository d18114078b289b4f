//! The clients of roster servers, against a server with faults: a roster is read completely or not at all.

use std::collections::HashMap;
use std::io::Read as _;
use std::time::{Duration, Instant};

use adapters::blob_store::settings::ObjectStoreArgs;
use adapters::blob_store::{BlobStore, Staged};
use adapters::roster::{
    FetchedRoster, RosterAnswer, RosterClient, RosterError, RosterServer, RosterTimeouts, SkippedRecord,
};
use common::settings::Secret;
use domain::roster::RosterProtocol;
use serde_json::{Value, json};

use test_support::fake_roster_server::{
    FakeRosterServer, ROSTER_CLIENT, ROSTER_SECRET, RosterData, RosterReply, column, one_roster_school, person,
    schulconnex_school,
};
use test_support::rosters::{import, packed};
use test_support::{TestApp, scratch};

/// A client with short pauses, and a storage for its archives.
struct RosterFixture {
    client: RosterClient,
    files: BlobStore,
    folder: tempfile::TempDir,
}

impl RosterFixture {
    async fn new() -> Self {
        let timeouts = RosterTimeouts {
            backoff: Duration::from_millis(5),
            pause_max: Duration::from_secs(3),
            ..RosterTimeouts::default()
        };
        Self::with(timeouts).await
    }

    async fn with(timeouts: RosterTimeouts) -> Self {
        let folder = scratch::folder();
        let settings = ObjectStoreArgs::default();
        let files = BlobStore::connect(folder.path(), None, &settings).await;
        Self {
            client: RosterClient::new(&["127.0.0.0/8".parse().unwrap()], timeouts).unwrap(),
            files: files.unwrap(),
            folder,
        }
    }

    async fn fetch(&self, server: &RosterServer) -> Result<RosterAnswer, RosterError> {
        self.client.fetch(server, None, &self.files).await
    }

    async fn roster(&self, server: &RosterServer) -> FetchedRoster {
        match self.fetch(server).await.unwrap() {
            RosterAnswer::Changed(roster) => roster,
            RosterAnswer::Unchanged => panic!("the roster is unchanged"),
        }
    }

    async fn code(&self, server: &RosterServer) -> &'static str {
        let error = self.fetch(server).await.unwrap_err();
        println!("{error}");
        assert!(!format!("{error} {error:?} {server:?}").contains(ROSTER_SECRET));
        error.code()
    }

    /// The number of files that are left in the storage.
    fn left_files(&self) -> usize {
        fn count(folder: &std::path::Path) -> usize {
            let entries = std::fs::read_dir(folder).unwrap();
            entries
                .map(|entry| entry.unwrap().path())
                .map(|path| if path.is_dir() { count(&path) } else { 1 })
                .sum()
        }
        count(self.folder.path())
    }
}

fn one_roster(fake: &FakeRosterServer) -> RosterServer {
    RosterServer {
        protocol: RosterProtocol::OneRoster11,
        url: fake.url.clone(),
        token_url: fake.token_url.clone(),
        client_id: ROSTER_CLIENT.to_owned(),
        client_secret: Secret::new(ROSTER_SECRET),
        scope: None,
        school_id: None,
    }
}

fn schulconnex(fake: &FakeRosterServer) -> RosterServer {
    RosterServer {
        protocol: RosterProtocol::Schulconnex,
        url: fake.url.replace("/ims/oneroster/v1p1", "/v1"),
        ..one_roster(fake)
    }
}

/// Packs the tables again: uploads reject archives in the Zip64 format, in which the client streams its own.
fn repacked(archive: &Staged) -> Vec<u8> {
    let tables = tables(archive);
    let files: Vec<(&str, String)> = tables
        .iter()
        .map(|(name, text)| (name.as_str(), text.clone()))
        .collect();
    packed(&files)
}

/// Returns the tables of an archive by name.
fn tables(archive: &Staged) -> HashMap<String, String> {
    let mut zip = zip::ZipArchive::new(archive.source().open().unwrap()).unwrap();
    (0..zip.len())
        .map(|index| {
            let mut entry = zip.by_index(index).unwrap();
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            (entry.name().unwrap().into_owned(), text)
        })
        .collect()
}

/// Starts a school of 60 students, 3 teachers and 6 classes, whose pages have at most 25 rows.
async fn small_school() -> FakeRosterServer {
    let fake = FakeRosterServer::start(one_roster_school(60)).await;
    fake.habits(|habits| habits.page_max = Some(25));
    fake
}

fn is_complete(roster: &FetchedRoster) {
    assert_eq!((roster.people, roster.classes, roster.enrollments), (63, 6, 123));
    assert_eq!((roster.skipped_count, roster.skipped.len()), (0, 0));
    assert_eq!(column(&tables(&roster.archive)["users.csv"], 0).len(), 63);
}

#[tokio::test]
async fn one_roster_pages_are_read_with_and_without_headers() {
    let fixture = RosterFixture::new().await;
    for (has_total, has_links, ignores_limit) in [
        (false, false, false),
        (true, false, false),
        (false, true, false),
        (true, true, false),
        (true, false, true),
        (false, false, true),
    ] {
        let fake = small_school().await;
        fake.habits(|habits| {
            (habits.has_total, habits.has_links, habits.ignores_limit) = (has_total, has_links, ignores_limit);
        });
        is_complete(&fixture.roster(&one_roster(&fake)).await);
        let path = fake.requests()[1].head.clone();
        assert!(path.starts_with("GET /ims/oneroster/v1p1/orgs?limit=500&offset=0&sort=sourcedId&orderBy=asc"));
        assert_eq!(fake.tokens(), 1);
    }
    assert_eq!(fixture.left_files(), 0);
}

#[tokio::test]
async fn server_that_ignores_offset_is_read_if_it_ignores_the_limit_too() {
    let fixture = RosterFixture::new().await;
    let fake = FakeRosterServer::start(one_roster_school(600)).await;
    fake.habits(|habits| {
        (habits.ignores_limit, habits.ignores_offset) = (true, true);
        habits.has_total = true;
    });
    assert_eq!(fixture.roster(&one_roster(&fake)).await.people, 624);
    fake.habits(|habits| (habits.ignores_limit, habits.has_total) = (false, false));
    assert_eq!(fixture.code(&one_roster(&fake)).await, "inconsistent");
}

#[tokio::test]
async fn request_without_order_follows_a_rejected_one() {
    let (fixture, fake) = (RosterFixture::new().await, small_school().await);
    fake.habits(|habits| (habits.rejects_sort, habits.has_total) = (true, true));
    is_complete(&fixture.roster(&one_roster(&fake)).await);
    assert_eq!(fake.count("orgs"), 2);
    assert_eq!(fake.count("academicSessions"), 1);
}

#[tokio::test]
async fn teachers_and_students_replace_a_missing_list_of_users() {
    let (fixture, fake) = (RosterFixture::new().await, small_school().await);
    fake.data(|data| {
        let users = data.lists.remove("users").unwrap();
        let (teachers, students): (Vec<_>, Vec<_>) = users.into_iter().partition(|user| user["role"] == "teacher");
        let without_role = |mut users: Vec<Value>| {
            for user in &mut users {
                user.as_object_mut().unwrap().remove("role");
            }
            users
        };
        data.lists.insert("teachers", without_role(teachers));
        data.lists.insert("students", without_role(students));
        data.lists.remove("academicSessions");
    });
    is_complete(&fixture.roster(&one_roster(&fake)).await);
}

#[tokio::test]
async fn token_is_renewed_when_it_expires_during_a_run() {
    let (fixture, fake) = (RosterFixture::new().await, small_school().await);
    fake.habits(|habits| habits.token_uses = Some(3));
    is_complete(&fixture.roster(&one_roster(&fake)).await);
    assert!(fake.tokens() > 3);
    // A token with no lifetime left is not used for a second request.
    let fake = small_school().await;
    fake.habits(|habits| habits.token_seconds = Some(0));
    is_complete(&fixture.roster(&one_roster(&fake)).await);
    assert!(fake.tokens() > 5);
    let fake = small_school().await;
    fake.habits(|habits| habits.token_uses = Some(0));
    assert_eq!(fixture.code(&one_roster(&fake)).await, "forbidden");
    assert_eq!(fake.tokens(), 2);
}

#[tokio::test]
async fn secret_is_sent_in_the_form_to_servers_that_reject_the_header() {
    let (fixture, fake) = (RosterFixture::new().await, small_school().await);
    fake.habits(|habits| habits.rejects_basic = true);
    is_complete(&fixture.roster(&one_roster(&fake)).await);
    let wrong = RosterServer {
        client_secret: Secret::new("wrong"),
        ..one_roster(&fake)
    };
    assert_eq!(fixture.code(&wrong).await, "token_refused");
    fake.fault(|request, _| (request.list == "token").then(|| RosterReply::new(200, r#"{"token":1}"#)));
    assert_eq!(fixture.code(&one_roster(&fake)).await, "no_token");
}

#[tokio::test]
async fn failed_requests_are_repeated_a_few_times() {
    let (fixture, fake) = (RosterFixture::new().await, small_school().await);
    fake.fault(|request, _| (request.list == "users" && request.earlier < 3).then(|| RosterReply::new(503, "busy")));
    is_complete(&fixture.roster(&one_roster(&fake)).await);
    fake.fault(|request, _| (request.list == "users").then(|| RosterReply::new(500, "broken")));
    let before = fake.count("users");
    assert_eq!(fixture.code(&one_roster(&fake)).await, "error_response");
    assert_eq!(fake.count("users") - before, 5);
}

#[tokio::test]
async fn pause_that_a_server_asks_for_is_kept_and_bounded() {
    let (fixture, fake) = (RosterFixture::new().await, small_school().await);
    fake.fault(|request, _| {
        let is_limited = request.list == "classes" && request.earlier == 0;
        is_limited.then(|| RosterReply::new(429, "").with("retry-after", "1"))
    });
    let began = Instant::now();
    is_complete(&fixture.roster(&one_roster(&fake)).await);
    assert!(began.elapsed() >= Duration::from_secs(1));
    fake.fault(|request, _| (request.list == "classes").then(|| RosterReply::new(429, "").with("retry-after", "3600")));
    let before = fake.count("classes");
    assert_eq!(fixture.code(&one_roster(&fake)).await, "too_many_requests");
    assert_eq!(fake.count("classes") - before, 1);
}

#[tokio::test]
async fn response_that_ends_early_is_read_again_and_then_an_error() {
    let (fixture, fake) = (RosterFixture::new().await, small_school().await);
    let cut = |data: &RosterData, cut_at: usize| {
        let mut reply = RosterReply::json(&json!({"users": data.lists["users"]}));
        reply.cut_at = Some(cut_at);
        reply
    };
    fake.fault(move |request, data| (request.list == "users" && request.earlier == 0).then(|| cut(data, 900)));
    is_complete(&fixture.roster(&one_roster(&fake)).await);
    fake.fault(move |request, data| (request.list == "users").then(|| cut(data, 900)));
    assert_eq!(fixture.code(&one_roster(&fake)).await, "interrupted");
    // The connection ends properly, the JSON does not.
    fake.fault(|request, _| (request.list == "users").then(|| RosterReply::new(200, r#"{"users":[{"sourcedId":"1"}"#)));
    assert_eq!(fixture.code(&one_roster(&fake)).await, "interrupted");
    assert_eq!(fixture.left_files(), 0);
}

#[tokio::test]
async fn list_that_shrinks_while_it_is_read_is_read_again() {
    for has_total in [true, false] {
        let (fixture, fake) = (RosterFixture::new().await, small_school().await);
        fake.habits(|habits| habits.has_total = has_total);
        // A guardian at the beginning is removed when the second page is requested.
        fake.data(|data| {
            let gone = json!({"sourcedId": "A", "role": "guardian", "givenName": "G", "familyName": "R"});
            data.lists.get_mut("users").unwrap().insert(0, gone);
        });
        fake.fault(|request, data| {
            if request.list == "users" && request.offset() > 0 && data.lists["users"].len() == 64 {
                data.lists.get_mut("users").unwrap().remove(0);
            }
            None
        });
        is_complete(&fixture.roster(&one_roster(&fake)).await);
        assert_eq!(fake.count("orgs") % 2, 0, "the roster was not read twice");
        // A list that always shrinks.
        fake.fault(|request, data| {
            if request.list == "users" && request.offset() > 0 {
                data.lists.get_mut("users").unwrap().remove(0);
            }
            None
        });
        assert_eq!(fixture.code(&one_roster(&fake)).await, "inconsistent");
    }
}

#[tokio::test]
async fn announced_number_that_is_not_delivered_is_an_error() {
    let (fixture, fake) = (RosterFixture::new().await, small_school().await);
    fake.fault(|request, data| {
        let rows = &data.lists["users"];
        let shown = if request.offset() == 0 { &rows[..25] } else { &[] };
        let reply = RosterReply::json(&json!({"users": shown}));
        (request.list == "users").then(|| reply.with("x-total-count", rows.len().to_string()))
    });
    assert_eq!(fixture.code(&one_roster(&fake)).await, "truncated");
}

#[tokio::test]
async fn repeated_rows_are_written_once() {
    let (fixture, fake) = (RosterFixture::new().await, small_school().await);
    fake.habits(|habits| habits.has_total = true);
    fake.data(|data| {
        for list in ["users", "enrollments"] {
            let rows = data.lists.get_mut(list).unwrap();
            let again = rows[3].clone();
            rows.insert(4, again);
        }
    });
    is_complete(&fixture.roster(&one_roster(&fake)).await);
}

#[tokio::test]
async fn endless_and_huge_lists_are_rejected() {
    let (fixture, fake) = (RosterFixture::new().await, small_school().await);
    fake.fault(|request, _| {
        let row = |n: usize| json!({"sourcedId": format!("E{n}"), "role": "student"});
        let rows: Vec<Value> = (0..5000).map(|n| row(request.offset() + n)).collect();
        (request.list == "users").then(|| RosterReply::json(&json!({"users": rows})))
    });
    assert_eq!(fixture.code(&one_roster(&fake)).await, "too_many");
    fake.fault(|request, _| {
        let huge = json!({"users": [{"sourcedId": "1", "givenName": "x".repeat(2 << 20)}]});
        (request.list == "users").then(|| RosterReply::json(&huge))
    });
    assert_eq!(fixture.code(&one_roster(&fake)).await, "too_large");
}

/// Makes the list of users pause after each byte.
fn drip(fake: &FakeRosterServer, pause: Duration) {
    fake.fault(move |request, data| {
        let mut reply = RosterReply::json(&json!({"users": data.lists["users"]}));
        reply.drip = Some(pause);
        (request.list == "users").then_some(reply)
    });
}

#[tokio::test]
async fn slow_response_ends_with_the_deadline() {
    let timeouts = RosterTimeouts {
        total: Duration::from_millis(1500),
        ..RosterTimeouts::default()
    };
    let (fixture, fake) = (RosterFixture::with(timeouts).await, small_school().await);
    // Without the deadline the list takes longer than the test may run, but no pause is too long.
    drip(&fake, timeouts.idle / 2);
    assert_eq!(fixture.code(&one_roster(&fake)).await, "timed_out");
    assert_eq!(fixture.left_files(), 0);
}

#[tokio::test]
async fn pause_within_a_response_is_limited() {
    let timeouts = RosterTimeouts {
        idle: Duration::from_millis(300),
        backoff: Duration::from_millis(5),
        ..RosterTimeouts::default()
    };
    let (fixture, fake) = (RosterFixture::with(timeouts).await, small_school().await);
    drip(&fake, Duration::from_hours(1));
    assert_eq!(fixture.code(&one_roster(&fake)).await, "interrupted");
    assert_eq!(fixture.left_files(), 0);
}

#[tokio::test]
async fn redirects_and_links_to_other_servers_are_not_followed() {
    let (fixture, fake, other) = (RosterFixture::new().await, small_school().await, small_school().await);
    let target = format!("{}/users", other.url);
    let redirect = target.clone();
    fake.fault(move |request, _| {
        (request.list == "users").then(|| RosterReply::new(302, "").with("location", redirect.clone()))
    });
    assert_eq!(fixture.code(&one_roster(&fake)).await, "redirected");
    fake.fault(move |request, data| {
        let reply = RosterReply::json(&json!({"users": data.lists["users"][..25]}));
        (request.list == "users").then(|| reply.with("link", format!("<{target}?offset=25>; rel=\"next\"")))
    });
    assert_eq!(fixture.code(&one_roster(&fake)).await, "not_a_roster");
    let token = RosterServer {
        token_url: format!("{}/moved", fake.url),
        ..one_roster(&fake)
    };
    fake.fault(|request, _| {
        (request.list == "moved").then(|| RosterReply::new(307, "").with("location", "https://evil.example/token"))
    });
    assert_eq!(fixture.code(&token).await, "redirected");
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn private_addresses_are_refused_unless_the_operator_allows_them() {
    let (fixture, fake) = (RosterFixture::new().await, small_school().await);
    let strict = RosterClient::new(&[], RosterTimeouts::default()).unwrap();
    let refused = strict.fetch(&one_roster(&fake), None, &fixture.files).await;
    assert_eq!(refused.unwrap_err().code(), "address_not_allowed");
    let token = RosterServer {
        token_url: "https://10.0.0.1/token".to_owned(),
        ..one_roster(&fake)
    };
    assert_eq!(fixture.code(&token).await, "address_not_allowed");
    for url in [
        "https://user:pass@r.example",
        "https://r.example/?key=1",
        "http://r.example",
        "r.example",
    ] {
        assert!(!strict.allows(url), "{url}");
    }
    assert!(strict.allows("https://r.example/ims/oneroster/v1p1"));
    assert!(fake.requests().is_empty());
}

#[tokio::test]
async fn responses_that_are_no_roster_are_named() {
    let (fixture, fake) = (RosterFixture::new().await, small_school().await);
    for (body, code) in [
        ("<html><p>Sign in</p></html>", "not_a_roster"),
        (r#"{"imsx_codeMajor":"failure"}"#, "not_a_roster"),
        (r#"{"users":[{"sourcedId":}]}"#, "not_a_roster"),
        (r#"{"users":[]}"#, "empty"),
    ] {
        fake.fault(move |request, _| (request.list == "users").then(|| RosterReply::new(200, body)));
        assert_eq!(fixture.code(&one_roster(&fake)).await, code, "{body}");
    }
    fake.fault(|request, _| (request.list == "classes").then(|| RosterReply::new(403, "{}")));
    assert_eq!(fixture.code(&one_roster(&fake)).await, "forbidden");
    fake.fault(|request, _| (request.list == "classes").then(|| RosterReply::new(404, "{}")));
    assert_eq!(fixture.code(&one_roster(&fake)).await, "not_found");
}

#[tokio::test]
async fn one_school_of_several_is_read_by_its_id() {
    let (fixture, fake) = (RosterFixture::new().await, small_school().await);
    fake.data(|data| {
        let mut add = |list: &str, row: Value| data.lists.get_mut(list).unwrap().push(row);
        add("orgs", json!({"sourcedId": "O2", "type": "school"}));
        add(
            "users",
            json!({"sourcedId": "V1", "role": "student", "orgs": [{"sourcedId": "O2"}]}),
        );
        add(
            "classes",
            json!({"sourcedId": "D1", "title": "D", "school": {"sourcedId": "O2"}}),
        );
        add(
            "enrollments",
            json!({"sourcedId": "F1", "role": "student", "class": {"sourcedId": "D1"}, "user": {"sourcedId": "V1"}}),
        );
    });
    assert_eq!(fixture.code(&one_roster(&fake)).await, "several_schools");
    let school = |id: &str| RosterServer {
        school_id: Some(id.to_owned()),
        ..one_roster(&fake)
    };
    is_complete(&fixture.roster(&school("O1")).await);
    let other = fixture.roster(&school("O2")).await;
    assert_eq!((other.people, other.classes, other.enrollments), (1, 1, 1));
    assert_eq!(fixture.code(&school("O3")).await, "no_school");
}

#[tokio::test]
async fn unusable_records_are_listed_and_deleted_ones_are_marked() {
    let (fixture, fake) = (RosterFixture::new().await, small_school().await);
    fake.data(|data| {
        let mut add = |list: &str, row: Value| data.lists.get_mut(list).unwrap().push(row);
        add(
            "users",
            json!({"givenName": "No", "familyName": "Id", "role": "student"}),
        );
        add("users", json!("text"));
        add(
            "users",
            json!({"sourcedId": "Z1", "role": "student", "status": "tobedeleted"}),
        );
        let enrollment = |id: &str, class: &str, user: &str, status: &str| {
            json!({"sourcedId": id, "role": "student", "status": status,
                "class": {"sourcedId": class}, "user": {"sourcedId": user}})
        };
        add("enrollments", enrollment("X1", "C99999", "U00000", "active"));
        add("enrollments", enrollment("X2", "C00000", "U99999", "active"));
        // The first one is a member again, the second one is not.
        add("enrollments", enrollment("X3", "C00000", "U00000", "tobedeleted"));
        add("enrollments", enrollment("X4", "C00001", "U00000", "tobedeleted"));
    });
    let roster = fixture.roster(&one_roster(&fake)).await;
    assert_eq!((roster.people, roster.enrollments), (63, 123));
    let skipped = |resource, id: &str, reason| SkippedRecord {
        resource,
        id: id.to_owned(),
        reason,
    };
    assert_eq!(
        roster.skipped,
        [skipped("users", "", "no_id"), skipped("users", "", "not_an_object"),]
    );
    let tables = tables(&roster.archive);
    // The import reports these.
    for pair in ["\"C99999\",\"U00000\"", "\"C00000\",\"U99999\""] {
        assert!(tables["enrollments.csv"].contains(pair), "{pair}");
    }
    assert!(tables["users.csv"].contains("\"Z1\",\"tobedeleted\""));
    let ended: Vec<&str> = tables["enrollments.csv"]
        .lines()
        .filter(|line| line.contains("tobedeleted"))
        .collect();
    assert_eq!(ended, ["\"C00001\",\"U00000\",\"student\",\"\",\"tobedeleted\""]);
}

#[tokio::test]
async fn schulconnex_roster_is_unchanged_while_its_tag_is() {
    let fixture = RosterFixture::new().await;
    let fake = FakeRosterServer::start(schulconnex_school(60)).await;
    fake.habits(|habits| habits.etag = Some("\"v1\"".to_owned()));
    let server = schulconnex(&fake);
    let roster = fixture.roster(&server).await;
    is_complete(&roster);
    assert_eq!(roster.etag.as_deref(), Some("\"v1\""));
    let path = fake.requests()[1].head.clone();
    assert!(
        path.starts_with("GET /v1/personen-info?vollstaendig=personen,personenkontexte,organisationen,gruppen "),
        "{path}"
    );
    let again = fixture.client.fetch(&server, Some("\"v1\""), &fixture.files).await;
    assert!(matches!(again, Ok(RosterAnswer::Unchanged)));
    let other = fixture.client.fetch(&server, Some("\"v0\""), &fixture.files).await;
    assert!(matches!(other, Ok(RosterAnswer::Changed(_))));
    // 304 without a tag in the request.
    fake.fault(|request, _| (request.list == "personen-info").then(|| RosterReply::new(304, "")));
    assert_eq!(fixture.code(&server).await, "error_response");
}

#[tokio::test]
async fn schulconnex_faults_are_errors() {
    let fixture = RosterFixture::new().await;
    let fake = FakeRosterServer::start(schulconnex_school(60)).await;
    let server = schulconnex(&fake);
    let reply = |body: Value| {
        move |request: &test_support::fake_roster_server::RosterRequest, _: &mut RosterData| {
            (request.list == "personen-info").then(|| RosterReply::json(&body))
        }
    };
    fake.fault(reply(json!([])));
    assert_eq!(fixture.code(&server).await, "empty");
    fake.fault(reply(json!({"error": "x"})));
    assert_eq!(fixture.code(&server).await, "not_a_roster");
    // What the operator of a server releases by default: ids only.
    fake.fault(reply(json!([{"pid": "1", "personenkontexte": [{"id": "2"}]}])));
    assert_eq!(fixture.code(&server).await, "not_a_roster");
    let mut elsewhere = person("1", "Lern", ("Ben", "Lake"), Vec::new());
    elsewhere["personenkontexte"][0]["organisation"]["id"] = json!("O2");
    let here = person("2", "Lern", ("Eve", "Lake"), Vec::new());
    fake.fault(reply(json!([elsewhere, here])));
    assert_eq!(fixture.code(&server).await, "several_schools");
    let school = |id: &str| RosterServer {
        school_id: Some(id.to_owned()),
        ..schulconnex(&fake)
    };
    assert_eq!(fixture.roster(&school("O2")).await.people, 1);
    assert_eq!(fixture.code(&school("O3")).await, "no_school");
    fake.fault(|request, data| {
        let mut reply = RosterReply::json(&json!(data.persons));
        reply.cut_at = Some(5000);
        (request.list == "personen-info").then_some(reply)
    });
    assert_eq!(fixture.code(&server).await, "interrupted");
    assert_eq!(fake.tokens(), 9, "one token per attempt");
    assert_eq!(fixture.left_files(), 0);
}

#[tokio::test]
async fn schulconnex_roles_groups_and_deletions_are_mapped() {
    let fixture = RosterFixture::new().await;
    let group = |id: &str, kind: &str, membership: Value| json!({"gruppe": {"id": id, "bezeichnung": id, "typ": kind}, "gruppenzugehoerigkeit": membership});
    let mut ben = person(
        "ben",
        "Lern",
        ("Benjamin", "Lake"),
        vec![
            group("7b", "Klasse", json!({"rollen": ["Lern"]})),
            group("choir", "Sonstig", json!({})),
            group("old", "Kurs", json!({"rollen": ["Lern"], "bis": "2020-07-31"})),
            group("later", "Kurs", json!({"rollen": ["Lern"], "von": "2999-01-01"})),
        ],
    );
    ben["person"]["name"]["rufname"] = json!("Ben");
    ben["personenkontexte"][0]["erreichbarkeiten"] = json!([{"typ": "E-Mail", "kennung": "ben@school.example"}]);
    let mut head = person("head", "Leit", ("Hedda", "Head"), Vec::new());
    let lessons = person(
        "head",
        "Lehr",
        ("Hedda", "Head"),
        vec![group("7b", "Klasse", json!({"rollen": ["KlLeit"]}))],
    );
    let context = lessons["personenkontexte"][0].clone();
    head["personenkontexte"].as_array_mut().unwrap().push(context);
    let mut gone = person("gone", "Lern", ("Gil", "Gone"), Vec::new());
    gone["personenkontexte"][0]["loeschung"] = json!({"zeitpunkt": "2020-01-01T12:00Z"});
    let mut leaving = person("leaving", "Lern", ("Lea", "Late"), Vec::new());
    leaving["personenkontexte"][0]["loeschung"] = json!({"zeitpunkt": "2999-01-01T12:00Z"});
    let parent = person("parent", "SorgBer", ("Pia", "Lake"), Vec::new());
    let fake = FakeRosterServer::start(RosterData {
        persons: vec![ben, head, gone, leaving, parent],
        ..RosterData::default()
    })
    .await;
    let roster = fixture.roster(&schulconnex(&fake)).await;
    assert_eq!((roster.people, roster.classes, roster.enrollments), (3, 3, 2));
    let tables = tables(&roster.archive);
    assert_eq!(
        tables["users.csv"].lines().skip(1).collect::<Vec<_>>(),
        [
            "\"ben\",\"active\",\"true\",\"student\",\"\",\"Ben\",\"Lake\",\"ben@school.example\"",
            "\"head\",\"active\",\"true\",\"teacher\",\"\",\"Hedda\",\"Head\",\"\"",
            "\"gone\",\"tobedeleted\",\"true\",\"student\",\"\",\"Gil\",\"Gone\",\"\"",
            "\"leaving\",\"active\",\"true\",\"student\",\"\",\"Lea\",\"Late\",\"\"",
            "\"parent\",\"active\",\"true\",\"other\",\"\",\"Pia\",\"Lake\",\"\"",
        ]
    );
    assert_eq!(
        tables["enrollments.csv"].lines().skip(1).collect::<Vec<_>>(),
        [
            "\"7b\",\"ben\",\"student\",\"false\",\"active\"",
            "\"7b\",\"head\",\"teacher\",\"true\",\"active\""
        ]
    );
}

/// Imports the archive of a server and compares the school with it.
async fn check_import(app: &TestApp, server: &RosterServer) {
    let fixture = RosterFixture::new().await;
    let roster = fixture.roster(server).await;
    let adam = app.as_(&app.world.adam);
    let report = import(&adam, "", "roster.zip", repacked(&roster.archive))
        .await
        .expect(200);
    assert_eq!(report["failed"], json!(0), "{report}");
    let classes = adam.get("/classes?search=Course").await.expect(200);
    assert_eq!(classes.as_array().unwrap().len(), 3);
    let first = adam.get("/classes?search=Course 0").await.expect(200);
    assert_eq!(
        (
            &first[0]["teacher"]["name"],
            &first[0]["academicYear"],
            &first[0]["externalId"],
            &first[0]["counts"]["students"]
        ),
        (
            &json!("Tara0 Roster"),
            &json!("2026/2027"),
            &json!("C00000"),
            &json!(25)
        )
    );
    let homeroom = adam.get("/homerooms?search=H2").await.expect(200);
    assert_eq!(
        (&homeroom[0]["studentCount"], &homeroom[0]["academicYear"]),
        (&json!(10), &json!("2026/2027"))
    );
    let again = fixture.roster(server).await;
    let report = import(&adam, "", "roster.zip", repacked(&again.archive))
        .await
        .expect(200);
    assert_eq!((&report["created"], &report["updated"]), (&json!(0), &json!(0)));
}

both!(archive_of_one_roster_server_is_imported, |app| {
    let fake = small_school().await;
    check_import(app, &one_roster(&fake)).await;
});

both!(archive_of_one_roster_1_2_server_is_imported, |app| {
    let mut data = one_roster_school(60);
    for user in data.lists.get_mut("users").unwrap() {
        let role = user.as_object_mut().unwrap().remove("role").unwrap();
        user["roles"] = json!([{"roleType": "primary", "role": role, "org": {"sourcedId": "O1"}}]);
        user["enabledUser"] = json!(true);
    }
    let fake = FakeRosterServer::start(data).await;
    let server = RosterServer {
        protocol: RosterProtocol::OneRoster12,
        url: fake.url.replace("v1p1", "rostering/v1p2/"),
        ..one_roster(&fake)
    };
    check_import(app, &server).await;
    let paths: Vec<String> = fake.requests().into_iter().map(|request| request.head).collect();
    assert!(
        paths[1].starts_with("GET /ims/oneroster/rostering/v1p2/orgs?"),
        "{}",
        paths[1]
    );
});

both!(archive_of_schulconnex_server_is_imported, |app| {
    let fake = FakeRosterServer::start(schulconnex_school(60)).await;
    check_import(app, &schulconnex(&fake)).await;
});
