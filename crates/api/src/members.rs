//! `/admin/members`: the members of the organization and their roles. See docs/api-contract.md#people.

use api_macros::query;
use axum::Json;
use axum::extract::Path;
use domain::access::MemberRole;
use domain::id::MemberId;
use domain::text::Search;

use super::context::Context;
use super::dry_run::DryRunQuery;
use super::pagination::{Cursor, Limit, Members, Page, window};
use super::patch_fields::Editable;
use super::response::Ack;
use super::valid::{Patch, ValidQuery};
use api_types::user::MemberView;
use common::error::Result;
use db::members::{MemberFilter, MemberWithUser};
use service::actions::members::{self, MemberEdit};

#[query]
pub(crate) struct MemberListQuery {
    /// Only members with this role.
    role: Option<MemberRole>,
    /// Substring of the name or the address. Names that begin with it come first.
    search: Option<Search>,
    /// Maximum number of members. A value above 200 counts as 200.
    limit: Option<Limit>,
    /// The `nextCursor` of the previous page.
    cursor: Option<Cursor<String, Members>>,
}

impl Editable for MemberEdit {
    type Resource = MemberView;
}

/// List the members of the organization, by name
#[utoipa::path(get, path = "/admin/members", params(MemberListQuery), responses((status = 200, body = Page<MemberView>)))]
pub(crate) async fn list(
    cx: Context,
    ValidQuery(query): ValidQuery<MemberListQuery>,
) -> Result<Json<Page<MemberView>>> {
    let filter = MemberFilter {
        role: query.role,
        search: query.search.map(Search::into_string).filter(|text| !text.is_empty()),
    };
    let window = window(query.limit, query.cursor);
    let slice = cx.read(move |tx| tx.all_members(&filter, &window)).await?;
    Ok(Json(Page::of(Members, slice, view)))
}

/// Set the role of a member
///
/// It takes effect with the next request of the member.
#[utoipa::path(patch, path = "/admin/members/{id}", params(("id" = String, Path)), request_body = MemberEdit,
    responses((status = 200, body = MemberView), (status = 403, description = "FORBIDDEN_RANK"),
        (status = 409, description = "LAST_OWNER, EMAIL_REQUIRED")))]
pub(crate) async fn edit(cx: Context, Path(id): Path<MemberId>, patch: Patch<MemberEdit>) -> Result<Json<MemberView>> {
    let member = cx.write(move |tx| members::edit(tx, &id, &patch.edit)).await?;
    Ok(Json(view(member)))
}

/// End a membership with its enrolments, group memberships and sessions
#[utoipa::path(delete, path = "/admin/members/{id}", params(("id" = String, Path), DryRunQuery),
    responses((status = 200, body = Ack), (status = 403, description = "FORBIDDEN_RANK"),
        (status = 409, description = "LAST_OWNER")))]
pub(crate) async fn remove(
    cx: Context,
    Path(id): Path<MemberId>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<Ack>> {
    cx.write_or_preview(query.dry_run, move |tx| members::remove_member(tx, &id))
        .await?;
    Ok(Json(Ack::SUCCESS))
}

fn view(known: MemberWithUser) -> MemberView {
    MemberView::new(known.member, known.person, known.email)
}
