//! Waits for background jobs through the API.

use serde_json::Value;

use super::{Client, until};

/// Waits until a job has succeeded or failed, and returns it.
pub async fn wait_for_end(client: &Client, location: &str) -> Value {
    let path = location.strip_prefix("/api").unwrap();
    let mut job = Value::Null;
    until("the job ends", async || {
        job = client.get(path).await.expect(200);
        job["status"] == "DONE" || job["status"] == "FAILED"
    })
    .await;
    job
}
