//! Rows and events written directly to the database and the outbox, for tests of the realtime channel that do not
//! depend on the modules that normally create them.

use common::clock;
use db::connection::Connection;
use db::platform::CrossTenantReason;
use db::{Database, RequestContext};
use domain::id::{GroupId, OrganizationId, SessionId, UserId};
use domain::realtime::{Event, Room, Signal};
use serde_json::json;

use super::world::TestClass;
use super::{TestApp, TestUser};

db::statements! {
    GROUP = "INSERT INTO groups (organization_id, id, name, name_key, group_number, start_date, class_id, created_by_id,
            created_at, updated_at)
        VALUES ($1, $2, 'Group', 'group', $3, $4, $5, $6, 1, 1)";
    MEMBER = "INSERT INTO group_members (organization_id, id, class_id, group_id, user_id, joined_at)
        VALUES ($1, $2, $3, $4, $5, 1)";
    REMOVE_MEMBER = "DELETE FROM group_members WHERE organization_id = $1 AND group_id = $2 AND user_id = $3";
    WORK_ROOM = "INSERT INTO work_rooms (organization_id, id, group_id, created_at, updated_at) VALUES ($1, $2, $3, 1, 1)";
    DOCUMENT = "INSERT INTO documents (organization_id, id, work_room_id, title, document_type, file_extension,
            created_by_id, last_activity, created_at, updated_at)
        VALUES ($1, $2, $3, 'Notes', 'word', 'docx', $4, 1, 1, 1)";
    MOVE_START = "UPDATE groups SET start_date = $3 WHERE organization_id = $1 AND id = $2";
    JOIN_SCHOOL = "INSERT INTO members (organization_id, id, user_id, role, created_at) VALUES ($1, $2, $3, $4, 1)";
    END_SESSION = "DELETE FROM sessions WHERE token = $1";
    CHOOSE = "UPDATE sessions SET active_organization_id = $2 WHERE token = $1";
    EXPIRE = "UPDATE sessions SET expires_at = 1 WHERE token = $1";
    OUTBOX = "SELECT COUNT(*) FROM event_outbox";
}

/// A group created by [`RealtimeRows::group`].
pub struct GroupRow {
    pub id: GroupId,
    pub document: String,
}

/// Inserts rows into the database of one test.
pub struct RealtimeRows<'a>(pub &'a TestApp);

impl RealtimeRows<'_> {
    async fn with<T: Send + 'static>(&self, act: impl FnOnce(&mut Connection) -> T + Send + 'static) -> T {
        assert_eq!(STATEMENTS.len(), 11);
        let database = self.0.database.clone();
        tokio::task::spawn_blocking(move || {
            let mut connection = match &database {
                Database::Sqlite(path) => Connection::open_sqlite(path, false).unwrap(),
                Database::Postgres(url) => Connection::open_postgres(url).unwrap(),
            };
            act(&mut connection)
        })
        .await
        .unwrap()
    }

    /// Inserts a group of a class with its room, a document and its members; `start` is in milliseconds.
    pub async fn group(&self, class: &TestClass, number: i64, start: Option<i64>, members: &[&TestUser]) -> GroupRow {
        let world = &self.0.world;
        let organization = if class.id == world.south_class.id {
            world.south.clone()
        } else {
            world.north.clone()
        };
        let (class, author) = (class.id.clone(), world.ada.id.clone());
        let members: Vec<String> = members.iter().map(|person| person.id.clone()).collect();
        self.with(move |connection| {
            let (id, room, document) = (clock::new_id(), clock::new_id(), clock::new_id());
            let group = db::args![organization, id, number, start, class, author];
            connection.execute(&GROUP, group).unwrap();
            connection
                .execute(&WORK_ROOM, db::args![organization, room, id])
                .unwrap();
            connection
                .execute(&DOCUMENT, db::args![organization, document, room, author])
                .unwrap();
            for member in &members {
                let row = clock::new_id();
                let member = db::args![organization, row, class, id, member];
                connection.execute(&MEMBER, member).unwrap();
            }
            GroupRow {
                id: GroupId::new(&id),
                document,
            }
        })
        .await
    }

    /// Removes a student from a group.
    pub async fn remove(&self, group: &GroupId, person: &TestUser) {
        let (north, group, user) = (self.0.world.north.clone(), group.clone(), person.id.clone());
        self.with(move |connection| connection.execute(&REMOVE_MEMBER, db::args![north, group, user]))
            .await
            .unwrap();
    }

    /// Changes the start date of a group.
    pub async fn start(&self, group: &GroupId, start: Option<i64>) {
        let (north, group) = (self.0.world.north.clone(), group.clone());
        self.with(move |connection| connection.execute(&MOVE_START, db::args![north, group, start]))
            .await
            .unwrap();
    }

    /// Makes a user a member of a further organization.
    pub async fn join_school(&self, organization: &str, person: &TestUser, role: &'static str) {
        let (organization, user) = (organization.to_owned(), person.id.clone());
        self.with(move |connection| {
            let row = clock::new_id();
            let member = db::args![organization, row, user, role];
            connection.execute(&JOIN_SCHOOL, member)
        })
        .await
        .unwrap();
    }

    /// Deletes the row of a user's session.
    pub async fn end_session(&self, person: &TestUser) {
        let token = person.token.clone();
        let ended = self
            .with(move |connection| connection.execute_counted(&END_SESSION, db::args![token]))
            .await
            .unwrap();
        assert_eq!(ended, 1);
    }

    /// Expires a user's session.
    pub async fn expire(&self, person: &TestUser) {
        let token = person.token.clone();
        self.with(move |connection| connection.execute(&EXPIRE, db::args![token]))
            .await
            .unwrap();
    }

    /// Changes the active organization of a user's session.
    pub async fn set_active_school(&self, person: &TestUser, organization: Option<&str>) {
        let (token, organization) = (person.token.clone(), organization.map(str::to_owned));
        self.with(move |connection| connection.execute(&CHOOSE, db::args![token, organization]))
            .await
            .unwrap();
    }

    /// Counts the rows of the event outbox.
    pub async fn outbox(&self) -> i64 {
        self.with(|connection| connection.fetch_optional(&OUTBOX, &[], |row| row.only()))
            .await
            .unwrap()
            .unwrap()
    }

    /// Returns the same user with a second session.
    pub async fn another_session(&self, person: &TestUser) -> TestUser {
        let facts = self
            .0
            .app
            .authenticator()
            .find_session(person.token.clone(), None, None)
            .await
            .unwrap();
        let mut session = facts.unwrap().session;
        session.id = SessionId::new(clock::new_id());
        session.token = better_auth::token::session_token();
        let signed = better_auth::cookie::sign(super::app::AUTH_SECRET, &session.token);
        let other = TestUser {
            token: session.token.clone(),
            cookie: format!("better-auth.session_token={signed}"),
            ..person.clone()
        };
        let write = self
            .0
            .app
            .store()
            .platform_write(CrossTenantReason::SessionLookup, move |platform| {
                platform.insert_session(&session)
            });
        write.await.unwrap();
        other
    }

    /// Returns the id of a user's session.
    pub async fn session(&self, person: &TestUser) -> SessionId {
        let facts = self
            .0
            .app
            .authenticator()
            .find_session(person.token.clone(), None, None)
            .await
            .unwrap();
        facts.unwrap().session.id
    }

    /// Returns the user's present [`RequestContext`].
    pub async fn request_context(&self, person: &TestUser) -> RequestContext {
        let facts = self
            .0
            .app
            .authenticator()
            .find_session(person.token.clone(), None, None)
            .await
            .unwrap();
        auth::caller(facts.unwrap(), None).context().unwrap()
    }

    /// Emits these signals in a transaction of Ada.
    pub async fn emit(&self, signals: Vec<Signal>) {
        self.try_emit(signals, true).await.unwrap();
    }

    /// Emits these signals in a transaction that fails afterwards unless `succeeds`.
    pub async fn try_emit(&self, signals: Vec<Signal>, succeeds: bool) -> common::error::Result<()> {
        let standpoint = self.request_context(&self.0.world.adam).await;
        let bus = self.0.app.transactor().bus().clone();
        let conclude = move |work: &mut db::WriteTx<'_>| {
            let after = bus.publish(work, signals.clone())?;
            if succeeds {
                Ok(after)
            } else {
                Err(common::error::Error::NotFound)
            }
        };
        self.0.app.store().write_with(standpoint, |_| Ok(()), conclude).await
    }
}

/// Returns the id of a user as a [`UserId`].
pub fn user(person: &TestUser) -> UserId {
    UserId::new(&person.id)
}

/// Builds a `group:updated` event of an organization for these rooms; tests recognize it by `word`.
pub fn group_updated(organization: &str, rooms: Vec<Room>, word: &str) -> Signal {
    Signal::Emit {
        organization: Some(OrganizationId::new(organization)),
        rooms,
        except: Vec::new(),
        event: Event::GroupUpdated,
        payload: json!({"word": word}),
    }
}
