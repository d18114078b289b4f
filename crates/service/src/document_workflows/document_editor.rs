//! Documents in the built-in editor: content, commits, and who is editing. See docs/built-in-editor.md.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use domain::document::{DocumentState, EditorMode};
use domain::document_kind::EditorKind;
use domain::document_log::{DocumentCommit, DocumentLog};
use domain::domain_error::DomainError;
use domain::id::{DocumentId, UserId};
use domain::save::DocumentKey;
use domain::time::Timestamp;
use serde_json::Value;
use tokio::sync::mpsc;

use super::log_save::report;
use super::word_file::{self, WordContent};
use super::{DocumentWorkflows, context as service_context};
use crate::actions::commits::{self, CommitOutcome, NewCommit};
use crate::actions::{authorship, session_notices};
use common::clock;
use common::error::{Error, Result};
use db::documents::{CurrentFile, VisibleDocument};
use db::{ReadTx, RequestContext, Tenant, WriteTx};
use realtime::EditorPresence;

/// The maximum number of attempts to begin a log while the document changes.
const ATTEMPTS_MAX: u32 = 5;
/// The interval at which an editor is recorded, in seconds.
const RECORD_SECONDS: i64 = 60;
/// The number of recorded editors above which old ones are removed.
const RECORDED_MAX: usize = 4096;
/// The time between the end of a session and the save of its document.
const LEAVE_DELAY: Duration = Duration::from_secs(5);
/// A commit that is mapped over more commits than this takes long.
const FAR_BEHIND: i64 = 1_000;
/// The maximum number of such commits that wait.
const MAPPINGS_WAITING_MAX: usize = 100;
/// The maximum size of a page of commits, in bytes. One commit may be larger.
const PAGE_BYTES_MAX: usize = 1 << 20;

/// The content of a document as the editor opens it.
#[derive(Debug, Clone)]
pub struct EditorContent {
    pub document_id: DocumentId,
    pub generation: i64,
    /// The last commit that the content includes.
    pub version: i64,
    /// The document as ProseMirror JSON.
    pub content: Value,
    /// Whether the caller may send commits.
    pub can_edit: bool,
    /// Codes of what prevents editing the file without loss.
    pub read_only_reasons: Vec<String>,
    /// The paragraph styles of the file.
    pub styles: Value,
}

/// A page of commits.
#[derive(Debug, Clone)]
pub struct CommitList {
    pub generation: i64,
    pub commits: Vec<DocumentCommit>,
    /// The version of the document.
    pub version: i64,
    /// Whether there are later commits.
    pub has_more: bool,
}

/// When each editor was recorded last, so that a commit costs no second transaction.
#[derive(Debug, Default)]
pub(super) struct RecordedEditors(Mutex<HashMap<(DocumentId, i64, UserId), Timestamp>>);

impl RecordedEditors {
    /// Returns whether the editor has to be recorded now, and remembers it.
    fn is_due(&self, document: &DocumentId, generation: i64, user: &UserId, now: Timestamp) -> bool {
        let mut recorded = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_recent = |at: &Timestamp| now < at.plus_seconds(RECORD_SECONDS);
        let key = (document.clone(), generation, user.clone());
        if recorded.get(&key).is_some_and(is_recent) {
            return false;
        }
        if recorded.len() >= RECORDED_MAX {
            recorded.retain(|_, at| is_recent(at));
        }
        recorded.insert(key, now);
        true
    }

    fn forget(&self, document: &DocumentId, generation: i64, user: &UserId) {
        let mut recorded = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        recorded.remove(&(document.clone(), generation, user.clone()));
    }
}

/// What is known of a document before its content is read.
enum ContentSource {
    /// It has a log.
    Log(Box<EditorContent>),
    /// Its content is a file.
    File(Box<VisibleDocument>, CurrentFile),
}

impl DocumentWorkflows {
    /// Returns the content of a document. The first opening of a draft begins its log.
    pub async fn editor_content(&self, context: RequestContext, id: DocumentId) -> Result<EditorContent> {
        for _ in 0..ATTEMPTS_MAX {
            let (workflows, document) = (self.clone(), id.clone());
            let opening = self
                .transactor
                .read(context.clone(), move |tx| workflows.find_content(tx, &document));
            let (seen, file) = match opening.await? {
                ContentSource::Log(content) => return Ok(*content),
                ContentSource::File(seen, file) => (seen, file),
            };
            let opened = self.read_word_file(&file).await?;
            if seen.mode() == EditorMode::View {
                return Ok(EditorContent {
                    document_id: id,
                    generation: seen.document().key().generation,
                    version: 0,
                    content: opened.content.to_json(),
                    can_edit: false,
                    read_only_reasons: opened.read_only_reasons,
                    styles: opened.styles,
                });
            }
            self.begin_log(&context, &seen, opened).await?;
        }
        Err(Error::Overloaded)
    }

    fn find_content(&self, tx: &mut ReadTx<'_>, id: &DocumentId) -> Result<ContentSource> {
        let seen = tx.document(id)?;
        self.check_editor(&seen)?;
        let document = seen.document();
        let generation = document.key().generation;
        if document.status == DocumentState::Draft
            && let Some(log) = tx.document_log(id, generation)?
        {
            let content = commits::content(tx, &log)?;
            return Ok(ContentSource::Log(Box::new(EditorContent {
                document_id: id.clone(),
                generation,
                version: log.version,
                content: content.to_json(),
                can_edit: seen.mode() == EditorMode::Edit && log.read_only_reasons.is_empty(),
                read_only_reasons: log.read_only_reasons,
                styles: log.styles,
            })));
        }
        let file = tx.current_file(document)?;
        Ok(ContentSource::File(Box::new(seen), file))
    }

    /// Begins the log of a document with the content of its file, unless the document has changed.
    async fn begin_log(&self, context: &RequestContext, seen: &VisibleDocument, opened: WordContent) -> Result<()> {
        let before = seen.document().clone();
        let log = DocumentLog {
            document_id: before.id.clone(),
            generation: before.key().generation,
            version: 0,
            snapshot_version: 0,
            base_revision_id: before.current_revision_id.clone(),
            saved_version: 0,
            unsaved_since: None,
            last_commit_at: None,
            is_closed: false,
            packed_version: 0,
            read_only_reasons: opened.read_only_reasons,
            styles: opened.styles,
            images: opened.images,
        };
        let (id, generation) = (before.id.clone(), log.generation);
        let former = self.transactor.read(context.clone(), move |tx| {
            authorship::before_generation(tx, &id, generation)
        });
        let (former, content) = (former.await?, opened.content);
        let (content, authorship, text) = word_file::run(move || {
            let authorship = authorship::inherited(former.as_ref(), &content);
            let text = authorship.text_of(&content);
            Ok((content.to_json().to_string(), authorship.to_json(), text))
        })
        .await?;
        let write = self.transactor.write(context.clone(), move |tx| {
            let seen = tx.lock_writable_document(&log.document_id)?;
            let document = seen.document();
            let is_unchanged = document.key() == before.key()
                && document.status == DocumentState::Draft
                && document.current_revision_id == before.current_revision_id;
            if is_unchanged {
                tx.begin_document_log(&log, &content, &authorship)?;
                authorship::record_characters(tx, &log.document_id, &text)?;
            }
            Ok(())
        });
        write.await
    }

    pub(super) fn check_editor(&self, seen: &VisibleDocument) -> Result<()> {
        if self.server.editor_kind(seen.document()) == EditorKind::Builtin {
            Ok(())
        } else {
            Err(DomainError::EditorNotAvailable.into())
        }
    }

    /// Appends a commit. Returns when it is durable.
    pub async fn commit(&self, context: RequestContext, new: NewCommit) -> Result<CommitOutcome> {
        let (workflows, document) = (self.clone(), new.document_id.clone());
        let (generation, version) = (new.generation, new.version);
        let check = self.transactor.read(context.clone(), move |tx| {
            workflows.check_editor(&tx.document(&document)?)?;
            let log = tx.document_log(&document, generation)?;
            Ok(log.is_some_and(|log| log.version - version > FAR_BEHIND))
        });
        let _permit = match (check.await?, &context.actor.user) {
            (true, Some(user)) => {
                let permit = self.mapping.acquire(user.clone(), MAPPINGS_WAITING_MAX).await;
                Some(permit.ok_or(Error::Overloaded)?)
            }
            _ => None,
        };
        let outcome = self.commits.append(context.clone(), new.clone()).await?;
        match &outcome {
            CommitOutcome::Committed(committed) if !committed.is_repeat => {
                self.note_editor(
                    &context.tenant,
                    &new.document_id,
                    new.generation,
                    committed.commit.author_id.clone(),
                );
            }
            CommitOutcome::Late { .. } => self.save_late_soon(&context, &new.document_id),
            CommitOutcome::Committed(_) => {}
        }
        Ok(outcome)
    }

    /// Returns the commits of a generation after a version, oldest first. The default is the present generation.
    pub async fn commits_since(
        &self,
        context: RequestContext,
        id: DocumentId,
        (generation, since): (Option<i64>, i64),
        limit: i64,
    ) -> Result<CommitList> {
        let workflows = self.clone();
        let look = self.transactor.read(context, move |tx| {
            let seen = tx.document(&id)?;
            workflows.check_editor(&seen)?;
            let generation = generation.unwrap_or_else(|| seen.document().key().generation);
            let version = tx.document_log(&id, generation)?.map_or(0, |log| log.version);
            let mut commits = tx.commits_since(&id, generation, since, limit)?;
            while commits.len() > 1 && commits::size(&commits) > PAGE_BYTES_MAX {
                commits.truncate(commits.len().div_ceil(2));
            }
            let has_more = commits.last().is_some_and(|last| last.version < version);
            Ok(CommitList {
                generation,
                commits,
                version,
                has_more,
            })
        });
        look.await
    }

    /// Records who has a document open at this instance.
    pub async fn record_editor_presence(self, mut presence: mpsc::UnboundedReceiver<EditorPresence>) {
        while let Some(editor) = presence.recv().await {
            if editor.is_open {
                self.note_editor(&editor.tenant, &editor.document, editor.generation, editor.user);
            } else {
                let workflows = self.clone();
                tokio::spawn(async move {
                    let document = editor.document.clone();
                    report(&document, workflows.remove_editor(editor).await);
                });
            }
        }
    }

    /// Records that a user edits a document, at most once a minute, so that a submission waits for the user's page, and
    /// the time counts.
    fn note_editor(&self, tenant: &Tenant, document: &DocumentId, generation: i64, user: UserId) {
        if !self.editors.is_due(document, generation, &user, clock::now()) {
            return;
        }
        let (workflows, tenant, id) = (self.clone(), tenant.clone(), document.clone());
        tokio::spawn(async move {
            let context = service_context(tenant);
            report(
                &id,
                workflows.record_editors(context, &id, generation, &[user], &[]).await,
            );
        });
    }

    /// Records that a user closed the last page of a document, and writes the document if no editor is left.
    async fn remove_editor(&self, editor: EditorPresence) -> Result<()> {
        let (id, generation) = (editor.document, editor.generation);
        self.editors.forget(&id, generation, &editor.user);
        let context = service_context(editor.tenant);
        self.record_editors(context.clone(), &id, generation, &[], &[editor.user])
            .await?;
        // A page that reloads opens the document again.
        tokio::time::sleep(LEAVE_DELAY).await;
        let document = id.clone();
        let look = self
            .transactor
            .read(context.clone(), move |tx| tx.editing_session(&document, generation));
        if look.await?.is_some_and(|session| !session.editors.is_empty()) {
            return Ok(());
        }
        self.save_changes(&context, &id).await.map(drop)
    }

    /// Adds users to the editors of a session and removes others. A session without editors has ended.
    pub(super) async fn record_editors(
        &self,
        context: RequestContext,
        id: &DocumentId,
        generation: i64,
        joined: &[UserId],
        left: &[UserId],
    ) -> Result<()> {
        let key = DocumentKey {
            document: id.clone(),
            generation,
        };
        let (text, joined, left) = (self.server.key(&key), joined.to_vec(), left.to_vec());
        let write = self.transactor.write(context, move |tx: &mut WriteTx<'_>| {
            session_notices::change_editors(tx, &key, &text, &joined, &left)
        });
        write.await
    }
}
