//! Routes of the library that this service rejects with 403, because it offers the function elsewhere: organizations
//! are created and changed under `/tenants`, people join through `/users` and `/admin/members`.

use better_auth::error::AuthError;

use super::request::AuthRequest;
use super::response::{AuthRejection, AuthResult};

/// Defines one handler per row: method, path, error of the library.
macro_rules! rejected_routes {
    ($($(#[doc = $doc:literal])+ $name:ident: $method:ident $path:literal $refusal:ident;)+) => {
        $(
            $(#[doc = $doc])+
            #[utoipa::path($method, path = $path,
                responses((status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = AuthError::$refusal().code.unwrap_or_default())))]
            pub(crate) async fn $name(request: AuthRequest) -> AuthResult {
                refuse(request, AuthError::$refusal()).await
            }
        )+
    };
}

rejected_routes! {
    /// Create an organization (rejected; use `POST /tenants`)
    create: post "/auth/organization/create" may_not_create_organization;
    /// Update an organization (rejected; use `PATCH /tenants/{id}`)
    update: post "/auth/organization/update" may_not_update_organization;
    /// Delete an organization (rejected; use `DELETE /tenants/{id}`)
    delete: post "/auth/organization/delete" may_not_delete_organization;
    /// Leave an organization (rejected; an administrator ends the membership)
    leave: post "/auth/organization/leave" may_not_access_organization;
    /// Check whether a slug is free (rejected; `POST /tenants` reports a conflict)
    check_slug: post "/auth/organization/check-slug" may_not_create_organization;
    /// Change the role of a member (rejected; use `PATCH /admin/members/{id}`)
    update_member_role: post "/auth/organization/update-member-role" may_not_update_member;
    /// Remove a member (rejected; use `DELETE /users/{id}`)
    remove_member: post "/auth/organization/remove-member" may_not_delete_member;
    /// Invite a person (rejected; use `POST /users`)
    invite_member: post "/auth/organization/invite-member" may_not_invite;
}

async fn refuse(request: AuthRequest, refusal: AuthError) -> AuthResult {
    let current_session = request.current_session().await?;
    Err(AuthRejection::from(refusal).with(current_session.cookies))
}
