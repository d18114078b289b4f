//! The live channel of somebody of the demo, as a browser behind an old proxy has it: Socket.IO by polling. What comes is
//! not looked at; being there and saying "I write" is all it is for.

use anyhow::{Context as _, bail};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use super::caller::Caller;

/// What stands between the packets of one poll.
const BETWEEN: char = '\u{1e}';

/// An open channel; it closes when nobody polls it any more.
pub struct Channel {
    caller: Caller,
    session: String,
}

impl Channel {
    /// Opens it.
    pub async fn open(caller: Caller) -> anyhow::Result<Self> {
        let answer = text(address(&caller, Method::GET, None)).await?;
        let opened: Value = serde_json::from_str(answer.trim_start_matches('0'))?;
        let session = opened["sid"].as_str().context("sid")?.to_owned();
        let channel = Self { caller, session };
        channel.send("40".to_owned()).await?;
        Ok(channel)
    }

    /// Stays there, until the service lets go.
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

    /// Says that its person writes in a document.
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
