//! Which routes are served to a user who is required to have a second factor and has none: what it takes to set one up and
//! to sign out. See docs/second-factor.md.

use domain::access::Access;

/// Routes with a session that are served. Choosing an organization is one of them, because the requirement depends on it.
const SERVED: [&str; 8] = [
    "/auth/get-session",
    "/auth/passkey/generate-register-options",
    "/auth/passkey/list-user-passkeys",
    "/auth/passkey/verify-registration",
    "/auth/sign-out",
    "/auth/verify-password",
    "/auth/organization/list",
    "/auth/organization/set-active",
];

/// Routes below `/auth` that need no session, although the browser may have one.
const WITHOUT_SESSION: [&str; 14] = [
    "/auth/ok",
    "/auth/passkey/generate-authenticate-options",
    "/auth/passkey/verify-authentication",
    "/auth/sign-in/email",
    "/auth/sign-in/slip",
    "/auth/sign-in/sso",
    "/auth/sign-in/username",
    "/auth/sign-up/email",
    "/auth/sso/backchannel-logout/{providerId}",
    "/auth/sso/callback/{providerId}",
    "/auth/request-password-reset",
    "/auth/reset-password",
    "/auth/reset-password/{token}",
    "/auth/verify-email",
];

/// Returns whether a route is served to such a user.
pub fn is_served(access: Access, path: &str) -> bool {
    match access {
        Access::DocumentServer => true,
        Access::Anyone if !path.starts_with("/auth/") => true,
        _ => path.starts_with("/auth/two-factor/") || SERVED.contains(&path) || WITHOUT_SESSION.contains(&path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_are_routes() {
        let (_, rows) = crate::router::description();
        for path in SERVED.iter().chain(&WITHOUT_SESSION) {
            assert!(rows.iter().any(|row| row.path == *path), "{path} is no route");
        }
    }

    #[test]
    fn routes_with_a_session_are_not_served_unless_they_are_listed() {
        let (_, rows) = crate::router::description();
        let served: Vec<_> = rows.iter().filter(|row| is_served(row.access, &row.path)).collect();
        let with_session = served
            .iter()
            .filter(|row| row.access > Access::Anyone && row.access != Access::DocumentServer);
        for row in with_session {
            assert!(SERVED.contains(&row.path.as_str()), "{} {}", row.method, row.path);
        }
    }
}
