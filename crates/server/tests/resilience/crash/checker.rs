//! Inspects the state after a crash: compares rows with acknowledgements and files with rows, and checks the
//! consistency of the database. It reads in parallel with the service and never writes.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use db::Database;
use document_server_simulator::read_document;
use sha2::{Digest as _, Sha256};

use super::oracle::{Acknowledged, Oracle};
use super::snapshot::{FileRow, StoredState};
use super::workload::hex;
use test_support::invariants;

/// The results of the inspections so far.
pub struct Checker {
    database: Database,
    files: PathBuf,
    organization: String,
    /// Rows whose file was verified. Files never change, so one verification is enough until the final inspection.
    verified: HashSet<String>,
    /// The content of the documents of finished topics at their first inspection.
    frozen: HashMap<String, Vec<String>>,
    inspections: u32,
    orphans: usize,
    parts: usize,
}

impl Checker {
    pub fn new(database: &Database, folder: &Path, organization: &str) -> Self {
        Self {
            database: database.clone(),
            files: folder.join("files"),
            organization: organization.to_owned(),
            verified: HashSet::new(),
            frozen: HashMap::new(),
            inspections: 0,
            orphans: 0,
            parts: 0,
        }
    }

    /// Checks everything that is new since the last inspection.
    pub fn check_new(&mut self, oracle: &Oracle) {
        let fresh = std::mem::take(&mut oracle.acknowledged().fresh);
        self.check_state(oracle, move |document| fresh.contains(document));
    }

    /// Checks everything again.
    pub fn check_all(&mut self, oracle: &Oracle) {
        self.verified.clear();
        self.check_state(oracle, |_| true);
    }

    /// Returns the number of partial files in the folder for uploads in progress.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// Removes the partial files, as the service does when they are an hour old.
    pub fn remove_parts(&mut self) {
        for part in std::fs::read_dir(self.files.join("parts")).unwrap() {
            std::fs::remove_file(part.unwrap().path()).unwrap();
        }
    }

    /// Returns whether some revision of a document contains this text.
    pub fn has_text_in_any_revision(&mut self, document: &str, text: &str) -> bool {
        let snapshot = self.read();
        let on_disk = self.files_on_disk();
        let mut own = snapshot
            .revisions
            .iter()
            .filter(|revision| revision.document == document);
        own.any(|revision| lines(&on_disk[&revision.file]).iter().any(|line| line == text))
    }

    /// Returns a one-line summary for the test output.
    pub fn summary(&self) -> String {
        format!(
            "{} inspections; {} revisions and copies whole; {} files and {} parts without a row at the end",
            self.inspections,
            self.verified.len(),
            self.orphans,
            self.parts
        )
    }

    fn check_state(&mut self, oracle: &Oracle, wanted: impl Fn(&str) -> bool) {
        self.inspections += 1;
        let snapshot = self.read();
        assert!(snapshot.faults.is_empty(), "{}", snapshot.faults.join("\n"));
        let on_disk = self.files_on_disk();
        let rows = || snapshot.revisions.iter().chain(&snapshot.copies);
        let named: HashSet<&str> = rows().map(|file_row| file_row.file.as_str()).collect();
        self.orphans = on_disk.keys().filter(|name| !named.contains(name.as_str())).count();
        for file_row in rows() {
            self.verify_file(file_row, &on_disk);
        }
        let acknowledged = oracle.acknowledged();
        let current: HashMap<&str, &FileRow> = snapshot
            .revisions
            .iter()
            .filter(|revision| revision.is_current())
            .map(|revision| (revision.document.as_str(), revision))
            .collect();
        for (document, texts) in acknowledged.texts.iter().filter(|(document, _)| wanted(document)) {
            let revision = current.get(document.as_str());
            let revision = revision.unwrap_or_else(|| panic!("document {document} lost all its saves: {texts:?}"));
            let now = lines(&on_disk[&revision.file]);
            if texts.iter().any(|text| !now.contains(text)) {
                let own = snapshot
                    .revisions
                    .iter()
                    .filter(|revision| revision.document == *document);
                for revision in own {
                    println!(
                        "  {} {}: {:?}",
                        revision.id,
                        revision.origin,
                        lines(&on_disk[&revision.file])
                    );
                }
                println!(
                    "  it is {:?}; acknowledged by {:?}",
                    snapshot.documents.get(document),
                    acknowledged.how.get(document)
                );
            }
            contains(&now, texts, document);
        }
        for (document, hashes) in &acknowledged.uploads {
            let revision = current.get(document.as_str());
            assert!(
                revision.is_some_and(|revision| hashes.contains(&revision.sha256)),
                "upload {document} was acknowledged and is lost"
            );
        }
        for (group, room) in &acknowledged.groups {
            assert_eq!(
                snapshot.groups.get(group),
                Some(room),
                "group {group} was acknowledged and is lost"
            );
        }
        for document in &acknowledged.deleted {
            assert!(
                !snapshot.documents.contains_key(document),
                "document {document} came back"
            );
        }
        check_submissions(&acknowledged, &snapshot, &on_disk);
        check_messages(&acknowledged, &snapshot);
        self.check_topics(&acknowledged, &snapshot, &current, &on_disk);
    }

    fn read(&self) -> StoredState {
        let (database, organization) = (self.database.clone(), self.organization.clone());
        // The PostgreSQL client blocks, and it panics on a thread of the tokio runtime.
        let reading = std::thread::spawn(move || {
            invariants::check(&database);
            StoredState::read(&database, &organization)
        });
        reading.join().unwrap()
    }

    fn verify_file(&mut self, file_row: &FileRow, on_disk: &HashMap<String, PathBuf>) {
        if !self.verified.insert(file_row.id.clone()) {
            return;
        }
        let path = on_disk.get(&file_row.file);
        let path = path.unwrap_or_else(|| panic!("{} has no file {}", file_row.id, file_row.file));
        let bytes = std::fs::read(path).unwrap();
        let verify_file =
            bytes.len() == usize::try_from(file_row.size).unwrap() && hex(&Sha256::digest(&bytes)) == file_row.sha256;
        assert!(verify_file, "{} is torn", path.display());
    }

    /// Every document of a finished topic is locked and none of its text is lost later. No document of a reopened topic
    /// is locked.
    fn check_topics(
        &mut self,
        acknowledged: &Acknowledged,
        snapshot: &StoredState,
        current: &HashMap<&str, &FileRow>,
        on_disk: &HashMap<String, PathBuf>,
    ) {
        for (id, topic) in &acknowledged.topics {
            let status = if topic.is_finished { "FINISHED" } else { "ACTIVE" };
            assert_eq!(snapshot.topics.get(id).map(String::as_str), Some(status), "topic {id}");
            for (document, (_, status)) in snapshot.documents.iter().filter(|(_, (room, _))| *room == topic.room) {
                assert_eq!(
                    status == "LOCKED",
                    topic.is_finished,
                    "document {document} of topic {id} is {status}"
                );
                let revision = current
                    .get(document.as_str())
                    .filter(|revision| revision.file.rsplit_once('.').is_some_and(|(_, kind)| kind == "docx"));
                if !topic.is_finished {
                    self.frozen.remove(document);
                } else if let Some(revision) = revision {
                    let now = lines(&on_disk[&revision.file]);
                    // Text that was typed before the topic was finished may be saved later, but no text may disappear.
                    let before = self.frozen.insert(document.clone(), now.clone()).unwrap_or_default();
                    contains(&now, &before, document);
                }
            }
        }
    }

    /// Returns the files by name and counts the partial files separately. A file without a row is allowed, a row
    /// without a file is not.
    fn files_on_disk(&mut self) -> HashMap<String, PathBuf> {
        let mut snapshot = HashMap::new();
        self.parts = 0;
        for folder in std::fs::read_dir(&self.files).unwrap() {
            for file in std::fs::read_dir(folder.unwrap().path()).unwrap() {
                let path = file.unwrap().path();
                if path.extension().is_some_and(|extension| extension == "part") {
                    self.parts += 1;
                } else {
                    snapshot.insert(path.file_name().unwrap().to_str().unwrap().to_owned(), path);
                }
            }
        }
        snapshot
    }
}

/// Every acknowledged submission has its copy, which contains every text that was saved before.
fn check_submissions(acknowledged: &Acknowledged, snapshot: &StoredState, on_disk: &HashMap<String, PathBuf>) {
    let mut copies: HashMap<&str, Vec<&FileRow>> = HashMap::new();
    for copy in &snapshot.copies {
        copies.entry(&copy.document).or_default().push(copy);
    }
    for attempt in &acknowledged.attempts {
        let own = copies.get(attempt.document.as_str()).into_iter().flatten();
        let mut own = own
            .filter(|copy| attempt.submission.is_none() || copy.of == attempt.submission)
            .peekable();
        assert!(
            own.peek().is_some(),
            "hand-in of {} was acknowledged and is lost",
            attempt.document
        );
        let has_all = |copy: &&FileRow| {
            let lines = lines(&on_disk[&copy.file]);
            attempt.texts.iter().all(|text| lines.contains(text))
        };
        assert!(
            own.any(has_all),
            "the copy of {} lacks some of {:?}",
            attempt.document,
            attempt.texts
        );
    }
}

/// The messages of a room are numbered without gaps, and each message exists once.
fn check_messages(acknowledged: &Acknowledged, snapshot: &StoredState) {
    for (room, messages) in &snapshot.messages {
        let numbers = messages.iter().map(|(seq, _)| *seq);
        assert!(
            numbers.eq((1..).take(messages.len())),
            "room {room} has gaps: {messages:?}"
        );
        let texts: BTreeSet<&str> = messages.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(
            texts.len(),
            messages.len(),
            "room {room} has a message twice: {messages:?}"
        );
    }
    for (room, posted) in &acknowledged.posted {
        let messages = snapshot
            .messages
            .get(room)
            .unwrap_or_else(|| panic!("room {room} lost all its messages"));
        for (text, seq) in posted {
            assert!(
                messages.contains(&(*seq, text.clone())),
                "message {text} was acknowledged and is lost"
            );
        }
    }
}

fn lines(path: &Path) -> Vec<String> {
    let bytes = std::fs::read(path).unwrap();
    read_document(&bytes).expect("a stored document can be read").1
}

#[track_caller]
fn contains(lines: &[String], texts: &[String], document: &str) {
    for text in texts {
        assert!(
            lines.contains(text),
            "{text} of document {document} was acknowledged and is lost; it has {lines:?}"
        );
    }
}
