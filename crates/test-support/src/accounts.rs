//! Passwords, signed-in users, and SQL statements that bypass the service.

use std::sync::OnceLock;

use common::clock;
use db::Database;
use db::connection::Connection;
use db::platform::CrossTenantReason;
use db::sql::{Sql, Value};
use domain::id::UserId;

use super::{Browser, TestApp, TestUser};

/// The password of every user that has a password.
pub const PASSWORD: &str = "Zirkel und Lineal";

/// The hash of [`PASSWORD`], computed once: hashing is slow on purpose.
pub fn hash() -> &'static str {
    static HASH: OnceLock<String> = OnceLock::new();
    HASH.get_or_init(|| better_auth::password::hash(PASSWORD))
}

/// Sets the password of a user.
pub async fn enable(app: &TestApp, person: &TestUser) {
    let id = UserId::new(person.id.clone());
    let write = move |platform: &mut db::platform::PlatformTx<'_>| platform.choose_password(&id, hash(), clock::now());
    app.app
        .store()
        .platform_write(CrossTenantReason::CommandLine, write)
        .await
        .unwrap();
}

/// Signs a user in; the session has no active organization yet.
pub async fn signed_in(app: &TestApp, person: &TestUser) -> Browser {
    enable(app, person).await;
    let browser = Browser::new(app);
    browser.sign_in(&person.email, PASSWORD).await.expect(200);
    browser
}

/// Runs a statement directly on the database, without the service.
pub fn run(app: &TestApp, sql: &'static Sql, arguments: &[Value<'_>]) {
    with(app, |connection| connection.execute(sql, arguments).unwrap());
}

/// Reads one text or number directly from the database, without the service.
pub fn one<T: db::sql::FromStored + Send>(app: &TestApp, sql: &'static Sql, arguments: &[Value<'_>]) -> T {
    with(app, |connection| {
        connection
            .fetch_optional(sql, arguments, |row| row.only())
            .unwrap()
            .unwrap()
    })
}

/// Opens a connection on a separate thread: the synchronous driver must not run on a thread of the async runtime.
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
