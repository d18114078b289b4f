//! What the library offers and this service does elsewhere: organizations are made and changed under `/tenants`, people
//! join through `/users` and `/admin/members`. Whoever asks here is told 403 and nothing happens.

use better_auth::error::AuthError;
use model::access::Access;
use utoipa_axum::routes;

use super::super::endpoint::Endpoints;
use super::answer::{Answered, Refused};
use super::asked::Asked;

/// Writes one handler per row: method, path, the library's refusal.
macro_rules! elsewhere {
    ($($(#[doc = $doc:literal])+ $name:ident: $method:ident $path:literal $refusal:ident;)+) => {
        $(
            $(#[doc = $doc])+
            #[utoipa::path($method, path = $path,
                responses((status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = AuthError::$refusal().code.unwrap_or_default())))]
            async fn $name(asked: Asked) -> Answered {
                refuse(asked, AuthError::$refusal()).await
            }
        )+

        /// The routes that are refused.
        pub fn routes() -> Endpoints {
            Endpoints::new("auth")$(.add(Access::Anyone, routes!($name)))+
        }
    };
}

elsewhere! {
    /// Make an organization: POST /tenants does
    create: post "/auth/organization/create" may_not_create_organization;
    /// Change an organization: PATCH /tenants/{id} does
    update: post "/auth/organization/update" may_not_update_organization;
    /// Delete an organization: DELETE /tenants/{id} does
    delete: post "/auth/organization/delete" may_not_delete_organization;
    /// Leave an organization: an administrator ends memberships
    leave: post "/auth/organization/leave" may_not_access_organization;
    /// Ask whether a short name is free: POST /tenants says so
    check_slug: post "/auth/organization/check-slug" may_not_create_organization;
    /// Change a member's role: PATCH /admin/members/{id} does
    update_member_role: post "/auth/organization/update-member-role" may_not_update_member;
    /// Remove a member: DELETE /users/{id} does
    remove_member: post "/auth/organization/remove-member" may_not_delete_member;
    /// Invite somebody: POST /users does
    invite_member: post "/auth/organization/invite-member" may_not_invite;
}

async fn refuse(asked: Asked, refusal: AuthError) -> Answered {
    let present = asked.present().await?;
    Err(Refused::from(refusal).with(present.cookies))
}
