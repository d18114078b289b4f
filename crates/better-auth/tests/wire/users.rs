//! Two users with sessions.

use better_auth::{
    cache,
    object::{PluginField, SessionObject, UserObject},
    timestamp::UnixMillis,
};

pub(crate) const SECRET: &str = "conformance-secret-0123456789abcdefghij";
pub(crate) const NOW: UnixMillis = UnixMillis::from_millis(1_795_188_810_715);

/// A signed-in user with a cached copy created now.
pub(crate) struct WireUser {
    pub(crate) session: SessionObject,
    pub(crate) user: UserObject,
}

impl WireUser {
    pub(crate) fn ada() -> Self {
        Self::new("Ada", "TEACHER", "adaadaadaadaadaadaadaadaadaadaad")
    }

    pub(crate) fn ben() -> Self {
        Self::new("Ben", "STUDENT", "benbenbenbenbenbenbenbenbenbenbe")
    }

    pub(crate) fn cached(&self) -> String {
        cache::build(SECRET, &self.session, &self.user, NOW, 300)
    }

    pub(crate) fn accepts(&self, value: &str) -> bool {
        cache::verify(SECRET, value, &self.session.token, NOW).is_some()
    }

    fn new(name: &str, role: &str, token: &str) -> Self {
        let user_id = format!("user-{name}");
        Self {
            session: SessionObject {
                expires_at: NOW.plus_seconds(86_400),
                token: token.to_owned(),
                created_at: NOW,
                updated_at: NOW,
                ip_address: Some(String::new()),
                user_agent: Some(format!("{name}'s browser")),
                user_id: user_id.clone(),
                active_organization_id: Some(format!("school-{role}")),
                impersonated_by: None,
                id: format!("session-{name}"),
            },
            user: UserObject {
                name: name.to_owned(),
                email: format!("{}@school.test", name.to_lowercase()),
                email_verified: true,
                image: None,
                created_at: NOW,
                updated_at: NOW,
                role: role.to_owned(),
                banned: false,
                ban_reason: None,
                ban_expires: None,
                two_factor_enabled: None,
                username: PluginField::Absent,
                display_username: PluginField::Absent,
                id: user_id,
            },
        }
    }
}
