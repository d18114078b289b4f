//! Looks at what a crash left: rows against promises, files against rows, the database against itself. It reads beside
//! the service and never writes.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use groupwork::store::Database;
use groupwork::store::connection::Connection;
use practice_document_server::read_document;
use sha2::{Digest as _, Sha256};

use super::ledger::Ledger;
use super::writers::hex;

groupwork::statements! {
    REVISIONS = "SELECT r.id, r.document_id, r.file_key, r.size, r.sha256, d.current_revision_id
        FROM document_revisions r JOIN documents d ON d.id = r.document_id AND d.organization_id = r.organization_id
        WHERE r.organization_id = $1 ORDER BY r.document_id, r.version";
    DANGLING = "SELECT d.id FROM documents d
        LEFT JOIN document_revisions r ON r.id = d.current_revision_id AND r.document_id = d.id
        WHERE d.organization_id = $1 AND d.current_revision_id IS NOT NULL AND r.id IS NULL";
    GROUPS = "SELECT g.id, w.id FROM groups g JOIN work_rooms w ON w.group_id = g.id
        AND w.organization_id = g.organization_id WHERE g.organization_id = $1";
    ROOMLESS = "SELECT g.id FROM groups g LEFT JOIN work_rooms w ON w.group_id = g.id
        WHERE g.organization_id = $1 AND w.id IS NULL";
}

struct Revision {
    id: String,
    document: String,
    file: String,
    size: i64,
    sha256: String,
    is_current: bool,
}

/// What was looked at so far.
pub struct Inspection {
    database: Database,
    files: PathBuf,
    organization: String,
    /// Revisions whose file was found whole; they never change, so once is enough until the end.
    whole: HashSet<String>,
    inspections: u32,
    orphans: usize,
    parts: usize,
}

impl Inspection {
    pub fn new(database: &Database, folder: &Path, organization: &str) -> Self {
        assert_eq!(STATEMENTS.len(), 4);
        Self {
            database: database.clone(),
            files: folder.join("files"),
            organization: organization.to_owned(),
            whole: HashSet::new(),
            inspections: 0,
            orphans: 0,
            parts: 0,
        }
    }

    /// Everything that is new since the last look.
    pub fn after_a_crash(&mut self, ledger: &Ledger) {
        let fresh = std::mem::take(&mut ledger.promises().fresh);
        self.look(ledger, move |document| fresh.contains(document));
    }

    /// Everything there is, again.
    pub fn of_everything(&mut self, ledger: &Ledger) {
        self.whole.clear();
        self.look(ledger, |_| true);
    }

    /// One line for people.
    pub fn figures(&self) -> String {
        format!(
            "{} inspections; {} revisions whole; {} files and {} parts without a row at the end",
            self.inspections,
            self.whole.len(),
            self.orphans,
            self.parts
        )
    }

    fn look(&mut self, ledger: &Ledger, wanted: impl Fn(&str) -> bool) {
        self.inspections += 1;
        let (database, organization) = (self.database.clone(), self.organization.clone());
        // The PostgreSQL client blocks, and refuses to do that on a thread of the runtime.
        let found = std::thread::spawn(move || Found::read(&database, &organization))
            .join()
            .unwrap();
        assert!(found.faults.is_empty(), "{}", found.faults.join("\n"));
        let on_disk = self.files_on_disk();
        let named: HashSet<&str> = found.revisions.iter().map(|revision| revision.file.as_str()).collect();
        self.orphans = on_disk.keys().filter(|name| !named.contains(name.as_str())).count();
        self.every_revision_is_whole(&found.revisions, &on_disk);
        let promises = ledger.promises();
        let current: HashMap<&str, &Revision> = found
            .revisions
            .iter()
            .filter(|revision| revision.is_current)
            .map(|revision| (revision.document.as_str(), revision))
            .collect();
        for (document, texts) in promises.texts.iter().filter(|(document, _)| wanted(document)) {
            let revision = current.get(document.as_str());
            let revision = revision.unwrap_or_else(|| panic!("document {document} lost all its saves: {texts:?}"));
            let bytes = std::fs::read(&on_disk[&revision.file]).unwrap();
            let (_, lines) = read_document(&bytes).expect("a stored document can be read");
            for text in texts {
                assert!(
                    lines.contains(text),
                    "{text} of document {document} was acknowledged and is lost; it has {lines:?}"
                );
            }
        }
        for (document, sha256) in &promises.uploads {
            let revision = current.get(document.as_str());
            assert!(
                revision.is_some_and(|revision| revision.sha256 == *sha256),
                "upload {document} was acknowledged and is lost"
            );
        }
        for (group, room) in &promises.groups {
            assert_eq!(
                found.groups.get(group),
                Some(room),
                "group {group} was acknowledged and is lost"
            );
        }
    }

    fn every_revision_is_whole(&mut self, revisions: &[Revision], on_disk: &HashMap<String, PathBuf>) {
        for revision in revisions {
            if self.whole.contains(&revision.id) {
                continue;
            }
            let path = on_disk.get(&revision.file);
            let path = path.unwrap_or_else(|| panic!("revision {} has no file {}", revision.id, revision.file));
            let bytes = std::fs::read(path).unwrap();
            assert_eq!(
                bytes.len(),
                usize::try_from(revision.size).unwrap(),
                "{} is torn",
                path.display()
            );
            assert_eq!(
                hex(&Sha256::digest(&bytes)),
                revision.sha256,
                "{} is torn",
                path.display()
            );
            self.whole.insert(revision.id.clone());
        }
    }

    /// Files by name, parts apart; what no row names is counted, since files may linger and rows may not.
    fn files_on_disk(&mut self) -> HashMap<String, PathBuf> {
        let mut found = HashMap::new();
        self.parts = 0;
        for folder in std::fs::read_dir(&self.files).unwrap() {
            for file in std::fs::read_dir(folder.unwrap().path()).unwrap() {
                let path = file.unwrap().path();
                if path.extension().is_some_and(|extension| extension == "part") {
                    self.parts += 1;
                } else {
                    found.insert(path.file_name().unwrap().to_str().unwrap().to_owned(), path);
                }
            }
        }
        found
    }
}

/// The rows at one moment, and what is wrong with them by themselves.
struct Found {
    revisions: Vec<Revision>,
    groups: HashMap<String, String>,
    faults: Vec<String>,
}

impl Found {
    fn read(database: &Database, organization: &str) -> Self {
        let mut faults = Vec::new();
        let mut connection = match database {
            Database::Sqlite(path) => Connection::open_sqlite(path, true).unwrap(),
            Database::Postgres(url) => Connection::open_postgres(url).unwrap(),
        };
        if let Connection::Sqlite(sqlite) = &connection {
            faults.extend(
                pragma(sqlite, "integrity_check")
                    .into_iter()
                    .filter(|line| line != "ok"),
            );
            faults.extend(pragma(sqlite, "foreign_key_check"));
        }
        let revisions = connection.many(&REVISIONS, groupwork::args![organization], |row| {
            let (id, document, file): (String, String, String) = (row.take()?, row.take()?, row.take()?);
            let (size, sha256, current): (i64, String, Option<String>) = (row.take()?, row.take()?, row.take()?);
            let is_current = current.as_deref() == Some(&id);
            Ok(Revision {
                id,
                document,
                file,
                size,
                sha256,
                is_current,
            })
        });
        for (what, sql) in [
            ("document without its current revision", &DANGLING),
            ("group without a room", &ROOMLESS),
        ] {
            let ids = connection.many(sql, groupwork::args![organization], |row| row.take::<String>());
            faults.extend(ids.unwrap().into_iter().map(|id| format!("{what}: {id}")));
        }
        let groups = connection.many(&GROUPS, groupwork::args![organization], |row| {
            Ok((row.take()?, row.take()?))
        });
        Self {
            revisions: revisions.unwrap(),
            groups: groups.unwrap().into_iter().collect(),
            faults,
        }
    }
}

fn pragma(sqlite: &rusqlite::Connection, name: &str) -> Vec<String> {
    let mut statement = sqlite.prepare(&format!("PRAGMA {name}")).unwrap();
    let rows = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    rows.map(Result::unwrap).collect()
}
