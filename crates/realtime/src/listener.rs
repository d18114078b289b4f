//! The ear of one instance on PostgreSQL: a connection of its own that listens for named rows of the outbox, for ever.
//! Whenever it was deaf, orders may be lost: then every socket looks anew and every client is told to fetch.

use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::{StreamExt as _, stream};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_postgres::{AsyncMessage, Client};

use super::sweep::Whom;
use super::watch::Watch;
use super::{Live, neighbours};
use common::clock;
use common::error::Result;
use db::outbox::CHANNEL;
use db::platform::PlatformProof;
use db::server::Server;

/// The first wait before connecting again; it doubles up to the longest.
const SHORTEST_WAIT: Duration = Duration::from_millis(200);
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// How often a named row is asked for before it counts as lost.
const TRIES: u32 = 3;
/// A heartbeat; rows have ids.
const BEAT: &str = "";
/// Says something to every instance.
const NOTIFY: &str = "SELECT pg_notify($1, $2)";
/// How long rows are kept for instances that are slow to ask.
const KEPT_SECONDS: i64 = 600;
/// How often old rows are dropped.
const PRUNE: Duration = Duration::from_mins(1);

/// What comes in over the connection.
enum Heard {
    /// A row of the outbox is named, or the instance hears its own heart.
    Row(String),
    /// An instance says something for lesson boards.
    Word(String),
}

/// Listens until the server stops.
pub async fn listen(url: String, live: Live, mut words: mpsc::Receiver<String>, watch: Watch) {
    let mut wait = SHORTEST_WAIT;
    loop {
        let started = Instant::now();
        let lost = tokio::select! {
            () = live.0.closing.cancelled() => return,
            lost = listen_once(&url, &live, &mut words, watch) => lost,
        };
        tracing::warn!(error = format!("{lost:#}"), "the bus is deaf; connecting again");
        // One that stood for a while is made anew at once.
        if started.elapsed() > LONGEST_WAIT {
            wait = SHORTEST_WAIT;
        }
        tokio::select! {
            () = live.0.closing.cancelled() => return,
            () = tokio::time::sleep(wait) => {}
        }
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}

/// Drops old rows until the server stops.
pub async fn keep_pruning(live: Live) {
    loop {
        tokio::select! {
            () = live.0.closing.cancelled() => return,
            () = tokio::time::sleep(PRUNE) => {}
        }
        let before = clock::now().plus_seconds(-KEPT_SECONDS);
        let pruned = live
            .0
            .store
            .platform_write(PlatformProof::housekeeping(), move |platform| {
                platform.prune_signals(before)
            });
        if let Err(error) = pruned.await {
            tracing::warn!(%error, "old rows of the outbox could not be dropped");
        }
    }
}

/// One connection, from LISTEN to its loss.
async fn listen_once(url: &str, live: &Live, words: &mut mpsc::Receiver<String>, watch: Watch) -> anyhow::Error {
    // A server that was stopped takes connections and says nothing.
    let connected = tokio::time::timeout(watch.silence(), connect(url));
    let Ok(connected) = connected.await else {
        return anyhow::anyhow!("the server says nothing");
    };
    let (client, mut heard) = match connected {
        Ok(connected) => connected,
        Err(error) => return error,
    };
    // From here on nothing is missed; what was before may be.
    catch_up(live).await;
    // What boards should have heard meanwhile is old.
    while words.try_recv().is_ok() {}
    let mut heartbeat = tokio::time::interval(watch.heartbeat());
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // While our own word is under way, something must be heard until then. What takes long here is no silence.
    let mut deadline: Option<Instant> = None;
    let mut telling: BoxFuture<'_, Result<(), tokio_postgres::Error>> = Box::pin(std::future::pending());
    let mut is_telling = false;
    loop {
        tokio::select! {
            biased;
            payload = heard.recv() => {
                deadline = None;
                match payload {
                    Some(Heard::Row(row)) if row != BEAT => carry_out(&row, live).await,
                    Some(Heard::Row(_)) => {}
                    Some(Heard::Word(word)) => live.hear_word(&word),
                    None => return anyhow::anyhow!("the connection ended"),
                }
            },
            told = &mut telling, if is_telling => {
                is_telling = false;
                if let Err(error) = told {
                    return error.into();
                }
            },
            // A line that swallows what is said would hold up whoever waits for the answer to that.
            _ = heartbeat.tick(), if !is_telling => {
                deadline.get_or_insert_with(|| Instant::now() + watch.silence());
                telling = Box::pin(tell(&client, CHANNEL, BEAT.to_owned()));
                is_telling = true;
            },
            Some(word) = words.recv(), if !is_telling => {
                deadline.get_or_insert_with(|| Instant::now() + watch.silence());
                telling = Box::pin(tell(&client, neighbours::CHANNEL, word));
                is_telling = true;
            },
            () = silence(deadline) => return anyhow::anyhow!("nothing was heard for {:?}", watch.silence()),
        }
    }
}

async fn tell(client: &Client, channel: &str, word: String) -> Result<(), tokio_postgres::Error> {
    client.execute(NOTIFY, &[&channel, &word]).await.map(drop)
}

/// Ends when something should have been heard.
async fn silence(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

async fn connect(url: &str) -> anyhow::Result<(Client, mpsc::UnboundedReceiver<Heard>)> {
    let server = Server::of(url).map_err(anyhow::Error::msg)?;
    let (client, mut connection) = server.listen().await?;
    let (sender, heard) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut messages = stream::poll_fn(move |context| connection.poll_message(context));
        loop {
            let message = tokio::select! {
                message = messages.next() => message,
                // A connection that was given up is not waited for.
                () = sender.closed() => return,
            };
            match message {
                Some(Ok(AsyncMessage::Notification(notification))) => {
                    let payload = notification.payload().to_owned();
                    let heard = if notification.channel() == neighbours::CHANNEL {
                        Heard::Word(payload)
                    } else {
                        Heard::Row(payload)
                    };
                    if sender.send(heard).is_err() {
                        return;
                    }
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => return tracing::debug!(%error, "the connection of the bus broke"),
                None => return,
            }
        }
    });
    let listen = format!("LISTEN {CHANNEL}; LISTEN {}", neighbours::CHANNEL);
    client.batch_execute(&listen).await?;
    Ok((client, heard))
}

/// Reads exactly the row that was named: "all since my last" would miss rows, for ids commit out of order.
async fn carry_out(id: &str, live: &Live) {
    for attempt in 1..=TRIES {
        let row = id.to_owned();
        let read = live
            .0
            .store
            .platform_read(PlatformProof::housekeeping(), move |platform| platform.signals(&row));
        match read.await {
            Ok(Some(signals)) => return live.carry_out(signals).await,
            Ok(None) => {
                tracing::warn!(id, "a row of the outbox was dropped before it was read");
                break;
            }
            Err(error) => {
                tracing::warn!(%error, id, attempt, "a row of the outbox could not be read");
                tokio::time::sleep(SHORTEST_WAIT * attempt).await;
            }
        }
    }
    catch_up(live).await;
}

/// Orders may be lost: every socket looks anew, then every client is told to fetch what it shows.
async fn catch_up(live: &Live) {
    let mut wait = SHORTEST_WAIT;
    while let Err(error) = sweep(live).await {
        tracing::warn!(%error, "the sockets could not be swept after a gap");
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(LONGEST_WAIT);
    }
    live.call_to_sync();
}

async fn sweep(live: &Live) -> Result<()> {
    live.sweep(Whom::All).await
}
