//! Where comments are in a document (docs/built-in-editor.md#comments). A passage is mapped over the commits after its
//! version when comments are listed; each snapshot moves the stored passages, so few commits are read. In another
//! generation, which begins with a file, the passage is found again by its text.

use std::collections::{BTreeMap, BTreeSet};

use domain::comment::{CommentAnchor, CommentThread, QUOTE_MAX, mentions, quote};
use domain::document::{Document, DocumentState};
use domain::document_log::DocumentLog;
use domain::id::{CommentThreadId, DocumentId, UserId};
use domain::time::Timestamp;
use domain::user::Person;
use rich_text::{Node, Passage};

use super::DocumentWorkflows;
use crate::actions::comments::{NewPassage, PositionChanges, QuotedPassage, anchored, passage};
use crate::actions::commits;
use common::error::{Error, Result};
use db::comments::PersonOfGroup;
use db::documents::{CurrentFile, VisibleDocument};
use db::{ReadTx, RequestContext};

/// The comments on a document.
#[derive(Debug, Clone)]
pub struct CommentList {
    /// The present generation.
    pub generation: i64,
    /// The version that the anchors refer to.
    pub version: i64,
    /// Whether the caller may write comments.
    pub can_comment: bool,
    /// The time up to which the caller has read the comments.
    pub read_until: Option<Timestamp>,
    /// Oldest first.
    pub threads: Vec<CommentThread>,
    /// Whom the caller can mention.
    pub mentionable: Vec<Person>,
    /// Whom the comments mention, as far as their names are known.
    pub mentioned: Vec<Person>,
}

/// The content in which passages are searched.
enum PassageSource {
    Content(Node),
    File(CurrentFile),
}

/// A passage of an earlier generation.
struct FormerPassage {
    thread: CommentThreadId,
    anchor: CommentAnchor,
    /// The text at the end of the generation, and where it was; `None` if it was deleted.
    text: Option<(String, Passage)>,
}

impl FormerPassage {
    fn quote(&self) -> Option<&str> {
        self.text.as_ref().map(|(text, _)| text.as_str())
    }
}

impl DocumentWorkflows {
    /// Lists the comments on a document. Passages of earlier generations are searched in the present content, once.
    pub async fn comment_threads(&self, context: RequestContext, id: DocumentId) -> Result<CommentList> {
        let (workflows, document) = (self.clone(), id.clone());
        let look = self
            .transactor
            .read(context.clone(), move |tx| workflows.find_threads(tx, &document));
        let (mut list, former, source) = look.await?;
        let Some(source) = source else { return Ok(list) };
        let content = self.read_source(source).await?;
        let (generation, version) = (list.generation, list.version);
        let found: Vec<(FormerPassage, Option<CommentAnchor>)> = former
            .into_iter()
            .map(|former| {
                let found = former
                    .text
                    .as_ref()
                    .and_then(|(text, at)| find_again(text, *at, &content));
                let anchor = found.and_then(|found| anchored(generation, version, found));
                (former, anchor)
            })
            .collect();
        for thread in &mut list.threads {
            if let Some((former, anchor)) = found.iter().find(|(former, _)| former.thread == thread.id) {
                thread.anchor.clone_from(anchor);
                thread.quote = former.quote().map(str::to_owned).or(thread.quote.take());
            }
        }
        let write = self.transactor.write(context, move |tx| {
            let seen = tx.lock_writable_document(&id)?;
            if seen.document().key().generation == generation {
                for (former, anchor) in &found {
                    tx.move_comment_anchor(&former.thread, &former.anchor, anchor.as_ref(), former.quote())?;
                }
            }
            Ok(())
        });
        write.await?;
        Ok(list)
    }

    /// Finds the passage of a new comment in the present content, and its text. `None` for a comment on the whole
    /// document.
    pub async fn find_passage(
        &self,
        context: RequestContext,
        id: DocumentId,
        wanted: Option<NewPassage>,
    ) -> Result<Option<QuotedPassage>> {
        let workflows = self.clone();
        let look = self.transactor.read(context, move |tx| {
            let seen = tx.document(&id)?;
            workflows.check_editor(&seen)?;
            let class_status = seen.group_context.class_status;
            seen.document().commentable_by(tx.viewer(), class_status)?;
            wanted.map(|wanted| find_in_log(tx, &seen, &wanted)).transpose()
        });
        let Some((source, anchor)) = look.await? else {
            return Ok(None);
        };
        let content = self.read_source(source).await?;
        let text = passage(&anchor).and_then(|found| found.text_in(&content).ok());
        let text = text.ok_or_else(|| Error::invalid("passage", "format", "is no range of the document"))?;
        if text.trim().is_empty() {
            return Err(Error::invalid("passage", "required", "contains no text"));
        }
        Ok(Some(QuotedPassage {
            anchor,
            quote: quote(&text),
        }))
    }

    async fn read_source(&self, source: PassageSource) -> Result<Node> {
        match source {
            PassageSource::Content(content) => Ok(content),
            PassageSource::File(file) => Ok(self.read_word_file(&file).await?.content),
        }
    }

    /// Reads the threads with their passages in the present generation. Passages of earlier generations are returned
    /// with the content in which to search them.
    fn find_threads(
        &self,
        tx: &mut ReadTx<'_>,
        id: &DocumentId,
    ) -> Result<(CommentList, Vec<FormerPassage>, Option<PassageSource>)> {
        let seen = tx.document(id)?;
        self.check_editor(&seen)?;
        let document = seen.document();
        let generation = document.key().generation;
        let can_comment = document.commentable_by(tx.viewer(), seen.group_context.class_status);
        let mut list = CommentList {
            generation,
            version: 0,
            can_comment: can_comment.is_ok(),
            read_until: tx.comments_read_until(id)?,
            threads: tx.comment_threads(id)?,
            mentionable: Vec::new(),
            mentioned: Vec::new(),
        };
        let people = tx.people_of_group(&seen.group_context.group.id)?;
        list.mentioned = mentioned_people(tx, id, &list.threads, &people)?;
        if list.can_comment {
            let able = people.into_iter().filter(|found| found.can_view);
            list.mentionable = able.map(|found| found.person).collect();
        }
        let log = present_log(tx, document)?;
        list.version = log.as_ref().map_or(0, |log| log.version);
        move_to(tx, id, generation, list.version, &mut list.threads)?;
        let is_former = |thread: &&CommentThread| {
            let anchor = thread.anchor.as_ref();
            anchor.is_some_and(|anchor| anchor.generation != generation)
        };
        let former: Vec<CommentThread> = list.threads.iter().filter(is_former).cloned().collect();
        if former.is_empty() || is_file_pending(document) {
            return Ok((list, Vec::new(), None));
        }
        let former = former_passages(tx, id, former)?;
        let source = match log {
            Some(log) => PassageSource::Content(commits::content(tx, &log)?),
            None => PassageSource::File(tx.current_file(document)?),
        };
        Ok((list, former, Some(source)))
    }
}

/// Returns the users whom comments mention. Names are those that the list shows anyway, or of members, teachers and authors
/// of the text: an id in an old or imported text can be that of any user.
fn mentioned_people(
    tx: &mut ReadTx<'_>,
    id: &DocumentId,
    threads: &[CommentThread],
    people: &[PersonOfGroup],
) -> Result<Vec<Person>> {
    let comments = || threads.iter().flat_map(|thread| &thread.comments);
    let mentioned: BTreeSet<UserId> = comments().flat_map(|comment| mentions(comment.text.as_str())).collect();
    if mentioned.is_empty() {
        return Ok(Vec::new());
    }
    let of_group = people.iter().map(|found| found.person.clone());
    let authors = comments().map(|comment| comment.author.clone());
    let mut known: BTreeMap<UserId, Person> = of_group
        .chain(tx.contributors(id)?)
        .chain(authors)
        .map(|person| (person.id.clone(), person))
        .collect();
    Ok(mentioned.iter().filter_map(|user| known.remove(user)).collect())
}

/// Whether the file of a frozen document is not written yet.
fn is_file_pending(document: &Document) -> bool {
    document.is_freezing() || document.unsaved_generation.is_some()
}

/// Returns the log of the present generation, if it has begun.
fn present_log(tx: &mut ReadTx<'_>, document: &Document) -> Result<Option<DocumentLog>> {
    if document.status == DocumentState::Draft {
        tx.document_log(&document.id, document.key().generation)
    } else {
        Ok(None)
    }
}

/// Moves the passages of a generation to a version.
fn move_to(
    tx: &mut ReadTx<'_>,
    id: &DocumentId,
    generation: i64,
    version: i64,
    threads: &mut [CommentThread],
) -> Result<()> {
    let is_of_generation = |anchor: &&CommentAnchor| anchor.generation == generation;
    let anchors = threads.iter().filter_map(|thread| thread.anchor.as_ref());
    let Some(oldest) = anchors.filter(is_of_generation).map(|anchor| anchor.version).min() else {
        return Ok(());
    };
    let commits = tx.commits_since(id, generation, oldest, i64::MAX)?;
    let changes = PositionChanges::of(&commits)?;
    for thread in threads {
        if let Some(anchor) = thread.anchor.as_ref().filter(is_of_generation) {
            thread.anchor = changes.map(anchor, version);
        }
    }
    Ok(())
}

/// Returns the text that the passages of earlier generations had at the end of their generation. Without a log, that is
/// their quote.
fn former_passages(
    tx: &mut ReadTx<'_>,
    id: &DocumentId,
    mut threads: Vec<CommentThread>,
) -> Result<Vec<FormerPassage>> {
    let stored: Vec<Option<CommentAnchor>> = threads.iter().map(|thread| thread.anchor.clone()).collect();
    let mut generations: Vec<i64> = stored.iter().flatten().map(|anchor| anchor.generation).collect();
    generations.sort_unstable();
    generations.dedup();
    let mut former = Vec::new();
    for generation in generations {
        let log = tx.document_log(id, generation)?;
        let content = match &log {
            Some(log) => {
                move_to(tx, id, generation, log.version, &mut threads)?;
                Some(commits::content(tx, log)?)
            }
            None => None,
        };
        for (thread, stored) in threads.iter().zip(&stored) {
            let Some(stored) = stored.as_ref().filter(|anchor| anchor.generation == generation) else {
                continue;
            };
            let last = thread.anchor.as_ref().and_then(passage);
            let text = last.and_then(|at| {
                let text = match &content {
                    Some(content) => at.text_in(content).ok(),
                    None => thread.quote.clone(),
                };
                Some((quote(&text?), at))
            });
            former.push(FormerPassage {
                thread: thread.id.clone(),
                anchor: stored.clone(),
                text,
            });
        }
    }
    Ok(former)
}

/// Finds a passage in another content by its text, near its former position. A long passage is found by its beginning
/// and keeps its length.
fn find_again(text: &str, former: Passage, content: &Node) -> Option<Passage> {
    let mut found = Passage::find(text, former.from, content)?;
    if text.chars().count() >= QUOTE_MAX {
        let end = found.from + (former.to - former.from);
        found.to = found.to.max(end.min(content.content_size()));
    }
    Some(found)
}

/// Returns the content that a draft or a file has now, and a passage of the caller's version in it.
fn find_in_log(
    tx: &mut ReadTx<'_>,
    seen: &VisibleDocument,
    wanted: &NewPassage,
) -> Result<(PassageSource, CommentAnchor)> {
    let document = seen.document();
    let generation = document.key().generation;
    if wanted.generation != generation {
        return Err(Error::invalid("passage.generation", "format", "is not the present one"));
    }
    if is_file_pending(document) {
        return Err(Error::Overloaded);
    }
    let log = present_log(tx, document)?;
    let version = log.as_ref().map_or(0, |log| log.version);
    if wanted.version > version {
        return Err(Error::invalid(
            "passage.version",
            "format",
            "is no version of this document",
        ));
    }
    if wanted.from >= wanted.to {
        return Err(Error::invalid("passage.to", "format", "must be behind from"));
    }
    let anchor = CommentAnchor {
        generation,
        version: wanted.version,
        from: wanted.from,
        to: wanted.to,
    };
    let Some(log) = log else {
        return Ok((PassageSource::File(tx.current_file(document)?), anchor));
    };
    let commits = tx.commits_since(&document.id, generation, wanted.version, i64::MAX)?;
    let moved = PositionChanges::of(&commits)?.map(&anchor, version);
    let moved = moved.ok_or_else(|| Error::invalid("passage", "deleted", "was deleted by another user"))?;
    Ok((PassageSource::Content(commits::content(tx, &log)?), moved))
}
