//! The statements that read groups with their children: one per kind of child, over the same set of groups. `$1` to `$4`
//! are the arguments of the viewer (`visibility.rs`), `$5` is the calling user; the other arguments depend on the set.

use crate::labels::PERSON_COLUMNS;
use std::sync::LazyLock;

use super::GROUP_COLUMNS;
use crate::assignments::ASSIGNMENT_COLUMNS;
use crate::current_submissions::CurrentParts;
use crate::fragments;
use crate::group_assignments::{LINK_COLUMNS, SUBMISSION_COLUMNS};
use crate::sql::{NamedStatements, Sql};
use crate::visibility::{CAN_LIST_GROUP, CAN_VIEW_GROUP, CAN_VIEW_LINK, UNREAD_MESSAGES};

/// The statements over one set of groups.
pub struct GroupQueries {
    /// The groups, including those that the viewer can only list.
    pub groups: Sql,
    /// The members of the groups that the viewer can view.
    pub members: Sql,
    /// The links of these groups, with topic and current submission.
    pub links: Sql,
    /// The files of their topics, repeated for each link that can view them.
    pub topic_files: Sql,
    /// The files of the groups themselves.
    pub files: Sql,
    /// The content of the current submissions of their links.
    pub current: CurrentParts,
}

/// One group, `$6`.
pub static ONE: LazyLock<GroupQueries> = LazyLock::new(|| GroupQueries::of("g.id = $6", ""));

/// The matching groups of one class, `$6`.
pub static OF_CLASS: LazyLock<GroupQueries> =
    LazyLock::new(|| GroupQueries::of(&format!("g.class_id = $6 AND {MATCHING}"), &BY_NUMBER.to_string()));

/// The matching groups of the organization.
pub static ALL: LazyLock<GroupQueries> = LazyLock::new(|| {
    GroupQueries::of(
        &format!("CAST($6 AS TEXT) IS NULL AND {MATCHING}"),
        &BY_NUMBER.to_string(),
    )
});

/// The matching groups of the viewer, a student. The search starts at their memberships, not at all groups.
pub static OF_STUDENT: LazyLock<GroupQueries> = LazyLock::new(|| {
    let selected = format!("{OWN_GROUPS} AND (CAST($6 AS TEXT) IS NULL OR g.class_id = $6) AND {MATCHING}");
    GroupQueries::of(&selected, &BY_NUMBER.to_string())
});

/// The groups of one student, `$6`, that the viewer can view.
pub static OF_MEMBER: LazyLock<GroupQueries> = LazyLock::new(|| {
    let selected = format!(
        "g.id IN (SELECT own.group_id FROM group_members own WHERE own.organization_id = $1 AND own.user_id = $6)
            AND {CAN_VIEW_GROUP}"
    );
    GroupQueries::of(&selected, "ORDER BY g.group_number, g.id")
});

fragments! {
    /// The list filter, `$6` to `$12`. A filter on data that is invisible to the viewer does not match.
    MATCHING = "(CAST($7 AS TEXT) IS NULL OR g.course_id = $7 OR ($7 = '' AND g.course_id IS NULL))
            AND (CAST($8 AS TEXT) IS NULL OR g.subject_id = $8)
            AND (CAST($9 AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM group_assignments ga
                JOIN assignments a ON a.id = ga.assignment_id
                WHERE ga.organization_id = $1 AND ga.group_id = g.id AND ga.assignment_id = $9 AND {CAN_VIEW_LINK}))
            AND (CAST($10 AS BOOLEAN) IS NULL OR (g.needs_help = $10 AND {CAN_VIEW_GROUP}))
            AND (CAST($11 AS TEXT) IS NULL OR g.search_key LIKE '%' || $11 || '%' ESCAPE '\\')
            AND (NOT CAST($12 AS BOOLEAN) OR k.teacher_id = $5
                OR EXISTS (SELECT 1 FROM class_teachers mt
                    WHERE mt.organization_id = $1 AND mt.class_id = k.id AND mt.user_id = $5)
                OR EXISTS (SELECT 1 FROM group_members mm
                    WHERE mm.organization_id = $1 AND mm.group_id = g.id AND mm.user_id = $5))";
    /// The viewer is a member of group `g`. With `IN`, SQLite starts at the viewer's memberships; with a join it would
    /// start at all groups of the organization.
    pub(crate) OWN_GROUPS =
        "g.id IN (SELECT own.group_id FROM group_members own WHERE own.organization_id = $1 AND own.user_id = $3)";
    /// Groups by number; those whose name begins with the search text come first.
    BY_NUMBER =
        "ORDER BY CASE WHEN g.search_key LIKE $11 || '%' ESCAPE '\\' THEN 0 ELSE 1 END, g.group_number, g.id";
}

impl GroupQueries {
    /// The statements over the groups `g` of classes `k` that `selected` restricts.
    fn of(selected: &str, order: &str) -> Self {
        let from = "FROM groups g JOIN classes k ON k.id = g.class_id";
        let visible =
            format!("g.organization_id = $1 AND CAST($5 AS TEXT) IS NOT NULL AND {CAN_VIEW_GROUP} AND {selected}");
        let visible_links =
            format!("g.organization_id = $1 AND CAST($5 AS TEXT) IS NOT NULL AND {CAN_VIEW_LINK} AND {selected}");
        Self {
            groups: Sql::text_of(format!(
                "SELECT {GROUP_COLUMNS},
                    k.name AS class_name, k.academic_year, k.status AS class_status,
                    c.name AS course_name, c.subject_id AS course_subject_id,
                    s.name AS subject_name, s.code AS subject_code, s.color AS subject_color,
                    (SELECT COUNT(*) FROM group_members n WHERE n.organization_id = $1
                    AND n.group_id = g.id) AS member_count,
                    {UNREAD_MESSAGES} AS unread, {CAN_VIEW_GROUP} AS has_full_access
                {from} JOIN work_rooms w ON w.group_id = g.id
                LEFT JOIN courses c ON c.id = g.course_id
                LEFT JOIN subjects s ON s.id = g.subject_id
                WHERE g.organization_id = $1 AND CAST($5 AS TEXT) IS NOT NULL AND {CAN_LIST_GROUP}
                AND {selected} {order}"
            )),
            members: Sql::text_of(format!(
                "SELECT m.group_id, m.id, {PERSON_COLUMNS}, u.email, m.role, m.joined_at
                {from} JOIN group_members m ON m.group_id = g.id JOIN users u ON u.id = m.user_id
                WHERE {visible} ORDER BY m.joined_at, m.id"
            )),
            links: Sql::text_of(format!(
                "SELECT {LINK_COLUMNS}, {ASSIGNMENT_COLUMNS},
                    (SELECT COUNT(*) FROM submission_documents sd
                        WHERE sd.organization_id = $1
                        AND sd.submission_id = ga.current_submission_id) AS submitted_count,
                    {SUBMISSION_COLUMNS}
                {from} JOIN group_assignments ga ON ga.group_id = g.id
                JOIN assignments a ON a.id = ga.assignment_id
                LEFT JOIN submissions s ON s.id = ga.current_submission_id
                WHERE {visible_links} ORDER BY a.deadline, a.id"
            )),
            topic_files: Sql::text_of(format!(
                "SELECT ga.id AS link_id, f.id, f.organization_id, f.assignment_id, f.group_assignment_id,
                    f.file_key, f.file_name, f.mime_type, f.size, f.sha256, f.staged_at, f.uploaded_by_id, f.created_at
                {from} JOIN group_assignments ga ON ga.group_id = g.id
                JOIN assignments a ON a.id = ga.assignment_id
                JOIN assignment_attachments f ON f.assignment_id = ga.assignment_id
                    AND (f.group_assignment_id IS NULL OR f.group_assignment_id = ga.id)
                WHERE f.staged_at IS NULL AND {visible_links} ORDER BY f.created_at, f.id"
            )),
            files: Sql::text_of(format!(
                "SELECT t.id, t.organization_id, t.group_id, t.file_key, t.file_name, t.mime_type, t.size,
                    t.sha256, t.uploaded_by_id, t.created_at
                {from} JOIN group_attachments t ON t.group_id = g.id
                WHERE {visible} ORDER BY t.created_at, t.id"
            )),
            current: CurrentParts::of(
                &format!(
                    "{from} JOIN group_assignments ga ON ga.group_id = g.id
                    JOIN assignments a ON a.id = ga.assignment_id"
                ),
                "ga.current_submission_id",
                &visible_links,
            ),
        }
    }

    /// The statements by name, for the tests of all SQL.
    pub fn statements(&'static self) -> NamedStatements {
        vec![
            ("GROUPS", &self.groups),
            ("MEMBERS", &self.members),
            ("LINKS", &self.links),
            ("TOPIC_FILES", &self.topic_files),
            ("FILES", &self.files),
        ]
    }
}
