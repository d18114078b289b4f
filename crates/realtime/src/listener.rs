//! The LISTEN task: a dedicated PostgreSQL connection that dispatches outbox notifications. After every interruption
//! notifications may be lost: the rooms of every socket are then computed again, and every client receives
//! `sync:required`.

use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::{StreamExt as _, stream};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_postgres::{AsyncMessage, Client};

use super::reconcile::ReconcileScope;
use super::timeouts::RealtimeTimeouts;
use super::{RealtimeServer, peers};
use common::clock;
use common::error::Result;
use db::outbox::CHANNEL;
use db::platform::{CrossTenantReason, PlatformTx};
use db::server::Server;

/// Initial and maximum delay before reconnecting; it doubles with every attempt.
const SHORTEST_WAIT: Duration = Duration::from_millis(200);
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// Attempts to read a row of the outbox before it counts as lost.
const ATTEMPTS: u32 = 3;
/// The payload of a heartbeat. All others are ids of rows.
const HEARTBEAT: &str = "";
/// Sends a notification to every instance.
const NOTIFY: &str = "SELECT pg_notify($1, $2)";
/// Retention of outbox rows, for instances that are slow to read them.
const RETENTION_SECONDS: i64 = 600;

/// A notification received on the connection.
enum BusNotification {
    /// The id of an outbox row, or a heartbeat of this instance.
    Row(String),
    /// A peer message of an instance.
    PeerMessage(String),
}

/// Listens until the server stops.
pub async fn listen(
    url: String,
    realtime: RealtimeServer,
    mut peer_messages: mpsc::Receiver<String>,
    timeouts: RealtimeTimeouts,
) {
    let mut wait = SHORTEST_WAIT;
    loop {
        let started = Instant::now();
        let error = tokio::select! {
            () = realtime.0.closing.cancelled() => return,
            error = listen_once(&url, &realtime, &mut peer_messages, timeouts) => error,
        };
        realtime.set_listening(false);
        tracing::warn!(
            error = format!("{error:#}"),
            "database LISTEN connection lost, reconnecting"
        );
        // A connection that was stable for a while is replaced without delay.
        if started.elapsed() > LONGEST_WAIT {
            wait = SHORTEST_WAIT;
        }
        tokio::select! {
            () = realtime.0.closing.cancelled() => return,
            () = tokio::time::sleep(wait) => {}
        }
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}

impl RealtimeServer {
    /// Deletes old rows of the outbox.
    pub async fn prune_outbox(&self) -> Result<()> {
        let before = clock::now().plus_seconds(-RETENTION_SECONDS);
        let prune = move |platform: &mut PlatformTx<'_>| platform.prune_signals(before).map(drop);
        self.0
            .store
            .platform_write(CrossTenantReason::Housekeeping, prune)
            .await
    }
}

/// Runs one connection from LISTEN until it is lost.
async fn listen_once(
    url: &str,
    realtime: &RealtimeServer,
    peer_messages: &mut mpsc::Receiver<String>,
    timeouts: RealtimeTimeouts,
) -> anyhow::Error {
    // A PostgreSQL process that was suspended accepts connections but does not respond.
    let connected = tokio::time::timeout(timeouts.heartbeat_timeout(), connect(url));
    let Ok(connected) = connected.await else {
        return anyhow::anyhow!("connection timeout");
    };
    let (client, mut notifications) = match connected {
        Ok(connected) => connected,
        Err(error) => return error,
    };
    // Notifications from here on are received; earlier ones may have been lost.
    catch_up(realtime).await;
    realtime.set_listening(true);
    // Queued peer messages are outdated by now.
    while peer_messages.try_recv().is_ok() {}
    let mut heartbeat_interval = tokio::time::interval(timeouts.heartbeat_interval());
    heartbeat_interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // After a NOTIFY of this instance, something must be received before the deadline. Time spent processing here does
    // not count.
    let mut deadline: Option<Instant> = None;
    let mut notifying: BoxFuture<'_, Result<(), tokio_postgres::Error>> = Box::pin(std::future::pending());
    let mut is_notifying = false;
    loop {
        tokio::select! {
            biased;
            payload = notifications.recv() => {
                deadline = None;
                match payload {
                    Some(BusNotification::Row(row)) if row != HEARTBEAT => dispatch(&row, realtime).await,
                    Some(BusNotification::Row(_)) => {}
                    Some(BusNotification::PeerMessage(message)) => realtime.handle_peer_message(&message),
                    None => return anyhow::anyhow!("connection closed"),
                }
            },
            result = &mut notifying, if is_notifying => {
                is_notifying = false;
                if let Err(error) = result {
                    return error.into();
                }
            },
            // A connection that swallows queries would block an await of the response to NOTIFY here, so the response
            // is polled in the loop.
            _ = heartbeat_interval.tick(), if !is_notifying => {
                deadline.get_or_insert_with(|| Instant::now() + timeouts.heartbeat_timeout());
                notifying = Box::pin(notify(&client, CHANNEL, HEARTBEAT.to_owned()));
                is_notifying = true;
            },
            Some(message) = peer_messages.recv(), if !is_notifying => {
                deadline.get_or_insert_with(|| Instant::now() + timeouts.heartbeat_timeout());
                notifying = Box::pin(notify(&client, peers::CHANNEL, message));
                is_notifying = true;
            },
            () = heartbeat_timeout(deadline) => return anyhow::anyhow!("heartbeat timeout: no notification for {:?}", timeouts.heartbeat_timeout()),
        }
    }
}

async fn notify(client: &Client, channel: &str, message: String) -> Result<(), tokio_postgres::Error> {
    client.execute(NOTIFY, &[&channel, &message]).await.map(drop)
}

/// Completes at the deadline; never without one.
async fn heartbeat_timeout(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

async fn connect(url: &str) -> anyhow::Result<(Client, mpsc::UnboundedReceiver<BusNotification>)> {
    let server = Server::of(url).map_err(anyhow::Error::msg)?;
    let (client, mut connection) = server.listen().await?;
    let (sender, notifications) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut messages = stream::poll_fn(move |context| connection.poll_message(context));
        loop {
            let message = tokio::select! {
                message = messages.next() => message,
                // The receiver was dropped, so the connection is not needed any more.
                () = sender.closed() => return,
            };
            match message {
                Some(Ok(AsyncMessage::Notification(notification))) => {
                    let payload = notification.payload().to_owned();
                    let received = if notification.channel() == peers::CHANNEL {
                        BusNotification::PeerMessage(payload)
                    } else {
                        BusNotification::Row(payload)
                    };
                    if sender.send(received).is_err() {
                        return;
                    }
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => return tracing::debug!(%error, "database LISTEN connection failed"),
                None => return,
            }
        }
    });
    let listen = format!("LISTEN {CHANNEL}; LISTEN {}", peers::CHANNEL);
    client.batch_execute(&listen).await?;
    Ok((client, notifications))
}

/// Reads exactly the row that was named. "All rows since the last one" would miss rows, because ids do not commit in
/// order.
async fn dispatch(id: &str, realtime: &RealtimeServer) {
    for attempt in 1..=ATTEMPTS {
        let row = id.to_owned();
        let read = realtime
            .0
            .store
            .platform_read(CrossTenantReason::Housekeeping, move |platform| platform.signals(&row));
        match read.await {
            Ok(Some(signals)) => return realtime.dispatch(signals).await,
            Ok(None) => {
                tracing::warn!(id, "event outbox row was pruned before it was read");
                break;
            }
            Err(error) => {
                tracing::warn!(%error, id, attempt, "event outbox row could not be read");
                tokio::time::sleep(SHORTEST_WAIT * attempt).await;
            }
        }
    }
    catch_up(realtime).await;
}

/// Notifications may be lost: computes the rooms of every socket again, then sends `sync:required` to every client.
async fn catch_up(realtime: &RealtimeServer) {
    realtime.0.recent_events.clear();
    let mut wait = SHORTEST_WAIT;
    while let Err(error) = reconcile(realtime).await {
        tracing::warn!(%error, "socket session check failed after reconnect");
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(LONGEST_WAIT);
    }
    realtime.send_sync_required();
}

async fn reconcile(realtime: &RealtimeServer) -> Result<()> {
    realtime.reconcile(ReconcileScope::All).await
}
