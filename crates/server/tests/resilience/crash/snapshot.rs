//! The rows of the school at one moment, and the inconsistencies among them. They are read in parallel with the
//! service.

use std::collections::HashMap;

use db::Database;
use db::connection::Connection;

db::statements! {
    REVISIONS = "SELECT r.id, r.document_id, r.file_key, r.size, r.sha256, d.current_revision_id AS holder_id,
            r.origin || ' of generation ' || CAST(r.generation AS TEXT) || ' last ' || COALESCE(CAST(r.last_save AS TEXT), '-') || ' made ' || CAST(r.created_at AS TEXT) AS origin
        FROM document_revisions r JOIN documents d ON d.id = r.document_id AND d.organization_id = r.organization_id
        WHERE r.organization_id = $1 ORDER BY r.document_id, r.version";
    COPIES = "SELECT c.id, c.document_id, c.file_key, c.size, c.sha256, c.submission_id AS holder_id, 'COPY' AS origin
        FROM submission_documents c JOIN submissions s ON s.id = c.submission_id AND s.organization_id = c.organization_id
        WHERE c.organization_id = $1";
    DOCUMENTS = "SELECT id, work_room_id, status FROM documents WHERE organization_id = $1";
    TOPICS = "SELECT id, status AS value FROM assignments WHERE organization_id = $1";
    MESSAGES = "SELECT work_room_id, seq, content FROM work_room_messages WHERE organization_id = $1
        ORDER BY work_room_id, seq";
    DANGLING = "SELECT d.id FROM documents d
        LEFT JOIN document_revisions r ON r.id = d.current_revision_id AND r.document_id = d.id
        WHERE d.organization_id = $1 AND d.current_revision_id IS NOT NULL AND r.id IS NULL";
    GROUPS = "SELECT g.id, w.id AS value FROM groups g JOIN work_rooms w ON w.group_id = g.id
        AND w.organization_id = g.organization_id WHERE g.organization_id = $1";
    ROOMLESS = "SELECT g.id FROM groups g LEFT JOIN work_rooms w ON w.group_id = g.id
        WHERE g.organization_id = $1 AND w.id IS NULL";
}

/// A row that refers to a file: a revision or the copy in a submission.
pub struct FileRow {
    pub id: String,
    pub document: String,
    pub file: String,
    pub size: i64,
    pub sha256: String,
    /// The current revision of the document, or the submission of the copy.
    pub of: Option<String>,
    /// The origin of the row, for diagnosis.
    pub origin: String,
}

impl FileRow {
    /// Returns whether this revision is the content of its document.
    pub fn is_current(&self) -> bool {
        self.of.as_ref() == Some(&self.id)
    }
}

/// The rows at one moment, and the inconsistencies among them.
pub struct StoredState {
    pub revisions: Vec<FileRow>,
    pub copies: Vec<FileRow>,
    /// The documents with their room and status.
    pub documents: HashMap<String, (String, String)>,
    /// The topics with their status.
    pub topics: HashMap<String, String>,
    /// The messages with their sequence number, by room.
    pub messages: HashMap<String, Vec<(i64, String)>>,
    pub groups: HashMap<String, String>,
    pub faults: Vec<String>,
}

impl StoredState {
    /// Reads everything in one snapshot, which contains a concurrent write completely or not at all.
    pub fn read(database: &Database, organization: &str) -> Self {
        let mut connection = match database {
            Database::Sqlite(path) => Connection::open_sqlite(path, true).unwrap(),
            Database::Postgres(url) => Connection::open_postgres(url).unwrap(),
        };
        let mut faults = Vec::new();
        if let Connection::Sqlite(sqlite) = &connection {
            let lines = pragma(sqlite, "integrity_check").into_iter();
            faults.extend(lines.filter(|line| line != "ok"));
            faults.extend(pragma(sqlite, "foreign_key_check"));
        }
        let here = db::args![organization];
        let mut kept = |sql| {
            let rows = connection.fetch_all(sql, here, |row| {
                Ok(FileRow {
                    id: row.get("id")?,
                    document: row.get::<Option<String>>("document_id")?.unwrap_or_default(),
                    file: row.get("file_key")?,
                    size: row.get("size")?,
                    sha256: row.get("sha256")?,
                    of: row.get("holder_id")?,
                    origin: row.get("origin")?,
                })
            });
            rows.unwrap()
        };
        let (revisions, copies) = (kept(&REVISIONS), kept(&COPIES));
        for (what, sql) in [
            ("document without its current revision", &DANGLING),
            ("group without a room", &ROOMLESS),
        ] {
            let ids = connection.fetch_all(sql, here, |row| row.get::<String>("id"));
            faults.extend(ids.unwrap().into_iter().map(|id| format!("{what}: {id}")));
        }
        let mut pairs = |sql| -> HashMap<String, String> {
            let rows = connection.fetch_all(sql, here, |row| Ok((row.get("id")?, row.get("value")?)));
            rows.unwrap().into_iter().collect()
        };
        let (groups, topics) = (pairs(&GROUPS), pairs(&TOPICS));
        let documents = connection.fetch_all(&DOCUMENTS, here, |row| {
            Ok((row.get("id")?, (row.get("work_room_id")?, row.get("status")?)))
        });
        let mut messages: HashMap<String, Vec<(i64, String)>> = HashMap::new();
        let posted = connection.fetch_all(&MESSAGES, here, |row| {
            Ok((row.get("work_room_id")?, (row.get("seq")?, row.get("content")?)))
        });
        for (room, message) in posted.unwrap() {
            messages.entry(room).or_default().push(message);
        }
        Self {
            revisions,
            copies,
            documents: documents.unwrap().into_iter().collect(),
            topics,
            messages,
            groups,
            faults,
        }
    }
}

fn pragma(sqlite: &rusqlite::Connection, name: &str) -> Vec<String> {
    let mut statement = sqlite.prepare(&format!("PRAGMA {name}")).unwrap();
    let rows = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    rows.map(Result::unwrap).collect()
}
