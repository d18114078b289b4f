//! Enrollments of whole homerooms, and the classes that follow a homeroom. All statements are set-based.

use std::collections::{HashMap, HashSet};

use domain::class::{Class, EnrolledBy};
use domain::details::GroupDetails;
use domain::id::{ClassId, EnrollmentId, GroupId, HomeroomId, UserId};
use domain::user::Person;

use super::WriteTx;
use super::groups::GroupFilter;
use crate::classes::{CLASS_COLUMNS, class};
use crate::labels::{PERSON_COLUMNS, person};
use crate::{args, fragments, statements};
use common::clock;
use common::error::Result;

fragments! {
    /// Following classes that are not archived.
    SELECT_FOLLOWERS = "SELECT {CLASS_COLUMNS} FROM classes k
            WHERE k.organization_id = $1 AND k.follows_homeroom AND k.status <> 'ARCHIVED'";
    /// The students of homeroom `$2` who can be enrolled in a class. `CROSS JOIN` fixes the join order, so SQLite does
    /// not scan all members.
    LEARNERS = "homeroom_enrollments h CROSS JOIN members m CROSS JOIN users u
            WHERE m.organization_id = h.organization_id AND m.user_id = h.student_id AND u.id = m.user_id
                AND h.organization_id = $1 AND h.homeroom_id = $2 AND m.role = 'student' AND m.is_active
                AND u.is_active";
    /// Those of them who are not enrolled in class `$3`.
    MISSING_LEARNERS = "{LEARNERS} AND NOT EXISTS (SELECT 1 FROM class_enrollments e
                WHERE e.organization_id = $1 AND e.class_id = $3 AND e.student_id = h.student_id)";
    /// The enrollments `e` of class `$3` from homeroom `$2` whose students left the homeroom or are deactivated.
    LEFT_HOMEROOM = "e.organization_id = $1 AND e.class_id = $3 AND e.from_homeroom
                AND NOT EXISTS (SELECT 1 FROM homeroom_enrollments h
                    JOIN members m ON m.organization_id = h.organization_id AND m.user_id = h.student_id
                    WHERE h.organization_id = $1 AND h.homeroom_id = $2 AND h.student_id = e.student_id
                        AND m.is_active)";
    LEAVER_IDS = "SELECT e.student_id FROM class_enrollments e WHERE {LEFT_HOMEROOM}";
}

statements! {
    /// Locks the classes that follow a homeroom until the end of the transaction.
    FOLLOWERS = "{SELECT_FOLLOWERS} AND k.homeroom_id = $2 ORDER BY k.id FOR NO KEY UPDATE";
    /// Locks the classes that follow a homeroom of a student.
    FOLLOWERS_OF_STUDENT = "{SELECT_FOLLOWERS}
            AND k.homeroom_id IN (SELECT h.homeroom_id FROM homeroom_enrollments h
                WHERE h.organization_id = $1 AND h.student_id = $2)
        ORDER BY k.id FOR NO KEY UPDATE";
    MISSING = "SELECT {PERSON_COLUMNS} FROM {MISSING_LEARNERS} ORDER BY u.sort_key, u.id";
    /// Enrolls the missing students. The ids are `$4` with a number.
    ENROLL = "INSERT INTO class_enrollments (organization_id, id, class_id, student_id, enrolled_by, enrolled_at,
            from_homeroom)
        SELECT h.organization_id,
            CAST($4 AS TEXT) || '-' || CAST(ROW_NUMBER() OVER (ORDER BY h.student_id) AS TEXT), CAST($3 AS TEXT),
            h.student_id, CAST($5 AS TEXT), CAST($6 AS BIGINT), CAST($7 AS BOOLEAN)
        FROM {MISSING_LEARNERS}
        ON CONFLICT (class_id, student_id, organization_id) DO NOTHING";
    /// Upgrades enrollments of a homeroom's students that a teacher made to enrollments by an admin.
    CONFIRM = "UPDATE class_enrollments SET enrolled_by = 'admin'
        WHERE organization_id = $1 AND class_id = $3 AND enrolled_by IN ('teacher', 'homeroom')
            AND student_id IN (SELECT h.student_id FROM {LEARNERS})";
    /// Binds the enrollments of a homeroom's students to the homeroom.
    ADOPT = "UPDATE class_enrollments SET from_homeroom = TRUE
        WHERE organization_id = $1 AND class_id = $3 AND NOT from_homeroom
            AND student_id IN (SELECT h.student_id FROM {LEARNERS})";
    /// Keeps the enrollments of a class whatever happens to its former homeroom.
    RELEASE = "UPDATE class_enrollments SET from_homeroom = FALSE
        WHERE organization_id = $1 AND class_id = $2 AND from_homeroom";
    LEAVERS = "SELECT {PERSON_COLUMNS} FROM class_enrollments e JOIN users u ON u.id = e.student_id
        WHERE {LEFT_HOMEROOM} ORDER BY u.sort_key, u.id";
    GROUPS_OF_LEAVERS = "SELECT g.user_id, g.group_id FROM group_members g
        WHERE g.organization_id = $1 AND g.class_id = $3 AND g.user_id IN ({LEAVER_IDS})";
    LEAVE_GROUPS = "DELETE FROM group_members
        WHERE organization_id = $1 AND class_id = $3 AND user_id IN ({LEAVER_IDS})";
    LEAVE_CLASS = "DELETE FROM class_enrollments
        WHERE organization_id = $1 AND class_id = $3 AND student_id IN ({LEAVER_IDS})";
    /// Locks a homeroom, so that no student joins or leaves it while a class starts to follow it.
    LOCK_HOMEROOM = "SELECT id FROM homerooms WHERE organization_id = $1 AND id = $2 FOR UPDATE";
}

/// A student who left a class together with the homeroom.
#[derive(Debug, Clone)]
pub struct HomeroomLeaver {
    pub student: Person,
    /// The student's former groups in their new state.
    pub left: Vec<GroupDetails>,
}

impl WriteTx<'_> {
    /// Locks and returns the unarchived classes that follow a homeroom, by id.
    pub fn lock_followers(&mut self, homeroom: &HomeroomId) -> Result<Vec<Class>> {
        self.fetch_all(&FOLLOWERS, args![homeroom], class)
    }

    /// Locks and returns the unarchived classes that follow a homeroom of a student, by id.
    pub fn lock_followers_of_student(&mut self, student: &UserId) -> Result<Vec<Class>> {
        self.fetch_all(&FOLLOWERS_OF_STUDENT, args![student], class)
    }

    /// Locks a homeroom if it exists. Taken before the lock of the class, as by changes of the homeroom's students.
    pub fn lock_homeroom_students(&mut self, id: &HomeroomId) -> Result<()> {
        self.fetch_optional(&LOCK_HOMEROOM, args![id], |row| row.get::<HomeroomId>("id"))
            .map(drop)
    }

    /// Enrolls the students of a homeroom who are not enrolled in a class yet, and returns them by name. With
    /// `is_bound`, the enrollments end when the students leave the homeroom.
    pub fn enroll_homeroom(
        &mut self,
        class: &ClassId,
        homeroom: &HomeroomId,
        by: EnrolledBy,
        is_bound: bool,
    ) -> Result<Vec<Person>> {
        let missing = self.fetch_all(&MISSING, args![homeroom, class], person)?;
        if !missing.is_empty() {
            let (id, now) = (EnrollmentId::new(clock::new_id()), self.now());
            self.execute(&ENROLL, args![homeroom, class, id, by.as_str(), now, is_bound])?;
        }
        Ok(missing)
    }

    /// Records enrollments of a homeroom's students by a teacher as enrollments by an admin.
    pub fn confirm_homeroom(&mut self, class: &ClassId, homeroom: &HomeroomId) -> Result<()> {
        self.execute(&CONFIRM, args![homeroom, class])
    }

    /// Binds present enrollments of a homeroom's students to the homeroom, when a class starts to follow it.
    pub fn adopt_homeroom(&mut self, class: &ClassId, homeroom: &HomeroomId) -> Result<()> {
        self.execute(&ADOPT, args![homeroom, class])
    }

    /// Makes all enrollments of a class independent of its homeroom.
    pub fn release_enrollments(&mut self, class: &ClassId) -> Result<()> {
        self.execute(&RELEASE, args![class])
    }

    /// Ends the enrollments from a homeroom whose students left it, with their memberships in groups of the class. The
    /// caller holds the lock of the class. Past submissions keep their recorded members.
    pub fn unenroll_leavers(&mut self, class: &ClassId, homeroom: &HomeroomId) -> Result<Vec<HomeroomLeaver>> {
        let leavers = self.fetch_all(&LEAVERS, args![homeroom, class], person)?;
        if leavers.is_empty() {
            return Ok(Vec::new());
        }
        let mut groups: HashMap<UserId, HashSet<GroupId>> = HashMap::new();
        for (user, group) in self.fetch_all(&GROUPS_OF_LEAVERS, args![homeroom, class], |row| {
            row.pair("user_id", "group_id")
        })? {
            groups.entry(user).or_default().insert(group);
        }
        self.execute(&LEAVE_GROUPS, args![homeroom, class])?;
        self.execute(&LEAVE_CLASS, args![homeroom, class])?;
        let details: Vec<GroupDetails> = if groups.is_empty() {
            Vec::new()
        } else {
            let filter = GroupFilter {
                class_id: Some(class.clone()),
                ..GroupFilter::default()
            };
            self.groups(&filter)?.into_iter().map(|record| record.details).collect()
        };
        let leaver = |student: Person| {
            let ids = groups.get(&student.id);
            let was_in = |details: &&GroupDetails| ids.is_some_and(|ids| ids.contains(&details.group.id));
            let left = details.iter().filter(was_in).cloned().collect();
            HomeroomLeaver { student, left }
        };
        Ok(leavers.into_iter().map(leaver).collect())
    }
}
