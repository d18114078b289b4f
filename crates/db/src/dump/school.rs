//! One school of the database: the tables and columns that an archive of a school contains, and their rows in a
//! snapshot. See docs/moving-a-school.md.

use std::collections::BTreeSet;

use serde_json::Value;

use super::snapshot::{FileReference, Snapshot, each};
use super::{Cell, ColumnType, DumpTable, TableColumn, quoted};
use crate::connection::Connection;
use crate::document_log::packs;
use common::error::{Error, Result};

/// A table that an archive of a school contains. All of its columns are carried, except the organization and those in
/// `omitted`, which take their default value.
#[derive(Debug)]
pub struct SchoolTable {
    pub name: &'static str,
    /// A key of the rows, in whose order they can be inserted.
    pub key: &'static [&'static str],
    /// The columns with the id of a user.
    pub users: &'static [&'static str],
    /// The columns with ids of users in JSON.
    pub user_lists: &'static [&'static str],
    /// The columns with texts that mention users by id (`domain::comment`).
    pub mentions: &'static [&'static str],
    pub omitted: &'static [&'static str],
}

const fn table(name: &'static str, users: &'static [&'static str]) -> SchoolTable {
    SchoolTable {
        name,
        key: &["id"],
        users,
        user_lists: &[],
        mentions: &[],
        omitted: &[],
    }
}

impl SchoolTable {
    const fn keyed(mut self, key: &'static [&'static str]) -> Self {
        self.key = key;
        self
    }

    const fn lists(mut self, user_lists: &'static [&'static str]) -> Self {
        self.user_lists = user_lists;
        self
    }

    const fn mentions(mut self, mentions: &'static [&'static str]) -> Self {
        self.mentions = mentions;
        self
    }

    const fn without(mut self, omitted: &'static [&'static str]) -> Self {
        self.omitted = omitted;
        self
    }

    /// Returns the table of a name.
    pub fn find(name: &str) -> Option<&'static Self> {
        SCHOOL_TABLES.iter().find(|table| table.name == name)
    }
}

/// The school itself and its people, whose rows are no rows of the organization.
pub const ORGANIZATION: &str = "organizations";
pub const PEOPLE: &str = "users";

/// The columns of the school. Its quotas and its domain belong to the installation.
pub const ORGANIZATION_COLUMNS: &[(&str, ColumnType)] = &[
    ("id", ColumnType::Text),
    ("name", ColumnType::Text),
    ("slug", ColumnType::Text),
    ("logo", ColumnType::Text),
    ("status", ColumnType::Text),
    ("metadata", ColumnType::Text),
    ("created_at", ColumnType::Int),
];

/// The columns of people. The address is that of members; others have only a name.
pub const PEOPLE_COLUMNS: &[(&str, ColumnType)] = &[
    ("id", ColumnType::Text),
    ("name", ColumnType::Text),
    ("first_name", ColumnType::Text),
    ("last_name", ColumnType::Text),
    ("email", ColumnType::Text),
    ("user_name", ColumnType::Text),
    ("locale", ColumnType::Text),
    ("timezone", ColumnType::Text),
    ("is_active", ColumnType::Bool),
    ("created_at", ColumnType::Int),
];

/// The other tables that an archive of a school contains.
pub static SCHOOL_TABLES: &[SchoolTable] = &[
    table("members", &["user_id"]),
    table("subjects", &[]),
    table("homerooms", &["teacher_id"]),
    table("homeroom_enrollments", &["student_id"]),
    table("classes", &["teacher_id"]),
    table("class_subjects", &[]).keyed(&["class_id", "subject_id"]),
    table("class_teachers", &["user_id"]).keyed(&["class_id", "user_id"]),
    table("class_enrollments", &["student_id"]),
    table("courses", &[]),
    table(
        "groups",
        &[
            "created_by_id",
            "help_requested_by_id",
            "help_claimed_by_id",
            "help_resolved_by_id",
        ],
    ),
    table("group_members", &["user_id"]),
    table("group_attachments", &["uploaded_by_id"]),
    table("rubrics", &["owner_id"]),
    table("text_snippets", &["user_id"]),
    table("assignments", &["created_by_id", "finished_by_id"]),
    table("assignment_rubrics", &[]).keyed(&["assignment_id"]),
    table("group_assignments", &[]),
    table("assignment_attachments", &["uploaded_by_id"]),
    table("work_rooms", &[]),
    // A reply follows the message that it refers to.
    table("work_room_messages", &["sender_id", "deleted_by_id"]).keyed(&["work_room_id", "seq"]),
    table("message_attachments", &["uploaded_by_id"]),
    table("work_room_reads", &["user_id"]).keyed(&["work_room_id", "user_id"]),
    // A save of a document server that the new installation does not know is not awaited.
    table("documents", &["created_by_id", "last_edited_by", "submitted_by_id"]).without(&["unsaved_generation"]),
    table("document_revisions", &["saved_by_id"]).lists(&["editors", "history"]),
    table("document_saves", &[]),
    table("document_contributions", &["user_id"]).keyed(&["document_id", "user_id"]),
    table("comment_threads", &["resolved_by_id"]),
    table("document_comments", &["author_id"]).mentions(&["text"]),
    table("comment_reads", &["user_id"]).keyed(&["document_id", "user_id"]),
    table("late_commits", &["author_id"]),
    table("document_logs", &[]).keyed(&["document_id", "generation"]),
    table("document_steps", &["author_id"]).keyed(&["document_id", "generation", "version"]),
    table("document_snapshots", &[])
        .keyed(&["document_id", "generation", "version"])
        .lists(&["authorship"]),
    table("document_images", &["uploaded_by_id"]),
    table("submissions", &["submitted_by_id", "withdrawn_by_id"]).lists(&["member_ids"]),
    table("submission_documents", &[]).lists(&["authorship"]),
    table("grades", &["graded_by_id"]),
    table("grade_files", &["uploaded_by_id"]),
    table("member_grades", &["user_id", "graded_by_id"]),
    table("grade_history", &["changed_by_id"]).lists(&["member_grades"]),
    table("feedback", &["author_id"]),
    table("converted_files", &[]),
    table("direct_messages", &["sender_id"]),
    table("message_recipients", &["user_id"]).keyed(&["message_id", "user_id"]),
    table("invitations", &["inviter_id"]).without(&["token_digest", "is_home"]),
    table("activity_logs", &["user_id"]),
    table("deleted_documents", &[]),
    table("late_texts", &["saved_by_id"]),
    table("deletion_archives", &["deleted_by_id"]),
    table("deletion_archive_chunks", &[]).keyed(&["archive_id", "number"]),
    table("deletion_archive_files", &[]).keyed(&["archive_id", "file_key"]),
    table("deletion_archive_people", &["user_id"]).keyed(&["archive_id", "user_id"]),
];

/// The tables that an archive of a school does not contain, each with the reason. The manifest contains this list.
pub static LEFT_OUT: &[(&str, &str)] = &[
    ("accounts", "passwords"),
    ("sessions", "sessions"),
    ("verifications", "links and codes that were sent"),
    ("second_factors", "second factors"),
    ("recovery_codes", "second factors"),
    ("passkeys", "passkeys are bound to the address of the installation"),
    ("api_tokens", "API tokens"),
    ("sign_on_providers", "secrets of sign-on providers"),
    ("external_identities", "identities at sign-on providers"),
    ("sign_on_attempts", "sign-ins in progress"),
    ("sign_on_logouts", "sign-ins in progress"),
    ("sign_in_failures", "failed sign-ins"),
    ("sign_in_failure_counts", "failed sign-ins"),
    ("sign_in_successes", "addresses of sign-ins"),
    ("mail_domains", "domains are verified again"),
    ("roster_sources", "secrets of roster servers"),
    ("roster_runs", "runs of rosters"),
    ("roster_run_entries", "runs of rosters"),
    ("roster_origins", "runs of rosters"),
    ("former_slugs", "former short names belong to the installation"),
    ("idempotency_keys", "responses to repeated requests"),
    ("rate_windows", "counters of rate limits"),
    ("jobs", "tasks and their results"),
    ("storage_usages", "counted again"),
    ("file_removals", "files without rows"),
    ("letters", "queued emails"),
    ("event_outbox", "events"),
    ("editing_sessions", "open editors of a document server"),
    ("settings", "settings of the installation"),
];

/// A school in a snapshot.
#[derive(Debug, Clone)]
pub struct SchoolRow {
    pub id: String,
    pub slug: String,
    pub name: String,
}

impl Snapshot {
    /// Returns the school with a short name, unless it is deleted.
    pub fn school(&mut self, slug: &str) -> Result<Option<SchoolRow>> {
        let text = format!(
            "SELECT id, slug, name FROM organizations WHERE slug = {} AND deleted_at IS NULL",
            literal(slug)
        );
        let mut found = None;
        each(&mut self.connection, &text, &[ColumnType::Text; 3], |row| {
            if let [Cell::Text(id), Cell::Text(slug), Cell::Text(name)] = row {
                found = Some(SchoolRow {
                    id: id.clone(),
                    slug: slug.clone(),
                    name: name.clone(),
                });
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Returns the tables of the rows of a school with the columns that an archive contains, in the order in which their
    /// rows can be inserted.
    pub fn school_tables(&self) -> Vec<DumpTable> {
        let tables = self.tables.iter();
        tables.filter_map(carried).collect()
    }

    /// Calls `visit` with the row of the school.
    pub fn school_organization(&mut self, id: &str, visit: impl FnMut(&[Cell]) -> Result<()>) -> Result<()> {
        let names: Vec<&str> = ORGANIZATION_COLUMNS.iter().map(|(name, _)| *name).collect();
        let kinds: Vec<ColumnType> = ORGANIZATION_COLUMNS.iter().map(|(_, kind)| *kind).collect();
        let text = format!(
            "SELECT {} FROM organizations WHERE id = {}",
            names.join(", "),
            literal(id)
        );
        each(&mut self.connection, &text, &kinds, visit)
    }

    /// Calls `visit` with every row of a table of the school, in the order of its key.
    pub fn school_rows(
        &mut self,
        organization: &str,
        table: &DumpTable,
        visit: impl FnMut(&[Cell]) -> Result<()>,
    ) -> Result<()> {
        let found = SchoolTable::find(&table.name)
            .ok_or_else(|| Error::Internal(anyhow::anyhow!("{} is no table of a school", table.name)))?;
        let order: Vec<String> = found
            .key
            .iter()
            .map(|name| {
                let kind = table.columns.iter().find(|column| column.name == *name);
                let is_text = kind.is_some_and(|column| column.kind == ColumnType::Text);
                format!(
                    "{}{}",
                    quoted(name),
                    if is_text { binary(&self.connection) } else { "" }
                )
            })
            .collect();
        let text = format!(
            "SELECT {} FROM {} WHERE organization_id = {} ORDER BY {}",
            table.list(),
            quoted(&table.name),
            literal(organization),
            order.join(", ")
        );
        let kinds: Vec<ColumnType> = table.columns.iter().map(|column| column.kind).collect();
        each(&mut self.connection, &text, &kinds, visit)
    }

    /// Returns the ids of all people that rows of the school refer to, and of those whose home it is.
    pub fn school_people_ids(&mut self, organization: &str) -> Result<BTreeSet<String>> {
        let organization = literal(organization);
        let mut ids = BTreeSet::new();
        let home = format!("SELECT id FROM users WHERE home_organization_id = {organization}");
        let mut collect = |text: &str, is_list: bool| {
            each(&mut self.connection, text, &[ColumnType::Text], |row| {
                if let [Cell::Text(text)] = row {
                    if is_list {
                        listed_users(text, |id| {
                            ids.insert(id.to_owned());
                        });
                    } else {
                        ids.insert(text.clone());
                    }
                }
                Ok(())
            })
        };
        collect(&home, false)?;
        for table in SCHOOL_TABLES {
            let columns = table.users.iter().map(|column| (column, false));
            for (column, is_list) in columns.chain(table.user_lists.iter().map(|column| (column, true))) {
                let text = format!(
                    "SELECT DISTINCT {column} FROM {} WHERE organization_id = {organization} AND {column} IS NOT NULL",
                    quoted(table.name)
                );
                collect(&text, is_list)?;
            }
        }
        let packs = format!(
            "SELECT steps FROM document_steps WHERE organization_id = {organization} AND packed_from IS NOT NULL"
        );
        each(&mut self.connection, &packs, &[ColumnType::Text], |row| {
            if let [Cell::Text(text)] = row {
                packs::rename_authors(text, &mut |id| {
                    ids.insert(id.to_owned());
                    None
                })?;
            }
            Ok(())
        })?;
        Ok(ids)
    }

    /// Calls `visit` with the rows of people, in the order of their ids.
    pub fn school_people(
        &mut self,
        organization: &str,
        ids: &BTreeSet<String>,
        mut visit: impl FnMut(&[Cell]) -> Result<()>,
    ) -> Result<()> {
        const BATCH: usize = 500;
        let organization = literal(organization);
        let kinds: Vec<ColumnType> = PEOPLE_COLUMNS.iter().map(|(_, kind)| *kind).collect();
        let all: Vec<&String> = ids.iter().collect();
        for batch in all.chunks(BATCH) {
            let list: Vec<String> = batch.iter().map(|id| literal(id)).collect();
            let text = format!(
                "SELECT u.id, u.name, u.first_name, u.last_name,
                    CASE WHEN m.user_id IS NOT NULL AND u.erased_at IS NULL AND u.email <> u.id || '@no-email.invalid'
                        THEN u.email END,
                    CASE WHEN u.home_organization_id = {organization} THEN u.user_name END,
                    u.locale, u.timezone, u.is_active AND m.user_id IS NOT NULL, u.created_at
                FROM users u LEFT JOIN members m ON m.organization_id = {organization} AND m.user_id = u.id
                WHERE u.id IN ({}) ORDER BY u.id{}",
                list.join(", "),
                binary(&self.connection)
            );
            each(&mut self.connection, &text, &kinds, &mut visit)?;
        }
        Ok(())
    }

    /// Calls `visit` with every file that a row of the school refers to, by key.
    pub fn school_files(&mut self, organization: &str, visit: impl FnMut(FileReference) -> Result<()>) -> Result<()> {
        let tables = self.school_tables();
        let condition = format!("organization_id = {}", literal(organization));
        self.files_of(&tables, &condition, visit)
    }
}

/// Returns the suffix that makes PostgreSQL compare bytes, as SQLite does.
pub(super) fn binary(connection: &Connection) -> &'static str {
    match connection {
        Connection::Sqlite(_) => "",
        Connection::Postgres(_) => " COLLATE \"C\"",
    }
}

/// Returns a table of the schema with the columns that an archive of a school contains; `None` if it contains none.
pub(super) fn carried(table: &DumpTable) -> Option<DumpTable> {
    let found = SchoolTable::find(&table.name)?;
    let is_carried =
        |column: &&TableColumn| column.name != "organization_id" && !found.omitted.contains(&column.name.as_str());
    Some(DumpTable {
        name: table.name.clone(),
        columns: table.columns.iter().filter(is_carried).cloned().collect(),
    })
}

/// Calls `visit` with the ids of users in a column with a list.
fn listed_users(text: &str, mut visit: impl FnMut(&str)) {
    let mut list: Value = serde_json::from_str(text).unwrap_or_default();
    for id in list_entries(&mut list) {
        visit(id);
    }
}

/// Returns the ids of users in a list: of ids, of objects about users, in the history of a revision, or the authors of a
/// text, stored with positions (`a`) or with passages (`authors`).
pub(crate) fn list_entries(list: &mut Value) -> Vec<&mut String> {
    let entries = match list {
        Value::Object(object) => ["changes", "a", "authors"]
            .into_iter()
            .find(|key| object.contains_key(*key))
            .and_then(|key| object.get_mut(key)),
        other => Some(other),
    };
    let entries = entries.and_then(Value::as_array_mut).into_iter().flatten();
    let ids = entries.filter_map(|entry| match entry {
        Value::String(id) => Some(id),
        Value::Object(object) => match object.get_mut("userId") {
            Some(Value::String(id)) => Some(id),
            _ => None,
        },
        _ => None,
    });
    ids.collect()
}

/// Quotes a text.
pub(super) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\0', "").replace('\'', "''"))
}
