//! `/assignments/{id}/export.zip` (contract 6.9, 8.4): the work of the groups of a topic as one archive.

use axum::extract::Path;
use axum::response::Response;
use garde::Validate;
use model::access::Access;
use model::export::{ExportFormat, ExportSource};
use model::id::{AssignmentId, GroupId};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::routes;

use super::context::Context;
use super::downloads::archive;
use super::endpoint::Endpoints;
use super::terms::Terms;
use super::valid::ValidQuery;
use adapters::files::name;
use api_types::topic_export::index;
use common::error::Result;
use service::actions::topic_exports::{self, Wanted};

/// Groups that may be named at once, as in every list of a request (contract 9).
const GROUPS_MAX: usize = 500;

/// The route of the archive of a topic.
pub fn routes() -> Endpoints {
    Endpoints::new("assignments").add_on(Terms::Export, Access::Staff, routes!(export))
}

#[derive(Deserialize, Validate, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
struct Exported {
    /// As what the documents come; `original` without it
    #[garde(skip)]
    #[serde(default = "as_kept")]
    #[param(required = false, inline)]
    format: ExportFormat,
    /// `current` (without it): as they are now; `submission`: as they were handed in last
    #[garde(skip)]
    #[serde(default = "as_now")]
    #[param(required = false, inline)]
    source: ExportSource,
    /// Of these groups alone: their ids with commas between them
    #[garde(skip)]
    #[param(value_type = Option<String>)]
    group_ids: Option<Groups>,
}

const fn as_kept() -> ExportFormat {
    ExportFormat::Original
}

const fn as_now() -> ExportSource {
    ExportSource::Current
}

/// Ids in a query.
struct Groups(Vec<GroupId>);

impl<'de> Deserialize<'de> for Groups {
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

/// The documents of all groups of a topic as one archive
///
/// `index.csv` comes first and lists what is in it, a folder for each group follows, and `errors.txt` comes last when
/// something could not be brought: a conversion that failed, a file that is missing. Groups that have not started are in
/// it. What is saved while it streams is not.
#[utoipa::path(get, path = "/assignments/{id}/export.zip", params(("id" = String, Path), Exported),
    responses((status = 200, description = "An archive", content_type = "application/zip", body = Vec<u8>),
        (status = 409, description = "NOTHING_TO_EXPORT")))]
async fn export(
    cx: Context,
    Path(id): Path<AssignmentId>,
    ValidQuery(query): ValidQuery<Exported>,
) -> Result<Response> {
    let wanted = Wanted {
        format: query.format,
        source: query.source,
        groups: query.group_ids.map(|groups| groups.0),
    };
    // One snapshot; the record of it is a unit of its own, because reading must not hold up those who write.
    let plan = cx.read(move |scope| topic_exports::plan(scope, &id, &wanted)).await?;
    let topic = plan.assignment.clone();
    cx.write(move |work| {
        topic_exports::record(work, &topic);
        Ok(())
    })
    .await?;
    let name = name::of_title(plan.assignment.title.as_str(), "zip");
    let list = index(&plan);
    let pieces = cx.app().editing().export(cx.standpoint()?, plan, list);
    Ok(archive(&name, pieces))
}
