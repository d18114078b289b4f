//! `POST /workrooms/documents/{id}/playback`: how a document was written, for staff of its class. See
//! docs/built-in-editor.md#playback.

use api_macros::body;
use axum::Json;
use axum::extract::Path;
use domain::id::DocumentId;

use super::context::Context;
use super::valid::Valid;
use api_types::playback::PlaybackView;
use common::error::Result;
use db::WriteTx;
use service::actions::playback::{self, PlaybackRange};

/// The default and the maximum number of commits in a page.
const PAGE: (i64, i64) = (500, 2_000);

/// The commits to play back.
#[body(Default)]
pub(crate) struct PlaybackBody {
    /// The generation of the commits. Defaults to the first one that was opened in the built-in editor.
    #[garde(range(min = 1))]
    generation: Option<i64>,
    /// Only commits after this version. Defaults to 0.
    #[garde(range(min = 0))]
    since: Option<i64>,
    /// The maximum number of commits. Defaults to 500.
    #[garde(range(min = 1, max = PAGE.1))]
    limit: Option<i64>,
}

/// Play back how a document was written
///
/// Returns the commits of one generation after a version, oldest first, with the content at its beginning on the first
/// page. The organization has to enable it; each request is recorded in the activity log.
#[utoipa::path(post, path = "/workrooms/documents/{id}/playback", params(("id" = String, Path)),
    request_body = PlaybackBody,
    responses((status = 200, body = PlaybackView), (status = 409, description = "PLAYBACK_DISABLED")))]
pub(crate) async fn show(
    cx: Context,
    Path(id): Path<DocumentId>,
    Valid(body): Valid<PlaybackBody>,
) -> Result<Json<PlaybackView>> {
    let range = PlaybackRange {
        generation: body.generation,
        since: body.since.unwrap_or(0),
        limit: body.limit.unwrap_or(PAGE.0),
    };
    let document = id.clone();
    let page = cx
        .write(move |tx: &mut WriteTx<'_>| playback::play_back(tx, &document, &range))
        .await?;
    Ok(Json(PlaybackView {
        document_id: id,
        generations: page.generations.into_iter().map(Into::into).collect(),
        generation: page.generation,
        doc: page.content,
        commits: page.commits.iter().map(Into::into).collect(),
        has_more: page.has_more,
        authors: page.people,
    }))
}
