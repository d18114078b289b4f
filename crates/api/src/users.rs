//! `/users`: the caller, and the people of the organization as far as the caller may see them. See
//! docs/api-contract.md#people.

use api_macros::{query, view};
use axum::Json;
use axum::extract::Path;
use domain::access::{EffectiveRole, PlatformRole};
use domain::id::{ClassId, HomeroomId, UserId};
use domain::text::Search;
use domain::version::VersionedObject;

use super::auth;
use super::context::Context;
use super::cross_tenant_list::Direction;
use super::dry_run::DryRunQuery;
use super::existing;
use super::groups;
use super::pagination::{Cursor, Limit, Page, Users, window};
use super::patch_fields::Editable;
use super::response::{Ack, Created, Versioned, or_current};
use super::valid::{Patch, Switch, Valid, ValidQuery};
use ::auth::temporary_password;
use api_types::group::ListedGroupView;
use api_types::invitation::InvitedUserView;
use api_types::user::{CreatedUserView, JoinedUserView, KnownUserView, Me, NewMemberView};
use common::error::{Error, Result};
use db::page::Window;
use db::platform::CrossTenantReason;
use db::platform::organizations::OrganizationName;
use db::users::{UserFilter, VisibleUser};
use db::{ReadTx, Tenant, WriteTx};
use service::actions::members;
use service::actions::people::{self, Password, Provisioned};
use service::actions::profile::{self, ProfileEdit};
use service::actions::sessions;
use service::actions::users::{self, NewUser, PasswordLink, UserEdit};

#[query]
pub(crate) struct UserListQuery {
    /// Only users with this role in the organization. `ADMIN` includes owners.
    role: Option<PlatformRole>,
    /// Substring of the name, for administrators also of the address. Names that begin with it come first.
    search: Option<Search>,
    /// Only students enrolled in this class. Teachers receive an empty page for classes of other teachers.
    class_id: Option<ClassId>,
    /// Only students of this homeroom.
    homeroom_id: Option<HomeroomId>,
    /// Only active (`1`) or inactive (`0`) accounts.
    is_active: Option<Switch>,
    /// Maximum number of users. A value above 200 counts as 200.
    limit: Option<Limit>,
    /// The `nextCursor` of the previous page.
    cursor: Option<Cursor<String, Users>>,
}

/// A generated password, returned only once.
#[view]
#[schema(as = TemporaryPassword)]
pub(crate) struct PasswordResetView {
    /// Valid for seven days. The user should change it after the first sign-in.
    temporary_password: String,
    /// The secret of a code to print that signs in once, returned only once. It expires with the password.
    slip_token: String,
    /// The user name on the platform, `name@slug`; null if the user has none.
    username: Option<String>,
}

impl Editable for UserEdit {
    type Resource = KnownUserView;
}

impl Editable for ProfileEdit {
    type Resource = Me;
}

/// Get the caller with membership and organization
#[utoipa::path(get, path = "/users/me", responses((status = 200, body = Me)))]
pub(crate) async fn me(cx: Context) -> Result<Versioned<Me>> {
    let session = &cx.caller().session;
    let tenant = cx.caller().tenant.as_ref().map(Tenant::id);
    let (user, tenant) = (
        cx.caller().user.clone(),
        tenant.filter(|tenant| session.is_valid_in(tenant)).cloned(),
    );
    let load = cx
        .app()
        .store()
        .platform_read(CrossTenantReason::SessionLookup, move |platform| {
            let (profile, version) = (platform.profile(&user.id)?, platform.version_of_account(&user.id)?);
            let password_reset = platform.password_reset(&user.id)?;
            let name = tenant.map(|id| OrganizationName::Id(id.into_string()));
            let seen = name
                .map(|name| platform.organization(&name, &user.id))
                .transpose()?
                .flatten();
            // The Host may name an organization that the caller has no access to.
            let seen = seen.filter(|seen| seen.member.is_some() || user.role == PlatformRole::SuperAdmin);
            let (member, organization) = seen.map(|seen| (seen.member, seen.organization)).unzip();
            let app = if profile.has_second_factor {
                platform.second_factor(&user.id)?
            } else {
                None
            };
            let has_app = app.is_some_and(|app| app.confirmed_at.is_some());
            let me = Me::new(profile, member.flatten(), organization, password_reset, has_app);
            Ok(Versioned(me, version))
        });
    load.await
}

/// Update the caller's profile
#[utoipa::path(patch, path = "/users/me", request_body = ProfileEdit, responses((status = 200, body = Me), (status = 412, description = "PRECONDITION_FAILED"),
    (status = 403, description = "NAME_SET_BY_SCHOOL: names of students are changed by staff; SIGNED_ON_ELSEWHERE")))]
pub(crate) async fn edit_me(cx: Context, patch: Patch<ProfileEdit>) -> Result<Versioned<Me>> {
    let (user, now) = (cx.caller().user.id.clone(), cx.caller().now);
    let (app, proof) = (cx.app(), CrossTenantReason::SessionLookup);
    let (condition, actor, session) = (cx.condition()?, cx.caller().actor(), cx.caller().session.clone());
    let act = move |tx: &mut db::platform::PlatformWriteTx<'_>| {
        sessions::may_use_account(tx, &session)?;
        profile::edit(tx, &user, &patch.edit, condition.as_ref(), &actor, now)
    };
    let done = app.transactor().write_platform(proof, act).await;
    or_current(done, me(cx.clone())).await?;
    me(cx).await
}

/// List the people of the organization, by name
///
/// Administrators receive accounts; teachers receive names, and the addresses that they may see.
#[utoipa::path(get, path = "/users", params(UserListQuery), responses((status = 200, body = Page<KnownUserView>)))]
pub(crate) async fn list(
    cx: Context,
    ValidQuery(query): ValidQuery<UserListQuery>,
) -> Result<Json<Page<KnownUserView>>> {
    let filter = UserFilter {
        role: query.role,
        search: query.search.map(Search::into_string).filter(|text| !text.is_empty()),
        class_id: query.class_id,
        homeroom_id: query.homeroom_id,
        is_active: query.is_active.map(|on| on.0),
    };
    let (window, is_platform) = (window(query.limit, query.cursor), is_platform(&cx));
    let load = move |tx: &mut ReadTx<'_>, window: &Window<String>| tx.visible_users(&filter, window, is_platform);
    let slice = cx
        .page(window, Direction::Ascending, load, VisibleUser::position)
        .await?;
    Ok(Json(Page::of(Users, slice, view)))
}

/// Add a person to the organization
///
/// An address without an account gets a new account, as does a student or teacher without an address, who signs in with
/// a user name. A person with an account that this organization did not create is
/// invited, and becomes a member, with the classes and the homeroom of this request, by accepting the invitation.
#[utoipa::path(post, path = "/users", request_body = NewUser, responses((status = 201, body = NewMemberView),
    (status = 409, description = "DUPLICATE_EMAIL: already a member; DUPLICATE_EXTERNAL_ID, DUPLICATE_USERNAME, \
        EMAIL_REQUIRED, CLASS_ARCHIVED, \
        NO_MAILBOX: an address that no email reaches cannot be invited, ALREADY_INVITED"),
        (status = 403, description = "FORBIDDEN_RANK")))]
pub(crate) async fn create(cx: Context, Valid(new): Valid<NewUser>) -> Result<Created<NewMemberView>> {
    let invitation = (new.send_invite == Some(true)).then(|| {
        let token = better_auth::token::reset_token();
        let path = auth::reset_path(&token, auth::RESET_PAGE);
        PasswordLink { token, path }
    });
    let password_hasher = cx.app().authenticator().password_hasher();
    let (password, temporary) = match &new.password {
        Some(given) => (Some(Password::Given(password_hasher.hash(given.clone()).await?)), None),
        None if invitation.is_some() => (None, None),
        None => {
            let temporary = generate_password(&cx).await;
            let hash = password_hasher.hash(temporary.clone()).await?;
            (Some(Password::Temporary(hash)), Some(temporary))
        }
    };
    let (mail, is_platform) = (cx.app().mail().clone(), is_platform(&cx));
    let slip_token = temporary.is_some().then(better_auth::token::reset_token);
    let email = new.address();
    let lookup = (email.clone(), new.external_id.clone());
    let make = cx.repeatable(move |tx| {
        let joined = match users::create(tx, &new, password.as_ref(), invitation.as_ref(), &mail)? {
            Provisioned::Member(joined) => joined,
            Provisioned::Invited(invitation) => {
                let location = format!("/api/admin/invitations/{}", invitation.id);
                let view = NewMemberView::Invited(Box::new(InvitedUserView::new(*invitation)));
                return Ok(Created(location, view));
            }
        };
        if let Some(token) = slip_token.as_ref().filter(|_| joined.is_new_account) {
            users::insert_slip(tx, &joined.person.id, token)?;
        }
        let known = tx.visible_user(&joined.person.id, is_platform)?;
        if let (true, Some(invitation), Some(user)) = (joined.is_new_account, &invitation, &known.account) {
            users::invite(tx, &mail, user, invitation)?;
        }
        let location = format!("/api/users/{}", joined.person.id);
        let (VisibleUser { email, account, .. }, member) = (known, joined.member);
        let view = if let Some(user) = account.filter(|_| joined.is_new_account) {
            let view = CreatedUserView::new(*user, member, temporary.clone(), slip_token.clone());
            NewMemberView::Created(Box::new(view))
        } else {
            let email = email.and_then(|email| email.shown()).unwrap_or_default();
            NewMemberView::Joined(Box::new(JoinedUserView::new(email, member)))
        };
        Ok(Created(location, view))
    });
    let made = match email {
        Some(email) => cx.write_taking_over(email, make).await,
        None => cx.write(make).await,
    };
    existing::person(&cx, made, lookup.0, lookup.1).await
}

/// Get a person, as far as the caller may see them
#[utoipa::path(get, path = "/users/{id}", params(("id" = String, Path)), responses((status = 200, body = KnownUserView)))]
pub(crate) async fn show(cx: Context, Path(id): Path<UserId>) -> Result<Versioned<KnownUserView>> {
    let (is_platform, object) = (is_platform(&cx), VersionedObject::from(&id));
    let known = cx.read_object(object, move |tx| tx.visible_user(&id, is_platform));
    Ok(known.await?.map(view))
}

/// Update the account of a user, or the user's external id in the organization
#[utoipa::path(patch, path = "/users/{id}", params(("id" = String, Path)), request_body = UserEdit,
    responses((status = 200, body = KnownUserView), (status = 403, description = "FORBIDDEN_RANK, SHARED_ACCOUNT"),
    (status = 412, description = "PRECONDITION_FAILED"), (status = 409, description = "DUPLICATE_EMAIL, DUPLICATE_EXTERNAL_ID, DUPLICATE_USERNAME, \
        EMAIL_REQUIRED, LAST_OWNER")))]
pub(crate) async fn edit(
    cx: Context,
    Path(id): Path<UserId>,
    patch: Patch<UserEdit>,
) -> Result<Versioned<KnownUserView>> {
    let is_platform = is_platform(&cx);
    let (object, current) = (VersionedObject::from(&id), show(cx.clone(), Path(id.clone())));
    let email = patch.edit.email.value().and_then(|email| people::address(email));
    let external_id = patch.edit.external_id.value().cloned();
    let act = move |tx: &mut WriteTx<'_>| {
        users::edit(tx, &id, &patch.edit)?;
        tx.visible_user(&id, is_platform)
    };
    let edited = existing::person(&cx, cx.write_object(object, act).await, email, external_id).await;
    let known = or_current(edited, current).await?;
    Ok(known.map(view))
}

/// End a user's membership with its enrolments, group memberships and sessions
#[utoipa::path(delete, path = "/users/{id}", params(("id" = String, Path), DryRunQuery),
    responses((status = 200, body = Ack), (status = 403, description = "FORBIDDEN_RANK"),
        (status = 409, description = "LAST_OWNER")))]
pub(crate) async fn remove(
    cx: Context,
    Path(id): Path<UserId>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<Ack>> {
    cx.write_or_preview(query.dry_run, move |tx| members::remove(tx, &id))
        .await?;
    Ok(Json(Ack::SUCCESS))
}

/// Set a temporary password for a user
///
/// All sessions of the user end.
#[utoipa::path(post, path = "/users/{id}/reset-password", params(("id" = String, Path)),
    responses((status = 200, body = PasswordResetView), (status = 403, description = "FORBIDDEN_RANK, SHARED_ACCOUNT, \
        FORBIDDEN_ROLE: a teacher may do this for students whom an administrator or an import put into an own class")))]
pub(crate) async fn reset_password(cx: Context, Path(id): Path<UserId>) -> Result<Json<PasswordResetView>> {
    let temporary_password = generate_password(&cx).await;
    let hash = cx
        .app()
        .authenticator()
        .password_hasher()
        .hash(temporary_password.clone())
        .await?;
    let password = Password::Temporary(hash);
    let mail = cx.app().mail().clone();
    let slip_token = better_auth::token::reset_token();
    let token = slip_token.clone();
    let username = cx
        .write(move |tx| users::reset_password(tx, &mail, &id, &password, &token))
        .await?;
    Ok(Json(PasswordResetView {
        temporary_password,
        slip_token,
        username,
    }))
}

/// Remove the second factor of a user who lost it
///
/// All sessions of the user end, and the user is notified by email.
#[utoipa::path(post, path = "/users/{id}/reset-second-factor", params(("id" = String, Path)),
    responses((status = 200, body = Ack), (status = 403, description = "FORBIDDEN_RANK, also for the own account and for \
        platform administrators; SHARED_ACCOUNT if the organization is not the home of the account")))]
pub(crate) async fn reset_second_factor(cx: Context, Path(id): Path<UserId>) -> Result<Json<Ack>> {
    let mail = cx.app().mail().clone();
    cx.write(move |tx| users::reset_second_factor(tx, &mail, &id)).await?;
    Ok(Json(Ack::SUCCESS))
}

/// List the groups of a student
///
/// Students may list their own groups; staff receive the groups that they may see.
#[utoipa::path(get, path = "/users/{id}/groups", params(("id" = String, Path)),
    responses((status = 200, body = [ListedGroupView]), (status = 403, description = "FORBIDDEN_ROLE")))]
pub(crate) async fn groups_of(cx: Context, Path(id): Path<UserId>) -> Result<Json<Vec<ListedGroupView>>> {
    let is_others = cx.caller().effective_role == EffectiveRole::Student && !cx.caller().is(&id);
    let found = cx.read(move |tx| {
        tx.visible_user(&id, false)?;
        if is_others {
            return Err(Error::ForbiddenRole);
        }
        tx.groups_of(&id)
    });
    groups::shown(&cx, found.await?)
}

/// Generates a temporary password in the language of the organization.
async fn generate_password(cx: &Context) -> String {
    let settings = cx.read(|tx| tx.organization_settings()).await;
    let locale = settings.ok().and_then(|settings| settings.locale);
    temporary_password::generate_words(locale.as_ref())
}

fn is_platform(cx: &Context) -> bool {
    cx.caller().effective_role == EffectiveRole::SuperAdmin
}

fn view(known: VisibleUser) -> KnownUserView {
    match (known.account, known.member) {
        (Some(user), Some(member)) => KnownUserView::details(*user, member, known.has_credential),
        (_, member) => KnownUserView::outline(
            known.person,
            known.role,
            known.email,
            known.username,
            known.is_active,
            member,
        ),
    }
}
