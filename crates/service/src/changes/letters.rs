//! Sends what waits in `letters` after the commits that wrote it. A letter is forgotten only once a mail server has it or
//! it lies in the outbox; when the server is away, everything waits and nobody is refused anything.

use std::time::Duration;

use model::time::Timestamp;
use tokio_util::task::AbortOnDropHandle;

use adapters::mail::{Delivery, Mail};
use common::clock;
use common::error::Result;
use db::Store;
use db::platform::letters::DueLetter;
use db::platform::{Platform, PlatformProof};

/// How often the list is looked at.
const PAUSE: Duration = Duration::from_secs(1);
/// The longest wait for a server that is away.
const PAUSE_MAX: Duration = Duration::from_mins(1);
/// Letters of one round.
const ROUND: i64 = 50;
/// How long an instance has a letter for itself, in seconds: longer than a delivery may take.
const LEASE: i64 = 180;
/// The first and the longest wait for a letter that was not taken, in seconds.
const WAIT: i64 = 60;
const WAIT_MAX: i64 = 4 * 3_600;

/// How a round ended.
enum Round {
    /// More may be due than fits a round.
    Full,
    /// Nothing more is due.
    Done,
    /// The mail server takes nothing.
    Away,
}

/// Starts the task; it ends with the value.
pub fn start(store: Store, mail: Mail) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(async move {
        let mut pause = PAUSE;
        loop {
            match round(&store, &mail).await {
                Ok(Round::Full) => continue,
                Ok(Round::Done) => pause = PAUSE,
                Ok(Round::Away) => pause = (pause * 2).min(PAUSE_MAX),
                Err(error) => {
                    tracing::warn!(error = format!("{error:?}"), "letters wait");
                    pause = (pause * 2).min(PAUSE_MAX);
                }
            }
            tokio::time::sleep(pause).await;
        }
    }))
}

async fn round(store: &Store, mail: &Mail) -> Result<Round> {
    let now = clock::now();
    let due = store.platform_read(PlatformProof::housekeeping(), move |platform| {
        platform.due_letters(now, ROUND)
    });
    let due = due.await?;
    let full = i64::try_from(due.len()).unwrap_or(ROUND) == ROUND;
    let mut away = false;
    for due in due {
        let expired = due.letter.expires_at <= now;
        // A server that is away is asked once in a round.
        if (away && !expired) || !claim(store, &due, clock::now()).await? {
            continue;
        }
        let delivery = if expired {
            Delivery::Refused("its time is over".to_owned())
        } else {
            mail.deliver(&due.letter).await?
        };
        away |= matches!(delivery, Delivery::Away(_));
        settle(store, mail, due, delivery).await?;
    }
    Ok(match (away, full) {
        (true, _) => Round::Away,
        (false, true) => Round::Full,
        (false, false) => Round::Done,
    })
}

async fn claim(store: &Store, due: &DueLetter, now: Timestamp) -> Result<bool> {
    let (id, due_at, lease) = (due.letter.id.clone(), due.due_at, now.plus_seconds(LEASE));
    let claim = move |platform: &mut Platform<'_>| platform.claim_letter(&id, due_at, lease);
    store.platform_write(PlatformProof::housekeeping(), claim).await
}

/// What follows from a delivery. Records name the letter, never its address or its text.
async fn settle(store: &Store, mail: &Mail, due: DueLetter, delivery: Delivery) -> Result<()> {
    let DueLetter { letter, attempts, .. } = due;
    let (id, kind, now) = (letter.id.as_str(), letter.kind.as_str(), clock::now());
    let again = match delivery {
        Delivery::Sent => {
            tracing::info!(letter.id = id, letter.kind = kind, "a letter was sent");
            None
        }
        Delivery::Refused(why) => {
            mail.lay_aside(&letter).await?;
            tracing::warn!(
                letter.id = id,
                letter.kind = kind,
                why,
                "a letter was not sent and lies in the outbox"
            );
            None
        }
        Delivery::Later(why) => {
            tracing::warn!(letter.id = id, letter.kind = kind, why, "a letter is tried again later");
            let wait = WAIT.saturating_mul(1 << attempts.clamp(0, 10)).min(WAIT_MAX);
            Some((attempts + 1, now.plus_seconds(wait)))
        }
        Delivery::Away(why) => {
            tracing::warn!(why, "letters wait for the mail server");
            Some((attempts, now))
        }
    };
    let id = letter.id;
    let note = move |platform: &mut Platform<'_>| match again {
        Some((attempts, next)) => platform.postpone_letter(&id, attempts, next),
        None => platform.delete_letter(&id),
    };
    store.platform_write(PlatformProof::housekeeping(), note).await
}
