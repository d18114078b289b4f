//! Courses with their class, subject and counts.

use domain::collation::{search_key, sort_key};
use domain::course::{Course, CourseStatus};
use domain::details::{CourseCounts, CourseDetails};
use domain::id::{ClassId, CourseId, SubjectId};
use domain::text::name_key;

use super::sql::{Columns, Sql};
use super::{ReadTx, WriteTx};
use crate::labels::{class_label, subject_label};
use crate::{args, fragments, from_row, named, statements};
use common::error::Result;

fragments! {
    SELECT_COURSES = "SELECT c.id, c.organization_id, c.class_id, c.subject_id, c.name, c.description, c.status,
        c.created_at,
                c.updated_at, k.name AS class_name, k.academic_year, k.status AS class_status,
            s.name AS subject_name, s.code AS subject_code, s.color AS subject_color,
                (SELECT COUNT(*) FROM groups g WHERE g.organization_id = $1 AND g.course_id = c.id) AS group_count,
                (SELECT COUNT(*) FROM assignments a WHERE a.organization_id = $1
                AND a.course_id = c.id) AS assignment_count,
                (SELECT COUNT(*) FROM assignments a WHERE a.organization_id = $1 AND a.course_id = c.id
                    AND a.status = 'ACTIVE') AS active_assignment_count
        FROM courses c
            JOIN classes k ON k.id = c.class_id
            JOIN subjects s ON s.id = c.subject_id
            WHERE c.organization_id = $1";
}

statements! {
    BY_ID = "{SELECT_COURSES} AND c.id = $2";
    /// The matching courses by name; those whose name begins with the search text come first.
    LIST = "{SELECT_COURSES} AND (CAST($2 AS TEXT) IS NULL OR c.class_id = $2)
            AND (CAST($3 AS TEXT) IS NULL OR c.subject_id = $3)
            AND (CAST($4 AS TEXT) IS NULL OR c.search_key LIKE '%' || $4 || '%' ESCAPE '\\')
            AND (CAST($5 AS TEXT) IS NULL OR c.status = $5)
        ORDER BY CASE WHEN c.search_key LIKE $4 || '%' ESCAPE '\\' THEN 0 ELSE 1 END, c.sort_key, c.id";
    /// Locks the row until the end of the transaction.
    LOCK = "SELECT class_id FROM courses WHERE organization_id = $1 AND id = $2 FOR UPDATE";
    INSERT = "INSERT INTO courses (organization_id, id, class_id, subject_id, name, name_key, description, status,
            created_at, updated_at, search_key, sort_key)
        VALUES ($1, :id, :class_id, :subject_id, :name, :name_key, :description, :status, :created_at, :updated_at,
            :search_key, :sort_key)";
    /// Updates every field of a course.
    UPDATE = "UPDATE courses SET class_id = :class_id, subject_id = :subject_id, name = :name, name_key = :name_key,
            description = :description, status = :status, updated_at = :updated_at, search_key = :search_key,
            sort_key = :sort_key
        WHERE organization_id = $1 AND id = :id";
    /// Sets the subject of the groups of a course: groups have the subject of their course.
    UPDATE_GROUP_SUBJECTS = "UPDATE groups SET subject_id = $3, updated_at = $4
        WHERE organization_id = $1 AND course_id = $2";
}

/// Restricts a list of courses. A `None` field does not restrict.
#[derive(Debug, Clone, Default)]
pub struct CourseFilter {
    pub class_id: Option<ClassId>,
    pub subject_id: Option<SubjectId>,
    /// Matches a part of the name.
    pub search: Option<String>,
    pub status: Option<CourseStatus>,
}

impl ReadTx<'_> {
    /// Returns a course. Staff can read the courses of all classes of their organization.
    pub fn course(&mut self, id: &CourseId) -> Result<CourseDetails> {
        self.fetch_one(&BY_ID, args![id], details)
    }

    /// Lists the matching courses by name.
    pub fn courses(&mut self, filter: &CourseFilter) -> Result<Vec<CourseDetails>> {
        let search = filter.search.as_deref().map(super::pattern);
        let status = filter.status.map(CourseStatus::as_str);
        self.fetch_all(
            &LIST,
            args![filter.class_id, filter.subject_id, search, status],
            details,
        )
    }
}

impl WriteTx<'_> {
    /// Locks a course and its class until the end of the transaction. Requires that the viewer manages the class and
    /// that the class is not archived.
    pub fn lock_writable_course(&mut self, id: &CourseId) -> Result<CourseDetails> {
        // Lock order: the class before its children.
        let class = self.course(id)?.course.class_id;
        self.lock_writable_class(&class)?;
        self.fetch_one(&LOCK, args![id], |row| row.get::<ClassId>("class_id"))?;
        self.course(id)
    }

    /// Inserts a course; a name that is in use is `DUPLICATE_COURSE`.
    pub fn insert_course(&mut self, new: &Course) -> Result<()> {
        self.write_course(&INSERT, new)
    }

    fn write_course(&mut self, statement: &'static Sql, course: &Course) -> Result<()> {
        let name = course.name.as_str();
        self.execute_named(
            statement,
            named![course =>
                id, class_id, subject_id, description, status, created_at, updated_at,
                name: name,
                name_key: name_key(name),
                search_key: search_key(name),
                sort_key: sort_key(name),
            ],
        )
    }

    /// Updates every field of a course; if its subject changed, that of its groups too.
    pub fn update_course(&mut self, course: &Course, subject_changed: bool) -> Result<()> {
        self.write_course(&UPDATE, course)?;
        if subject_changed {
            self.execute(
                &UPDATE_GROUP_SUBJECTS,
                args![course.id, course.subject_id, course.updated_at],
            )?;
        }
        Ok(())
    }
}

fn details(row: &Columns<'_>) -> Result<CourseDetails> {
    Ok(CourseDetails {
        course: from_row!(row => Course {
            id, organization_id, class_id, subject_id, name, description, status, created_at, updated_at,
        })?,
        class: class_label(row)?,
        subject: subject_label(row)?,
        counts: from_row!(row => CourseCounts {
            groups = "group_count", assignments = "assignment_count", active_assignments = "active_assignment_count",
        })?,
    })
}
