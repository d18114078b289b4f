//! A Socket.IO client with HTTP long polling, for simulated students. Received events are ignored; it only keeps the
//! user online and reports typing.

use anyhow::{Context as _, bail};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use super::api_client::ApiClient;

/// The separator of packets in a poll response.
const PACKET_SEPARATOR: char = '\u{1e}';

/// An open connection; it times out when it is not polled.
pub struct SocketClient {
    client: ApiClient,
    session: String,
}

impl SocketClient {
    /// Connects.
    pub async fn open(client: ApiClient) -> anyhow::Result<Self> {
        let response = text(request(&client, Method::GET, None)).await?;
        let opened: Value = serde_json::from_str(response.trim_start_matches('0'))?;
        let session = opened["sid"].as_str().context("sid")?.to_owned();
        let socket = Self { client, session };
        socket.send("40".to_owned()).await?;
        Ok(socket)
    }

    /// Polls until the service closes the connection.
    pub async fn poll(&self) -> anyhow::Result<()> {
        loop {
            let packets = text(request(&self.client, Method::GET, Some(&self.session))).await?;
            for packet in packets.split(PACKET_SEPARATOR) {
                match packet.as_bytes() {
                    [b'2', ..] => self.send("3".to_owned()).await?,
                    [b'1', ..] | [b'4', b'1' | b'4', ..] => bail!("the service let go"),
                    _ => {}
                }
            }
        }
    }

    /// Reports that the user is typing in a document.
    pub async fn send_activity(&self, document: &str) -> anyhow::Result<()> {
        self.emit("document:activity", json!({"documentId": document})).await
    }

    /// Emits an event.
    pub async fn emit(&self, event: &str, payload: Value) -> anyhow::Result<()> {
        self.send(format!("42{}", json!([event, payload]))).await
    }

    async fn send(&self, packet: String) -> anyhow::Result<()> {
        let request = request(&self.client, Method::POST, Some(&self.session));
        text(request.header("content-type", "text/plain;charset=UTF-8").body(packet)).await?;
        Ok(())
    }
}

fn request(client: &ApiClient, method: Method, session: Option<&str>) -> RequestBuilder {
    let session = session.map(|session| format!("&sid={session}")).unwrap_or_default();
    client.request(method, &format!("/socket.io/?EIO=4&transport=polling{session}"))
}

async fn text(request: RequestBuilder) -> anyhow::Result<String> {
    Ok(request.send().await?.error_for_status()?.text().await?)
}
