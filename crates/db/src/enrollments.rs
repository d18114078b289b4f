//! Enrollments: the students of a class, and those of them without a group.

use domain::account_email::AccountEmail;
use domain::class::{ClassEnrollment, EnrolledBy};
use domain::group_generator::PairCounts;
use domain::id::{AssignmentId, ClassId, CourseId, EnrollmentId, GroupId, HomeroomId, UserId};
use domain::time::Timestamp;
use domain::user::Person;

use super::sql::Columns;
use super::{ReadTx, WriteTx};
use crate::labels::{PERSON_COLUMNS, person};
use crate::visibility::CAN_MANAGE_CLASS;
use crate::{args, fragments, from_row, statements};
use common::clock;
use common::error::Result;

fragments! {
    /// Students of a class with their enrollment.
    SELECT_STUDENTS = "SELECT e.id, e.class_id, e.student_id, e.enrolled_at, e.completed_at, {PERSON_COLUMNS}, u.email
            FROM class_enrollments e
            JOIN users u ON u.id = e.student_id
            WHERE e.organization_id = $1 AND e.class_id = $2";
}

statements! {
    /// The students of a class by name; those whose name begins with the search text come first.
    STUDENTS = "{SELECT_STUDENTS} AND (CAST($3 AS TEXT) IS NULL OR u.search_key LIKE '%' || $3 || '%' ESCAPE '\\')
        ORDER BY CASE WHEN u.search_key LIKE $3 || '%' ESCAPE '\\' THEN 0 ELSE 1 END, u.sort_key, u.id";
    STUDENT = "{SELECT_STUDENTS} AND e.student_id = $3";
    /// The students of a class who are in no group; optionally in no group of a course or on a topic.
    UNGROUPED = "{SELECT_STUDENTS} AND NOT EXISTS (SELECT 1 FROM group_members m
            JOIN groups g ON g.organization_id = m.organization_id AND g.id = m.group_id
            WHERE m.organization_id = $1 AND m.user_id = e.student_id AND m.class_id = $2
                AND (CAST($3 AS TEXT) IS NULL OR g.course_id = $3)
                AND (CAST($4 AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM group_assignments l
                    WHERE l.organization_id = $1 AND l.group_id = g.id AND l.assignment_id = $4)))
        ORDER BY u.sort_key, u.id";
    /// The students of a class with their groups in it.
    GROUPS_OF_STUDENTS = "SELECT m.user_id, m.group_id
        FROM groups g
        JOIN group_members m ON m.organization_id = g.organization_id AND m.group_id = g.id
        WHERE g.organization_id = $1 AND g.class_id = $2
        ORDER BY g.group_number, g.id";
    /// Counts for each pair of students the groups of the class they share; the smaller id comes first.
    PARTNERS = "SELECT a.user_id AS first_id, b.user_id AS second_id, COUNT(*) AS shared
        FROM groups g
        JOIN group_members a ON a.organization_id = g.organization_id AND a.group_id = g.id
        JOIN group_members b ON b.organization_id = a.organization_id AND b.group_id = a.group_id
        AND b.user_id > a.user_id
        WHERE g.organization_id = $1 AND g.class_id = $2
        GROUP BY a.user_id, b.user_id";
    STUDENT_IDS = "SELECT student_id FROM class_enrollments WHERE organization_id = $1 AND class_id = $2
        ORDER BY enrolled_at, student_id";
    /// A member who can be enrolled in a class.
    LEARNER = "SELECT {PERSON_COLUMNS} FROM members m JOIN users u ON u.id = m.user_id
        WHERE m.organization_id = $1 AND m.user_id = $2 AND m.role = 'student' AND m.is_active AND u.is_active";
    /// The students of a homeroom who can be enrolled in a class. `CROSS JOIN` fixes the join order, so SQLite does not
    /// scan all members.
    HOMEROOM_LEARNERS = "SELECT {PERSON_COLUMNS}
        FROM homeroom_enrollments h CROSS JOIN members m CROSS JOIN users u
        WHERE m.organization_id = h.organization_id AND m.user_id = h.student_id AND u.id = m.user_id
            AND h.organization_id = $1 AND h.homeroom_id = $2 AND m.role = 'student' AND m.is_active AND u.is_active
        ORDER BY u.sort_key, u.id";
    /// The students of a class who can be enrolled in another one.
    CLASS_LEARNERS = "SELECT {PERSON_COLUMNS}
        FROM class_enrollments e CROSS JOIN members m CROSS JOIN users u
        WHERE m.organization_id = e.organization_id AND m.user_id = e.student_id AND u.id = m.user_id
            AND e.organization_id = $1 AND e.class_id = $2 AND m.role = 'student' AND m.is_active AND u.is_active
        ORDER BY u.sort_key, u.id";
    COURSE_OF_CLASS = "SELECT id FROM courses WHERE organization_id = $1 AND class_id = $2 AND id = $3";
    ASSIGNMENT_OF_CLASS = "SELECT id FROM assignments WHERE organization_id = $1 AND class_id = $2 AND id = $3";
    /// Enrolls a student; does nothing if they are enrolled already.
    ENROLL = "INSERT INTO class_enrollments (organization_id, id, class_id, student_id, enrolled_by, enrolled_at)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (class_id, student_id, organization_id) DO NOTHING";
    /// Upgrades an enrollment made by a teacher to one made by the school.
    CONFIRM = "UPDATE class_enrollments SET enrolled_by = $4
        WHERE organization_id = $1 AND class_id = $2 AND student_id = $3 AND enrolled_by IN ('teacher', 'homeroom')";
    /// Keeps an enrollment when the student leaves the homeroom, because the student was enrolled individually.
    KEEP = "UPDATE class_enrollments SET from_homeroom = FALSE
        WHERE organization_id = $1 AND class_id = $2 AND student_id = $3 AND from_homeroom";
    /// Whether the school entrusted a student to the viewer: the student is enrolled in an unarchived class that the
    /// viewer manages, and either an admin or an import enrolled the student there, or the viewer leads a homeroom of
    /// the student.
    IS_ENTRUSTED = "SELECT EXISTS (SELECT 1 FROM class_enrollments e
        JOIN classes k ON k.organization_id = e.organization_id AND k.id = e.class_id
        WHERE e.organization_id = $1 AND e.student_id = $5 AND k.status <> 'ARCHIVED'
            AND CAST($4 AS BIGINT) IS NOT NULL AND {CAN_MANAGE_CLASS}
            AND (e.enrolled_by IN ('admin', 'import') OR EXISTS (SELECT 1 FROM homeroom_enrollments he
                JOIN homerooms h ON h.organization_id = he.organization_id AND h.id = he.homeroom_id
                WHERE he.organization_id = $1 AND he.student_id = $5 AND h.teacher_id = $3)))";
    /// Sets when a student completed a class.
    COMPLETE = "UPDATE class_enrollments SET completed_at = $4
        WHERE organization_id = $1 AND class_id = $2 AND student_id = $3";
}

/// A student of a class as visible to its staff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassStudent {
    pub enrollment: ClassEnrollment,
    pub person: Person,
    /// Visible to staff only.
    pub email: AccountEmail,
    /// The student's groups in the class, by number; filled for staff only.
    pub group_ids: Vec<GroupId>,
}

impl ReadTx<'_> {
    /// Lists the students of a class by name, without their groups. The caller has checked the permission.
    pub fn class_students(&mut self, class: &ClassId, search: Option<&str>) -> Result<Vec<ClassStudent>> {
        self.fetch_all(&STUDENTS, args![class, search.map(super::pattern)], student)
    }

    /// Lists the students of a class by name, with their groups. The caller has checked the permission.
    pub fn class_students_with_groups(&mut self, class: &ClassId, search: Option<&str>) -> Result<Vec<ClassStudent>> {
        let mut students = self.class_students(class, search)?;
        let mut groups = std::collections::HashMap::<UserId, Vec<GroupId>>::new();
        for (user, group) in self.fetch_all(&GROUPS_OF_STUDENTS, args![class], |row| row.pair("user_id", "group_id"))? {
            groups.entry(user).or_default().push(group);
        }
        for student in &mut students {
            student.group_ids = groups.remove(&student.person.id).unwrap_or_default();
        }
        Ok(students)
    }

    /// Returns a student of a class.
    pub fn class_student(&mut self, class: &ClassId, student_id: &UserId) -> Result<ClassStudent> {
        self.fetch_one(&STUDENT, args![class, student_id], student)
    }

    pub fn class_student_ids(&mut self, class: &ClassId) -> Result<Vec<UserId>> {
        self.fetch_all(&STUDENT_IDS, args![class], |row| row.get("student_id"))
    }

    /// Lists the students of a class who are in none of its groups; optionally in no group of a course, or in no group
    /// that works on a topic. `NotFound` if course or topic belong to another class.
    pub fn ungrouped_students(
        &mut self,
        class: &ClassId,
        course: Option<&CourseId>,
        assignment: Option<&AssignmentId>,
    ) -> Result<Vec<ClassStudent>> {
        if let Some(course) = course {
            self.fetch_one(&COURSE_OF_CLASS, args![class, course], |row| row.get::<CourseId>("id"))?;
        }
        if let Some(assignment) = assignment {
            self.fetch_one(&ASSIGNMENT_OF_CLASS, args![class, assignment], |row| {
                row.get::<AssignmentId>("id")
            })?;
        }
        self.fetch_all(&UNGROUPED, args![class, course, assignment], student)
    }

    /// Counts for each pair of students the groups of the class they share. Deleted groups are not counted.
    pub fn partners(&mut self, class: &ClassId) -> Result<PairCounts> {
        let pairs = self.fetch_all(&PARTNERS, args![class], |row| {
            Ok(((row.get("first_id")?, row.get("second_id")?), row.get("shared")?))
        })?;
        Ok(pairs.into_iter().collect())
    }

    /// Returns a member who can be enrolled in a class: a student with an active account.
    pub fn learning_member(&mut self, id: &UserId) -> Result<Person> {
        self.fetch_one(&LEARNER, args![id], person)
    }

    /// Returns whether the school entrusted the student to the viewer. Enrollments that a teacher can make alone do not
    /// count.
    pub fn is_entrusted(&mut self, student: &UserId) -> Result<bool> {
        let found = self.fetch_all_visible(&IS_ENTRUSTED, args![student], |row| row.only())?;
        Ok(found.into_iter().next().unwrap_or(false))
    }

    /// Lists the students of a homeroom who can be enrolled in a class.
    pub fn homeroom_learners(&mut self, id: &HomeroomId) -> Result<Vec<Person>> {
        self.fetch_all(&HOMEROOM_LEARNERS, args![id], person)
    }
}

impl ReadTx<'_> {
    /// Lists the students of a class who can be enrolled in another one.
    pub fn class_learners(&mut self, id: &ClassId) -> Result<Vec<Person>> {
        self.fetch_all(&CLASS_LEARNERS, args![id], person)
    }
}

impl WriteTx<'_> {
    /// Enrolls a student in a class on behalf of the caller; returns whether the enrollment is new.
    pub fn enroll(&mut self, class: &ClassId, student: &UserId) -> Result<bool> {
        let by = EnrolledBy::caller(self.viewer());
        self.enroll_by(class, student, by)
    }

    /// Enrolls a student in a class; returns whether the enrollment is new. An enrollment by the school overrides one
    /// by a teacher, and an individual enrollment one from the homeroom.
    pub fn enroll_by(&mut self, class: &ClassId, student: &UserId, by: EnrolledBy) -> Result<bool> {
        let (id, now) = (EnrollmentId::new(clock::new_id()), self.now());
        let is_new = self.execute_counted(&ENROLL, args![id, class, student, by.as_str(), now])? > 0;
        if !is_new && by.is_of_school() {
            self.execute(&CONFIRM, args![class, student, by.as_str()])?;
        }
        if !is_new {
            self.execute(&KEEP, args![class, student])?;
        }
        Ok(is_new)
    }

    /// Sets or clears the time when a student completed a class.
    pub fn complete_enrollment(&mut self, class: &ClassId, student: &UserId, at: Option<Timestamp>) -> Result<()> {
        self.execute(&COMPLETE, args![class, student, at])
    }
}

fn student(row: &Columns<'_>) -> Result<ClassStudent> {
    Ok(ClassStudent {
        enrollment: from_row!(row => ClassEnrollment { id, class_id, student_id, enrolled_at, completed_at })?,
        person: person(row)?,
        email: row.get("email")?,
        group_ids: Vec::new(),
    })
}
