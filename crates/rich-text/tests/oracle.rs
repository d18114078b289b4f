//! Compares this crate with the official ProseMirror packages: `tests/clients/rich-text/oracle.mjs` edits random documents
//! and writes what they make of each step, position and rebase. `make test` compares 20,000 steps, `make soak`
//! (`GROUPWORK_SOAK=1`) 1,000,000 or `GROUPWORK_ORACLE_STEPS` from the seed `GROUPWORK_ORACLE_SEED`.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by a panic and prints what it measured"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rich_text::{Bias, MapResult, Mapping, Node, Step, rebase};
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

const CLIENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/clients");

/// A line of the oracle.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Case {
    Document(Value),
    Commit {
        steps: Vec<Value>,
        fingerprints: Vec<String>,
    },
    /// Over the steps of the last commit: position, bias, mapped position, deletion.
    Positions(Vec<(usize, i8, usize, [bool; 4])>),
    Rebase(RebaseCase),
    Applies {
        step: Value,
        fingerprint: String,
    },
    Fails(Value),
    Slice(usize, usize, Value),
}

#[derive(Debug, Deserialize)]
struct RebaseCase {
    steps: Vec<Value>,
    over: Vec<Value>,
    rebased: Vec<Value>,
    dropped: Vec<usize>,
    fingerprint: String,
}

/// Compares one case after the other.
struct Replay {
    document: Node,
    mapping: Mapping,
    /// Applied steps by type.
    applied: BTreeMap<String, usize>,
    failed: usize,
    positions: usize,
    rebased: usize,
    dropped: usize,
    /// Time in this crate without reading lines and comparing documents.
    time: Duration,
}

fn fingerprint(document: &Node) -> String {
    let json = serde_json::to_string(document).unwrap();
    let digest = Sha256::digest(json);
    digest[..8].iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

fn read_steps(list: &[Value]) -> Vec<Step> {
    let read = |json| Step::from_json(json).unwrap_or_else(|error| panic!("{error}: {json}"));
    let steps: Vec<Step> = list.iter().map(read).collect();
    for (step, json) in steps.iter().zip(list) {
        assert_eq!(
            step.to_json().to_string(),
            json.to_string(),
            "a step is written as it was read"
        );
    }
    steps
}

fn apply(step: &Step, document: &Node) -> Node {
    let applied = step.apply(document);
    applied.unwrap_or_else(|error| panic!("{error}: {} on {}", step.to_json(), document.to_json()))
}

fn deletion(result: &MapResult) -> [bool; 4] {
    [
        result.is_deleted(),
        result.is_deleted_before(),
        result.is_deleted_after(),
        result.is_deleted_across(),
    ]
}

impl Replay {
    fn start() -> Self {
        let empty = serde_json::json!({"type": "doc", "content": [{"type": "paragraph"}]});
        Self {
            document: Node::document_from_json(&empty).unwrap(),
            mapping: Mapping::default(),
            applied: BTreeMap::new(),
            failed: 0,
            positions: 0,
            rebased: 0,
            dropped: 0,
            time: Duration::ZERO,
        }
    }

    fn count(&mut self, json: &Value) {
        let step_type = json["stepType"].as_str().unwrap().to_owned();
        *self.applied.entry(step_type).or_default() += 1;
    }

    fn compare(&mut self, case: Case) {
        match case {
            Case::Document(json) => {
                self.document = Node::document_from_json(&json).unwrap();
                assert_eq!(self.document.to_json().to_string(), json.to_string());
            }
            Case::Commit { steps, fingerprints } => self.commit(&steps, &fingerprints),
            Case::Positions(positions) => {
                for (position, bias, expected, expected_deletion) in positions {
                    let bias = if bias < 0 { Bias::Before } else { Bias::After };
                    let result = self.mapping.map_result(position, bias);
                    let deletion = deletion(&result);
                    assert_eq!(
                        (result.position, deletion),
                        (expected, expected_deletion),
                        "{position} {bias:?}"
                    );
                    assert_eq!(self.mapping.map(position, bias), expected);
                    self.positions += 1;
                }
            }
            Case::Rebase(case) => self.rebase(&case),
            Case::Applies {
                step: json,
                fingerprint: expected,
            } => {
                let step = Step::from_json(&json).unwrap_or_else(|error| panic!("{error}: {json}"));
                assert_eq!(fingerprint(&apply(&step, &self.document)), expected, "{json}");
                self.count(&json);
            }
            Case::Fails(json) => {
                let applied = Step::from_json(&json).and_then(|step| step.apply(&self.document));
                assert!(applied.is_err(), "{json} applies to {}", self.document.to_json());
                self.failed += 1;
            }
            Case::Slice(from, to, json) => {
                let slice = self.document.slice(from, to).unwrap();
                let written = if slice.content().size() == 0 {
                    Value::Null
                } else {
                    serde_json::to_value(&slice).unwrap()
                };
                assert_eq!(written.to_string(), json.to_string());
            }
        }
    }

    fn commit(&mut self, list: &[Value], fingerprints: &[String]) {
        let steps = read_steps(list);
        let started = Instant::now();
        let mut documents = Vec::with_capacity(steps.len());
        for step in &steps {
            let next = apply(step, documents.last().unwrap_or(&self.document));
            documents.push(next);
        }
        self.mapping = Mapping::new(steps.iter().map(Step::step_map).collect());
        self.time += started.elapsed();
        for ((document, expected), json) in documents.iter().zip(fingerprints).zip(list) {
            assert_eq!(&fingerprint(document), expected, "{json} gives {}", document.to_json());
            self.count(json);
        }
        self.document = documents.pop().unwrap_or_else(|| self.document.clone());
    }

    fn rebase(&mut self, case: &RebaseCase) {
        let (steps, over) = (read_steps(&case.steps), read_steps(&case.over));
        let started = Instant::now();
        let others = over
            .iter()
            .fold(self.document.clone(), |document, step| apply(step, &document));
        let result = rebase(&steps, &over, &others);
        self.time += started.elapsed();
        let written: Vec<Value> = result.steps.iter().map(Step::to_json).collect();
        let context = || {
            format!(
                "steps {:?} over {:?} on {}",
                case.steps,
                case.over,
                self.document.to_json()
            )
        };
        assert_eq!(written, case.rebased, "{}", context());
        assert_eq!(result.dropped, case.dropped, "{}", context());
        assert_eq!(fingerprint(&result.document), case.fingerprint, "{}", context());
        for json in case.over.iter().chain(&case.rebased) {
            self.count(json);
        }
        self.rebased += case.rebased.len();
        self.dropped += case.dropped.len();
        self.document = result.document;
    }
}

#[expect(clippy::disallowed_methods, reason = "settings of a test")]
fn setting(name: &str) -> Option<usize> {
    std::env::var(name).ok().map(|value| value.parse().unwrap())
}

#[test]
fn steps_mapped_positions_and_rebases_equal_those_of_prosemirror() {
    let usual = if setting("GROUPWORK_SOAK").is_some() {
        1_000_000
    } else {
        20_000
    };
    let wanted = setting("GROUPWORK_ORACLE_STEPS").unwrap_or(usual);
    let seed = setting("GROUPWORK_ORACLE_SEED").unwrap_or(1);
    let mut oracle = Command::new("node")
        .args(["rich-text/oracle.mjs", &seed.to_string(), &wanted.to_string()])
        .current_dir(CLIENTS)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(oracle.stdout.take().unwrap()).lines();

    let mut replay = Replay::start();
    for line in lines {
        let line = line.unwrap();
        let case = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        replay.compare(case);
    }
    assert!(oracle.wait().unwrap().success());

    let applied: usize = replay.applied.values().sum();
    println!("{applied} steps applied {:?}", replay.applied);
    println!("{} steps rebased, {} dropped", replay.rebased, replay.dropped);
    println!("{} steps failed, {} positions mapped", replay.failed, replay.positions);
    println!("{:?} in this crate", replay.time);
    // A generator that stops making something would make the replay worthless.
    for step_type in [
        "replace",
        "replaceAround",
        "addMark",
        "removeMark",
        "markSet",
        "addNodeMark",
        "removeNodeMark",
        "attr",
        "docAttr",
    ] {
        assert!(
            replay.applied.get(step_type).is_some_and(|count| *count > 0),
            "no step {step_type}"
        );
    }
    assert!(applied > wanted / 2 && replay.failed > wanted / 50 && replay.dropped > wanted / 200);
    assert!(replay.rebased > wanted / 20 && replay.positions > wanted / 4);
}
