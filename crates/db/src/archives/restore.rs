//! Inserts the rows of an archive with their ids. Rows whose parent is gone are dropped, references that may be empty
//! are cleared, numbers and names that are taken are replaced.

use std::collections::{HashMap, HashSet};

use domain::change::GroupDocument;
use domain::collation::{search_key, sort_key};
use domain::course::free_course_name;
use domain::deleted_object::{DeletedNoun, DeletedObject, RestoreOutcome};
use domain::domain_error::DomainError;
use domain::file::FileKey;
use domain::group::Group;
use domain::id::{ClassId, DocumentId, GroupId, UserId};
use domain::number::GroupNumber;
use domain::text::name_key;

use super::format::{ArchiveManifest, ArchivedRow, ChunkVerifier, read_chunk};
use super::tables::{ArchivedTable, INSERT_ROWS};
use crate::documents::{DOCUMENT_COLUMNS, document};
use crate::dump::Cell;
use crate::labels::{GROUP_CONTEXT_COLUMNS, group_context};
use crate::platform::archives::{ErasedRow, erase_row};
use crate::sql::Value;
use crate::{WriteTx, args, statements};
use common::error::Result;
use common::failpoint;

statements! {
    MEMBERS = "SELECT user_id AS id FROM members WHERE organization_id = $1";
    ENROLLED = "SELECT student_id AS id FROM class_enrollments WHERE organization_id = $1 AND class_id = $2";
    SUBJECTS = "SELECT id FROM subjects WHERE organization_id = $1";
    HOMEROOMS = "SELECT id FROM homerooms WHERE organization_id = $1";
    COURSES = "SELECT id FROM courses WHERE organization_id = $1 AND class_id = $2";
    GROUPS = "SELECT id, group_number FROM groups WHERE organization_id = $1 AND class_id = $2";
    TOPICS = "SELECT id, status = 'FINISHED' AS is_finished FROM assignments
        WHERE organization_id = $1 AND class_id = $2";
    ROOMS = "SELECT w.id FROM work_rooms w JOIN groups g ON g.id = w.group_id
        WHERE w.organization_id = $1 AND g.class_id = $2";
    DOCUMENTS = "SELECT d.id FROM documents d JOIN work_rooms w ON w.id = d.work_room_id
            JOIN groups g ON g.id = w.group_id
        WHERE d.organization_id = $1 AND g.class_id = $2";
    COURSE_NAMES = "SELECT name FROM courses WHERE organization_id = $1 AND class_id = $2 AND subject_id = $3";
    HAS_EXTERNAL_ID = "SELECT EXISTS (SELECT 1 FROM classes WHERE organization_id = $1 AND external_id = $2)";
    IS_HANDED_OUT = "SELECT EXISTS (SELECT 1 FROM documents
            WHERE organization_id = $1 AND work_room_id = $2 AND handed_out_from = $3)";
    /// The name of a deleted course that can be restored.
    DELETED_COURSE = "SELECT name FROM deletion_archives WHERE organization_id = $1 AND object_id = $2
            AND noun = 'COURSE' AND restored_at IS NULL AND expires_at > $3
        ORDER BY deleted_at DESC LIMIT 1";
    /// The people of an archive whose accounts were erased.
    ERASED = "SELECT p.user_id AS id FROM deletion_archive_people p JOIN users u ON u.id = p.user_id
        WHERE p.organization_id = $1 AND p.archive_id = $2 AND u.erased_at IS NOT NULL";
    ADD_SUBJECT = "INSERT INTO class_subjects (organization_id, class_id, subject_id) VALUES ($1, $2, $3)
        ON CONFLICT (class_id, subject_id, organization_id) DO NOTHING";
    /// Links a document that was not changed since to its topic again, in the state before the deletion.
    RELINK = "UPDATE documents SET status = $4, status_before_lock = $5, locked_at = $6, locked_by_assignment_id = $7,
            assignment_id = $3, submitted_at = $8, submitted_by_id = $9, updated_at = $11,
            generation = generation + CASE WHEN status <> $4 THEN 1 ELSE 0 END
        WHERE organization_id = $1 AND id = $2 AND status = 'DRAFT' AND version = $10 AND freezing_until IS NULL
            AND COALESCE(assignment_id, COALESCE(CAST($3 AS TEXT), '')) = COALESCE($3, '')";
    /// Links a document that was edited since to its topic again, as a draft.
    RELINK_DRAFT = "UPDATE documents SET assignment_id = $3, updated_at = $4
        WHERE organization_id = $1 AND id = $2 AND status = 'DRAFT' AND assignment_id IS NULL
            AND freezing_until IS NULL";
    /// Locks a draft that was edited since for a finished topic.
    RELINK_LOCKED = "UPDATE documents SET assignment_id = COALESCE(assignment_id, $3), status = 'LOCKED',
            status_before_lock = 'DRAFT', locked_at = $5, locked_by_assignment_id = $4, updated_at = $6,
            generation = generation + 1
        WHERE organization_id = $1 AND id = $2 AND status = 'DRAFT' AND freezing_until IS NULL
            AND (assignment_id IS NULL OR assignment_id = $3)";
    RELINK_FEEDBACK = "UPDATE feedback SET document_id = $3
        WHERE organization_id = $1 AND id = $2 AND document_id IS NULL";
    RELINK_ANNOUNCEMENT = "UPDATE direct_messages SET class_id = $3
        WHERE organization_id = $1 AND id = $2 AND class_id IS NULL";
    /// A group has the subject of its course.
    FOLLOW_SUBJECT = "UPDATE groups SET subject_id = (SELECT c.subject_id FROM courses c
            WHERE c.organization_id = $1 AND c.id = groups.course_id)
        WHERE organization_id = $1 AND class_id = $2 AND course_id IS NOT NULL
            AND COALESCE(subject_id, '') <> (SELECT c.subject_id FROM courses c
                WHERE c.organization_id = $1 AND c.id = groups.course_id)";
    /// A topic that became a draft stays published for a restored group that works on it.
    KEEP_PUBLISHED = "UPDATE group_assignments SET is_draft = FALSE, publish_at = created_at
        WHERE organization_id = $1 AND class_id = $2 AND status <> 'NOT_STARTED' AND (is_draft OR (publish_at IS NULL
            AND EXISTS (SELECT 1 FROM assignments a WHERE a.organization_id = $1
                AND a.id = group_assignments.assignment_id AND a.is_draft)))";
    /// The documents of the groups of a class.
    GROUP_DOCUMENTS = "SELECT {GROUP_CONTEXT_COLUMNS}, {DOCUMENT_COLUMNS}
        FROM documents d JOIN work_rooms w ON w.id = d.work_room_id
            JOIN groups g ON g.id = w.group_id JOIN classes k ON k.id = g.class_id
        WHERE d.organization_id = $1 AND g.class_id = $2 ORDER BY d.created_at, d.id";
    /// Groups in another course than one of their active topics.
    MISPLACED = "SELECT DISTINCT g.id FROM group_assignments ga
            JOIN assignments a ON a.id = ga.assignment_id JOIN groups g ON g.id = ga.group_id
        WHERE ga.organization_id = $1 AND ga.class_id = $2 AND a.status = 'ACTIVE'
            AND COALESCE(a.course_id, '') <> COALESCE(g.course_id, '')
        ORDER BY g.id";
}

/// The rows that were restored.
#[derive(Debug, Default)]
pub struct Restoration {
    pub outcome: RestoreOutcome,
    /// Documents that were not deleted and are linked to a restored topic again.
    pub relinked: Vec<DocumentId>,
}

impl WriteTx<'_> {
    /// Inserts the rows of a deleted object again and ends its archive. The caller holds the locks of the class, if it
    /// exists, and of the archive, and has checked that it was not restored before. Nothing may be kept after an error.
    pub fn restore_archive(&mut self, deletion: &DeletedObject) -> Result<Restoration> {
        let manifest = self.archive_manifest(&deletion.id)?;
        let mut verifier = ChunkVerifier::default();
        for number in 1..=manifest.chunks {
            let chunk = self.archive_chunk(&deletion.id, number)?;
            verifier.add(&chunk.ok_or(DomainError::ArchiveDamaged)?)?;
        }
        verifier.verify(&manifest)?;
        if manifest.object != deletion.object_id || manifest.organization != self.organization().as_str() {
            return Err(DomainError::ArchiveDamaged.into());
        }
        let surroundings = self.surroundings(deletion)?;
        let mut rows = RowInserter {
            tx: self,
            deletion,
            manifest: &manifest,
            surroundings,
            dropped: HashSet::new(),
            open: HashSet::new(),
            table: None,
            batch: Vec::new(),
            lost_files: Vec::new(),
            restoration: Restoration::default(),
        };
        for number in 1..=manifest.chunks {
            let chunk = rows.tx.archive_chunk(&deletion.id, number)?;
            read_chunk(&chunk.ok_or(DomainError::ArchiveDamaged)?, |row| rows.restore(row))?;
            failpoint::hit("deletion.restoring");
        }
        rows.flush()?;
        let RowInserter {
            restoration,
            lost_files,
            ..
        } = rows;
        self.repair(deletion)?;
        self.end_archive(&deletion.id)?;
        for key in lost_files {
            self.insert_file_removal(&key)?;
        }
        Ok(restoration)
    }

    /// Returns documents of a class with their groups.
    pub fn group_documents(&mut self, class: &ClassId, wanted: &[DocumentId]) -> Result<Vec<GroupDocument>> {
        let wanted: HashSet<&DocumentId> = wanted.iter().collect();
        let all = self.fetch_all(&GROUP_DOCUMENTS, args![class], |row| {
            Ok(GroupDocument {
                group_context: group_context(row)?,
                document: document(row)?,
            })
        })?;
        Ok(all
            .into_iter()
            .filter(|found| wanted.contains(&found.document.id))
            .collect())
    }

    /// Restores the rules between restored and present rows.
    fn repair(&mut self, deletion: &DeletedObject) -> Result<()> {
        let class = &deletion.class_id;
        self.execute(&FOLLOW_SUBJECT, args![class])?;
        self.execute(&KEEP_PUBLISHED, args![class])?;
        let groups: Vec<GroupId> = self.fetch_all(&MISPLACED, args![class], |row| row.get("id"))?;
        if groups.is_empty() {
            Ok(())
        } else {
            Err(DomainError::CourseMismatch { groups }.into())
        }
    }

    fn ids(&mut self, statement: &'static crate::sql::Sql, arguments: &[Value<'_>]) -> Result<HashSet<String>> {
        let ids = self.fetch_all(statement, arguments, |row| row.get("id"))?;
        Ok(ids.into_iter().collect())
    }

    fn surroundings(&mut self, deletion: &DeletedObject) -> Result<Surroundings> {
        let class = &deletion.class_id;
        let groups: Vec<(String, i64)> = self.fetch_all(&GROUPS, args![class], |row| row.pair("id", "group_number"))?;
        let topics: Vec<(String, bool)> = self.fetch_all(&TOPICS, args![class], |row| row.pair("id", "is_finished"))?;
        let is_class = deletion.noun == DeletedNoun::Class;
        let erased = self.fetch_all(&ERASED, args![deletion.id], |row| row.get::<UserId>("id"))?;
        // Only classes refer to them.
        let mut of_class = |statement| {
            if is_class {
                self.ids(statement, args![])
            } else {
                Ok(HashSet::new())
            }
        };
        Ok(Surroundings {
            members: of_class(&MEMBERS)?,
            homerooms: of_class(&HOMEROOMS)?,
            enrolled: self.ids(&ENROLLED, args![class])?,
            subjects: self.ids(&SUBJECTS, args![])?,
            courses: self.ids(&COURSES, args![class])?,
            rooms: self.ids(&ROOMS, args![class])?,
            documents: self.ids(&DOCUMENTS, args![class])?,
            numbers: groups.iter().map(|(_, number)| *number).collect(),
            groups: groups.into_iter().map(|(id, _)| id).collect(),
            topics: topics.into_iter().collect(),
            erased,
        })
    }
}

/// The present rows that restored rows refer to. Ids of restored rows are added.
struct Surroundings {
    members: HashSet<String>,
    homerooms: HashSet<String>,
    enrolled: HashSet<String>,
    subjects: HashSet<String>,
    courses: HashSet<String>,
    rooms: HashSet<String>,
    documents: HashSet<String>,
    groups: HashSet<String>,
    /// The numbers of the groups of the class.
    numbers: HashSet<i64>,
    /// Whether each topic is finished.
    topics: HashMap<String, bool>,
    /// People of the archive whose accounts were erased.
    erased: Vec<UserId>,
}

/// What happens to a row.
enum RowFate {
    Inserted,
    /// Something it belongs to is gone.
    Missing,
    /// The person left.
    LeftOut,
}

struct RowInserter<'a, 'c> {
    tx: &'a mut WriteTx<'c>,
    deletion: &'a DeletedObject,
    manifest: &'a ArchiveManifest,
    surroundings: Surroundings,
    /// The ids of dropped rows.
    dropped: HashSet<String>,
    /// Documents whose editors were open.
    open: HashSet<String>,
    table: Option<&'static ArchivedTable>,
    /// Rows of the table that are not inserted yet, in the order of its columns.
    batch: Vec<Vec<Cell>>,
    lost_files: Vec<FileKey>,
    restoration: Restoration,
}

impl RowInserter<'_, '_> {
    fn restore(&mut self, mut row: ArchivedRow<'_>) -> Result<()> {
        // A table of a later release. Rows without their table would be incomplete.
        let table = ArchivedTable::find(&row.header.table).ok_or(DomainError::ArchiveDamaged)?;
        let now = self.tx.now();
        for person in &self.surroundings.erased {
            if matches!(erase_row(&mut row, person, now), ErasedRow::Dropped) {
                self.restoration.outcome.left_out += 1;
                self.drop_row(&row);
                return Ok(());
            }
        }
        if !table.is_inserted() {
            self.flush()?;
            return self.restore_state(table.name, &row);
        }
        match self.adapt(&mut row)? {
            RowFate::Inserted => return self.insert(table, &row),
            RowFate::Missing => self.restoration.outcome.missing += 1,
            RowFate::LeftOut => self.restoration.outcome.left_out += 1,
        }
        self.drop_row(&row);
        Ok(())
    }

    fn drop_row(&mut self, row: &ArchivedRow<'_>) {
        self.dropped.extend(row.text("id").map(str::to_owned));
        self.lost_files.extend(row.text("file_key").map(FileKey::new));
    }

    fn insert(&mut self, table: &'static ArchivedTable, row: &ArchivedRow<'_>) -> Result<()> {
        if self.table.is_none_or(|last| last.name != table.name) {
            self.flush()?;
            self.table = Some(table);
        }
        let cells = table
            .columns()
            .iter()
            .map(|column| row.get(&column.name).unwrap_or(&column.default).clone());
        self.batch.push(cells.collect());
        if self.batch.len() == INSERT_ROWS {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let rows = std::mem::take(&mut self.batch);
        let Some(table) = self.table else { return Ok(()) };
        if rows.len() == INSERT_ROWS {
            let values: Vec<Value<'_>> = rows.iter().flatten().map(value).collect();
            self.tx.execute(table.insert_statement(true), &values)?;
        } else {
            for row in &rows {
                let values: Vec<Value<'_>> = row.iter().map(value).collect();
                self.tx.execute(table.insert_statement(false), &values)?;
            }
        }
        Ok(())
    }

    /// Adapts a row to what exists now.
    fn adapt(&mut self, row: &mut ArchivedRow<'_>) -> Result<RowFate> {
        let table = row.header.table.clone();
        if self.has_dropped_parent(&table, row) {
            return Ok(RowFate::Missing);
        }
        let id = row.text("id").unwrap_or_default().to_owned();
        match table.as_str() {
            "classes" => self.adapt_class(row)?,
            "class_subjects" if !self.knows_subject(row) => return Ok(RowFate::Missing),
            "class_teachers" if !self.is_member(row, "user_id") => return Ok(RowFate::LeftOut),
            "class_enrollments" => {
                if !self.is_member(row, "student_id") {
                    return Ok(RowFate::LeftOut);
                }
                let student = row.text("student_id").map(str::to_owned);
                self.surroundings.enrolled.extend(student);
            }
            "courses" => {
                self.adapt_course(row)?;
                self.surroundings.courses.insert(id);
            }
            "groups" => {
                self.adapt_group(row)?;
                self.surroundings.groups.insert(id);
            }
            "group_members" => {
                let user = row.text("user_id").unwrap_or_default();
                if !self.surroundings.enrolled.contains(user) {
                    return Ok(RowFate::LeftOut);
                }
            }
            "assignments" => {
                self.adapt_course_of(row)?;
                let is_finished = row.is("status", "FINISHED");
                self.surroundings.topics.insert(id, is_finished);
            }
            "group_assignments" => {
                let topic = row.text("assignment_id").unwrap_or_default();
                let group = row.text("group_id").unwrap_or_default();
                if !self.surroundings.topics.contains_key(topic) || !self.surroundings.groups.contains(group) {
                    return Ok(RowFate::Missing);
                }
            }
            "documents" => {
                self.adapt_document(row)?;
                self.surroundings.documents.insert(id);
            }
            "submission_documents" | "feedback" => {
                let document = row.text("document_id");
                if document.is_some_and(|document| !self.surroundings.documents.contains(document)) {
                    row.clear(&["document_id"]);
                }
            }
            _ => {}
        }
        Ok(RowFate::Inserted)
    }

    fn has_dropped_parent(&self, table: &str, row: &ArchivedRow<'_>) -> bool {
        let parents: &[&str] = match table {
            "assignment_attachments" | "submissions" | "feedback" => &["group_assignment_id"],
            "submission_documents" | "grades" | "grade_files" => &["submission_id"],
            "member_grades" | "grade_history" => &["grade_id"],
            "converted_files" => &["submission_document_id"],
            _ => &[],
        };
        parents
            .iter()
            .any(|column| row.text(column).is_some_and(|parent| self.dropped.contains(parent)))
    }

    fn knows_subject(&self, row: &ArchivedRow<'_>) -> bool {
        let subject = row.text("subject_id").unwrap_or_default();
        self.surroundings.subjects.contains(subject)
    }

    fn is_member(&self, row: &ArchivedRow<'_>, column: &str) -> bool {
        let user = row.text(column).unwrap_or_default();
        self.surroundings.members.contains(user)
    }

    /// A class whose owner left belongs to the user who restores it.
    fn adapt_class(&mut self, row: &mut ArchivedRow<'_>) -> Result<()> {
        if !self.is_member(row, "teacher_id") {
            let actor = self.tx.actor().user.clone();
            if let Some(actor) = actor.filter(|actor| self.surroundings.members.contains(actor.as_str())) {
                row.set_text("teacher_id", actor.as_str());
                self.restoration.outcome.left_out += 1;
            }
        }
        let homeroom = row.text("homeroom_id");
        if homeroom.is_some_and(|homeroom| !self.surroundings.homerooms.contains(homeroom)) {
            row.clear(&["homeroom_id"]);
            row.set("follows_homeroom", Cell::Bool(false));
        }
        let external_id = row.text("external_id").map(str::to_owned);
        if let Some(external_id) = external_id
            && self
                .tx
                .fetch_one(&HAS_EXTERNAL_ID, args![external_id], |found| found.only::<bool>())?
        {
            row.clear(&["external_id"]);
        }
        Ok(())
    }

    fn adapt_course(&mut self, row: &mut ArchivedRow<'_>) -> Result<()> {
        let subject = row.text("subject_id").unwrap_or_default().to_owned();
        if !self.surroundings.subjects.contains(&subject) {
            let name = self.manifest.subjects.get(&subject).cloned().unwrap_or_default();
            return Err(DomainError::ParentMissing {
                noun: "subject",
                id: subject,
                name,
            }
            .into());
        }
        if self.deletion.noun == DeletedNoun::Class {
            return Ok(());
        }
        let class = &self.deletion.class_id;
        self.tx.execute(&ADD_SUBJECT, args![class, subject])?;
        let taken: Vec<String> = self
            .tx
            .fetch_all(&COURSE_NAMES, args![class, subject], |found| found.get("name"))?;
        let name = row.text("name").unwrap_or_default();
        let free = free_course_name(name, |name| taken.iter().any(|other| other == name));
        if free != name {
            row.set_text("name", &free);
            row.set_text("name_key", &name_key(&free));
            row.set_text("search_key", &search_key(&free));
            row.set_text("sort_key", &sort_key(&free));
            row.add("row_version", 1);
            self.restoration.outcome.renamed_to = Some(free);
        }
        Ok(())
    }

    fn adapt_group(&mut self, row: &mut ArchivedRow<'_>) -> Result<()> {
        self.adapt_course_of(row)?;
        if row.text("subject_id").is_some() && !self.knows_subject(row) {
            row.clear(&["subject_id"]);
        }
        let number = row.int("group_number").unwrap_or(1);
        if self.surroundings.numbers.insert(number) {
            return Ok(());
        }
        let highest = self.surroundings.numbers.iter().max().copied();
        let next = Group::next_number(highest.map(GroupNumber::stored))?.get();
        self.surroundings.numbers.insert(next);
        row.set("group_number", Cell::Int(next));
        row.add("row_version", 1);
        self.restoration.outcome.renumbered_groups += 1;
        Ok(())
    }

    /// Clears the course of a group or a topic if it is gone. A course that can be restored must be restored first.
    fn adapt_course_of(&mut self, row: &mut ArchivedRow<'_>) -> Result<()> {
        let Some(course) = row.text("course_id").map(str::to_owned) else {
            return Ok(());
        };
        if self.surroundings.courses.contains(&course) {
            return Ok(());
        }
        let now = self.tx.now();
        let deleted: Option<String> = self
            .tx
            .fetch_optional(&DELETED_COURSE, args![course, now], |found| found.get("name"))?;
        if let Some(name) = deleted {
            return Err(DomainError::ParentMissing {
                noun: "course",
                id: course,
                name,
            }
            .into());
        }
        row.clear(&["course_id"]);
        Ok(())
    }

    /// Releases a document from topics that are gone or not finished any more. The SQL of a deletion and
    /// `Document::release` have the same rule.
    fn adapt_document(&mut self, row: &mut ArchivedRow<'_>) -> Result<()> {
        let id = row.text("id").unwrap_or_default().to_owned();
        if self.deletion.noun == DeletedNoun::Document {
            self.adapt_single_document(row)?;
        }
        if self.open.contains(&id) {
            // The document server may still know the key of the last session.
            row.add("generation", 1);
        }
        let holder = row
            .text("locked_by_assignment_id")
            .or_else(|| row.text("assignment_id"))
            .map(str::to_owned);
        let is_finished = |topic: &str| self.surroundings.topics.get(topic).copied().unwrap_or(false);
        if row.is("status", "LOCKED") && holder.is_some_and(|holder| !is_finished(&holder)) {
            let before = row.text("status_before_lock").unwrap_or("DRAFT").to_owned();
            row.set_text("status", &before);
            row.clear(&["status_before_lock", "locked_at", "locked_by_assignment_id"]);
            row.add("generation", 1);
        }
        let topic = row.text("assignment_id").map(str::to_owned);
        if topic.is_some_and(|topic| !self.surroundings.topics.contains_key(&topic)) {
            row.clear(&["assignment_id", "submitted_at", "submitted_by_id"]);
            if row.is("status", "SUBMITTED") {
                row.set_text("status", "DRAFT");
                row.add("generation", 1);
            }
            if row.is("status_before_lock", "SUBMITTED") {
                row.set_text("status_before_lock", "DRAFT");
            }
        }
        Ok(())
    }

    fn adapt_single_document(&mut self, row: &mut ArchivedRow<'_>) -> Result<()> {
        let room = row.text("work_room_id").unwrap_or_default().to_owned();
        if !self.surroundings.rooms.contains(&room) {
            let group = self.deletion.group_id.as_ref().map(ToString::to_string);
            return Err(DomainError::ParentMissing {
                noun: "group",
                id: group.unwrap_or_default(),
                name: self.deletion.group_name.clone().unwrap_or_default(),
            }
            .into());
        }
        let template = row.text("handed_out_from").map(str::to_owned);
        if let Some(template) = template
            && self
                .tx
                .fetch_one(&IS_HANDED_OUT, args![room, template], |found| found.only::<bool>())?
        {
            row.clear(&["handed_out_from"]);
        }
        Ok(())
    }

    /// Restores what the deletion changed in rows that it kept.
    fn restore_state(&mut self, name: &str, row: &ArchivedRow<'_>) -> Result<()> {
        match name {
            "documents.open" => self.open.extend(row.text("document_id").map(str::to_owned)),
            "documents.released" => self.relink(row)?,
            "feedback.unlinked" => {
                let (id, document) = (row.text("id"), row.text("document_id"));
                self.tx.execute(&RELINK_FEEDBACK, args![id, document])?;
            }
            "direct_messages.freed" => {
                let id = row.text("id");
                self.tx
                    .execute(&RELINK_ANNOUNCEMENT, args![id, self.deletion.class_id])?;
            }
            _ => {}
        }
        Ok(())
    }

    fn relink(&mut self, row: &ArchivedRow<'_>) -> Result<()> {
        let now = self.tx.now();
        let id = row.text("id").unwrap_or_default();
        let is_known = |topic: &&str| self.surroundings.topics.contains_key(*topic);
        let topic = row.text("assignment_id").filter(is_known);
        let locker = row.text("locked_by_assignment_id").filter(is_known);
        let is_complete = topic == row.text("assignment_id") && locker == row.text("locked_by_assignment_id");
        let mut changed = 0;
        if is_complete {
            changed = self.tx.execute_counted(
                &RELINK,
                args![
                    id,
                    topic,
                    row.text("status"),
                    row.text("status_before_lock"),
                    row.int("locked_at"),
                    locker,
                    row.int("submitted_at"),
                    row.text("submitted_by_id"),
                    row.int("version"),
                    now,
                ],
            )?;
        }
        if changed == 0 && row.is("status", "LOCKED") {
            let holder = locker.or(topic);
            let locked_at = row.int("locked_at");
            changed = self
                .tx
                .execute_counted(&RELINK_LOCKED, args![id, topic, holder, locked_at, now])?;
        } else if changed == 0 && topic.is_some() {
            changed = self.tx.execute_counted(&RELINK_DRAFT, args![id, topic, now])?;
        }
        if changed > 0 {
            self.restoration.relinked.push(DocumentId::new(id));
        }
        Ok(())
    }
}

fn value(cell: &Cell) -> Value<'_> {
    match cell {
        Cell::Null => Value::Null,
        Cell::Text(text) => Value::Text(text),
        Cell::Int(number) => Value::Int(*number),
        Cell::Bool(truth) => Value::Bool(*truth),
        Cell::Real(number) => Value::Real(*number),
    }
}
