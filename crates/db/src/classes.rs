//! Classes with their teachers and subjects. Enrollments are in `enrollments.rs`, deletion in `cascade.rs`.

use std::collections::HashMap;

use domain::class::{Class, ClassStatus, CoTeacherOrigin};
use domain::collation::{search_key, sort_key};
use domain::details::{ClassCounts, ClassDetails};
use domain::homeroom::HomeroomLabel;
use domain::id::{ClassId, HomeroomId, SubjectId, UserId};
use domain::subject::SubjectLabel;
use domain::text::{AcademicYear, name_key};
use domain::user::Person;

use super::sql::{Columns, Sql};
use super::{ReadTx, WriteTx};
use crate::labels::{PERSON_COLUMNS, SUBJECT_LABEL_COLUMNS, person, subject_label};
use crate::visibility::CAN_LIST_CLASS;
use crate::{args, fragments, from_row, named, statements};
use common::error::Result;

fragments! {
    pub CLASS_COLUMNS = "k.id, k.organization_id, k.name, k.academic_year, k.semester, k.start_date, k.end_date, k.status,
            k.teacher_id, k.homeroom_id, k.follows_homeroom, k.external_id, k.schedule, k.created_at, k.updated_at";
    /// Classes the viewer can list, with teacher, homeroom and counts.
    SELECT_CLASSES = "SELECT {CLASS_COLUMNS}, t.id AS user_id, t.name AS user_name, t.image AS user_image,
            h.name AS homeroom_name,
                (SELECT COUNT(*) FROM class_enrollments e WHERE e.organization_id = $1
                AND e.class_id = k.id) AS student_count,
                (SELECT COUNT(*) FROM groups g WHERE g.organization_id = $1 AND g.class_id = k.id) AS group_count,
                (SELECT COUNT(*) FROM courses c WHERE c.organization_id = $1 AND c.class_id = k.id) AS course_count,
                (SELECT COUNT(*) FROM assignments a WHERE a.organization_id = $1
                AND a.class_id = k.id) AS assignment_count
        FROM classes k
            JOIN users t ON t.id = k.teacher_id
            LEFT JOIN homerooms h ON h.organization_id = k.organization_id AND h.id = k.homeroom_id
            WHERE k.organization_id = $1 AND {CAN_LIST_CLASS}";
    /// The co-teachers of the selected classes `k`.
    SELECT_CO_TEACHERS = "SELECT ct.class_id, {PERSON_COLUMNS}
            FROM classes k
            JOIN class_teachers ct ON ct.organization_id = k.organization_id AND ct.class_id = k.id
            JOIN users u ON u.id = ct.user_id
            WHERE k.organization_id = $1 AND {CAN_LIST_CLASS}";
    /// The subjects of the selected classes `k`.
    SELECT_SUBJECTS = "SELECT cs.class_id, {SUBJECT_LABEL_COLUMNS}
            FROM classes k
            JOIN class_subjects cs ON cs.organization_id = k.organization_id AND cs.class_id = k.id
            JOIN subjects s ON s.id = cs.subject_id
            WHERE k.organization_id = $1 AND {CAN_LIST_CLASS}";
    /// The list filter.
    MATCHING = "AND (CAST($5 AS TEXT) IS NULL OR k.status = $5)
            AND (CAST($6 AS TEXT) IS NULL OR k.search_key LIKE '%' || $6 || '%' ESCAPE '\\')
            AND (CAST($7 AS TEXT) IS NULL OR k.teacher_id = $7)
            AND (CAST($8 AS TEXT) IS NULL OR k.homeroom_id = $8)
            AND (CAST($9 AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM class_subjects x
                WHERE x.organization_id = $1 AND x.class_id = k.id AND x.subject_id = $9))
            AND (CAST($10 AS TEXT) IS NULL OR k.academic_year = $10)
            AND (CAST($11 AS TEXT) IS NULL OR k.teacher_id = $11 OR EXISTS (SELECT 1 FROM class_teachers x
                WHERE x.organization_id = $1 AND x.class_id = k.id AND x.user_id = $11))";
}

statements! {
    BY_ID = "SELECT {CLASS_COLUMNS} FROM classes k
        WHERE k.organization_id = $1 AND {CAN_LIST_CLASS} AND k.id = $5";
    WHOLE = "{SELECT_CLASSES} AND k.id = $5";
    CO_TEACHERS = "{SELECT_CO_TEACHERS} AND k.id = $5 ORDER BY ct.created_at, ct.user_id";
    SUBJECTS = "{SELECT_SUBJECTS} AND k.id = $5 ORDER BY s.sort_key, s.id";
    /// The matching classes by name; those whose name begins with the search text come first.
    LIST = "{SELECT_CLASSES} {MATCHING}
            ORDER BY CASE WHEN k.search_key LIKE $6 || '%' ESCAPE '\\' THEN 0 ELSE 1 END, k.sort_key, k.id";
    LIST_CO_TEACHERS = "{SELECT_CO_TEACHERS} {MATCHING} ORDER BY ct.created_at, ct.user_id";
    LIST_SUBJECTS = "{SELECT_SUBJECTS} {MATCHING} ORDER BY s.sort_key, s.id";
    /// Locks the row until the end of the transaction; inserts that reference it do not wait.
    LOCK = "SELECT id FROM classes WHERE organization_id = $1 AND id = $2 FOR NO KEY UPDATE";
    HOMEROOM = "SELECT h.id AS homeroom_id, h.name AS homeroom_name FROM homerooms h
        WHERE h.organization_id = $1 AND h.id = $2";
    /// A member who can own a class or teach in it.
    TEACHER = "SELECT {PERSON_COLUMNS} FROM members m JOIN users u ON u.id = m.user_id
        WHERE m.organization_id = $1 AND m.user_id = $2 AND m.role IN ('owner', 'admin', 'teacher')";
    INSERT = "INSERT INTO classes (organization_id, id, name, name_key, academic_year, semester, start_date, end_date,
            status, teacher_id, homeroom_id, external_id, schedule, created_at, updated_at, search_key, sort_key,
            follows_homeroom)
        VALUES ($1, :id, :name, :name_key, :academic_year, :semester, :start_date, :end_date, :status, :teacher_id,
            :homeroom_id, :external_id, :schedule, :created_at, :updated_at, :search_key, :sort_key, :follows_homeroom)";
    /// Updates every field of a class.
    UPDATE = "UPDATE classes SET name = :name, name_key = :name_key, academic_year = :academic_year,
            semester = :semester, start_date = :start_date, end_date = :end_date, status = :status,
            teacher_id = :teacher_id, homeroom_id = :homeroom_id, external_id = :external_id, schedule = :schedule,
            updated_at = :updated_at, search_key = :search_key, sort_key = :sort_key,
            follows_homeroom = :follows_homeroom
        WHERE organization_id = $1 AND id = :id";
    /// Adds a subject to a class; does nothing if it is listed already.
    ADD_SUBJECT = "INSERT INTO class_subjects (organization_id, class_id, subject_id) VALUES ($1, $2, $3)
        ON CONFLICT (class_id, subject_id, organization_id) DO NOTHING";
    /// Whether a course of the class is in this subject.
    SUBJECT_HAS_COURSES = "SELECT EXISTS (SELECT 1 FROM courses
        WHERE organization_id = $1 AND class_id = $2 AND subject_id = $3)";
    /// Removes a subject without courses from a class.
    REMOVE_SUBJECT = "DELETE FROM class_subjects WHERE organization_id = $1 AND class_id = $2 AND subject_id = $3";
    /// Adds a co-teacher; does nothing if they are one already.
    ADD_TEACHER = "INSERT INTO class_teachers (organization_id, class_id, user_id, created_at, added_by)
        VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (class_id, user_id) DO NOTHING";
    REMOVE_TEACHER = "DELETE FROM class_teachers WHERE organization_id = $1 AND class_id = $2 AND user_id = $3";
}

/// Restricts a list of classes. A `None` field does not restrict.
#[derive(Debug, Clone, Default)]
pub struct ClassFilter {
    pub status: Option<ClassStatus>,
    /// Matches a part of the name.
    pub search: Option<String>,
    /// The owner of the class.
    pub teacher_id: Option<UserId>,
    pub homeroom_id: Option<HomeroomId>,
    pub subject_id: Option<SubjectId>,
    pub academic_year: Option<AcademicYear>,
    /// Taught by this user, as owner or co-teacher.
    pub taught_by: Option<UserId>,
}

impl ReadTx<'_> {
    /// Returns a class, or `NotFound` if it is invisible to the viewer.
    pub fn class(&mut self, id: &ClassId) -> Result<Class> {
        self.fetch_one_visible(&BY_ID, args![id], class)
    }

    /// Returns a class with its teachers, subjects and counts, or `NotFound` if it is invisible to the viewer.
    pub fn whole_class(&mut self, id: &ClassId) -> Result<ClassDetails> {
        let mut details = self.fetch_one_visible(&WHOLE, args![id], details)?;
        details.co_teachers = self.co_teachers(id)?;
        details.subjects = self.class_subjects(id)?;
        Ok(details)
    }

    /// Lists the matching classes that are visible to the viewer, by name.
    pub fn classes(&mut self, filter: &ClassFilter) -> Result<Vec<ClassDetails>> {
        let search = filter.search.as_deref().map(super::pattern);
        let status = filter.status.map(ClassStatus::as_str);
        let arguments = args![
            status,
            search,
            filter.teacher_id,
            filter.homeroom_id,
            filter.subject_id,
            filter.academic_year,
            filter.taught_by,
        ];
        let mut classes = self.fetch_all_visible(&LIST, arguments, details)?;
        let mut co_teachers = gathered(self.fetch_all_visible(&LIST_CO_TEACHERS, arguments, co_teacher)?);
        let mut subjects = gathered(self.fetch_all_visible(&LIST_SUBJECTS, arguments, subject)?);
        for details in &mut classes {
            details.co_teachers = co_teachers.remove(&details.class.id).unwrap_or_default();
            details.subjects = subjects.remove(&details.class.id).unwrap_or_default();
        }
        Ok(classes)
    }

    /// Lists the co-teachers of a class, in the order in which they were added.
    pub fn co_teachers(&mut self, id: &ClassId) -> Result<Vec<Person>> {
        let found = self.fetch_all_visible(&CO_TEACHERS, args![id], co_teacher)?;
        Ok(found.into_iter().map(|(_, person)| person).collect())
    }

    /// Lists the subjects of a class by name.
    pub fn class_subjects(&mut self, id: &ClassId) -> Result<Vec<SubjectLabel>> {
        let found = self.fetch_all_visible(&SUBJECTS, args![id], subject)?;
        Ok(found.into_iter().map(|(_, subject)| subject).collect())
    }

    /// Returns a class that the viewer manages: `NotFound` if it is invisible to them, `NOT_CLASS_TEACHER` if other
    /// teachers manage it.
    pub fn managed_class(&mut self, id: &ClassId) -> Result<Class> {
        let class = self.class(id)?;
        let co_teachers: Vec<UserId> = self.co_teachers(id)?.into_iter().map(|person| person.id).collect();
        class.require_managed_by(self.viewer(), &co_teachers)?;
        Ok(class)
    }

    pub fn homeroom_label(&mut self, id: &HomeroomId) -> Result<HomeroomLabel> {
        self.fetch_one(&HOMEROOM, args![id], homeroom)
    }

    /// Returns a member who can own a class or teach in it: a teacher, an admin or an owner.
    pub fn teaching_member(&mut self, id: &UserId) -> Result<Person> {
        self.fetch_one(&TEACHER, args![id], person)
    }
}

impl WriteTx<'_> {
    /// Locks a class the viewer manages until the end of the transaction. Every change of the content of a class takes
    /// this lock, so numbers, memberships and topics of one class change serially.
    pub fn lock_managed_class(&mut self, id: &ClassId) -> Result<Class> {
        self.fetch_optional(&LOCK, args![id], |row| row.get::<ClassId>("id"))?;
        self.managed_class(id)
    }

    /// Locks a class until the end of the transaction, without a check of permissions. Changes by students and by the
    /// document server wait for changes by teachers. Lock order: the class always comes first.
    pub fn lock_class(&mut self, id: &ClassId) -> Result<()> {
        self.fetch_one(&LOCK, args![id], |row| row.get::<ClassId>("id"))
            .map(drop)
    }

    /// Like [`WriteTx::lock_managed_class`], and requires that the class is not archived.
    pub fn lock_writable_class(&mut self, id: &ClassId) -> Result<Class> {
        let class = self.lock_managed_class(id)?;
        class.writable()?;
        Ok(class)
    }

    /// Inserts a class; an external id that is in use is `DUPLICATE_EXTERNAL_ID`.
    pub fn insert_class(&mut self, new: &Class) -> Result<()> {
        self.write_class(&INSERT, new)
    }

    /// Updates every field of a class.
    pub fn update_class(&mut self, class: &Class) -> Result<()> {
        self.write_class(&UPDATE, class)
    }

    fn write_class(&mut self, statement: &'static Sql, class: &Class) -> Result<()> {
        let (name, schedule) = (class.name.as_str(), json(class)?);
        self.execute_named(
            statement,
            named![class =>
                id, academic_year, semester, start_date, end_date, status, teacher_id, homeroom_id, follows_homeroom,
                external_id, created_at, updated_at,
                name: name,
                name_key: name_key(name),
                schedule: schedule,
                search_key: search_key(name),
                sort_key: sort_key(name),
            ],
        )
    }

    /// Adds a subject to a class; does nothing if it is listed already.
    pub fn add_class_subject(&mut self, class: &ClassId, subject: &SubjectId) -> Result<()> {
        self.execute(&ADD_SUBJECT, args![class, subject])
    }

    /// Returns whether a course of the class is in this subject.
    pub fn class_subject_has_courses(&mut self, class: &ClassId, subject: &SubjectId) -> Result<bool> {
        self.fetch_one(&SUBJECT_HAS_COURSES, args![class, subject], |row| row.only())
    }

    /// Removes a subject without courses from a class.
    pub fn remove_class_subject(&mut self, class: &ClassId, subject: &SubjectId) -> Result<()> {
        self.execute(&REMOVE_SUBJECT, args![class, subject])
    }

    /// Adds a co-teacher; returns whether they were added.
    pub fn add_co_teacher(&mut self, class: &ClassId, teacher: &UserId, origin: CoTeacherOrigin) -> Result<bool> {
        let now = self.now();
        Ok(self.execute_counted(&ADD_TEACHER, args![class, teacher, now, origin.as_str()])? > 0)
    }

    /// Removes a co-teacher; returns whether they were one.
    pub fn remove_co_teacher(&mut self, class: &ClassId, teacher: &UserId) -> Result<bool> {
        Ok(self.execute_counted(&REMOVE_TEACHER, args![class, teacher])? > 0)
    }
}

fn json(class: &Class) -> Result<Option<String>> {
    Ok(class.schedule.as_ref().map(serde_json::to_string).transpose()?)
}

/// Groups children by their class and keeps their order.
fn gathered<T>(children: Vec<(ClassId, T)>) -> HashMap<ClassId, Vec<T>> {
    let mut by_class: HashMap<ClassId, Vec<T>> = HashMap::new();
    for (class, child) in children {
        by_class.entry(class).or_default().push(child);
    }
    by_class
}

pub(crate) fn class(row: &Columns<'_>) -> Result<Class> {
    let homeroom_id: Option<HomeroomId> = row.get("homeroom_id")?;
    from_row!(row => Class {
        id, organization_id, name, academic_year, semester, start_date, end_date, status, teacher_id, external_id,
        created_at, updated_at,
        // The previous release detaches a homeroom without ending the following.
        follows_homeroom: row.get("follows_homeroom")? && homeroom_id.is_some(),
        homeroom_id: homeroom_id,
        schedule: row.json_option("schedule")?,
    })
}

fn details(row: &Columns<'_>) -> Result<ClassDetails> {
    Ok(ClassDetails {
        class: class(row)?,
        teacher: person(row)?,
        co_teachers: Vec::new(),
        subjects: Vec::new(),
        homeroom: match (row.get("homeroom_id")?, row.get("homeroom_name")?) {
            (Some(id), Some(name)) => Some(HomeroomLabel { id, name }),
            _ => None,
        },
        counts: from_row!(row => ClassCounts {
            students = "student_count", groups = "group_count", courses = "course_count",
            assignments = "assignment_count",
        })?,
    })
}

fn homeroom(row: &Columns<'_>) -> Result<HomeroomLabel> {
    from_row!(row => HomeroomLabel { id = "homeroom_id", name = "homeroom_name" })
}

fn co_teacher(row: &Columns<'_>) -> Result<(ClassId, Person)> {
    Ok((row.get("class_id")?, person(row)?))
}

fn subject(row: &Columns<'_>) -> Result<(ClassId, SubjectLabel)> {
    let class = row.get("class_id")?;
    Ok((class, subject_label(row)?))
}
