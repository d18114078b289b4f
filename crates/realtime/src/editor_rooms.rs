//! Pages with an open document in the built-in editor: they join the room of the document, and their cursors are relayed
//! to each other. Access is checked when a page joins and whenever the rooms of its socket are computed again. Cursors
//! are neither stored nor logged. See docs/built-in-editor.md#socket.

use std::collections::BTreeMap;
use std::future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::document::EditorMode;
use domain::document_log::is_reference;
use domain::id::{DocumentId, OrganizationId, UserId};
use domain::realtime::{Event, Room};
use serde::{Deserialize, Serialize};
use socketioxide::extract::{AckSender, SocketRef, TryData};
use tokio::sync::mpsc;

use super::connection::{PageOpening, SocketConnection};
use super::dispatch::Emission;
use super::{RealtimeServer, payload, rooms};
use api_types::event::DocumentCursor;
use db::{RequestContext, Tenant};

/// The maximum number of documents that a socket has open.
const DOCUMENTS_MAX: usize = 20;
/// The minimum time between two relayed cursors of a page.
const CURSOR_INTERVAL: Duration = Duration::from_millis(100);
/// The minimum time between two cursors of a page that are sent to other instances.
const PEER_INTERVAL: Duration = Duration::from_millis(500);

/// A user opened a document in the built-in editor, still has it open, or closed the last page of it at this instance.
#[derive(Debug, Clone)]
pub struct EditorPresence {
    pub tenant: Tenant,
    pub document: DocumentId,
    pub generation: i64,
    pub user: UserId,
    pub is_open: bool,
}

/// The payload of `document:open`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct OpenMessage {
    document_id: DocumentId,
    generation: i64,
    client_id: String,
}

/// The payload of `document:close`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CloseMessage {
    document_id: DocumentId,
}

/// The payload of `document:move`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct MoveMessage {
    document_id: DocumentId,
    generation: i64,
    version: i64,
    anchor: Option<i64>,
    head: Option<i64>,
}

/// The acknowledgement of `document:open`.
#[derive(Debug, Serialize)]
struct JoinReply {
    joined: bool,
}

/// An open page of a document.
#[derive(Debug, Clone)]
pub(super) struct OpenPage {
    context: RequestContext,
    generation: i64,
    client_id: String,
    can_edit: bool,
    relayed_at: Option<Instant>,
    sent_to_peers_at: Option<Instant>,
    /// A cursor that waits for the interval; the last one replaces it.
    waiting: Option<DocumentCursor>,
}

/// The open pages of a socket.
pub(super) type OpenPages = BTreeMap<DocumentId, OpenPage>;

/// Registers the event handlers of a socket.
pub(super) fn register_handlers(socket: &SocketRef, realtime: &RealtimeServer) {
    let (opening, closing) = (Arc::downgrade(&realtime.0), Arc::downgrade(&realtime.0));
    let (moving, leaving) = (Arc::downgrade(&realtime.0), Arc::downgrade(&realtime.0));
    socket.on(
        "document:open",
        // The closure itself runs in the order of the messages; the futures of handlers run concurrently.
        move |socket: SocketRef, TryData(open): TryData<OpenMessage>, ack: AckSender| {
            let begun = open.ok().and_then(|open| {
                let opening = SocketConnection::of(&socket)?.begin_opening(&open.document_id);
                Some((opening, open))
            });
            let realtime = opening.upgrade().map(RealtimeServer);
            async move {
                let Some(realtime) = realtime else { return };
                let joined = match begun {
                    Some((opening, open)) => realtime.open_page(&socket, &opening, open).await,
                    None => false,
                };
                // Clients that ask for no acknowledgement get none.
                drop(ack.send(&JoinReply { joined }));
            }
        },
    );
    socket.on(
        "document:close",
        move |socket: SocketRef, TryData(close): TryData<CloseMessage>| {
            if let (Some(realtime), Ok(close)) = (closing.upgrade().map(RealtimeServer), close) {
                realtime.close_page(&socket, &close.document_id);
            }
            future::ready(())
        },
    );
    socket.on(
        "document:move",
        move |socket: SocketRef, TryData(moved): TryData<MoveMessage>| {
            if let (Some(realtime), Ok(moved)) = (moving.upgrade().map(RealtimeServer), moved) {
                realtime.move_cursor(&socket, moved);
            }
            future::ready(())
        },
    );
    socket.on_disconnect(move |socket: SocketRef| async move {
        if let Some(realtime) = leaving.upgrade().map(RealtimeServer)
            && let Some(connection) = SocketConnection::of(&socket)
        {
            // The engine removes the socket from its rooms after this handler; a check or computation that ends later
            // must not join it again.
            connection.leave(&socket);
            realtime.close_pages(&connection, connection.take_pages());
        }
    });
}

impl RealtimeServer {
    /// Returns the receiver of the users who open and close documents at this instance. Only the first call does.
    pub fn editor_presence(&self) -> Option<mpsc::UnboundedReceiver<EditorPresence>> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.0.editor_presence.set(sender).ok().map(|()| receiver)
    }

    async fn open_page(&self, socket: &SocketRef, opening: &PageOpening, open: OpenMessage) -> bool {
        let Some(connection) = SocketConnection::of(socket) else {
            return false;
        };
        // A computation of the rooms at the same time would leave the new one.
        let _guard = connection.lock_rooms().await;
        let document = open.document_id.clone();
        let page = self.check_page(&connection, open).await;
        if !connection.finish_opening(socket, opening, page.clone(), DOCUMENTS_MAX) {
            return false;
        }
        if let Some(page) = page {
            self.report_presence(&connection, &document, &page, true);
        }
        true
    }

    /// Returns the page of a document that the user of the socket may view.
    async fn check_page(&self, connection: &SocketConnection, open: OpenMessage) -> Option<OpenPage> {
        let context = connection.context().filter(|_| is_reference(&open.client_id))?;
        let id = open.document_id;
        let found = self
            .0
            .store
            .read(context.clone(), move |tx| tx.document(&id).map(|seen| seen.mode()));
        // Unknown, foreign and hidden documents are indistinguishable.
        let mode = found.await.ok()?;
        Some(OpenPage {
            context,
            generation: open.generation,
            client_id: open.client_id,
            can_edit: mode == EditorMode::Edit,
            relayed_at: None,
            sent_to_peers_at: None,
            waiting: None,
        })
    }

    fn close_page(&self, socket: &SocketRef, document: &DocumentId) {
        if let Some(connection) = SocketConnection::of(socket)
            && let Some(page) = connection.remove_page(socket, document)
        {
            self.close_pages(&connection, BTreeMap::from([(document.clone(), page)]));
        }
    }

    /// Announces that pages have gone: the socket has left their rooms already.
    pub(super) fn close_pages(&self, connection: &SocketConnection, pages: OpenPages) {
        for (document, page) in pages {
            let cursor = DocumentCursor {
                left: true,
                ..page.cursor(connection.user(), &document, 0, (None, None))
            };
            let room = rooms::name(&Room::Document(document.clone()));
            let is_open_elsewhere = self
                .sockets_in(room)
                .iter()
                .any(|socket| SocketConnection::of(socket).is_some_and(|other| other.user() == connection.user()));
            if !is_open_elsewhere {
                self.report_presence(connection, &document, &page, false);
            }
            let organization = page.context.tenant.id().clone();
            self.0.peers.send_cursor(&organization, &cursor);
            self.emit_cursor_later(organization, cursor);
        }
    }

    fn move_cursor(&self, socket: &SocketRef, moved: MoveMessage) {
        let Some(connection) = SocketConnection::of(socket) else {
            return;
        };
        let now = Instant::now();
        let relay = connection.with_page(&moved.document_id, |page| {
            page.generation = moved.generation;
            let positions = (moved.anchor, moved.head);
            let cursor = page.cursor(connection.user(), &moved.document_id, moved.version, positions);
            if page.is_early(now) {
                // The task that waits already takes the newest one.
                let is_scheduled = page.waiting.replace(cursor).is_some();
                return (!is_scheduled).then_some(None);
            }
            page.relayed_at = Some(now);
            // A task that is late must not relay an older cursor.
            page.waiting = None;
            let is_due = page
                .sent_to_peers_at
                .is_none_or(|at| now.duration_since(at) >= PEER_INTERVAL);
            if is_due {
                page.sent_to_peers_at = Some(now);
            }
            Some(Some((page.clone(), cursor, is_due)))
        });
        match relay.flatten() {
            None => {}
            Some(None) => {
                let (realtime, socket) = (self.clone(), socket.clone());
                tokio::spawn(async move {
                    tokio::time::sleep(CURSOR_INTERVAL).await;
                    realtime.relay_waiting(&socket, &moved.document_id);
                });
            }
            Some(Some((page, cursor, is_due))) => {
                self.report_presence(&connection, &moved.document_id, &page, true);
                if is_due {
                    self.0.peers.send_cursor(page.context.tenant.id(), &cursor);
                }
                relay_cursor(socket, page.context.tenant.id().clone(), cursor);
            }
        }
    }

    fn relay_waiting(&self, socket: &SocketRef, document: &DocumentId) {
        let Some(connection) = SocketConnection::of(socket) else {
            return;
        };
        let now = Instant::now();
        let waiting = connection.with_page(document, |page| {
            // A cursor that waits since a later relay has a task of its own.
            if page.is_early(now) {
                return None;
            }
            let cursor = page.waiting.take()?;
            page.relayed_at = Some(now);
            page.sent_to_peers_at = Some(now);
            Some((page.context.tenant.id().clone(), cursor))
        });
        if let Some((organization, cursor)) = waiting.flatten() {
            self.0.peers.send_cursor(&organization, &cursor);
            relay_cursor(socket, organization, cursor);
        }
    }

    fn report_presence(&self, connection: &SocketConnection, document: &DocumentId, page: &OpenPage, is_open: bool) {
        if let Some(sender) = self.0.editor_presence.get().filter(|_| page.can_edit) {
            // Without the service there is no receiver.
            drop(sender.send(EditorPresence {
                tenant: page.context.tenant.clone(),
                document: document.clone(),
                generation: page.generation,
                user: connection.user().clone(),
                is_open,
            }));
        }
    }

    /// Emits a cursor to all pages of its document at this instance.
    pub(super) fn emit_cursor_later(&self, organization: OrganizationId, cursor: DocumentCursor) {
        let realtime = self.clone();
        tokio::spawn(async move {
            let emission = Emission {
                organization: Some(organization.clone()),
                rooms: vec![Room::Document(cursor.document_id.clone())],
                except: Vec::new(),
                event: Event::DocumentCursor,
                payload: payload(Event::DocumentCursor, Some(organization), None, &cursor),
            };
            realtime.emit(emission).await;
        });
    }
}

/// Emits the cursor of a page to the other pages of the document at this instance.
fn relay_cursor(socket: &SocketRef, organization: OrganizationId, cursor: DocumentCursor) {
    let (socket, room) = (socket.clone(), rooms::name(&Room::Document(cursor.document_id.clone())));
    tokio::spawn(async move {
        let payload = payload(Event::DocumentCursor, Some(organization), None, &cursor);
        if let Err(error) = socket.to(room).emit(Event::DocumentCursor.as_str(), &payload).await {
            tracing::debug!(%error, "cursor could not be sent to every socket");
        }
    });
}

impl OpenPage {
    /// Whether the interval since the last relayed cursor has not passed.
    fn is_early(&self, now: Instant) -> bool {
        self.relayed_at
            .is_some_and(|at| now.duration_since(at) < CURSOR_INTERVAL)
    }

    fn cursor(
        &self,
        user: &UserId,
        document: &DocumentId,
        version: i64,
        (anchor, head): (Option<i64>, Option<i64>),
    ) -> DocumentCursor {
        DocumentCursor {
            document_id: document.clone(),
            generation: self.generation,
            client_id: self.client_id.clone(),
            user_id: user.clone(),
            name: self.context.actor.name.clone(),
            version,
            anchor,
            head,
            left: false,
        }
    }
}
