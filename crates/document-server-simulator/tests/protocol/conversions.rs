//! Conversions, including the defects of the real server.
#![expect(clippy::unwrap_used, reason = "tests may panic")]

use document_server_simulator::{SimulatorSettings, blank_document, pdf_text, write_document};
use serde_json::{Value, json};

use crate::support::{SECRET, TestServer, fetch, sign};

fn parse_request(server: &TestServer, key: &str) -> Value {
    json!({
        "async": false, "filetype": "docx", "outputtype": "pdf", "key": key, "title": "Größe.docx",
        "url": format!("{}/file/{key}", server.base),
    })
}

fn store(server: &TestServer, file_type: &str, text: &str) {
    server.store(write_document(&blank_document(file_type), &[text.to_owned()]).unwrap());
}

async fn pdf_of(answer: &Value) -> String {
    let file = fetch(&answer["fileUrl"]).await.bytes().await.unwrap();
    assert!(file.starts_with(b"%PDF-"));
    pdf_text(&file).unwrap()
}

#[tokio::test]
async fn conversion_of_any_kind_keeps_text() {
    let server = TestServer::new().await;
    for file_type in ["docx", "xlsx", "pptx"] {
        store(&server, file_type, "Grüße aus der 7b");
        let answer = server
            .post_signed("/converter?shardkey=s1", parse_request(&server, file_type))
            .await;
        assert_eq!((&answer["endConvert"], &answer["percent"]), (&json!(true), &json!(100)));
        assert_eq!(answer["fileType"], "pdf");
        assert!(answer["fileUrl"].as_str().unwrap().ends_with("&shardkey=s1"));
        assert_eq!(pdf_of(&answer).await, "Grüße aus der 7b");
    }
}

#[tokio::test]
async fn asynchronous_conversion_is_polled_until_done() {
    let server = TestServer::new().await;
    server.simulator.faults().update(|faults| faults.conversion_polls = 2);
    let mut parameters = parse_request(&server, "k");
    parameters["async"] = json!(true);
    let mut responses = Vec::new();
    loop {
        let answer = server.post_signed("/converter", parameters.clone()).await;
        responses.push(answer.clone());
        if answer["endConvert"] == true {
            break;
        }
        assert_eq!(answer["fileUrl"], "");
    }
    assert!(responses.len() >= 3);
    assert_eq!(pdf_of(responses.last().unwrap()).await, "Title");
}

#[tokio::test]
async fn conversion_result_is_cached_by_key_and_shared_without_key() {
    let server = TestServer::new().await;
    store(&server, "docx", "first");
    let mut keyless = parse_request(&server, "x");
    keyless.as_object_mut().unwrap().remove("key");
    server.post_signed("/converter", parse_request(&server, "k")).await;
    server.post_signed("/converter", keyless.clone()).await;
    store(&server, "docx", "second");
    assert_eq!(
        pdf_of(&server.post_signed("/converter", parse_request(&server, "k")).await).await,
        "first"
    );
    assert_eq!(pdf_of(&server.post_signed("/converter", keyless).await).await, "first");
    assert_eq!(
        pdf_of(&server.post_signed("/converter", parse_request(&server, "k2")).await).await,
        "second"
    );
}

#[tokio::test]
async fn conversion_errors_are_codes_and_failed_download_is_not_cached() {
    let server = TestServer::new().await;
    let error = async |parameters: Value| server.post_signed("/converter", parameters).await["error"].clone();
    let with = |name: &str, value: Value| {
        let mut parameters = parse_request(&server, "k");
        parameters[name] = value;
        parameters
    };
    assert_eq!(error(with("key", json!("k".repeat(300)))).await, -1);
    assert_eq!(error(with("key", json!("a/b"))).await, -7);
    assert_eq!(error(with("outputtype", json!("exe"))).await, -7);
    assert_eq!(error(with("url", json!("file:///etc/passwd"))).await, -4);
    server.store(b"missing".to_vec());
    assert_eq!(error(parse_request(&server, "k")).await, -4);
    store(&server, "docx", "there again");
    assert_eq!(
        pdf_of(&server.post_signed("/converter", parse_request(&server, "k")).await).await,
        "there again"
    );
    server.store(vec![0xD0, 0xCF, 0x11, 0xE0, 0]);
    assert_eq!(error(parse_request(&server, "k3")).await, -5);
    server
        .simulator
        .faults()
        .update(|faults| faults.conversion_error = Some(-2));
    assert_eq!(error(parse_request(&server, "k4")).await, -2);
    let url = format!("{}/converter", server.simulator.url());
    let bare = reqwest::Client::new()
        .post(url)
        .json(&parse_request(&server, "k"))
        .send()
        .await
        .unwrap();
    assert_eq!(bare.status(), 200);
    assert_eq!(bare.json::<Value>().await.unwrap()["error"], -8);
}

#[tokio::test]
async fn former_converter_url_returns_xml() {
    let server = TestServer::new().await;
    let body = json!({"token": sign(parse_request(&server, "k"))});
    let url = format!("{}/ConvertService.ashx", server.simulator.url());
    let answer = reqwest::Client::new().post(url).json(&body).send().await.unwrap();
    let text = answer.text().await.unwrap();
    assert!(
        text.contains("<EndConvert>True</EndConvert>") && text.contains("&amp;expires="),
        "{text}"
    );
}

#[tokio::test]
async fn hanging_conversion_times_out() {
    let server = TestServer::with(SimulatorSettings {
        time_scale: 0.0001,
        ..SimulatorSettings::new(SECRET)
    })
    .await;
    server
        .simulator
        .faults()
        .update(|faults| faults.conversion_hangs = true);
    assert_eq!(
        server.post_signed("/converter", parse_request(&server, "k")).await["error"],
        -2
    );
    let mut parameters = parse_request(&server, "k");
    parameters["async"] = json!(true);
    assert_eq!(server.post_signed("/converter", parameters).await["endConvert"], false);
}
