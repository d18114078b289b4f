//! The export tables of an account, which belongs to no single organization: for the user, and for the organization
//! that created the account and alone administers it. `$1` is the user. Secrets (hashes, tokens and emailed links) are
//! not exported.

use super::ExportTable;
use crate::labels::SHOWN_EMAIL;
use crate::statements;

statements! {
    ACCOUNT = "SELECT u.id, name, first_name, last_name, {SHOWN_EMAIL} AS email, email_verified,
        user_name AS username, role, image, locale, timezone,
        is_active, must_change_password, password_reset_at, password_reset_by_id, has_second_factor,
        banned, ban_reason, last_login_at, created_at, updated_at
        FROM users u WHERE u.id = $1 AND u.id > $2 ORDER BY u.id LIMIT $3";
    /// The sign-in methods of the user.
    SIGN_INS = "SELECT id, provider_id AS provider, created_at, updated_at FROM accounts
        WHERE user_id = $1 AND id > $2 ORDER BY id LIMIT $3";
    /// The passkeys of the user, without their keys.
    PASSKEYS = "SELECT id, name, is_backed_up, created_at, last_used_at FROM passkeys
        WHERE user_id = $1 AND id > $2 ORDER BY id LIMIT $3";
    /// The identities of the user at the sign-on providers of organizations.
    IDENTITIES = "SELECT x.id, o.name AS organization, p.name AS provider, x.issuer, x.subject, x.linked_by,
            x.created_at, x.last_sign_in_at
        FROM external_identities x JOIN sign_on_providers p ON p.id = x.provider_id
        JOIN organizations o ON o.id = x.organization_id
        WHERE x.user_id = $1 AND x.id > $2 ORDER BY x.id LIMIT $3";
    /// The sessions of the user. Impersonation sessions are not disclosed.
    SESSIONS = "SELECT id, ip_address, user_agent, created_at, expires_at FROM sessions
        WHERE user_id = $1 AND impersonated_by IS NULL AND id > $2 ORDER BY id LIMIT $3";
    /// IP addresses from which the user signed in.
    SIGN_IN_ADDRESSES = "SELECT s.address, s.last_success_at, s.failures FROM sign_in_successes s
        JOIN users u ON u.email = s.account_key
        WHERE u.id = $1 AND s.address > $2 ORDER BY s.address LIMIT $3";
    /// Invitations of the user's email address, in all organizations.
    INVITATIONS = "SELECT i.id, o.name AS organization, i.role, i.status, i.created_at, i.expires_at FROM invitations i
        JOIN organizations o ON o.id = i.organization_id JOIN users u ON u.email = i.email
        WHERE u.id = $1 AND i.id > $2 ORDER BY i.id LIMIT $3";
    /// API tokens that act for the user.
    API_TOKENS = "SELECT t.id, o.name AS organization, t.name, t.scopes, t.created_at, t.expires_at, t.last_used_at
        FROM api_tokens t JOIN organizations o ON o.id = t.organization_id
        WHERE t.created_by_id = $1 AND t.id > $2 ORDER BY t.id LIMIT $3";
    /// Number of consecutive failed sign-ins of the user from unknown addresses.
    FAILURE_COUNTS = "SELECT {SHOWN_EMAIL} AS email, c.failures, c.last_failure_at
        FROM sign_in_failure_counts c JOIN users u ON u.email = c.account_key
        WHERE u.id = $1 AND c.account_key > $2 ORDER BY c.account_key LIMIT $3";
    /// IP addresses of failed sign-ins to the account.
    FAILED_SIGN_INS = "SELECT f.id, f.address, f.created_at FROM sign_in_failures f
        JOIN users u ON u.email = f.account_key
        WHERE u.id = $1 AND f.id > $2 ORDER BY f.id LIMIT $3";
}

/// All export tables of an account, in the order of the archive.
pub static TABLES: &[ExportTable] = &[
    ExportTable::new("account", &ACCOUNT),
    ExportTable::new("sign-ins", &SIGN_INS),
    ExportTable::new("passkeys", &PASSKEYS),
    ExportTable::new("sign-on-identities", &IDENTITIES),
    ExportTable::new("sessions", &SESSIONS),
    ExportTable::new("sign-in-addresses", &SIGN_IN_ADDRESSES),
    ExportTable::new("failed-sign-ins-in-a-row", &FAILURE_COUNTS),
    ExportTable::new("invitations", &INVITATIONS),
    ExportTable::new("api-tokens", &API_TOKENS),
    ExportTable::new("failed-sign-ins", &FAILED_SIGN_INS),
];
