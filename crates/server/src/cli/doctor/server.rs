//! Checks the PostgreSQL server: durability settings, available connections, notifications, and its clock.

use super::{DoctorReport, Finding};
use crate::config::Config;
use common::clock;
use db::Database;
use db::server::facts::ServerDiagnostics;

/// The clock skew in milliseconds that is reported. Sessions and start dates are compared with the clock of this
/// machine.
const CLOCK_MILLIS: i64 = 2_000;

/// Runs the checks.
pub async fn examine(config: &Config, database: &Database, found: &mut DoctorReport) {
    let Database::Postgres(url) = database else { return };
    let url = url.clone();
    let asked = tokio::task::spawn_blocking(move || ServerDiagnostics::of(&url, clock::now)).await;
    let facts = match asked {
        Ok(Ok(facts)) => facts,
        Ok(Err(error)) => return found.add("server", super::fault(&error)),
        Err(error) => return found.add("server", Finding::Fault(error.to_string())),
    };
    let tls = facts.tls.as_deref().unwrap_or("without TLS");
    found.add("server", Finding::Fine(format!("PostgreSQL {}, {tls}", facts.version)));
    found.add("durability", check_durability(&facts));
    if let Ok((readers, writers)) = config.storage.connections(database) {
        found.add("connections", check_connection_limit(&facts, readers + writers + 1));
    }
    found.add("notifications", check_notifications(&facts));
    found.add("clock", check_clock(&facts));
}

fn check_durability(facts: &ServerDiagnostics) -> Finding {
    if !facts.is_fsync_on {
        return Finding::Fault("fsync is off: a power cut destroys the database; set fsync = on".to_owned());
    }
    if facts.synchronous_commit == "off" {
        return Finding::Fault(
            "synchronous_commit is off: what was answered may be lost; set it to on for this database".to_owned(),
        );
    }
    Finding::Fine(format!("fsync is on, synchronous_commit {}", facts.synchronous_commit))
}

fn check_connection_limit(facts: &ServerDiagnostics, own: usize) -> Finding {
    let own = i64::try_from(own).unwrap_or(i64::MAX);
    let instances = facts.connections_max / own;
    let text = format!(
        "an instance takes {own} (DATABASE_CONNECTIONS and the bus), the server has {} (max_connections), {} in use",
        facts.connections_max, facts.connections
    );
    match instances {
        0 => Finding::Fault(format!("{text}: raise max_connections or lower DATABASE_CONNECTIONS")),
        1 => Finding::Notice(format!("{text}: room for one instance, and none for a rolling restart")),
        _ => Finding::Fine(format!("{text}: room for {instances} instances")),
    }
}

fn check_notifications(facts: &ServerDiagnostics) -> Finding {
    if facts.receives_notifications {
        return Finding::Fine("LISTEN and NOTIFY work on this connection".to_owned());
    }
    Finding::Fault(
        "notifications do not arrive: DATABASE_URL leads through a pooler of transactions (PgBouncer); name the server itself, \
         or a pooler of sessions"
            .to_owned(),
    )
}

fn check_clock(facts: &ServerDiagnostics) -> Finding {
    let text = format!("the server's clock is {} ms ahead of ours", facts.clock_ahead_millis);
    if facts.clock_ahead_millis.abs() < CLOCK_MILLIS {
        return Finding::Fine(text);
    }
    Finding::Notice(format!("{text}; let both machines take the time from a server (NTP)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> ServerDiagnostics {
        ServerDiagnostics {
            version: "15".to_owned(),
            tls: None,
            is_fsync_on: true,
            synchronous_commit: "on".to_owned(),
            connections_max: 97,
            connections: 1,
            clock_ahead_millis: 3,
            receives_notifications: true,
        }
    }

    #[test]
    fn doctor_names_the_wrong_setting() {
        let words = |finding: Finding| match finding {
            Finding::Fine(_) => String::new(),
            Finding::Notice(words) | Finding::Fault(words) => words,
        };
        assert_eq!(words(check_durability(&facts())), "");
        assert!(
            words(check_durability(&ServerDiagnostics {
                is_fsync_on: false,
                ..facts()
            }))
            .contains("fsync")
        );
        let lazy = ServerDiagnostics {
            synchronous_commit: "off".to_owned(),
            ..facts()
        };
        assert!(words(check_durability(&lazy)).contains("synchronous_commit"));
        assert_eq!(words(check_connection_limit(&facts(), 25)), "");
        assert!(words(check_connection_limit(&facts(), 60)).contains("rolling restart"));
        assert!(words(check_connection_limit(&facts(), 98)).contains("max_connections"));
        assert!(
            words(check_notifications(&ServerDiagnostics {
                receives_notifications: false,
                ..facts()
            }))
            .contains("PgBouncer")
        );
        assert!(
            words(check_clock(&ServerDiagnostics {
                clock_ahead_millis: -60_000,
                ..facts()
            }))
            .contains("NTP")
        );
    }
}
