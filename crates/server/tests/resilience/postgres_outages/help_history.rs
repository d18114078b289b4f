//! A history checker for calls for help: a student calls and a teacher resolves. Every request succeeded, was rejected
//! or has an unknown result, and each read at either instance must return a state that this history allows.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use super::requests;
use crate::crash::oracle::Oracle;
use test_support::{Client, TestUser};

/// The time after a response with an unknown result during which its transaction may still be committed.
const COMMIT_TIMEOUT: Duration = Duration::from_mins(1);

/// The result of a request.
enum RequestResult {
    Done,
    Refused,
    Open,
}

/// The help flag of one group, with the states that its history allows.
pub struct HelpHistory {
    student: [Client; 2],
    teacher: [Client; 2],
    path: String,
    number: usize,
    /// The possible states of the flag: the message, or an empty string if no call is open.
    possible: BTreeSet<String>,
    /// The states that requests with an unknown result may still produce.
    open: Vec<(Instant, String)>,
    pub done: usize,
    pub left_open: usize,
    pub read: usize,
}

impl HelpHistory {
    /// Starts with a group without an open call, and two instances.
    pub fn of(bases: [&str; 2], group: &str, student: &TestUser, teacher: &TestUser) -> Self {
        let client = |person: &TestUser| bases.map(|base| Client::new(base, Some(person.cookie.clone())));
        Self {
            student: client(student),
            teacher: client(teacher),
            path: format!("/groups/{group}"),
            number: 0,
            possible: BTreeSet::from([String::new()]),
            open: Vec::new(),
            done: 0,
            left_open: 0,
            read: 0,
        }
    }

    /// Executes the next step: call, read, resolve, read.
    pub async fn step(&mut self, oracle: &Oracle) {
        self.number += 1;
        let at = self.number / 4 % 2;
        let (client, end, body, wanted) = match self.number % 4 {
            1 => {
                let words = format!("call {}", self.number);
                (&self.student[at], "/help", json!({"message": words}), words)
            }
            3 => (&self.teacher[at], "/help/resolve", json!({}), String::new()),
            _ => return self.check(1 - at, oracle).await,
        };
        let request = client.request(Method::POST, &format!("{}{end}", self.path)).json(&body);
        // A call that is already resolved is rejected with 409.
        let ended = match requests::send(request, oracle).await {
            Some((200, _)) => RequestResult::Done,
            Some((409, _)) => RequestResult::Refused,
            Some((503, body)) if body["code"] == "NOT_READY" || body["code"] == "OVERLOADED" => RequestResult::Open,
            Some((status, body)) => return oracle.fault(format!("{end} answered {status}: {body}")),
            None => RequestResult::Open,
        };
        match ended {
            RequestResult::Done => {
                self.done += 1;
                self.possible = BTreeSet::from([wanted]);
            }
            RequestResult::Refused => {}
            RequestResult::Open => {
                self.left_open += 1;
                self.open.push((Instant::now(), wanted));
            }
        }
    }

    /// Reads the flag and compares it with the history.
    pub async fn check(&mut self, at: usize, oracle: &Oracle) {
        let request = self.teacher[at].request(Method::GET, &self.path);
        let Some((200, group)) = requests::send(request, oracle).await else {
            return;
        };
        self.read += 1;
        self.open.retain(|(since, _)| since.elapsed() < COMMIT_TIMEOUT);
        let seen = match &group["needsHelp"] {
            Value::Bool(true) => group["helpMessage"].as_str().unwrap_or_default().to_owned(),
            _ => String::new(),
        };
        let is_open = self.open.iter().any(|(_, words)| *words == seen);
        if !self.possible.contains(&seen) && !is_open {
            oracle.fault(format!(
                "the flag is {seen:?}; possible is {:?}, open {:?}",
                self.possible, self.open
            ));
        }
        self.possible = BTreeSet::from([seen]);
    }
}
