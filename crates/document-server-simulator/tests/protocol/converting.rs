//! ConversionJobs, including the defects of the real server.
#![expect(clippy::unwrap_used, reason = "tests may panic")]

use document_server_simulator::{SimulatorSettings, blank_document, pdf_text, write_document};
use serde_json::{Value, json};

use crate::support::{SECRET, World, fetch, sign};

fn parse_request(world: &World, key: &str) -> Value {
    json!({
        "async": false, "filetype": "docx", "outputtype": "pdf", "key": key, "title": "Größe.docx",
        "url": format!("{}/file/{key}", world.base),
    })
}

fn store(world: &World, file_type: &str, text: &str) {
    world.store(write_document(&blank_document(file_type), &[text.to_owned()]).unwrap());
}

async fn pdf_of(answer: &Value) -> String {
    let file = fetch(&answer["fileUrl"]).await.bytes().await.unwrap();
    assert!(file.starts_with(b"%PDF-"));
    pdf_text(&file).unwrap()
}

#[tokio::test]
async fn documents_of_every_kind_become_pdfs_with_their_text() {
    let world = World::new().await;
    for file_type in ["docx", "xlsx", "pptx"] {
        store(&world, file_type, "Grüße aus der 7b");
        let answer = world
            .ask("/converter?shardkey=s1", parse_request(&world, file_type))
            .await;
        assert_eq!((&answer["endConvert"], &answer["percent"]), (&json!(true), &json!(100)));
        assert_eq!(answer["fileType"], "pdf");
        assert!(answer["fileUrl"].as_str().unwrap().ends_with("&shardkey=s1"));
        assert_eq!(pdf_of(&answer).await, "Grüße aus der 7b");
    }
}

#[tokio::test]
async fn an_asynchronous_conversion_is_polled_until_its_end() {
    let world = World::new().await;
    world.simulator.faults().update(|faults| faults.conversion_polls = 2);
    let mut parameters = parse_request(&world, "k");
    parameters["async"] = json!(true);
    let mut answers = Vec::new();
    loop {
        let answer = world.ask("/converter", parameters.clone()).await;
        answers.push(answer.clone());
        if answer["endConvert"] == true {
            break;
        }
        assert_eq!(answer["fileUrl"], "");
    }
    assert!(answers.len() >= 3);
    assert_eq!(pdf_of(answers.last().unwrap()).await, "Title");
}

#[tokio::test]
async fn the_same_key_gives_the_old_result_and_no_key_is_shared_by_all() {
    let world = World::new().await;
    store(&world, "docx", "first");
    let mut keyless = parse_request(&world, "x");
    keyless.as_object_mut().unwrap().remove("key");
    world.ask("/converter", parse_request(&world, "k")).await;
    world.ask("/converter", keyless.clone()).await;
    store(&world, "docx", "second");
    assert_eq!(
        pdf_of(&world.ask("/converter", parse_request(&world, "k")).await).await,
        "first"
    );
    assert_eq!(pdf_of(&world.ask("/converter", keyless).await).await, "first");
    assert_eq!(
        pdf_of(&world.ask("/converter", parse_request(&world, "k2")).await).await,
        "second"
    );
}

#[tokio::test]
async fn errors_are_numbers_and_a_failed_download_is_not_remembered() {
    let world = World::new().await;
    let error = async |parameters: Value| world.ask("/converter", parameters).await["error"].clone();
    let with = |name: &str, value: Value| {
        let mut parameters = parse_request(&world, "k");
        parameters[name] = value;
        parameters
    };
    assert_eq!(error(with("key", json!("k".repeat(300)))).await, -1);
    assert_eq!(error(with("key", json!("a/b"))).await, -7);
    assert_eq!(error(with("outputtype", json!("exe"))).await, -7);
    assert_eq!(error(with("url", json!("file:///etc/passwd"))).await, -4);
    world.store(b"missing".to_vec());
    assert_eq!(error(parse_request(&world, "k")).await, -4);
    store(&world, "docx", "there again");
    assert_eq!(
        pdf_of(&world.ask("/converter", parse_request(&world, "k")).await).await,
        "there again"
    );
    world.store(vec![0xD0, 0xCF, 0x11, 0xE0, 0]);
    assert_eq!(error(parse_request(&world, "k3")).await, -5);
    world
        .simulator
        .faults()
        .update(|faults| faults.conversion_error = Some(-2));
    assert_eq!(error(parse_request(&world, "k4")).await, -2);
    let url = format!("{}/converter", world.simulator.url());
    let bare = reqwest::Client::new()
        .post(url)
        .json(&parse_request(&world, "k"))
        .send()
        .await
        .unwrap();
    assert_eq!(bare.status(), 200);
    assert_eq!(bare.json::<Value>().await.unwrap()["error"], -8);
}

#[tokio::test]
async fn the_old_address_answers_in_xml() {
    let world = World::new().await;
    let body = json!({"token": sign(parse_request(&world, "k"))});
    let url = format!("{}/ConvertService.ashx", world.simulator.url());
    let answer = reqwest::Client::new().post(url).json(&body).send().await.unwrap();
    let text = answer.text().await.unwrap();
    assert!(
        text.contains("<EndConvert>True</EndConvert>") && text.contains("&amp;expires="),
        "{text}"
    );
}

#[tokio::test]
async fn a_hanging_conversion_ends_in_a_timeout_only_after_long() {
    let world = World::with(SimulatorSettings {
        time_scale: 0.0001,
        ..SimulatorSettings::new(SECRET)
    })
    .await;
    world.simulator.faults().update(|faults| faults.conversion_hangs = true);
    assert_eq!(world.ask("/converter", parse_request(&world, "k")).await["error"], -2);
    let mut parameters = parse_request(&world, "k");
    parameters["async"] = json!(true);
    assert_eq!(world.ask("/converter", parameters).await["endConvert"], false);
}
