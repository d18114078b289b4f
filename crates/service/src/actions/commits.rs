//! Appends commits of the built-in editor to the log of their document (docs/built-in-editor.md). A commit is checked
//! against the status of the document under its lock, mapped over the commits that came first, and inserted. Statements
//! that write come last, so that a rejected commit leaves the transaction as it was.

use domain::document_log::{CommitAdmission, DocumentCommit, DocumentLog, LATE_COMMITS_MAX, SNAPSHOT_INTERVAL};
use domain::domain_error::DomainError;
use domain::id::{ClassId, DocumentId, UserId};
use rich_text::{Step, rebase};
use serde_json::Value;

use super::acting_user::acting_user;
use super::open_documents::OpenDocuments;
use super::{authorship, comments};
use common::clock;
use common::error::{Error, Result};
use db::document_log::{DocumentSnapshot, LateCommit};
use db::{ReadTx, WriteTx};

/// The maximum number of commits in a response, and of their bytes.
const ECHO_MAX: (usize, usize) = (200, 256 * 1024);
/// The maximum size of a document as JSON, in bytes.
const CONTENT_MAX: usize = 16 << 20;

/// A commit to append, with validated ids.
#[derive(Debug, Clone)]
pub struct NewCommit {
    pub document_id: DocumentId,
    pub generation: i64,
    /// Identifies the commit if it is sent again.
    pub reference: String,
    /// The open page.
    pub client_id: String,
    /// The version that the steps are based on.
    pub version: i64,
    pub steps: Vec<Value>,
}

/// What happened to a commit.
#[derive(Debug, Clone)]
pub enum CommitOutcome {
    Committed(Box<CommittedSteps>),
    /// The generation has ended; the steps are kept for a late version.
    Late {
        /// The present generation.
        generation: i64,
        /// Whether it was kept before.
        is_repeat: bool,
    },
}

/// A commit in its log.
#[derive(Debug, Clone)]
pub struct CommittedSteps {
    pub commit: DocumentCommit,
    /// The commits after the version of the request up to this one; `None` if they are too many or too large.
    pub commits: Option<Vec<DocumentCommit>>,
    /// Whether it was committed before.
    pub is_repeat: bool,
    /// The class of the document, for the event.
    pub class: ClassId,
}

/// Appends a commit, or keeps it as late. A repeated reference changes nothing.
pub fn append(tx: &mut WriteTx<'_>, new: &NewCommit, open: &mut OpenDocuments) -> Result<CommitOutcome> {
    let author = acting_user(tx)?;
    let id = &new.document_id;
    let seen = tx.lock_writable_document(id)?;
    let (present, class) = (seen.document().key().generation, seen.group_context.class.clone());
    let log = tx.document_log(id, new.generation)?;
    if let Some(log) = &log
        && let Some(commit) = tx.commit_by_reference(log, &new.reference, new.version)?
    {
        check_author(&commit.author_id, &author)?;
        return repeat(tx, new, commit, class);
    }
    if tx.has_late_commit(id, new.generation, &new.reference)? {
        return Ok(CommitOutcome::Late {
            generation: present,
            is_repeat: true,
        });
    }
    let Some(log) = log.filter(|_| new.generation <= present) else {
        seen.writable()?.rewritable()?;
        return Err(Error::invalid("generation", "format", "was not opened in the editor"));
    };
    if !log.read_only_reasons.is_empty() {
        return Err(Error::invalid("generation", "format", "the file can only be read"));
    }
    if new.version > log.version {
        return Err(Error::invalid("version", "format", "is no version of this document"));
    }
    let is_latest = tx.latest_log(id)? == Some(new.generation) && !log.is_closed;
    // Read under the lock: a flush that ended while the lock was awaited has ended.
    let now = clock::now();
    let steps = parse_steps(&new.steps)?;
    match seen
        .document()
        .admit_commit(new.generation, is_latest, seen.group_context.class_status, now)?
    {
        CommitAdmission::Late => {
            keep_late(tx, new, author)?;
            return Ok(CommitOutcome::Late {
                generation: present,
                is_repeat: false,
            });
        }
        CommitAdmission::Append => {}
    }
    let mut commits = tx.commits_since(id, new.generation, new.version, i64::MAX)?;
    let over = parse_stored(&commits)?;
    let content = open.content(tx, &log)?;
    let rebased = rebase(&steps, &over, &content);
    if over.is_empty() && !rebased.dropped.is_empty() {
        return Err(Error::invalid("steps", "format", "do not fit the document"));
    }
    let commit = DocumentCommit {
        version: log.version + 1,
        reference: new.reference.clone(),
        client_id: new.client_id.clone(),
        author_id: author,
        committed_at: now,
        steps: rebased.steps.iter().map(Step::to_json).collect(),
    };
    let snapshot = if commit.version - log.snapshot_version >= SNAPSHOT_INTERVAL {
        let text = rebased.document.to_json().to_string();
        if text.len() > CONTENT_MAX {
            return Err(Error::invalid("steps", "too_long", "the document would be too large"));
        }
        Some(DocumentSnapshot {
            version: commit.version,
            content: text,
            authorship: authorship::of_snapshot(tx, &log, &commit)?.map(|authorship| authorship.to_json()),
        })
    } else {
        None
    };
    tx.append_commit(&log, &commit, snapshot.as_ref())?;
    if snapshot.is_some() {
        comments::move_anchors(tx, &log, commit.version)?;
    }
    open.insert(&log, commit.version, rebased.document);
    commits.push(commit.clone());
    Ok(CommitOutcome::Committed(Box::new(CommittedSteps {
        commit,
        commits: bounded(commits),
        is_repeat: false,
        class,
    })))
}

/// Returns the outcome of a commit that was sent again.
fn repeat(tx: &mut ReadTx<'_>, new: &NewCommit, commit: DocumentCommit, class: ClassId) -> Result<CommitOutcome> {
    let count = commit.version - new.version.min(commit.version);
    let commits = tx.commits_since(&new.document_id, new.generation, new.version, count)?;
    Ok(CommitOutcome::Committed(Box::new(CommittedSteps {
        commit,
        commits: bounded(commits),
        is_repeat: true,
        class,
    })))
}

/// Keeps a commit whose generation has ended.
fn keep_late(tx: &mut WriteTx<'_>, new: &NewCommit, author: UserId) -> Result<()> {
    DomainError::check_limit(
        "late commits",
        tx.count_late_commits(&new.document_id, &author)? + 1,
        LATE_COMMITS_MAX,
    )?;
    let late = LateCommit {
        generation: new.generation,
        author_id: author,
        client_id: new.client_id.clone(),
        version: new.version,
        steps: new.steps.clone(),
        received_at: tx.now(),
    };
    tx.insert_late_commit(&new.document_id, &late, &new.reference)
}

fn check_author(stored: &UserId, author: &UserId) -> Result<()> {
    if stored == author {
        Ok(())
    } else {
        Err(Error::invalid("ref", "duplicate", "was used by another user"))
    }
}

/// Parses the steps of a request.
pub fn parse_steps(steps: &[Value]) -> Result<Vec<Step>> {
    let parse = |(index, step): (usize, &Value)| {
        Step::from_json(step).map_err(|error| Error::invalid(format!("steps[{index}]"), "format", error.to_string()))
    };
    steps.iter().enumerate().map(parse).collect()
}

/// Parses the steps of stored commits.
pub fn parse_stored(commits: &[DocumentCommit]) -> Result<Vec<Step>> {
    let steps = commits.iter().flat_map(|commit| &commit.steps);
    let parse = |step| Step::from_json(step).map_err(|error| anyhow::anyhow!("stored step: {error}").into());
    steps.map(parse).collect()
}

/// Returns the content of a log: its newest snapshot with the commits since then.
pub fn content(tx: &mut ReadTx<'_>, log: &DocumentLog) -> Result<rich_text::Node> {
    let snapshot: Value = serde_json::from_str(&tx.snapshot(log)?)?;
    let content =
        rich_text::Node::document_from_json(&snapshot).map_err(|error| anyhow::anyhow!("stored document: {error}"))?;
    let commits = tx.commits_since(&log.document_id, log.generation, log.snapshot_version, i64::MAX)?;
    apply(content, &parse_stored(&commits)?)
}

/// Applies stored steps.
pub(super) fn apply(mut content: rich_text::Node, steps: &[Step]) -> Result<rich_text::Node> {
    for step in steps {
        content = step
            .apply(&content)
            .map_err(|error| anyhow::anyhow!("stored step does not apply: {error}"))?;
    }
    Ok(content)
}

/// Returns the commits if a response or an event may contain them.
fn bounded(commits: Vec<DocumentCommit>) -> Option<Vec<DocumentCommit>> {
    let (count, bytes) = ECHO_MAX;
    (commits.len() <= count && size(&commits) <= bytes).then_some(commits)
}

/// Returns the approximate size of commits as JSON, in bytes.
pub fn size(commits: &[DocumentCommit]) -> usize {
    let size = |commit: &DocumentCommit| {
        let steps: usize = commit.steps.iter().map(|step| step.to_string().len() + 1).sum();
        steps + 200
    };
    commits.iter().map(size).sum()
}
