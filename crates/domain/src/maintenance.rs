//! Maintenance mode of an installation: while it is on, everything can be read and nothing can be changed.

use crate::text::MaintenanceMessage;
use crate::time::Timestamp;

/// The maintenance mode while it is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Maintenance {
    /// The text of the operator for users, for example when it ends.
    pub message: Option<MaintenanceMessage>,
    pub since: Timestamp,
}

/// Which requests to a route are served during maintenance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServedInMaintenance {
    /// Requests that only read.
    #[default]
    Reads,
    /// All requests: signing in, and what completes work that began before.
    All,
    /// None: the route changes something although its method is safe.
    Nothing,
}

impl ServedInMaintenance {
    /// Returns whether a request is served.
    pub const fn serves(self, is_read: bool) -> bool {
        match self {
            Self::Reads => is_read,
            Self::All => true,
            Self::Nothing => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_served_unless_they_change_something() {
        assert!(ServedInMaintenance::Reads.serves(true) && !ServedInMaintenance::Reads.serves(false));
        assert!(ServedInMaintenance::All.serves(true) && ServedInMaintenance::All.serves(false));
        assert!(!ServedInMaintenance::Nothing.serves(true) && !ServedInMaintenance::Nothing.serves(false));
    }
}
