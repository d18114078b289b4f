//! `/assignments/{id}/export.zip`: the documents of the groups of a topic as a ZIP archive. See
//! docs/api-contract.md#archive-of-a-topic.

use api_macros::query;
use axum::extract::Path;
use axum::response::Response;
use domain::export::{ExportFormat, ExportSource};
use domain::id::{AssignmentId, GroupId};
use serde::Deserialize;

use super::context::Context;
use super::downloads::archive;
use super::valid::ValidQuery;
use adapters::blob_store::name;
use api_types::topic_export::index;
use common::error::Result;
use service::actions::topic_exports::{self, TopicExportOptions};

/// Maximum number of groups in a request, as for arrays in bodies.
const GROUPS_MAX: usize = 500;

#[query]
pub(crate) struct TopicExportQuery {
    /// Format of the documents. Defaults to `original`.
    #[serde(default = "as_kept")]
    #[param(required = false, inline)]
    format: ExportFormat,
    /// `current` (the default) exports the documents as they are now, `submission` the copies of the last submission.
    #[serde(default = "as_now")]
    #[param(required = false, inline)]
    source: ExportSource,
    /// Only these groups: their ids, separated by commas.
    #[garde(skip)]
    #[param(value_type = Option<String>)]
    group_ids: Option<GroupIds>,
}

const fn as_kept() -> ExportFormat {
    ExportFormat::Original
}

const fn as_now() -> ExportSource {
    ExportSource::Current
}

/// Ids in a query, separated by commas.
struct GroupIds(Vec<GroupId>);

impl<'de> Deserialize<'de> for GroupIds {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let mut ids: Vec<&str> = text.split(',').map(str::trim).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        if ids.contains(&"") || ids.len() != count || count > GROUPS_MAX {
            let message = format!("must be 1 to {GROUPS_MAX} different ids with commas between them");
            return Err(serde::de::Error::custom(message));
        }
        Ok(Self(ids.into_iter().map(GroupId::new).collect()))
    }
}

/// Export the documents of all groups of a topic as a ZIP archive
///
/// `index.csv` comes first and lists the content. A folder for each group follows. `errors.txt` comes last if something
/// could not be included, such as a failed conversion or a missing file. Groups that have not started are included.
/// Changes saved during the download are not.
#[utoipa::path(get, path = "/assignments/{id}/export.zip", params(("id" = String, Path), TopicExportQuery),
    responses((status = 200, description = "A ZIP archive", content_type = "application/zip", body = Vec<u8>),
        (status = 409, description = "NOTHING_TO_EXPORT")))]
pub(crate) async fn export(
    cx: Context,
    Path(id): Path<AssignmentId>,
    ValidQuery(query): ValidQuery<TopicExportQuery>,
) -> Result<Response> {
    let requested = TopicExportOptions {
        format: query.format,
        source: query.source,
        groups: query.group_ids.map(|groups| groups.0),
    };
    cx.app()
        .document_workflows()
        .save_topic_changes(&cx.context()?, &id)
        .await?;
    // One snapshot. The log record is written in a separate transaction, so that reading does not block writers.
    let plan = cx.read(move |tx| topic_exports::plan(tx, &id, &requested)).await?;
    let topic = plan.assignment.clone();
    cx.write(move |tx| {
        topic_exports::record_export(tx, &topic);
        Ok(())
    })
    .await?;
    let name = name::from_title(plan.assignment.title.as_str(), "zip");
    let list = index(&plan);
    let pieces = cx.app().document_workflows().export(cx.context()?, plan, list);
    Ok(archive(&name, pieces))
}
