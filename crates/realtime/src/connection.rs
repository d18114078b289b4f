//! One socket and its user. The rooms are computed from the database, one computation at a time: every relevant change
//! sends a signal to compute them again, and the socket joins the rooms that signals use (`rooms::sockets_of`,
//! `rooms::session`) before the first computation, so no signal is missed. It joins rooms that receive events only after
//! the first computation, which checks the session again.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use domain::access::{MemberRole, PlatformRole, Viewer};
use domain::id::{DocumentId, OrganizationId, SessionId, UserId};
use domain::realtime::Room;
use socketioxide::extract::SocketRef;

use super::abort::AbortHandle;
use super::editor_rooms::{OpenPage, OpenPages};
use super::presence::OrganizationUser;
use super::rooms;
use auth::{self, Authenticator};
use common::error::{Error, Result};
use db::platform::listeners::AccessFingerprint;
use db::platform::organizations::HostName;
use db::platform::sessions::SessionFacts;
use db::{ReadTx, RequestContext, Store};

/// The result of the handshake. It lives as long as the socket.
pub struct Handshake {
    pub user: UserId,
    pub session: SessionId,
    /// The session token, to authenticate again. It is never logged or stored.
    pub token: String,
    /// The host of the request.
    pub host: Option<HostName>,
    /// Aborts the connection of the socket.
    pub abort_handle: Option<AbortHandle>,
}

/// A connected socket of a user.
pub struct SocketConnection {
    handshake: Arc<Handshake>,
    state: Mutex<ConnectionState>,
    /// Serializes room computations, so that an older result does not overwrite a newer one.
    refresh_lock: tokio::sync::Mutex<()>,
    is_stale: AtomicBool,
    /// Incremented when a socket connects, disconnects or changes its organization.
    presence_changes: Arc<AtomicU64>,
}

#[derive(Default)]
struct ConnectionState {
    is_closed: bool,
    organization_user: Option<Arc<OrganizationUser>>,
    context: Option<RequestContext>,
    access_fingerprint: Option<AccessFingerprint>,
    /// The documents that the page has open in the built-in editor.
    pages: OpenPages,
    /// The documents whose access is being checked before they are open.
    openings: HashMap<DocumentId, PageOpenings>,
}

/// Unfinished openings of one document by a socket.
#[derive(Default)]
struct PageOpenings {
    unfinished: usize,
    /// The number of messages since the first of them that closed the document.
    closes: u64,
}

/// The unfinished opening of a document. It is void once the document is closed.
#[derive(Debug)]
pub(super) struct PageOpening {
    document: DocumentId,
    closes: u64,
}

/// The result of a room computation.
#[derive(Debug, PartialEq, Eq)]
pub enum RefreshOutcome {
    /// The rooms are up to date. `has_new_organization` means that the organization has changed.
    Refreshed { has_new_organization: bool },
    /// The session has ended.
    Over,
    /// The socket was closed in the meantime; it has joined no room.
    Closed,
}

impl SocketConnection {
    /// Joins a socket to the rooms by which signals find it. It receives no events yet.
    pub fn open(socket: &SocketRef, handshake: Arc<Handshake>, presence_changes: Arc<AtomicU64>) -> Arc<Self> {
        let connection = Arc::new(Self {
            state: Mutex::default(),
            refresh_lock: tokio::sync::Mutex::default(),
            is_stale: AtomicBool::new(false),
            presence_changes,
            handshake,
        });
        socket.extensions.insert(Arc::clone(&connection));
        socket.join(connection.signal_rooms());
        connection
    }

    /// Returns the connection that [`Self::open`] stored in a socket.
    pub fn of(socket: &SocketRef) -> Option<Arc<Self>> {
        socket.extensions.get::<Arc<Self>>()
    }

    pub fn user(&self) -> &UserId {
        &self.handshake.user
    }

    pub fn session(&self) -> &SessionId {
        &self.handshake.session
    }

    /// Aborts the connection of the socket.
    pub fn abort_handle(&self) -> Option<&AbortHandle> {
        self.handshake.abort_handle.as_ref()
    }

    /// The organization of the socket.
    pub fn organization(&self) -> Option<OrganizationId> {
        self.state().context.as_ref().map(|context| context.tenant.id().clone())
    }

    /// The user in the organization of the socket.
    pub fn organization_user(&self) -> Option<Arc<OrganizationUser>> {
        self.state().organization_user.clone()
    }

    /// The request context of the user in that organization, at the current time.
    pub fn context(&self) -> Option<RequestContext> {
        let mut context = self.state().context.clone()?;
        context.now = common::clock::now();
        Some(context)
    }

    /// Whether the user is a student in that organization.
    pub fn is_student(&self) -> bool {
        let state = self.state();
        let viewer = state.context.as_ref().map(|context| &context.viewer);
        matches!(viewer, Some(Viewer::Student(_)))
    }

    /// Whether the last computation failed, or its inputs have changed.
    pub fn needs_refresh(&self, now: &AccessFingerprint) -> bool {
        self.is_stale.load(Ordering::Relaxed)
            || self
                .state()
                .access_fingerprint
                .as_ref()
                .is_some_and(|before| before != now)
    }

    /// Removes the socket from all rooms permanently; a concurrent computation cannot join it again.
    pub fn leave(&self, socket: &SocketRef) {
        let mut state = self.state();
        state.is_closed = true;
        state.context = None;
        state.organization_user = None;
        self.presence_changes.fetch_add(1, Ordering::Relaxed);
        socket.leave_all();
    }

    /// Waits for a computation of the rooms, and prevents the next one while the guard is held.
    pub(super) async fn lock_rooms(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.refresh_lock.lock().await
    }

    /// Begins to open a document. Must be called in the order of the messages, and followed by [`Self::finish_opening`].
    pub(super) fn begin_opening(&self, document: &DocumentId) -> PageOpening {
        let mut state = self.state();
        let openings = state.openings.entry(document.clone()).or_default();
        openings.unfinished += 1;
        PageOpening {
            document: document.clone(),
            closes: openings.closes,
        }
    }

    /// Adds the page of a checked document and joins its room, unless the document was closed meanwhile, the socket is
    /// closed, or it has `limit` other pages. Without a page the opening has failed.
    pub(super) fn finish_opening(
        &self,
        socket: &SocketRef,
        opening: &PageOpening,
        page: Option<OpenPage>,
        limit: usize,
    ) -> bool {
        let mut state = self.state();
        let PageOpening { document, closes } = opening;
        let mut is_void = state.is_closed;
        if let Some(openings) = state.openings.get_mut(document) {
            is_void |= openings.closes != *closes;
            openings.unfinished -= 1;
            if openings.unfinished == 0 {
                state.openings.remove(document);
            }
        }
        let is_full = state.pages.len() >= limit && !state.pages.contains_key(document);
        let Some(page) = page.filter(|_| !is_void && !is_full) else {
            return false;
        };
        state.pages.insert(document.clone(), page);
        socket.join(rooms::name(&Room::Document(document.clone())));
        true
    }

    /// Removes an open page and leaves its room. Unfinished openings of the document become void.
    pub(super) fn remove_page(&self, socket: &SocketRef, document: &DocumentId) -> Option<OpenPage> {
        let mut state = self.state();
        if let Some(openings) = state.openings.get_mut(document) {
            openings.closes += 1;
        }
        let page = state.pages.remove(document)?;
        socket.leave(rooms::name(&Room::Document(document.clone())));
        Some(page)
    }

    /// Removes all open pages.
    pub(super) fn take_pages(&self) -> OpenPages {
        std::mem::take(&mut self.state().pages)
    }

    /// Runs `act` on an open page; `None` if it is not open.
    pub(super) fn with_page<T>(&self, document: &DocumentId, act: impl FnOnce(&mut OpenPage) -> T) -> Option<T> {
        self.state().pages.get_mut(document).map(act)
    }

    /// Computes the rooms again, leaves and joins.
    pub async fn refresh(
        &self,
        socket: &SocketRef,
        authenticator: &Authenticator,
        store: &Store,
    ) -> Result<RefreshOutcome> {
        let _guard = self.refresh_lock.lock().await;
        let outcome = self.refresh_now(socket, authenticator, store).await;
        self.is_stale.store(outcome.is_err(), Ordering::Relaxed);
        outcome
    }

    async fn refresh_now(
        &self,
        socket: &SocketRef,
        authenticator: &Authenticator,
        store: &Store,
    ) -> Result<RefreshOutcome> {
        let (token, host) = (self.handshake.token.clone(), self.handshake.host.clone());
        let Some(facts) = authenticator.find_session(token, host, None).await? else {
            return Ok(RefreshOutcome::Over);
        };
        let access_fingerprint = access_fingerprint(&facts);
        // Without an organization, without a membership, or in a suspended organization the socket has only its own
        // rooms.
        let context = match auth::check_organization(&facts) {
            Ok(()) => auth::caller(facts, None).context(),
            Err(_) => None,
        };
        let open: Vec<DocumentId> = self.state().pages.keys().cloned().collect();
        let found = match context.clone() {
            Some(context) => store.read(context, move |tx| rooms_with_documents(tx, &open)).await?,
            None => Vec::new(),
        };
        Ok(self.apply_rooms(socket, context, access_fingerprint, &found))
    }

    /// Leaves rooms that no longer apply and joins missing ones.
    fn apply_rooms(
        &self,
        socket: &SocketRef,
        context: Option<RequestContext>,
        access_fingerprint: Option<AccessFingerprint>,
        found: &[Room],
    ) -> RefreshOutcome {
        let mut target = HashSet::from(self.signal_rooms());
        target.insert(rooms::name(&Room::User(self.user().clone())));
        target.extend(found.iter().map(rooms::name));
        let organization = |context: &Option<RequestContext>| context.as_ref().map(|s| s.tenant.id().clone());
        let (next, mut state) = (organization(&context), self.state());
        if let Some(organization) = &next {
            target.insert(rooms::user_in(self.user(), organization));
            let viewer = context.as_ref().map(|context| &context.viewer);
            target.insert(rooms::name(&Room::Organization(organization.clone())));
            if viewer.is_some_and(Viewer::is_staff) {
                target.insert(rooms::name(&Room::OrganizationStaff(organization.clone())));
            }
            if viewer == Some(&Viewer::Admin) {
                target.insert(rooms::name(&Room::OrganizationAdmins(organization.clone())));
            }
        }
        if state.is_closed {
            return RefreshOutcome::Closed;
        }
        let has_new_organization = organization(&state.context) != next;
        // A page that was closed meanwhile must not join its room again.
        let is_closed = |room: &&Room| matches!(room, Room::Document(document) if !state.pages.contains_key(document));
        for room in found.iter().filter(is_closed) {
            target.remove(&rooms::name(room));
        }
        // A page whose document is not visible any more has left its room; a page of another organization as well.
        state
            .pages
            .retain(|document, _| target.contains(&rooms::name(&Room::Document(document.clone()))));
        let joined: HashSet<String> = socket.rooms().into_iter().map(Cow::into_owned).collect();
        socket.leave(joined.difference(&target).cloned().collect::<Vec<_>>());
        socket.join(target.difference(&joined).cloned().collect::<Vec<_>>());
        if has_new_organization || state.organization_user.is_none() {
            state.organization_user = next.map(|organization| Arc::new((organization, self.user().clone())));
            self.presence_changes.fetch_add(1, Ordering::Relaxed);
        }
        state.context = context;
        state.access_fingerprint = access_fingerprint;
        RefreshOutcome::Refreshed { has_new_organization }
    }

    fn signal_rooms(&self) -> [String; 2] {
        [rooms::sockets_of(self.user()), rooms::session(self.session())]
    }

    fn state(&self) -> std::sync::MutexGuard<'_, ConnectionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for SocketConnection {
    fn drop(&mut self) {
        self.presence_changes.fetch_add(1, Ordering::Relaxed);
    }
}

/// Returns the rooms of the viewer, and those of the open documents that the viewer may still view.
fn rooms_with_documents(tx: &mut ReadTx<'_>, open: &[DocumentId]) -> Result<Vec<Room>> {
    let mut found = tx.rooms()?;
    for document in open {
        match tx.document(document) {
            Ok(_) => found.push(Room::Document(document.clone())),
            Err(Error::NotFound) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// The facts in the form that the sweep compares. An organization that only the Host names is not included.
fn access_fingerprint(facts: &SessionFacts) -> Option<AccessFingerprint> {
    let active = facts.session.active_organization_id.as_ref();
    let organization = facts
        .organization
        .as_ref()
        .filter(|organization| active == Some(organization.tenant.id()));
    if active.is_none() && facts.organization.is_some() {
        return None;
    }
    Some(AccessFingerprint::new(
        active.map(OrganizationId::as_str),
        organization.is_some_and(|organization| !organization.suspended),
        organization
            .and_then(|organization| organization.member_role)
            .map(MemberRole::as_str),
        PlatformRole::as_str(facts.user.role),
    ))
}
