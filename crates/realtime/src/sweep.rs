//! The backstop: once a minute (a setting) every session with a socket is asked for again, and what a lost order left
//! behind is put right. Sessions that simply expire are ended here too, for nobody gives an order when time passes.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

use model::id::SessionId;
use model::news::{Event, KillReason, Party};
use socketioxide::extract::SocketRef;

use super::seat::Seat;
use super::{Live, payload};
use api_types::event::EmptyPayload;
use common::clock;
use common::error::Result;
use db::platform::PlatformProof;

/// So many sweeps look at the rooms of every socket once: of orders that were lost without a sign nothing else tells.
const ROUNDS: u64 = 5;
/// Over this time clients are told to fetch anew, so that they do not all ask at once.
const SPREAD: Duration = Duration::from_secs(3);

/// What to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whom {
    /// Sockets whose session changed, or whose last look failed.
    Changed,
    /// These, and one part of the others.
    Round(u64),
    /// Every socket: orders may have been lost.
    All,
}

impl Whom {
    /// Whether sockets of this session are looked at although nothing is known of them.
    fn has(self, session: &SessionId) -> bool {
        match self {
            Self::Changed => false,
            Self::Round(round) => {
                let mut hasher = DefaultHasher::new();
                session.hash(&mut hasher);
                hasher.finish() % ROUNDS == round % ROUNDS
            }
            Self::All => true,
        }
    }
}

impl Live {
    /// Sweeps until the server stops.
    pub(super) async fn keep_sweeping(self, every: Duration) {
        for round in 0.. {
            tokio::select! {
                () = self.0.closing.cancelled() => return,
                () = tokio::time::sleep(every) => {}
            }
            if let Err(error) = self.sweep(Whom::Round(round)).await {
                tracing::warn!(%error, "the sockets could not be swept");
            }
        }
    }

    /// One sweep, without waiting for its minute.
    pub async fn sweep_now(&self) -> Result<()> {
        self.sweep(Whom::Changed).await
    }

    /// Ends sockets whose session is over and puts rooms right.
    pub(super) async fn sweep(&self, whom: Whom) -> Result<()> {
        self.0.cuts.forget_past();
        self.0.activity.forget_past();
        self.0.pulses.forget_past(clock::now());
        let seated: Vec<_> = self
            .sockets()
            .into_iter()
            .filter_map(|socket| Seat::of(&socket).map(|seat| (socket, seat)))
            .collect();
        let sessions: HashSet<SessionId> = seated.iter().map(|(_, seat)| seat.session().clone()).collect();
        let (Some(first), Some(last)) = (sessions.iter().min().cloned(), sessions.iter().max().cloned()) else {
            return Ok(());
        };
        let good = self
            .0
            .store
            .platform_read(PlatformProof::session_look_up(), move |platform| {
                platform.good_sessions(&first, &last, clock::now())
            });
        let good: HashMap<_, _> = good.await?.into_iter().collect();
        for session in sessions.into_iter().filter(|session| !good.contains_key(session)) {
            self.kill(&Party::Session(session), KillReason::Expired);
        }
        let due = seated.into_iter().filter(|(_, seat)| match good.get(seat.session()) {
            Some(standing) => whom.has(seat.session()) || seat.needs_look(standing),
            None => false,
        });
        self.look_all(due.map(|(socket, _)| socket).collect()).await;
        Ok(())
    }

    /// Tells every socket that events may have been missed, one after another over a few seconds.
    pub(super) fn call_to_sync(&self) {
        let sockets = self.sockets();
        tokio::spawn(async move {
            let pause = SPREAD / u32::try_from(sockets.len().max(1)).unwrap_or(u32::MAX);
            for socket in sockets {
                tell_to_sync(&socket);
                tokio::time::sleep(pause).await;
            }
        });
    }
}

fn tell_to_sync(socket: &SocketRef) {
    let payload = payload(Event::SyncRequired, None, None, &EmptyPayload {});
    if let Err(error) = socket.emit(Event::SyncRequired.as_str(), &payload) {
        tracing::debug!(%error, "a socket went before it could be told");
    }
}
