//! The limits of a route: what it counts as for rate limits, its permits and its timeout. They are declared with the
//! route, like its access rule. See docs/api-contract.md#rates and docs/api-contract.md#sizes-and-times.

use std::time::Duration;

use axum::http::Method;
use domain::access::Access;
use domain::rate::Rate;

use auth::concurrency::OperationKind;

/// The default timeout.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
/// The timeout of routes that wait for the document server or compute much.
const LONG_TIMEOUT: Duration = Duration::from_mins(2);

/// The limits of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RouteLimits {
    /// Counts as a read or a change.
    Standard,
    /// Like [`Self::Standard`], with a longer timeout, because it waits for the document server.
    Long,
    /// Also counts as a chat message.
    Chat,
    /// Counts as a commit of a document only: pages send several in a second.
    Commit,
    /// Also counts as an export, with limited concurrency and a longer timeout.
    Export,
    /// Also counts as an import of the organization, without a timeout.
    Import,
    /// Also counts as a request of the organization to a roster server, with a longer timeout.
    Roster,
    /// Not counted: used by monitoring, or the route has limits of its own.
    Uncounted,
}

impl RouteLimits {
    /// The timeout until the response starts. Waiting for the client's body is not counted.
    pub const fn timeout(self) -> Option<Duration> {
        match self {
            Self::Standard | Self::Chat | Self::Commit | Self::Uncounted => Some(DEFAULT_TIMEOUT),
            Self::Long | Self::Export | Self::Roster => Some(LONG_TIMEOUT),
            Self::Import => None,
        }
    }

    /// The rate limit of every request of the route. Requests of the document server do not count for a user.
    pub fn rate(self, access: Access, method: &Method) -> Option<Rate> {
        let is_counted = self != Self::Uncounted && access != Access::DocumentServer;
        let rate = match self {
            Self::Commit => Rate::Commit,
            _ if method.is_safe() => Rate::Read,
            _ => Rate::Change,
        };
        is_counted.then_some(rate)
    }

    /// The additional rate limit per user.
    pub const fn user_rate(self) -> Option<Rate> {
        match self {
            Self::Chat => Some(Rate::Chat),
            Self::Export => Some(Rate::Export),
            Self::Standard | Self::Long | Self::Commit | Self::Import | Self::Roster | Self::Uncounted => None,
        }
    }

    /// The long-running operation whose permit the route needs.
    pub const fn operation_kind(self) -> Option<OperationKind> {
        match self {
            Self::Export => Some(OperationKind::Export),
            Self::Import => Some(OperationKind::Import),
            Self::Standard | Self::Long | Self::Chat | Self::Commit | Self::Roster | Self::Uncounted => None,
        }
    }

    /// The additional rate limit per organization.
    pub const fn organization_rate(self) -> Option<Rate> {
        match self {
            Self::Import => Some(Rate::Import),
            Self::Roster => Some(Rate::Roster),
            Self::Standard | Self::Long | Self::Chat | Self::Commit | Self::Export | Self::Uncounted => None,
        }
    }
}
