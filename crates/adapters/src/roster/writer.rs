//! Writes a roster as a OneRoster CSV archive (1.1). The tables are spooled to staged files, because a server may send
//! users, classes and memberships in any order; in memory are hashes of ids only.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};
use std::io::Cursor;
use std::pin::Pin;

use domain::import::PEOPLE_MAX;
use futures_util::StreamExt as _;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio_util::io::ReaderStream;

use super::{FetchedRoster, RosterError, SKIPPED_MAX, SkippedRecord};
use crate::blob_store::zip_stream::stream_zip;
use crate::blob_store::{BlobStore, FileSource, Staged, Staging};
use common::clock;
use common::error::{Error, Result};

/// Maximum number of memberships, which are more than users.
pub(super) const ENROLLMENTS_MAX: usize = 10 * PEOPLE_MAX;
/// Maximum number of school years and terms.
const TERMS_MAX: usize = 10_000;
/// Maximum size of a cell in bytes. The import rejects rows of more than 64 KiB.
const CELL_MAX: usize = 4096;
/// Maximum length of an id in the list of skipped records.
const SHOWN_ID_MAX: usize = 80;
/// Maximum size of a table and of the archive in bytes.
const FILE_MAX: u64 = 512 << 20;
/// The size of pieces in which tables are read.
const PIECE: usize = 64 << 10;
/// The id of the school in the archive.
const SCHOOL: &str = "school";

const MANIFEST: &str = "propertyName,value\nmanifest.version,1.0\noneroster.version,1.1\nfile.academicSessions,bulk\n\
    file.classes,bulk\nfile.enrollments,bulk\nfile.orgs,bulk\nfile.users,bulk\n";
const ORGS: &str = "sourcedId,status,name,type\nschool,active,School,school\n";
const TERMS: &str = "sourcedId,status,schoolYear\n";
const USERS: &str = "sourcedId,status,enabledUser,role,username,givenName,familyName,email\n";
const CLASSES: &str = "sourcedId,status,title,classType,schoolSourcedId,termSourcedIds\n";
const ENROLLMENTS: &str = "classSourcedId,userSourcedId,role,primary,status\n";

/// A user of a roster.
#[derive(Debug, Default)]
pub(super) struct RosterUser {
    pub(super) id: String,
    pub(super) is_deleted: bool,
    pub(super) is_enabled: bool,
    /// A role of OneRoster; empty if it is unknown.
    pub(super) role: String,
    pub(super) username: String,
    pub(super) given_name: String,
    pub(super) family_name: String,
    pub(super) email: String,
}

/// A class or homeroom of a roster.
#[derive(Debug, Default)]
pub(super) struct RosterClass {
    pub(super) id: String,
    pub(super) is_deleted: bool,
    pub(super) title: String,
    pub(super) is_homeroom: bool,
    pub(super) terms: Vec<String>,
}

/// A membership of a roster.
#[derive(Debug, Default)]
pub(super) struct RosterEnrollment {
    pub(super) class: String,
    pub(super) user: String,
    pub(super) role: String,
    pub(super) is_primary: bool,
    pub(super) is_deleted: bool,
}

/// A roster that is being written.
pub(super) struct RosterWriter {
    files: BlobStore,
    keys: RandomState,
    known_terms: HashSet<u64>,
    known_users: HashSet<u64>,
    known_classes: HashSet<u64>,
    /// Pairs of class and user that are members.
    members: HashSet<u64>,
    terms: CsvTable,
    users: CsvTable,
    classes: CsvTable,
    enrollments: CsvTable,
    /// Memberships that ended. They are written last, unless the same user is a member again.
    ended: CsvTable,
    people: u64,
    active_classes: u64,
    skipped: Vec<SkippedRecord>,
    skipped_count: u64,
}

impl RosterWriter {
    pub(super) async fn new(files: &BlobStore) -> Result<Self> {
        Ok(Self {
            files: files.clone(),
            keys: RandomState::new(),
            known_terms: HashSet::new(),
            known_users: HashSet::new(),
            known_classes: HashSet::new(),
            members: HashSet::new(),
            terms: CsvTable::new(files, TERMS).await?,
            users: CsvTable::new(files, USERS).await?,
            classes: CsvTable::new(files, CLASSES).await?,
            enrollments: CsvTable::new(files, ENROLLMENTS).await?,
            ended: CsvTable::new(files, "").await?,
            people: 0,
            active_classes: 0,
            skipped: Vec::new(),
            skipped_count: 0,
        })
    }

    /// Counts a record that cannot be used.
    pub(super) fn skip(&mut self, resource: &'static str, id: &str, reason: &'static str) {
        self.skipped_count += 1;
        if self.skipped.len() < SKIPPED_MAX {
            self.skipped.push(SkippedRecord {
                resource,
                id: id
                    .chars()
                    .filter(|each| !each.is_control())
                    .take(SHOWN_ID_MAX)
                    .collect(),
                reason,
            });
        }
    }

    /// Adds a term with the year in which its school year ends.
    pub(super) async fn add_term(&mut self, id: &str, school_year: &str) -> Result<(), RosterError> {
        let key = self.keys.hash_one(id);
        if id.is_empty() || id.len() > CELL_MAX || school_year.len() > CELL_MAX || !self.known_terms.insert(key) {
            return Ok(());
        }
        check_count("academicSessions", self.known_terms.len(), TERMS_MAX)?;
        Ok(self.terms.write(&[id, "active", school_year]).await?)
    }

    /// Adds a user. A repeated one is ignored.
    pub(super) async fn add_user(&mut self, user: &RosterUser) -> Result<(), RosterError> {
        let status = status(user.is_deleted);
        let is_enabled = if user.is_enabled { "true" } else { "false" };
        let cells: [&str; 8] = [
            &user.id,
            status,
            is_enabled,
            &user.role,
            &user.username,
            &user.given_name,
            &user.family_name,
            &user.email,
        ];
        if let Some(reason) = find_problem(&user.id, &cells) {
            self.skip("users", &user.id, reason);
            return Ok(());
        }
        if !self.known_users.insert(self.keys.hash_one(&user.id)) {
            return Ok(());
        }
        check_count("users", self.known_users.len(), PEOPLE_MAX)?;
        if !user.is_deleted && user.is_enabled && is_imported_role(&user.role) {
            self.people += 1;
        }
        Ok(self.users.write(&cells).await?)
    }

    pub(super) fn has_user(&self, id: &str) -> bool {
        self.known_users.contains(&self.keys.hash_one(id))
    }

    pub(super) fn has_class(&self, id: &str) -> bool {
        self.known_classes.contains(&self.keys.hash_one(id))
    }

    /// Adds a class. A repeated one is ignored.
    pub(super) async fn add_class(&mut self, class: &RosterClass) -> Result<(), RosterError> {
        let kind = if class.is_homeroom { "homeroom" } else { "scheduled" };
        let terms = class.terms.join(",");
        let cells: [&str; 6] = [&class.id, status(class.is_deleted), &class.title, kind, SCHOOL, &terms];
        if let Some(reason) = find_problem(&class.id, &cells) {
            self.skip("classes", &class.id, reason);
            return Ok(());
        }
        if !self.known_classes.insert(self.keys.hash_one(&class.id)) {
            return Ok(());
        }
        check_count("classes", self.known_classes.len(), PEOPLE_MAX)?;
        self.active_classes += u64::from(!class.is_deleted);
        Ok(self.classes.write(&cells).await?)
    }

    /// Adds a membership. A repeated one is ignored. One of an unknown user or class is written, and the import reports
    /// it.
    pub(super) async fn add_enrollment(&mut self, enrollment: &RosterEnrollment) -> Result<(), RosterError> {
        let RosterEnrollment { class, user, role, .. } = enrollment;
        let is_known = self.has_user(user) && self.has_class(class);
        if enrollment.is_deleted && !is_known {
            return Ok(());
        }
        let problem = find_problem(class, &[class, user, role]).or_else(|| find_problem(user, &[]));
        if let Some(reason) = problem {
            self.skip("enrollments", user, reason);
            return Ok(());
        }
        let pair = self.keys.hash_one((class, user));
        if enrollment.is_deleted {
            let key = pair.to_string();
            return Ok(self.ended.write(&[&key, class, user, role]).await?);
        }
        if is_known && is_imported_role(role) {
            if !self.members.insert(pair) {
                return Ok(());
            }
            check_count("enrollments", self.members.len(), ENROLLMENTS_MAX)?;
        }
        let is_primary = if enrollment.is_primary { "true" } else { "false" };
        Ok(self
            .enrollments
            .write(&[class, user, role, is_primary, "active"])
            .await?)
    }

    /// Completes the archive.
    pub(super) async fn finish(mut self, etag: Option<String>) -> Result<FetchedRoster, RosterError> {
        if self.people == 0 {
            return Err(RosterError::Empty);
        }
        let ended = self.ended.finish().await?;
        append_ended(&ended, &mut self.members, &mut self.enrollments).await?;
        drop(ended);
        let tables = [
            ("academicSessions.csv", self.terms.finish().await?),
            ("users.csv", self.users.finish().await?),
            ("classes.csv", self.classes.finish().await?),
            ("enrollments.csv", self.enrollments.finish().await?),
        ];
        let members = self.members.len() as u64;
        Ok(FetchedRoster {
            archive: pack(&self.files, tables).await?,
            etag,
            people: self.people,
            classes: self.active_classes,
            enrollments: members,
            skipped: self.skipped,
            skipped_count: self.skipped_count,
        })
    }
}

fn check_count(resource: &'static str, count: usize, limit: usize) -> Result<(), RosterError> {
    if count > limit {
        return Err(RosterError::TooMany { resource, limit });
    }
    Ok(())
}

const fn status(is_deleted: bool) -> &'static str {
    if is_deleted { "tobedeleted" } else { "active" }
}

/// Whether the import uses memberships and users with this role.
fn is_imported_role(role: &str) -> bool {
    role.eq_ignore_ascii_case("student") || role.eq_ignore_ascii_case("teacher")
}

/// Returns why a record cannot be written.
fn find_problem(id: &str, cells: &[&str]) -> Option<&'static str> {
    if id.trim().is_empty() {
        Some("no_id")
    } else if id.contains(char::is_control) {
        Some("invalid_id")
    } else if cells.iter().any(|cell| cell.len() > CELL_MAX) {
        Some("too_long")
    } else {
        None
    }
}

/// Appends the memberships that ended. A pair is written once, and not if it is a member again.
async fn append_ended(ended: &Staged, members: &mut HashSet<u64>, enrollments: &mut CsvTable) -> Result<()> {
    let members_count = members.len();
    let mut written = HashSet::new();
    let mut lines = BufReader::new(open(&ended.source()).await?).lines();
    while let Some(line) = lines.next_line().await? {
        // Ids contain no line breaks.
        let Some((key, row)) = line.split_once(',') else {
            continue;
        };
        let key: u64 = key.trim_matches('"').parse().unwrap_or_default();
        if !members.contains(&key) && members_count + written.len() < ENROLLMENTS_MAX && written.insert(key) {
            enrollments.write_text(&format!("{row},\"\",\"tobedeleted\"\n")).await?;
        }
    }
    Ok(())
}

/// Writes the tables into an archive.
async fn pack(files: &BlobStore, tables: [(&'static str, Staged); 4]) -> Result<Staged> {
    let mut chunks = stream_zip("roster", async move |mut zip| {
        zip.add_text("manifest.csv", MANIFEST).await?;
        zip.add_text("orgs.csv", ORGS).await?;
        for (name, table) in &tables {
            let rows = ReaderStream::with_capacity(open(&table.source()).await?, PIECE);
            zip.add_file((*name).to_owned(), clock::now(), rows).await??;
        }
        Ok(zip)
    });
    let mut archive = files.stage(FILE_MAX);
    while let Some(chunk) = chunks.next().await {
        archive.write(&chunk?).await?;
    }
    archive.finish().await
}

type TableReader = Pin<Box<dyn AsyncRead + Send>>;

async fn open(source: &FileSource) -> Result<TableReader> {
    Ok(match source {
        FileSource::File(path) => Box::pin(tokio::fs::File::open(path).await?),
        FileSource::Buffered(_, bytes) | FileSource::Bytes(bytes) => Box::pin(Cursor::new(bytes.clone())),
    })
}

/// A table that is spooled to a staged file.
struct CsvTable {
    staging: Staging,
    row: String,
}

impl CsvTable {
    async fn new(files: &BlobStore, header: &str) -> Result<Self> {
        let mut table = Self {
            staging: files.stage(FILE_MAX),
            row: String::new(),
        };
        table.write_text(header).await?;
        Ok(table)
    }

    async fn write(&mut self, cells: &[&str]) -> Result<()> {
        let mut row = std::mem::take(&mut self.row);
        row.clear();
        for (index, cell) in cells.iter().enumerate() {
            row.push_str(if index == 0 { "\"" } else { ",\"" });
            for character in cell.chars() {
                match character {
                    '"' => row.push_str("\"\""),
                    '\0' => {}
                    _ => row.push(character),
                }
            }
            row.push('"');
        }
        row.push('\n');
        let written = self.write_text(&row).await;
        self.row = row;
        written
    }

    async fn write_text(&mut self, text: &str) -> Result<()> {
        self.staging.write(text.as_bytes()).await
    }

    async fn finish(self) -> Result<Staged, Error> {
        self.staging.finish().await
    }
}
