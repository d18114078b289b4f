//! Audit lines in the log: failed sign-ins and lock-outs, changed ranks, impersonations and exports, with the address of
//! the client. Tools such as fail2ban read them, so their text is part of the interface (docs/operation.md#audit-lines).

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::StatusCode;

use super::context::App;
use auth::Peer;

/// A request whose outcome is recorded.
pub struct AuditedRequest {
    kind: AuditKind,
    address: Option<IpAddr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AuditKind {
    SignIn,
    Rank,
    ImpersonationBegin,
    ImpersonationEnd,
    Export,
}

/// The routes whose requests are recorded.
const ROUTES: [(&str, &str, AuditKind); 10] = [
    ("POST", "/api/auth/sign-in/email", AuditKind::SignIn),
    ("POST", "/api/auth/admin/set-role", AuditKind::Rank),
    ("PATCH", "/api/admin/members/{id}", AuditKind::Rank),
    (
        "POST",
        "/api/auth/admin/impersonate-user",
        AuditKind::ImpersonationBegin,
    ),
    (
        "POST",
        "/api/auth/admin/stop-impersonating",
        AuditKind::ImpersonationEnd,
    ),
    ("GET", "/api/assignments/{id}/grades.csv", AuditKind::Export),
    ("GET", "/api/assignments/{id}/export.zip", AuditKind::Export),
    ("GET", "/api/activity-logs/export.csv", AuditKind::Export),
    ("POST", "/api/users/me/export", AuditKind::Export),
    ("POST", "/api/admin/gdpr/export", AuditKind::Export),
];

impl AuditedRequest {
    /// Returns a value for a request whose outcome is recorded.
    pub fn new(app: &App, request: &Request, route: Option<&str>) -> Option<Self> {
        let method = request.method().as_str();
        let (.., kind) = ROUTES
            .iter()
            .find(|(audited, template, _)| *audited == method && Some(*template) == route)?;
        let peer = request.extensions().get::<Peer>().map(|peer| peer.0.ip());
        let address = app.settings().audit_address.then(|| {
            let hosts = app.authenticator().host_resolver();
            hosts.client_address(request.headers(), peer)
        });
        Some(Self {
            kind: *kind,
            address: address.flatten(),
        })
    }

    /// Writes the line, if the outcome of the request is one that is recorded.
    pub fn record(&self, status: StatusCode, request_id: &str) {
        let outcome = match self.kind {
            AuditKind::SignIn if status == StatusCode::UNAUTHORIZED => "sign-in failed",
            AuditKind::SignIn if status == StatusCode::TOO_MANY_REQUESTS => "sign-in locked out",
            AuditKind::Rank if status.is_success() => "rank changed",
            AuditKind::ImpersonationBegin if status.is_success() => "impersonation began",
            AuditKind::ImpersonationEnd if status.is_success() => "impersonation ended",
            AuditKind::Export if status.is_success() => "data exported",
            _ => return,
        };
        // `None` omits the field.
        let address = self
            .address
            .map(|address| address.to_canonical())
            .map(tracing::field::display);
        tracing::warn!(
            audit = true,
            client.address = address,
            request.id = request_id,
            "{outcome}"
        );
    }
}
