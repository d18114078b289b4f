//! Tests invalid ids in every position where the API accepts an id: the response is a client error (unknown or
//! invalid), never a server error, and no row changes.

use api::endpoint::Row;
use api::router;
use reqwest::Method;
use serde_json::Value;

use test_support::raw_http::RawHttp;
use test_support::samples::{Ids, Sample, fill_path, path_with_unknown_ids, sample};
use test_support::tables::fingerprints;
use test_support::{Client, LessonFixture};

/// Values for a path or a query, percent-encoded where necessary.
const HOSTILE: [&str; 12] = [
    "%00",
    "0190a1b2-0000-7000-8000-00000000dead%00",
    "%ff%fe",
    "%c3%28",
    "%F0%9F%92%A9",
    "..",
    "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "%27%20OR%20%271%27=%271",
    "%22%3b%20DROP%20TABLE%20users;--",
    "%25%5f%5c",
    "-1",
    "%0d%0aset-cookie:%20a=b",
];
/// Values for a JSON string.
const HOSTILE_TEXTS: [&str; 4] = ["\u{0}", "a\u{0}b", "' OR '1'='1", "\u{202e}\u{1f4a9}"];

fn long() -> String {
    "x".repeat(4000)
}

fn is_tested(row: &Row) -> bool {
    // Requests such as sign-out would end the session of the test. The tests of `/auth` cover their bodies.
    row.method == "GET" || !row.path.starts_with("/auth/")
}

/// Sends the request exactly as written, because an ordinary client would normalize the path.
async fn status(raw_http: &mut RawHttp, cookie: &str, method: &str, path: &str) -> u16 {
    let body = if method == "GET" { "" } else { "{}" };
    let length = body.len();
    raw_http
        .send(format!(
            "{method} /api{path} HTTP/1.1\r\nhost: north\r\ncookie: {cookie}\r\norigin: http://school.test\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        ))
        .await;
    raw_http
        .answer()
        .await
        .unwrap_or_else(|| panic!("{method} {path}: no answer"))
        .0
}

both!(
    #[long_on_postgres]
    invalid_id_in_path_is_unknown,
    |app| {
        let world = &app.world;
        LessonFixture::create(app).await;
        let before = fingerprints(&app.database).await;
        let (_, rows) = router::description();
        let mut raw_http = RawHttp::open(app).await;
        let long = long();
        for person in [&world.ada, &world.adam, &world.root] {
            for row in rows.iter().filter(|row| is_tested(row) && row.path.contains('{')) {
                for id in HOSTILE.into_iter().chain([long.as_str()]) {
                    let status = status(
                        &mut raw_http,
                        &person.cookie,
                        row.method,
                        &fill_path(&row.path, |_| id.to_owned()),
                    )
                    .await;
                    let fits = (400..500).contains(&status) || row.path.starts_with("/auth/");
                    assert!(
                        fits && status < 500,
                        "{} {} with {id:?}: {status}",
                        row.method,
                        row.path
                    );
                }
            }
        }
        assert_eq!(fingerprints(&app.database).await, before);
    }
);

both!(
    #[long_on_postgres]
    invalid_id_in_filter_finds_nothing,
    |app| {
        let world = &app.world;
        LessonFixture::create(app).await;
        let before = fingerprints(&app.database).await;
        let (document, rows) = router::description();
        let document = serde_json::to_value(document).unwrap();
        let mut raw_http = RawHttp::open(app).await;
        let mut asked = 0;
        for row in rows.iter().filter(|row| row.method == "GET") {
            let operation = &document["paths"][&row.path]["get"];
            let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
            let queries = parameters.iter().filter(|parameter| parameter["in"] == "query");
            let mut names: Vec<_> = queries
                .map(|query| query["name"].as_str().unwrap().to_owned())
                .collect();
            names.push("organizationId".to_owned());
            let path = fill_path(&row.path, |_| world.seven_b.id.clone());
            for name in names {
                for value in HOSTILE {
                    for person in [&world.adam, &world.root] {
                        let path = format!("{path}?{name}={value}");
                        let status = status(&mut raw_http, &person.cookie, "GET", &path).await;
                        assert!(status < 500, "GET {path} as {}: {status}", person.name);
                        asked += 1;
                    }
                }
            }
        }
        assert!(asked > 500, "{asked}");
        assert_eq!(fingerprints(&app.database).await, before);
    }
);

/// Returns copies of a body in which one string at a time is replaced by `hostile`.
fn with_one_replaced(body: &Value, hostile: &str) -> Vec<Value> {
    match body {
        Value::String(_) => vec![Value::String(hostile.to_owned())],
        Value::Array(values) => {
            let each = values.iter().enumerate().flat_map(|(index, value)| {
                with_one_replaced(value, hostile)
                    .into_iter()
                    .map(move |with_one_replaced| {
                        let mut values = values.clone();
                        values[index] = with_one_replaced;
                        Value::Array(values)
                    })
            });
            each.collect()
        }
        Value::Object(fields) => {
            let each = fields.iter().flat_map(|(key, value)| {
                with_one_replaced(value, hostile)
                    .into_iter()
                    .map(move |with_one_replaced| {
                        let mut fields = fields.clone();
                        fields[key] = with_one_replaced;
                        Value::Object(fields)
                    })
            });
            each.collect()
        }
        _ => Vec::new(),
    }
}

both!(
    #[long_on_postgres]
    invalid_ids_and_texts_in_body_are_rejected,
    |app| {
        let world = &app.world;
        let lesson = LessonFixture::create(app).await;
        let ids = Ids::of_lesson(app, &lesson);
        let clients: [Client; 3] = [&world.ada, &world.ben, &world.adam].map(|person| app.as_(person));
        let (_, rows) = router::description();
        for row in rows
            .iter()
            .filter(|row| !row.path.starts_with("/auth/") && row.method != "GET")
        {
            if matches!(row.access, domain::access::Access::DocumentServer) {
                continue;
            }
            let Sample::Json(body) = sample(row.method, &row.path, &ids) else {
                continue;
            };
            let method: Method = row.method.parse().unwrap();
            let path = path_with_unknown_ids(&row.path);
            let real = lesson.path(app, &row.path);
            for hostile in HOSTILE_TEXTS.map(str::to_owned).into_iter().chain([long()]) {
                for body in with_one_replaced(&body, &hostile) {
                    for client in &clients {
                        for path in [&path, &real] {
                            let status = client.send(method.clone(), path, Some(body.clone())).await.status;
                            assert!(status < 500, "{method} {path} {body}: {status}");
                        }
                    }
                }
            }
        }
    }
);
