//! Homerooms and their students. The enrollment of a homeroom in a class is in `enrollments.rs`.

use domain::account_email::AccountEmail;
use domain::collation::{search_key, sort_key};
use domain::homeroom::{Homeroom, HomeroomEnrollment};
use domain::id::{EnrollmentId, HomeroomId, UserId};
use domain::text::{AcademicYear, name_key};
use domain::user::Person;

use super::sql::{Columns, Sql};
use super::{ReadTx, WriteTx};
use crate::labels::{PERSON_COLUMNS, person};
use crate::visibility::CAN_MANAGE_CLASS;
use crate::{args, fragments, from_row, named, statements};
use common::clock;
use common::error::Result;

fragments! {
    /// Homerooms visible to the viewer with the number of their students: staff see all, students their own.
    SELECT_HOMEROOMS = "SELECT h.id, h.organization_id, h.name, h.grade_level, h.academic_year, h.teacher_id,
        h.external_id,
                h.created_at, h.updated_at,
                (SELECT COUNT(*) FROM homeroom_enrollments e
                WHERE e.organization_id = $1 AND e.homeroom_id = h.id) AS student_count
            FROM homerooms h
            WHERE h.organization_id = $1 AND CAST($4 AS BIGINT) IS NOT NULL
                AND ($2 <> 'STUDENT' OR EXISTS (SELECT 1 FROM homeroom_enrollments own
                    WHERE own.organization_id = $1 AND own.homeroom_id = h.id AND own.student_id = $3))";
}

statements! {
    BY_ID = "{SELECT_HOMEROOMS} AND h.id = $5";
    /// The matching homerooms by name; those whose name begins with the search text come first.
    LIST = "{SELECT_HOMEROOMS} AND (CAST($5 AS TEXT) IS NULL OR h.search_key LIKE '%' || $5 || '%' ESCAPE '\\')
            AND (CAST($6 AS TEXT) IS NULL OR h.academic_year = $6)
            AND (CAST($7 AS TEXT) IS NULL OR h.teacher_id = $7)
        ORDER BY CASE WHEN h.search_key LIKE $5 || '%' ESCAPE '\\' THEN 0 ELSE 1 END, h.sort_key, h.id";
    /// The students of a homeroom by name. Email addresses are visible to admins and to teachers of the student's
    /// classes.
    STUDENTS = "SELECT e.id, e.homeroom_id, e.student_id, e.enrolled_at, {PERSON_COLUMNS},
            CASE WHEN $2 = 'ADMIN' OR EXISTS (SELECT 1 FROM class_enrollments ce
                    JOIN classes k ON k.organization_id = ce.organization_id AND k.id = ce.class_id
                    WHERE ce.organization_id = $1 AND ce.student_id = e.student_id AND {CAN_MANAGE_CLASS})
                THEN u.email ELSE NULL END AS email
        FROM homeroom_enrollments e
        JOIN users u ON u.id = e.student_id
        WHERE e.organization_id = $1 AND e.homeroom_id = $5 AND CAST($4 AS BIGINT) IS NOT NULL
            AND (CAST($6 AS TEXT) IS NULL OR u.search_key LIKE '%' || $6 || '%' ESCAPE '\\')
        ORDER BY CASE WHEN u.search_key LIKE $6 || '%' ESCAPE '\\' THEN 0 ELSE 1 END, u.sort_key, u.id";
    STUDENT_IDS = "SELECT student_id FROM homeroom_enrollments WHERE organization_id = $1 AND homeroom_id = $2
        ORDER BY student_id";
    STUDENT = "SELECT {PERSON_COLUMNS} FROM homeroom_enrollments e JOIN users u ON u.id = e.student_id
        WHERE e.organization_id = $1 AND e.homeroom_id = $2 AND e.student_id = $3";
    /// The homerooms that have a class in a school year.
    WITH_CLASS = "SELECT DISTINCT k.homeroom_id FROM classes k
        WHERE k.organization_id = $1 AND k.homeroom_id IS NOT NULL AND k.academic_year = $2";
    /// Locks the row until the end of the transaction.
    LOCK = "SELECT id FROM homerooms WHERE organization_id = $1 AND id = $2 FOR UPDATE";
    INSERT = "INSERT INTO homerooms (organization_id, id, name, name_key, grade_level, academic_year, teacher_id,
            external_id, created_at, updated_at, search_key, sort_key)
        VALUES ($1, :id, :name, :name_key, :grade_level, :academic_year, :teacher_id, :external_id, :created_at,
            :updated_at, :search_key, :sort_key)";
    UPDATE = "UPDATE homerooms SET name = :name, name_key = :name_key, grade_level = :grade_level,
            academic_year = :academic_year, teacher_id = :teacher_id, external_id = :external_id,
            updated_at = :updated_at, search_key = :search_key, sort_key = :sort_key
        WHERE organization_id = $1 AND id = :id";
    /// Enrolls a student; does nothing if they are enrolled already.
    ENROLL = "INSERT INTO homeroom_enrollments (organization_id, id, homeroom_id, student_id, enrolled_at)
        VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (homeroom_id, student_id) DO NOTHING";
    LEAVE = "DELETE FROM homeroom_enrollments WHERE organization_id = $1 AND homeroom_id = $2 AND student_id = $3";
    LEAVE_ALL = "DELETE FROM homeroom_enrollments WHERE organization_id = $1 AND homeroom_id = $2";
    /// The students of following classes stay when the homeroom is deleted.
    KEEP_FOLLOWERS = "UPDATE class_enrollments SET from_homeroom = FALSE
        WHERE organization_id = $1 AND from_homeroom
            AND class_id IN (SELECT k.id FROM classes k WHERE k.organization_id = $1 AND k.homeroom_id = $2)";
    /// Detaches the classes of a homeroom, which stop following it.
    RELEASE_CLASSES = "UPDATE classes SET homeroom_id = NULL, follows_homeroom = FALSE, updated_at = $3, row_version = row_version + 1
        WHERE organization_id = $1 AND homeroom_id = $2";
    /// Deletes a homeroom that nothing references.
    DELETE = "DELETE FROM homerooms WHERE organization_id = $1 AND id = $2";
}

/// Restricts a list of homerooms. A `None` field does not restrict.
#[derive(Debug, Clone, Default)]
pub struct HomeroomFilter {
    /// Matches a part of the name.
    pub search: Option<String>,
    pub academic_year: Option<AcademicYear>,
    /// The homeroom teacher.
    pub teacher_id: Option<UserId>,
}

/// A homeroom with the number of its students.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeroomWithCount {
    pub homeroom: Homeroom,
    pub students: i64,
}

/// A student of a homeroom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeroomStudent {
    pub enrollment: HomeroomEnrollment,
    pub person: Person,
    /// `None` if it is invisible to the viewer.
    pub email: Option<AccountEmail>,
}

/// The effects of the deletion of a homeroom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeroomRemoval {
    /// The students whose enrollments ended.
    pub students: Vec<UserId>,
    /// The number of classes that were detached from the homeroom.
    pub classes: u64,
}

impl ReadTx<'_> {
    pub fn homeroom_student_ids(&mut self, id: &HomeroomId) -> Result<Vec<UserId>> {
        self.fetch_all(&STUDENT_IDS, args![id], |row| row.get("student_id"))
    }

    /// Returns a homeroom, or `NotFound` if it is invisible to the viewer.
    pub fn homeroom(&mut self, id: &HomeroomId) -> Result<HomeroomWithCount> {
        self.fetch_one_visible(&BY_ID, args![id], counted)
    }

    /// Lists the matching homerooms that are visible to the viewer, by name.
    pub fn homerooms(&mut self, filter: &HomeroomFilter) -> Result<Vec<HomeroomWithCount>> {
        let search = filter.search.as_deref().map(super::pattern);
        self.fetch_all_visible(&LIST, args![search, filter.academic_year, filter.teacher_id], counted)
    }

    /// Lists the students of a homeroom by name. The caller has checked the permission.
    pub fn homeroom_students(&mut self, id: &HomeroomId, search: Option<&str>) -> Result<Vec<HomeroomStudent>> {
        self.fetch_all_visible(&STUDENTS, args![id, search.map(super::pattern)], student)
    }

    /// Returns the homerooms that have a class in a school year, archived ones included.
    pub fn homerooms_with_class(&mut self, year: &AcademicYear) -> Result<Vec<HomeroomId>> {
        self.fetch_all(&WITH_CLASS, args![year], |row| row.get("homeroom_id"))
    }

    /// Returns a student of a homeroom.
    pub fn homeroom_student(&mut self, id: &HomeroomId, student: &UserId) -> Result<Person> {
        self.fetch_one(&STUDENT, args![id, student], person)
    }
}

impl WriteTx<'_> {
    /// Returns a homeroom, locked until the end of the transaction.
    pub fn lock_homeroom(&mut self, id: &HomeroomId) -> Result<Homeroom> {
        self.fetch_one(&LOCK, args![id], |row| row.get::<HomeroomId>("id"))?;
        Ok(self.homeroom(id)?.homeroom)
    }

    /// Inserts a homeroom; a name that is in use in the same year is `DUPLICATE_HOMEROOM`.
    pub fn insert_homeroom(&mut self, new: &Homeroom) -> Result<()> {
        self.write_homeroom(&INSERT, new)
    }

    /// Updates every field of a homeroom.
    pub fn update_homeroom(&mut self, homeroom: &Homeroom) -> Result<()> {
        self.write_homeroom(&UPDATE, homeroom)
    }

    fn write_homeroom(&mut self, statement: &'static Sql, homeroom: &Homeroom) -> Result<()> {
        let name = homeroom.name.as_str();
        self.execute_named(
            statement,
            named![homeroom =>
                id, grade_level, academic_year, teacher_id, external_id, created_at, updated_at,
                name: name,
                name_key: name_key(name),
                search_key: search_key(name),
                sort_key: sort_key(name),
            ],
        )
    }

    /// Enrolls a student in a homeroom; returns whether the enrollment is new.
    pub fn enroll_in_homeroom(&mut self, id: &HomeroomId, student: &UserId) -> Result<bool> {
        let (enrollment, now) = (EnrollmentId::new(clock::new_id()), self.now());
        Ok(self.execute_counted(&ENROLL, args![enrollment, id, student, now])? > 0)
    }

    /// Ends a student's enrollment in a homeroom.
    pub fn leave_homeroom(&mut self, id: &HomeroomId, student: &UserId) -> Result<()> {
        self.execute(&LEAVE, args![id, student])
    }

    /// Deletes a homeroom: its enrollments end, and the `homeroomId` of its classes becomes null; their students stay
    /// (docs/api-contract.md#homerooms-and-subjects).
    pub fn delete_homeroom(&mut self, id: &HomeroomId) -> Result<HomeroomRemoval> {
        let now = self.now();
        self.execute(&KEEP_FOLLOWERS, args![id])?;
        let classes = self.execute_counted(&RELEASE_CLASSES, args![id, now])?;
        let students = self.homeroom_student_ids(id)?;
        self.execute(&LEAVE_ALL, args![id])?;
        self.execute(&DELETE, args![id])?;
        Ok(HomeroomRemoval { students, classes })
    }
}

fn counted(row: &Columns<'_>) -> Result<HomeroomWithCount> {
    Ok(HomeroomWithCount {
        homeroom: from_row!(row => Homeroom {
            id, organization_id, name, grade_level, academic_year, teacher_id, external_id, created_at, updated_at,
        })?,
        students: row.get("student_count")?,
    })
}

fn student(row: &Columns<'_>) -> Result<HomeroomStudent> {
    Ok(HomeroomStudent {
        enrollment: from_row!(row => HomeroomEnrollment { id, homeroom_id, student_id, enrolled_at })?,
        person: person(row)?,
        email: row.get("email")?,
    })
}
