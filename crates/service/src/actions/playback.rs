//! Playback: staff watch how a document of the built-in editor was written. It observes students, so it has to be
//! enabled by the organization, and every request is recorded in the activity log. Commits are deleted with their
//! document, so there is nothing to play back after that.

use domain::change::DocumentStep;
use domain::document_log::{DocumentCommit, DocumentGeneration};
use domain::domain_error::DomainError;
use domain::id::DocumentId;
use domain::user::Person;
use serde_json::Value;

use super::commits;
use common::error::{Error, Result};
use db::WriteTx;

/// The maximum size of the commits of a page, in bytes. One commit may be larger.
const PAGE_BYTES_MAX: usize = 4 << 20;

/// What is played back.
#[derive(Debug, Clone)]
pub struct PlaybackRange {
    /// The generation of the commits; `None` for the first one.
    pub generation: Option<i64>,
    /// Only commits after this version.
    pub since: i64,
    /// The maximum number of commits.
    pub limit: i64,
}

/// A page of a playback.
#[derive(Debug, Clone)]
pub struct PlaybackPage {
    /// All generations, oldest first.
    pub generations: Vec<DocumentGeneration>,
    /// The generation of the commits; `None` if there is none.
    pub generation: Option<i64>,
    /// The content with which the generation began, on its first page.
    pub content: Option<Value>,
    pub commits: Vec<DocumentCommit>,
    /// Whether there are later commits of the generation.
    pub has_more: bool,
    /// The authors that are still known.
    pub people: Vec<Person>,
}

/// Returns a page of the commits of a document, and records that the caller has seen it.
pub fn play_back(tx: &mut WriteTx<'_>, id: &DocumentId, range: &PlaybackRange) -> Result<PlaybackPage> {
    let seen = tx.document(id)?;
    // Teachers of other classes see the outline of the group, which does not include this.
    if !tx.group(&seen.group_context.group.id)?.has_full_access {
        return Err(Error::NotFound);
    }
    if !tx.organization_settings()?.features.document_playback {
        return Err(DomainError::PlaybackDisabled.into());
    }
    let generations = tx.generations(id)?;
    let first = generations.first().map(|first| first.generation);
    let generation = range.generation.or(first);
    let shown = generations.iter().find(|one| Some(one.generation) == generation);
    let (mut content, mut commits, mut has_more) = (None, Vec::new(), false);
    if let Some(shown) = shown {
        if range.since == 0 {
            content = Some(serde_json::from_str(&tx.first_snapshot(id, shown.generation)?)?);
        }
        commits = tx.commits_since(id, shown.generation, range.since, range.limit)?;
        while commits.len() > 1 && commits::size(&commits) > PAGE_BYTES_MAX {
            commits.truncate(commits.len().div_ceil(2));
        }
        has_more = commits.last().is_some_and(|last| last.version < shown.version);
    }
    let page = PlaybackPage {
        generation: shown.map(|shown| shown.generation),
        generations,
        content,
        commits,
        has_more,
        people: tx.contributors(id)?,
    };
    let (generation, since) = (page.generation.unwrap_or_default(), range.since);
    tx.record(seen.change(DocumentStep::PlayedBack { generation, since }));
    Ok(page)
}
