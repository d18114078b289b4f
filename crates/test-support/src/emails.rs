//! Decoded emails, from the outbox or from an SMTP server.

use std::time::{Duration, Instant};

use super::{FRONTEND, TestApp};

/// A decoded email.
#[derive(Debug, Clone)]
pub struct SentEmail {
    pub to: String,
    pub subject: String,
    pub text: String,
    pub html: String,
    pub raw: String,
}

impl SentEmail {
    pub fn read(raw: &str) -> Self {
        let message = mail_parser::MessageParser::default().parse(raw).expect("a message");
        let to = message.to().and_then(|to| to.first()).and_then(|to| to.address());
        Self {
            to: to.unwrap_or_default().to_owned(),
            subject: message.subject().unwrap_or_default().to_owned(),
            text: message.body_text(0).unwrap_or_default().into_owned(),
            html: message.body_html(0).unwrap_or_default().into_owned(),
            raw: raw.to_owned(),
        }
    }

    /// Returns the path of the only link, which must begin with the configured base URL.
    pub fn link(&self) -> String {
        let links: Vec<_> = self.text.lines().filter(|line| line.contains("://")).collect();
        assert_eq!(links.len(), 1, "{}", self.text);
        links[0].strip_prefix(FRONTEND).expect("our own address").to_owned()
    }
}

db::statements! {
    WAITING = "SELECT COUNT(*) FROM letters";
}

/// Counts the emails that are not sent yet.
pub async fn queued_emails(app: &TestApp) -> i64 {
    assert_eq!(STATEMENTS.len(), 1);
    let count = app.raw(|connection| connection.fetch_optional(&WAITING, &[], |row| row.only()).unwrap());
    count.await.unwrap()
}

/// Waits until the outbox contains at least this number of emails and returns them, oldest first.
pub async fn outbox(app: &TestApp, wanted: usize) -> Vec<SentEmail> {
    let started = Instant::now();
    loop {
        let entries = std::fs::read_dir(app.folder().join("outbox")).into_iter().flatten();
        let mut paths: Vec<_> = entries
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "eml"))
            .collect();
        if paths.len() >= wanted {
            paths.sort();
            let read = |path| SentEmail::read(&std::fs::read_to_string(path).unwrap());
            return paths.iter().map(read).collect();
        }
        let waited = started.elapsed();
        assert!(waited < super::WAIT_TIMEOUT, "only {} letters came", paths.len());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
