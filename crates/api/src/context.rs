//! The context of a handler: the caller and access to the database. Handlers have no other way to reach data.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use domain::access::EffectiveRole;
use domain::id::OrganizationId;
use domain::version::{IfMatch, VersionedObject};

pub use super::app::App;
use super::cross_tenant_list::{self, Direction, Keyed};
use super::dry_run::DryRun;
use super::idempotency::Claim;
use super::response::{Repeatable, Versioned};
use auth::Caller;
use common::error::{Error, Result};
use db::page::{Position, Slice, Window};
use db::platform::CrossTenantReason;
use db::platform::resource_tenant::ResourceRef;
use db::{ReadTx, RequestContext, Tenant, WriteTx};
use service::changes::ConditionalChange;

/// The caller of a request, with database access scoped to the caller's organization.
#[derive(Clone)]
pub struct Context {
    caller: Caller,
    app: App,
    /// The value of `If-Match`.
    if_match: Option<String>,
    /// The request under its `Idempotency-Key`.
    claim: Option<Arc<Claim>>,
}

impl FromRequestParts<App> for Context {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        // The guard of the route inserted the caller. A route without a guard has no caller and no `Context`.
        let caller = parts
            .extensions
            .get::<Caller>()
            .cloned()
            .ok_or(Error::Unauthenticated)?;
        Ok(Self {
            caller,
            app: app.clone(),
            if_match: if_match(&parts.headers),
            claim: parts.extensions.get::<Arc<Claim>>().cloned(),
        })
    }
}

impl Context {
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// The application state, for everything but the database: files, document server, settings.
    pub fn app(&self) -> &App {
        &self.app
    }

    /// Runs a read transaction in the caller's organization, with the caller's visibility.
    pub async fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&mut ReadTx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.app.store().read(self.context()?, query).await
    }

    /// Reads a list in the caller's organization, in the order of the query. For a SUPER_ADMIN without an organization
    /// the list spans all organizations, sorted by the keys that accompany the rows.
    pub async fn list<K: Ord + Send + 'static, T: Send + 'static>(
        &self,
        mut query: impl FnMut(&mut ReadTx<'_>) -> Result<Vec<Keyed<K, T>>> + Send + 'static,
    ) -> Result<Vec<T>> {
        if !self.caller.is_cross_tenant() {
            let rows = self.read(query).await?;
            return Ok(rows.into_iter().map(|(_, row)| row).collect());
        }
        let gather =
            move |all: &mut Vec<Keyed<K, T>>, tx: &mut ReadTx<'_>| cross_tenant_list::add_rows(all, query(tx)?);
        let all = self.read_all_tenants(Vec::new(), gather).await?;
        Ok(cross_tenant_list::sorted(all))
    }

    /// Reads a page of a list in the caller's organization. For a SUPER_ADMIN without an organization the list spans
    /// all organizations.
    pub async fn page<K: Ord + Send + 'static, T: Send + 'static>(
        &self,
        window: Window<K>,
        direction: Direction,
        mut query: impl FnMut(&mut ReadTx<'_>, &Window<K>) -> Result<Slice<T, K>> + Send + 'static,
        position: impl Fn(&T) -> Position<K> + Send + 'static,
    ) -> Result<Slice<T, K>> {
        if !self.caller.is_cross_tenant() {
            return self.read(move |tx| query(tx, &window)).await;
        }
        let gather = move |all: &mut Slice<T, K>, tx: &mut ReadTx<'_>| {
            let more = query(tx, &window)?;
            cross_tenant_list::add_page(all, more, &window, direction, &position);
            Ok(())
        };
        self.read_all_tenants(cross_tenant_list::empty_page(), gather).await
    }

    async fn read_all_tenants<T: Send + 'static>(
        &self,
        start: T,
        gather: impl FnMut(&mut T, &mut ReadTx<'_>) -> Result<()> + Send + 'static,
    ) -> Result<T> {
        let (proof, viewer) = (CrossTenantReason::SuperAdmin, (self.caller.actor(), self.caller.now));
        self.app.store().read_all_tenants(proof, viewer, start, gather).await
    }

    /// The same caller in another organization. Actions of a SUPER_ADMIN on a tenant run in that tenant, whichever
    /// organization is active.
    pub async fn in_organization(&self, id: &OrganizationId) -> Result<Self> {
        let resource = ResourceRef::Organization(id.to_string());
        let found = self
            .app
            .authenticator()
            .resolve_tenant(resource)
            .await?
            .ok_or(Error::NotFound)?;
        Ok(self.at(found.tenant))
    }

    /// The same caller in an organization that is about to be created.
    #[must_use]
    pub fn in_new_organization(&self) -> Self {
        self.at(Tenant::for_new_organization(CrossTenantReason::SuperAdmin))
    }

    fn at(&self, tenant: Tenant) -> Self {
        let mut in_organization = self.clone();
        in_organization.caller.tenant =
            Some(tenant).filter(|_| self.caller.effective_role == EffectiveRole::SuperAdmin);
        in_organization
    }

    /// Runs a write transaction in the caller's organization. The changes that the action records are logged and
    /// published.
    pub async fn write<T: Send + 'static>(
        &self,
        act: impl FnMut(&mut WriteTx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.app.transactor().write(self.context()?, act).await
    }

    /// Reads an object with its version.
    pub async fn read_object<T: Send + 'static>(
        &self,
        object: impl Into<VersionedObject>,
        query: impl FnOnce(&mut ReadTx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<Versioned<T>> {
        let object = object.into();
        let query = move |tx: &mut ReadTx<'_>| {
            let shown = query(tx)?;
            let version = tx.version(&object)?.ok_or(Error::NotFound)?;
            Ok(Versioned(shown, version))
        };
        self.read(query).await
    }

    /// Changes an object in one transaction and compares `If-Match` there. A mismatch is [`Error::PreconditionFailed`],
    /// which [`or_current`](super::response::or_current) completes with the current object.
    pub async fn write_object<T: Send + 'static>(
        &self,
        object: impl Into<VersionedObject>,
        act: impl FnMut(&mut WriteTx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<Versioned<T>> {
        self.write_on(object.into(), false, act).await
    }

    /// Like [`write_object`](Self::write_object), for deleting an object.
    pub async fn delete_object<T: Send + 'static>(
        &self,
        object: impl Into<VersionedObject>,
        act: impl FnMut(&mut WriteTx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        Ok(self.write_on(object.into(), true, act).await?.0)
    }

    /// Deletes an object like [`delete_object`](Self::delete_object), or previews that in a dry run like
    /// [`write_or_preview`](Self::write_or_preview). `If-Match` is compared in a dry run as well.
    pub async fn delete_or_preview<T: Send + 'static>(
        &self,
        dry_run: DryRun,
        object: impl Into<VersionedObject>,
        act: impl FnMut(&mut WriteTx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.delete_object(object, rolled_back_if(dry_run, act)).await
    }

    async fn write_on<T: Send + 'static>(
        &self,
        object: VersionedObject,
        is_deletion: bool,
        act: impl FnMut(&mut WriteTx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<Versioned<T>> {
        let changing = ConditionalChange {
            object,
            condition: self.condition()?,
            is_deletion,
        };
        let transactor = self.app.transactor();
        let (object, version) = transactor.write_object(self.context()?, changing, act).await?;
        Ok(Versioned(object, version))
    }

    /// Parses the `If-Match` precondition of the request.
    pub fn condition(&self) -> Result<Option<IfMatch>> {
        let parsed = self.if_match.as_deref().map(|text| {
            let wrong = || Error::invalid("If-Match", "format", "must be * or entity tags in quotes");
            IfMatch::parse(text).ok_or_else(wrong)
        });
        parsed.transpose()
    }

    /// Creates an object in one transaction, at most once per `Idempotency-Key`.
    pub async fn create<A: Repeatable + Send + 'static>(
        &self,
        act: impl FnMut(&mut WriteTx<'_>) -> Result<A> + Send + 'static,
    ) -> Result<A> {
        self.write(self.repeatable(act)).await
    }

    /// Wraps a creating action so that its response is stored under the `Idempotency-Key` of the request. A repeated
    /// request does nothing and fails with [`Error::IdempotentReplay`], which carries the first response.
    pub fn repeatable<A, F>(&self, mut act: F) -> impl FnMut(&mut WriteTx<'_>) -> Result<A> + Send + use<A, F>
    where
        A: Repeatable,
        F: FnMut(&mut WriteTx<'_>) -> Result<A> + Send + 'static,
    {
        let user = self.caller.user.id.clone();
        let request = self.claim.as_ref().and_then(|claim| claim.of(&user));
        move |tx: &mut WriteTx<'_>| {
            let Some(request) = &request else { return act(tx) };
            if let Some(response) = tx.claim_key(request)? {
                return Err(Error::IdempotentReplay(Box::new(response)));
            }
            let done = act(tx)?;
            tx.complete_key(request, &done.stored()?)?;
            Ok(done)
        }
    }

    /// Runs a transaction like [`write`](Self::write). In a dry run the action is rolled back: nothing is stored,
    /// logged or emitted, and no version is raised.
    pub async fn write_or_preview<T: Send + 'static>(
        &self,
        dry_run: DryRun,
        act: impl FnMut(&mut WriteTx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.write(rolled_back_if(dry_run, act)).await
    }

    /// Like [`write`](Self::write), for adding a person: an account with this address that the organization may take
    /// over is taken over first.
    pub async fn write_taking_over<T: Send + 'static>(
        &self,
        email: String,
        act: impl FnMut(&mut WriteTx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let mail = Some(self.app.mail().clone());
        let transactor = self.app.transactor();
        transactor
            .write_taking_over(self.context()?, vec![email], mail, act)
            .await
    }

    /// The request context for database access. Fails without an organization.
    pub fn context(&self) -> Result<RequestContext> {
        self.caller.context().ok_or_else(|| self.caller.missing_organization())
    }
}

/// Wraps an action so that a dry run rolls it back.
fn rolled_back_if<T: 'static>(
    dry_run: DryRun,
    mut act: impl FnMut(&mut WriteTx<'_>) -> Result<T> + Send + 'static,
) -> impl FnMut(&mut WriteTx<'_>) -> Result<T> + Send + 'static {
    move |tx: &mut WriteTx<'_>| {
        if dry_run.is_on() { tx.dry_run(&mut act) } else { act(tx) }
    }
}

/// Joins the values of all `If-Match` headers into one list.
fn if_match(headers: &HeaderMap) -> Option<String> {
    let lines = headers.get_all(header::IF_MATCH).iter();
    let lines: Vec<String> = lines
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        .collect();
    (!lines.is_empty()).then(|| lines.join(", "))
}
