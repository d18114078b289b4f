//! A Socket.IO client with HTTP long polling, for simulated students. Received events are ignored; it only keeps the
//! user online and reports typing.

use anyhow::{Context as _, bail};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use super::caller::Caller;

/// The separator of packets in a poll response.
const BETWEEN: char = '\u{1e}';

/// An open connection; it times out when it is not polled.
pub struct Channel {
    caller: Caller,
    session: String,
}

impl Channel {
    /// Connects.
    pub async fn open(caller: Caller) -> anyhow::Result<Self> {
        let answer = text(address(&caller, Method::GET, None)).await?;
        let opened: Value = serde_json::from_str(answer.trim_start_matches('0'))?;
        let session = opened["sid"].as_str().context("sid")?.to_owned();
        let channel = Self { caller, session };
        channel.send("40".to_owned()).await?;
        Ok(channel)
    }

    /// Polls until the service closes the connection.
    pub async fn stay(&self) -> anyhow::Result<()> {
        loop {
            let packets = text(address(&self.caller, Method::GET, Some(&self.session))).await?;
            for packet in packets.split(BETWEEN) {
                match packet.as_bytes() {
                    [b'2', ..] => self.send("3".to_owned()).await?,
                    [b'1', ..] | [b'4', b'1' | b'4', ..] => bail!("the service let go"),
                    _ => {}
                }
            }
        }
    }

    /// Reports that the user is typing in a document.
    pub async fn writing(&self, document: &str) -> anyhow::Result<()> {
        let said = json!(["document:activity", {"documentId": document}]);
        self.send(format!("42{said}")).await
    }

    async fn send(&self, packet: String) -> anyhow::Result<()> {
        let request = address(&self.caller, Method::POST, Some(&self.session));
        text(request.header("content-type", "text/plain;charset=UTF-8").body(packet)).await?;
        Ok(())
    }
}

fn address(caller: &Caller, method: Method, session: Option<&str>) -> RequestBuilder {
    let session = session.map(|session| format!("&sid={session}")).unwrap_or_default();
    caller.request(method, &format!("/socket.io/?EIO=4&transport=polling{session}"))
}

async fn text(request: RequestBuilder) -> anyhow::Result<String> {
    Ok(request.send().await?.error_for_status()?.text().await?)
}
