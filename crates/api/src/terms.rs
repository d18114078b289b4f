//! On which terms a route is served: what is counted of it and how long it may take (contract 9). It stands beside the
//! route like its access; a route that says nothing is served as usual.

use std::time::Duration;

use axum::http::Method;
use model::access::Access;
use model::rate::Rate;

use auth::places::Long;

/// How long a route may take as a rule.
const USUAL: Duration = Duration::from_secs(30);
/// How long what waits for the document server or computes much may take.
const LONG: Duration = Duration::from_mins(2);

/// The terms of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Terms {
    /// Counted as a read or a change.
    Usual,
    /// The same, with more time: it waits for the document server.
    Long,
    /// Also counted as a chat message.
    Chat,
    /// Also counted as an export, few at once, with more time.
    Export,
    /// Also counted as an import of the school, without a limit of time.
    Import,
    /// Not counted here: what watches over the service asks it, or it has limits of its own.
    Uncounted,
}

impl Terms {
    /// How long it may take until its answer begins; waiting for the client's body does not count.
    pub const fn time(self) -> Option<Duration> {
        match self {
            Self::Usual | Self::Chat | Self::Uncounted => Some(USUAL),
            Self::Long | Self::Export => Some(LONG),
            Self::Import => None,
        }
    }

    /// What every request of the route counts as. The document server's requests are not people's.
    pub fn rate(self, access: Access, method: &Method) -> Option<Rate> {
        let is_counted = self != Self::Uncounted && access != Access::DocumentServer;
        let rate = if method.is_safe() { Rate::Read } else { Rate::Change };
        is_counted.then_some(rate)
    }

    /// What it counts as besides, for the person who asks.
    pub const fn own_rate(self) -> Option<Rate> {
        match self {
            Self::Chat => Some(Rate::Chat),
            Self::Export => Some(Rate::Export),
            Self::Usual | Self::Long | Self::Import | Self::Uncounted => None,
        }
    }

    /// What takes long about it: it waits for a place of its school.
    pub const fn long(self) -> Option<Long> {
        match self {
            Self::Export => Some(Long::Export),
            Self::Import => Some(Long::Import),
            Self::Usual | Self::Long | Self::Chat | Self::Uncounted => None,
        }
    }

    /// What it counts as besides, for the whole organization.
    pub const fn shared_rate(self) -> Option<Rate> {
        match self {
            Self::Import => Some(Rate::Import),
            Self::Usual | Self::Long | Self::Chat | Self::Export | Self::Uncounted => None,
        }
    }
}
