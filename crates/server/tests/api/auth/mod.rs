//! `/auth` as the official client of better-auth knows it, and what is stricter here: failures are counted, revocation
//! holds at once, the cache cookie decides nothing.

mod account;
mod admin;
mod admin_people;
mod browser;
mod impersonation;
mod limits;
mod organization;
mod reset;
mod sessions;
mod sign_in;
mod wire;

use std::sync::OnceLock;

use common::clock;
use db::Database;
use db::connection::Connection;
use db::platform::PlatformProof;
use db::sql::{Sql, Value};
use model::id::UserId;

pub use browser::Browser;

use crate::support::{Person, TestApp};

/// The password of everybody who has one.
pub const PASSWORD: &str = "Zirkel und Lineal";

/// Its hash, made once: hashing is slow on purpose.
fn hash() -> &'static str {
    static HASH: OnceLock<String> = OnceLock::new();
    HASH.get_or_init(|| better_auth::password::hash(PASSWORD))
}

/// Gives a person the password.
pub async fn enable(app: &TestApp, person: &Person) {
    let id = UserId::new(person.id.clone());
    let write = move |platform: &mut db::platform::Platform<'_>| platform.choose_password(&id, hash(), clock::now());
    app.app
        .store()
        .platform_write(PlatformProof::command_line(), write)
        .await
        .unwrap();
}

/// Somebody who just signed in, without an organization yet.
pub async fn signed_in(app: &TestApp, person: &Person) -> Browser {
    enable(app, person).await;
    let browser = Browser::new(app);
    browser.sign_in(&person.email, PASSWORD).await.expect(200);
    browser
}

db::statements! {
    /// Moves the end and the last renewal of a session, as time would.
    AGE_SESSION = "UPDATE sessions SET expires_at = expires_at - $2, updated_at = updated_at - $2 WHERE token = $1";
    /// Moves the beginning of a session.
    AGE_SIGN_IN = "UPDATE sessions SET created_at = created_at - $2 WHERE token = $1";
    /// Lets failures grow old.
    AGE_FAILURES = "UPDATE sign_in_failures SET created_at = created_at - $1";
    /// Forgets failures.
    FORGET_FAILURES = "DELETE FROM sign_in_failures";
    /// Another role.
    SET_ROLE = "UPDATE members SET role = $2 WHERE user_id = $1";
    /// The membership ends.
    END_MEMBERSHIP = "DELETE FROM members WHERE user_id = $1";
    /// Keeps somebody out.
    BAN = "UPDATE users SET banned = TRUE, ban_expires = $2 WHERE id = $1";
    /// Lets a ban grow old.
    AGE_BAN = "UPDATE users SET ban_expires = ban_expires - $2 WHERE id = $1";
    /// Another platform role.
    SET_PLATFORM_ROLE = "UPDATE users SET role = $2 WHERE id = $1";
    /// Ends the session of a token.
    END_SESSION = "DELETE FROM sessions WHERE token = $1";
    /// How many links somebody was mailed.
    COUNT_VERIFICATIONS = "SELECT COUNT(*) FROM verifications WHERE value = $1";
    /// Switches an account off.
    SWITCH_OFF = "UPDATE users SET is_active = FALSE WHERE id = $1";
    /// A temporary password.
    TEMPORARY = "UPDATE users SET must_change_password = TRUE, temporary_password_expires_at = $2 WHERE id = $1";
    /// A hash as better-auth made it.
    SET_HASH = "UPDATE accounts SET password = $2 WHERE user_id = $1";
    /// The hash of somebody.
    GET_HASH = "SELECT password FROM accounts WHERE user_id = $1";
    /// Which school made an account.
    SET_HOME = "UPDATE users SET home_organization_id = $2 WHERE id = $1";
    /// What a school reads about sign-ins that failed.
    FAILURES_IN_LOG = "SELECT COUNT(*) FROM activity_logs
        WHERE organization_id = $1 AND entity_id = $2 AND category = 'AUTH' AND action = 'LOGIN_FAILED'";
    /// How many people there are.
    COUNT_USERS = "SELECT COUNT(*) FROM users";
    /// How many sessions somebody has.
    COUNT_SESSIONS = "SELECT COUNT(*) FROM sessions WHERE user_id = $1";
    /// When somebody last signed in.
    LAST_LOGIN = "SELECT COALESCE(last_login_at, 0) FROM users WHERE id = $1";
}

/// Runs a statement behind the back of the service.
pub fn run(app: &TestApp, sql: &'static Sql, arguments: &[Value<'_>]) {
    assert_eq!(STATEMENTS.len(), 20);
    with(app, |connection| connection.run(sql, arguments).unwrap());
}

/// One text or number behind the back of the service.
pub fn one<T: db::sql::Column + Send>(app: &TestApp, sql: &'static Sql, arguments: &[Value<'_>]) -> T {
    with(app, |connection| {
        connection.maybe(sql, arguments, |row| row.take()).unwrap().unwrap()
    })
}

/// The synchronous driver must not run on a thread of the async runtime.
fn with<T: Send>(app: &TestApp, act: impl FnOnce(&mut Connection) -> T + Send) -> T {
    std::thread::scope(|scope| {
        scope
            .spawn(|| {
                let mut connection = match &app.database {
                    Database::Sqlite(path) => Connection::open_sqlite(path, false).unwrap(),
                    Database::Postgres(url) => Connection::open_postgres(url).unwrap(),
                };
                let outcome = act(&mut connection);
                drop(connection);
                outcome
            })
            .join()
            .unwrap()
    })
}
