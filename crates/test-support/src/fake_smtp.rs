//! An SMTP server that accepts, rejects or delays emails as a test configures it. It implements the part of SMTP that a
//! client needs.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use super::emails::SentEmail;

/// How the next connections are handled, one entry per connection; after the last entry, emails are accepted.
#[derive(Debug, Clone, Copy)]
pub enum SmtpBehavior {
    /// Accepts emails.
    Accept,
    /// Closes the connection immediately: 421.
    Close,
    /// Rejects the recipient temporarily: 451.
    RejectTemporarily,
    /// Rejects the recipient permanently: 550.
    RejectPermanently,
    /// Sends nothing until `release`.
    Hang,
}

#[derive(Clone)]
pub struct FakeSmtp {
    pub port: u16,
    seen: Arc<Mutex<Seen>>,
    released: Arc<Semaphore>,
}

#[derive(Default)]
struct Seen {
    behaviors: VecDeque<SmtpBehavior>,
    emails: Vec<SentEmail>,
    /// Every command line from clients, without the content of emails.
    lines: Vec<String>,
    connections: usize,
}

impl FakeSmtp {
    pub async fn open(behaviors: &[SmtpBehavior]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let office = Self {
            port: listener.local_addr().unwrap().port(),
            seen: Arc::new(Mutex::new(Seen {
                behaviors: behaviors.iter().copied().collect(),
                ..Seen::default()
            })),
            released: Arc::new(Semaphore::new(0)),
        };
        let serving = office.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let office = serving.clone();
                tokio::spawn(async move { office.serve(stream).await });
            }
        });
        office
    }

    /// Resumes the silent connections.
    pub fn release(&self) {
        self.released.close();
    }

    pub fn emails(&self) -> Vec<SentEmail> {
        self.seen.lock().unwrap().emails.clone()
    }

    pub fn lines(&self) -> Vec<String> {
        self.seen.lock().unwrap().lines.clone()
    }

    pub fn connections(&self) -> usize {
        self.seen.lock().unwrap().connections
    }

    /// Waits until a condition holds for this server.
    pub async fn until(&self, what: &str, fits: impl Fn(&Self) -> bool) {
        let since = std::time::Instant::now();
        while !fits(self) {
            assert!(
                since.elapsed() < super::WAIT_TIMEOUT,
                "waited in vain for {what}; heard {:?}",
                self.lines()
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    async fn serve(&self, stream: TcpStream) -> std::io::Result<()> {
        let behavior = {
            let mut seen = self.seen.lock().unwrap();
            seen.connections += 1;
            seen.behaviors.pop_front().unwrap_or(SmtpBehavior::Accept)
        };
        let (reader, mut writer) = stream.into_split();
        let mut lines = BufReader::new(reader).split(b'\n');
        match behavior {
            SmtpBehavior::Hang => drop(self.released.acquire().await),
            SmtpBehavior::Close => return writer.write_all(b"421 closing\r\n").await,
            _ => {}
        }
        writer.write_all(b"220 post.test\r\n").await?;
        let mut message: Option<String> = None;
        while let Some(line) = lines.next_segment().await? {
            let line = String::from_utf8_lossy(&line).trim_end_matches('\r').to_owned();
            if let Some(text) = &mut message {
                if line == "." {
                    let email = SentEmail::read(text);
                    self.seen.lock().unwrap().emails.push(email);
                    message = None;
                    writer.write_all(b"250 taken\r\n").await?;
                } else {
                    text.push_str(line.strip_prefix('.').unwrap_or(&line));
                    text.push_str("\r\n");
                }
                continue;
            }
            self.seen.lock().unwrap().lines.push(line.clone());
            let word = line.split([' ', ':']).next().unwrap_or_default().to_ascii_uppercase();
            let answer: &[u8] = match (word.as_str(), behavior) {
                ("EHLO", _) => b"250-post.test\r\n250-8BITMIME\r\n250 AUTH PLAIN\r\n",
                ("RCPT", SmtpBehavior::RejectTemporarily) => b"451 try <again> later\r\n",
                ("RCPT", SmtpBehavior::RejectPermanently) => b"550 no such person\r\n",
                ("AUTH", _) => b"235 welcome\r\n",
                ("DATA", _) => {
                    message = Some(String::new());
                    b"354 go on\r\n"
                }
                ("QUIT", _) => return writer.write_all(b"221 bye\r\n").await,
                ("MAIL" | "RCPT" | "RSET" | "NOOP" | "HELO", _) => b"250 fine\r\n",
                _ => b"502 unknown\r\n",
            };
            writer.write_all(answer).await?;
        }
        Ok(())
    }
}
