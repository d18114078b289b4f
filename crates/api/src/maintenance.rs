//! Maintenance mode: which routes are served, and the header that announces it. See docs/api-contract.md#maintenance.

use axum::http::{HeaderName, Method};
use domain::access::Access;
use domain::maintenance::ServedInMaintenance;

use auth::maintenance::MaintenanceMode;
use common::error::{Error, Result};

/// The header of every response during maintenance.
pub const MAINTENANCE: HeaderName = HeaderName::from_static("x-maintenance");

/// Paths below `/api` whose mutating requests are served: signing in and out, choosing a school, ending sessions,
/// requests that only read, and the second step of a submission that has begun.
const SERVED: &[&str] = &[
    "/auth/sign-in/email",
    "/auth/two-factor/verify-totp",
    "/auth/two-factor/verify-backup-code",
    "/auth/passkey/verify-authentication",
    "/auth/sign-in/sso",
    "/auth/sso/callback/{providerId}",
    "/auth/sso/backchannel-logout/{providerId}",
    "/auth/sign-out",
    "/auth/get-session",
    "/auth/revoke-session",
    "/auth/revoke-sessions",
    "/auth/revoke-other-sessions",
    "/auth/organization/set-active",
    "/auth/organization/has-permission",
    "/auth/admin/has-permission",
    "/auth/admin/stop-impersonating",
    "/invitations/preview",
    "/workrooms/documents/{id}/flushed",
];

/// Paths whose GET changes something: emailed links that are followed.
const CHANGING_READS: [&str; 1] = ["/auth/verify-email"];

/// Returns which requests to a route are served. A save of the document server is always stored: it cannot be repeated
/// later, because the document server gives up.
pub fn served(access: Access, path: &str) -> ServedInMaintenance {
    if access == Access::DocumentServer || SERVED.contains(&path) {
        ServedInMaintenance::All
    } else if CHANGING_READS.contains(&path) {
        ServedInMaintenance::Nothing
    } else {
        ServedInMaintenance::Reads
    }
}

/// Rejects a request that is not served during maintenance.
pub fn check(served: ServedInMaintenance, method: &Method, mode: &MaintenanceMode) -> Result<()> {
    if served.serves(method.is_safe()) || !mode.is_on() {
        Ok(())
    } else {
        Err(Error::Maintenance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_are_routes() {
        let (_, rows) = crate::router::description();
        for path in SERVED.iter().chain(&CHANGING_READS) {
            assert!(rows.iter().any(|row| row.path == *path), "{path} is no route");
        }
    }
}
