//! Archives of deleted objects: written in the transaction of the deletion, restored or deleted for good until they
//! expire. Only a restore, an erasure and a purge read the rows of an archive. See docs/undo.md.

pub mod format;
mod restore;
pub mod tables;

use std::collections::BTreeMap;

use domain::deleted_object::{DeletedNoun, DeletedObject, DeletionCounts};
use domain::id::{ClassId, CourseId, DeletionId, GroupId};
use domain::time::Timestamp;

use self::format::{ArchiveManifest, ArchivedRow, ChunkWriter, FORMAT, RowHeader, VERSION};
use self::tables::{FILES as FILE_ROWS, INSERT_ROWS, PEOPLE as PEOPLE_ROWS, RowTable};
use super::page::{Position, Slice, Window};
use super::sql::{Columns, NamedStatements, Value};
use super::{ReadTx, WriteTx};
use crate::dump::{Cell, ColumnType};
use crate::labels::{PERSON_COLUMNS, optional_person};
use crate::visibility::CAN_MANAGE_CLASS;
use crate::{args, fragments, from_row, statements};
use common::error::{Error, Result};
use common::{clock, failpoint};

pub use self::restore::Restoration;

fragments! {
    /// Deletions that the viewer may restore: administrators all of them, teachers of the class those of their own and
    /// those of documents, which students delete, too.
    SELECT_DELETIONS = "SELECT a.id, a.noun, a.object_id, a.name, a.class_id, a.class_name, a.course_id, a.group_id,
            a.group_name, a.courses, a.groups, a.assignments, a.documents, a.submissions, a.messages, a.bytes,
            a.deleted_at, a.expires_at, a.restored_at, {PERSON_COLUMNS}
        FROM deletion_archives a
            LEFT JOIN classes k ON k.organization_id = a.organization_id AND k.id = a.class_id
            LEFT JOIN users u ON u.id = a.deleted_by_id
        WHERE a.organization_id = $1 AND a.expires_at > $4 AND {CAN_MANAGE_CLASS}
            AND ($2 = 'ADMIN' OR a.deleted_by_id = $3 OR a.noun = 'DOCUMENT')";
}

statements! {
    LIST = "{SELECT_DELETIONS} AND a.restored_at IS NULL AND (a.deleted_at, a.id) < ($5, $6)
        ORDER BY a.deleted_at DESC, a.id DESC LIMIT $7";
    BY_ID = "{SELECT_DELETIONS} AND a.id = $5";
    /// Locks the row until the end of the transaction.
    LOCK = "SELECT id FROM deletion_archives WHERE organization_id = $1 AND id = $2 FOR UPDATE";
    INSERT = "INSERT INTO deletion_archives (organization_id, id, noun, object_id, name, class_id, class_name,
            course_id, group_id, group_name, courses, groups, assignments, documents, submissions, messages, bytes,
            manifest, seal, deleted_by_id, deleted_at, expires_at)
        SELECT k.organization_id, CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS TEXT), CAST($6 AS TEXT), k.id, k.name,
            CAST($7 AS TEXT), CAST($8 AS TEXT), CAST($9 AS TEXT), 0, 0, 0, 0, 0, 0, 0, '', '', CAST($10 AS TEXT),
            CAST($11 AS BIGINT), CAST($12 AS BIGINT)
        FROM classes k WHERE k.organization_id = $1 AND k.id = $2";
    /// Completes an archive once its rows are written.
    SEAL = "UPDATE deletion_archives SET courses = $3, groups = $4, assignments = $5, documents = $6, submissions = $7,
            messages = $8, bytes = $9, manifest = $10, seal = $11
        WHERE organization_id = $1 AND id = $2";
    INSERT_CHUNK = "INSERT INTO deletion_archive_chunks (organization_id, archive_id, number, content)
        VALUES ($1, $2, $3, $4)";
    /// The subjects of the courses and groups of a class.
    SUBJECTS = "SELECT s.id, s.name FROM subjects s WHERE s.organization_id = $1
            AND (EXISTS (SELECT 1 FROM courses c WHERE c.organization_id = $1 AND c.class_id = $2 AND c.subject_id = s.id)
            OR EXISTS (SELECT 1 FROM groups g WHERE g.organization_id = $1 AND g.class_id = $2 AND g.subject_id = s.id))";
    MANIFEST = "SELECT manifest, seal FROM deletion_archives WHERE organization_id = $1 AND id = $2";
    CHUNK = "SELECT content FROM deletion_archive_chunks WHERE organization_id = $1 AND archive_id = $2 AND number = $3";
    /// Ends an archive whose rows were restored.
    RESTORED = "UPDATE deletion_archives SET restored_at = $3, manifest = '', seal = '', bytes = 0
        WHERE organization_id = $1 AND id = $2";
    FILES = "SELECT file_key FROM deletion_archive_files WHERE organization_id = $1 AND archive_id = $2
        ORDER BY file_key";
    DELETE_CHUNKS = "DELETE FROM deletion_archive_chunks WHERE organization_id = $1 AND archive_id = $2";
    DELETE_FILES = "DELETE FROM deletion_archive_files WHERE organization_id = $1 AND archive_id = $2";
    DELETE_PEOPLE = "DELETE FROM deletion_archive_people WHERE organization_id = $1 AND archive_id = $2";
    DELETE = "DELETE FROM deletion_archives WHERE organization_id = $1 AND id = $2";
    /// The next archive, for a purge of the organization.
    NEXT = "SELECT id FROM deletion_archives WHERE organization_id = $1 ORDER BY deleted_at, id LIMIT 1";
    /// The size of the files that only archives refer to.
    BYTES = "SELECT CAST(COALESCE(SUM(x.size), 0) AS BIGINT)
        FROM (SELECT DISTINCT file_key, size FROM deletion_archive_files WHERE organization_id = $1) x";
}

/// The statements of this file and of its submodules, for the tests of all SQL.
pub fn all_statements() -> Vec<(&'static str, NamedStatements)> {
    vec![
        ("archives", STATEMENTS.to_vec()),
        ("archives::restore", restore::STATEMENTS.to_vec()),
        ("archives::insert", tables::statements()),
    ]
}

/// An object that is about to be deleted.
#[derive(Debug, Clone)]
pub struct NewDeletion {
    pub noun: DeletedNoun,
    pub object_id: String,
    pub name: String,
    pub class_id: ClassId,
    pub course_id: Option<CourseId>,
    pub group: Option<(GroupId, String)>,
    /// Until when it can be restored.
    pub expires_at: Timestamp,
}

impl ReadTx<'_> {
    /// Lists a page of the deleted objects that the viewer may restore, newest first.
    pub fn deleted_objects(&mut self, window: &Window<i64>) -> Result<Slice<DeletedObject, i64>> {
        let (time, id) = window.newest_before();
        let rows = self.fetch_all_visible(&LIST, args![time, id, window.rows()], deleted_object)?;
        Ok(window.cut(rows, position))
    }

    /// Returns a deleted object that the viewer may restore, or could before it was restored.
    pub fn deleted_object(&mut self, id: &DeletionId) -> Result<DeletedObject> {
        self.fetch_one_visible(&BY_ID, args![id], deleted_object)
    }

    /// Returns the size of the files of deleted objects.
    pub fn deleted_bytes(&mut self) -> Result<i64> {
        self.fetch_one(&BYTES, args![], |row| row.only())
    }

    /// Returns the manifest of an archive; `ARCHIVE_DAMAGED` if its seal does not match.
    fn archive_manifest(&mut self, id: &DeletionId) -> Result<ArchiveManifest> {
        let (text, seal): (String, String) =
            self.fetch_one(&MANIFEST, args![id], |row| row.pair("manifest", "seal"))?;
        ArchiveManifest::open(&text, &seal)
    }

    /// Returns a chunk of an archive, if there is one with this number.
    fn archive_chunk(&mut self, id: &DeletionId, number: i64) -> Result<Option<String>> {
        self.fetch_optional(&CHUNK, args![id, number], |row| row.get("content"))
    }
}

impl WriteTx<'_> {
    /// Writes the archive of an object that the caller deletes afterwards in this transaction, and locks what is deleted
    /// with it. The caller holds the lock of the class.
    pub fn archive(&mut self, new: &NewDeletion) -> Result<DeletionId> {
        let id = DeletionId::new(clock::new_id());
        let now = self.now();
        let deleted_by = self.actor().user.clone();
        let (group_id, group_name) = new.group.as_ref().map(|(id, name)| (id, name)).unzip();
        let inserted = self.execute_counted(
            &INSERT,
            args![
                new.class_id,
                id,
                new.noun,
                new.object_id,
                new.name,
                new.course_id,
                group_id,
                group_name,
                deleted_by,
                now,
                new.expires_at,
            ],
        )?;
        if inserted == 0 {
            return Err(Error::NotFound);
        }
        let rows = self.lock_archived_rows(new.noun, &new.object_id)?;
        let mut writer = ChunkWriter::default();
        for (table, statement) in rows {
            let header = RowHeader::of(table);
            let ReadTx { connection, context } = &mut self.read_tx;
            let organization = context.tenant.id().clone();
            let arguments = super::bound(context, args![new.object_id]);
            connection.fetch_each(statement, &arguments, |row, executor| {
                let cells = header.columns.iter().map(|(name, kind)| cell(row, name, *kind));
                let row = ArchivedRow {
                    header: &header,
                    cells: cells.collect::<Result<_>>()?,
                };
                if writer.push(&row)? {
                    let (number, content) = writer.take_chunk()?;
                    executor.execute(&INSERT_CHUNK, args![organization, id, number, content])?;
                }
                Ok(())
            })?;
        }
        if writer.has_rows() {
            let (number, content) = writer.take_chunk()?;
            self.execute(&INSERT_CHUNK, args![id, number, content])?;
        }
        failpoint::hit("deletion.archived");
        self.seal_archive(&id, new, &writer)?;
        Ok(id)
    }

    fn seal_archive(&mut self, id: &DeletionId, new: &NewDeletion, writer: &ChunkWriter) -> Result<()> {
        let subjects: BTreeMap<String, String> = self
            .fetch_all(&SUBJECTS, args![new.class_id], |row| row.pair("id", "name"))?
            .into_iter()
            .collect();
        let manifest = ArchiveManifest {
            format: FORMAT.to_owned(),
            version: VERSION,
            schema: i64::from(super::newest_migration()),
            organization: self.organization().to_string(),
            noun: new.noun,
            object: new.object_id.clone(),
            created_at: self.now(),
            tables: writer.tables.clone(),
            files: i64::try_from(writer.files.len()).unwrap_or(i64::MAX),
            bytes: writer.bytes(),
            subjects,
            chunks: writer.chunks,
            sha256: writer.sha256(),
        };
        let (text, seal) = manifest.sealed()?;
        self.execute(
            &SEAL,
            args![
                id,
                manifest.rows("courses"),
                manifest.rows("groups"),
                manifest.rows("assignments"),
                manifest.rows("documents"),
                manifest.rows("submissions"),
                manifest.rows("work_room_messages"),
                manifest.bytes,
                text,
                seal,
            ],
        )?;
        let files = writer.files.iter().map(|(key, file)| {
            let (key, sha256) = (Value::Text(key), Value::Text(&file.sha256));
            vec![Value::Text(id.as_str()), key, Value::Int(file.size), sha256]
        });
        self.insert_rows(&FILE_ROWS, files.collect())?;
        let people = writer
            .people
            .iter()
            .map(|(person, mentions)| vec![Value::Text(id.as_str()), Value::Text(person), Value::Int(*mentions)]);
        self.insert_rows(&PEOPLE_ROWS, people.collect())
    }

    fn insert_rows(&mut self, table: &'static RowTable, rows: Vec<Vec<Value<'_>>>) -> Result<()> {
        for rows in rows.chunks(INSERT_ROWS) {
            if rows.len() == INSERT_ROWS {
                self.execute(table.insert_statement(true), &rows.concat())?;
            } else {
                for row in rows {
                    self.execute(table.insert_statement(false), row)?;
                }
            }
        }
        Ok(())
    }

    /// Returns a deleted object that the viewer may restore, locked until the end of the transaction.
    pub fn lock_deleted_object(&mut self, id: &DeletionId) -> Result<DeletedObject> {
        self.fetch_one(&LOCK, args![id], |row| row.get::<DeletionId>("id"))?;
        self.deleted_object(id)
    }

    /// Deletes an archive for good and schedules its files for removal.
    pub fn delete_archive(&mut self, id: &DeletionId) -> Result<()> {
        for key in self.delete_archive_rows(id)? {
            self.insert_file_removal(&key)?;
        }
        Ok(())
    }

    /// Deletes an archive; returns its files.
    fn delete_archive_rows(&mut self, id: &DeletionId) -> Result<Vec<domain::file::FileKey>> {
        let files = self.fetch_all(&FILES, args![id], |row| row.get("file_key"))?;
        for statement in [&DELETE_CHUNKS, &DELETE_FILES, &DELETE_PEOPLE, &DELETE] {
            self.execute(statement, args![id])?;
        }
        Ok(files)
    }

    /// Deletes the next archive of an organization that is purged; returns its files, or `None` if there is none.
    pub(super) fn purge_next_archive(&mut self) -> Result<Option<Vec<domain::file::FileKey>>> {
        let next = self.fetch_optional(&NEXT, args![], |row| row.get::<DeletionId>("id"))?;
        next.map(|id| self.delete_archive_rows(&id)).transpose()
    }

    /// Marks an archive as restored and deletes its rows.
    fn end_archive(&mut self, id: &DeletionId) -> Result<()> {
        let now = self.now();
        for statement in [&DELETE_CHUNKS, &DELETE_FILES, &DELETE_PEOPLE] {
            self.execute(statement, args![id])?;
        }
        self.execute(&RESTORED, args![id, now])
    }
}

/// Returns the pagination position of a deleted object.
pub fn position(deletion: &DeletedObject) -> Position<i64> {
    Position {
        key: deletion.deleted_at.as_millis(),
        id: deletion.id.to_string(),
    }
}

fn cell(row: &Columns<'_>, name: &str, kind: ColumnType) -> Result<Cell> {
    Ok(match kind {
        ColumnType::Text => row.get::<Option<String>>(name)?.map_or(Cell::Null, Cell::Text),
        ColumnType::Int => row.get::<Option<i64>>(name)?.map_or(Cell::Null, Cell::Int),
        ColumnType::Bool => row.get::<Option<bool>>(name)?.map_or(Cell::Null, Cell::Bool),
        ColumnType::Real => row.get::<Option<f64>>(name)?.map_or(Cell::Null, Cell::Real),
    })
}

fn deleted_object(row: &Columns<'_>) -> Result<DeletedObject> {
    from_row!(row => DeletedObject {
        id, noun, object_id, name, class_id, class_name, course_id, group_id, group_name, bytes, deleted_at, expires_at,
        restored_at,
        counts: from_row!(row => DeletionCounts { courses, groups, assignments, documents, submissions, messages })?,
        deleted_by: optional_person(row)?,
    })
}
