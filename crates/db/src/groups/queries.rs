//! The statements that read groups with their children: one per kind of child, over the same set of groups. Each set is
//! a module. `$1` to `$4` are the arguments of the viewer (`visibility.rs`), `$5` is the calling user; the other
//! arguments depend on the set.

use crate::current_submissions::{CurrentParts, current_parts};
use crate::sql::Sql;

/// The statements over one set of groups.
pub struct GroupQueries {
    /// The groups, including those that the viewer can only list.
    pub groups: &'static Sql,
    /// The members of the groups that the viewer can view.
    pub members: &'static Sql,
    /// The links of these groups, with topic and current submission.
    pub links: &'static Sql,
    /// The files of their topics.
    pub topic_files: &'static Sql,
    /// The files of the groups themselves.
    pub files: &'static Sql,
    /// The content of the current submissions of their links.
    pub current: &'static CurrentParts,
}

/// The list filter, `$6` to `$12`. A filter on data that is invisible to the viewer does not match.
macro_rules! filter {
    () => {
        concat!(
            " AND (CAST($7 AS TEXT) IS NULL OR g.course_id = $7 OR ($7 = '' AND g.course_id IS NULL))
            AND (CAST($8 AS TEXT) IS NULL OR g.subject_id = $8)
            AND (CAST($9 AS TEXT) IS NULL OR (",
            $crate::can_view_group!(),
            " AND EXISTS (SELECT 1 FROM group_assignments fa
                WHERE fa.organization_id = $1 AND fa.group_id = g.id AND fa.assignment_id = $9)))
            AND (CAST($10 AS BOOLEAN) IS NULL OR (g.needs_help = $10 AND ",
            $crate::can_view_group!(),
            "))
            AND (CAST($11 AS TEXT) IS NULL OR g.search_key LIKE '%' || $11 || '%' ESCAPE '\\')
            AND (NOT CAST($12 AS BOOLEAN) OR k.teacher_id = $5
                OR EXISTS (SELECT 1 FROM class_teachers mt
                    WHERE mt.organization_id = $1 AND mt.class_id = k.id AND mt.user_id = $5)
                OR EXISTS (SELECT 1 FROM group_members mm
                    WHERE mm.organization_id = $1 AND mm.group_id = g.id AND mm.user_id = $5))"
        )
    };
}

/// Defines one set of groups: `from` joins group `g` and class `k`, `where` selects, `order` sorts the groups.
macro_rules! group_queries {
    ($(#[doc = $doc:expr])* $name:ident, from: $from:expr, where: $where:expr, order: $order:expr) => {
        $(#[doc = $doc])*
        pub mod $name {
            use $crate::assignments::assignment_columns;
            use $crate::group_assignments::{link_columns, submission_columns};

            crate::statements! {
                GROUPS = concat!(
                    "SELECT g.id, g.organization_id, g.class_id, w.id, g.name, g.group_number, g.display_name, g.start_date,
                        g.required_documents, g.subject_id, g.course_id, g.help_requested_at, g.help_message,
                        g.help_requested_by_id, g.help_claimed_by_id, g.help_resolved_at, g.help_resolved_by_id,
                        g.created_by_id, g.created_at, g.updated_at, k.name, k.academic_year, k.status, c.name, c.subject_id,
                        s.name, s.code, s.color,
                        (SELECT COUNT(*) FROM group_members n WHERE n.organization_id = $1 AND n.group_id = g.id), ",
                    $crate::unread_messages!(), ", ",
                    $crate::can_view_group!(),
                    $from, " JOIN work_rooms w ON w.group_id = g.id
                    LEFT JOIN courses c ON c.id = g.course_id
                    LEFT JOIN subjects s ON s.id = g.subject_id
                    WHERE g.organization_id = $1 AND CAST($5 AS TEXT) IS NOT NULL AND ",
                    $crate::can_list_group!(), $where, $order);
                MEMBERS = concat!("SELECT m.group_id, m.id, u.id, u.name, u.image, u.email, m.role, m.joined_at",
                    $from, " JOIN group_members m ON m.group_id = g.id JOIN users u ON u.id = m.user_id
                    WHERE g.organization_id = $1 AND CAST($5 AS TEXT) IS NOT NULL AND ",
                    $crate::can_view_group!(), $where, " ORDER BY m.joined_at, m.id");
                LINKS = concat!("SELECT ", link_columns!(), ", ", assignment_columns!(),
                    ", (SELECT COUNT(*) FROM submission_documents sd
                        WHERE sd.organization_id = $1 AND sd.submission_id = ga.current_submission_id), ",
                    submission_columns!(),
                    $from, " JOIN group_assignments ga ON ga.group_id = g.id
                    JOIN assignments a ON a.id = ga.assignment_id
                    LEFT JOIN submissions s ON s.id = ga.current_submission_id
                    WHERE g.organization_id = $1 AND CAST($5 AS TEXT) IS NOT NULL AND ",
                    $crate::can_view_group!(), $where, " ORDER BY a.deadline, a.id");
                /// The files of their topics, repeated for each link that can view them.
                TOPIC_FILES = concat!("SELECT ga.id, f.id, f.organization_id, f.assignment_id, f.group_assignment_id,
                        f.file_key, f.file_name, f.mime_type, f.size, f.sha256, f.staged_at, f.uploaded_by_id, f.created_at",
                    $from, " JOIN group_assignments ga ON ga.group_id = g.id
                    JOIN assignment_attachments f ON f.assignment_id = ga.assignment_id
                        AND (f.group_assignment_id IS NULL OR f.group_assignment_id = ga.id)
                    WHERE g.organization_id = $1 AND CAST($5 AS TEXT) IS NOT NULL AND f.staged_at IS NULL AND ",
                    $crate::can_view_group!(), $where, " ORDER BY f.created_at, f.id");
                FILES = concat!("SELECT t.id, t.organization_id, t.group_id, t.file_key, t.file_name, t.mime_type, t.size,
                        t.sha256, t.uploaded_by_id, t.created_at",
                    $from, " JOIN group_attachments t ON t.group_id = g.id
                    WHERE g.organization_id = $1 AND CAST($5 AS TEXT) IS NOT NULL AND ",
                    $crate::can_view_group!(), $where, " ORDER BY t.created_at, t.id");
            }

            super::current_parts!(
                current,
                from: concat!($from, " JOIN group_assignments ga ON ga.group_id = g.id"),
                where: concat!("g.organization_id = $1 AND CAST($5 AS TEXT) IS NOT NULL AND ", $crate::can_view_group!(), $where)
            );

            pub static QUERIES: super::GroupQueries = super::GroupQueries {
                groups: &GROUPS,
                members: &MEMBERS,
                links: &LINKS,
                topic_files: &TOPIC_FILES,
                files: &FILES,
                current: &current::PARTS,
            };
        }
    };
}

/// The viewer is a member of group `g`. With `IN`, SQLite starts at the viewer's memberships; with a join it would
/// start at all groups of the organization.
macro_rules! own_groups {
    () => {
        "g.id IN (SELECT own.group_id FROM group_members own WHERE own.organization_id = $1 AND own.user_id = $3)"
    };
}
pub(crate) use own_groups;

/// Groups by number; those whose name begins with the search text come first.
macro_rules! in_order {
    () => {
        " ORDER BY CASE WHEN g.search_key LIKE $11 || '%' ESCAPE '\\' THEN 0 ELSE 1 END, g.group_number, g.id"
    };
}

group_queries!(
    /// One group, `$6`.
    one, from: " FROM groups g JOIN classes k ON k.id = g.class_id", where: " AND g.id = $6", order: ""
);
group_queries!(
    /// The matching groups of one class, `$6`.
    of_class, from: " FROM groups g JOIN classes k ON k.id = g.class_id",
    where: concat!(" AND g.class_id = $6", filter!()), order: in_order!()
);
group_queries!(
    /// The matching groups of the organization.
    all, from: " FROM groups g JOIN classes k ON k.id = g.class_id",
    where: concat!(" AND CAST($6 AS TEXT) IS NULL", filter!()), order: in_order!()
);
group_queries!(
    /// The matching groups of the viewer, a student. The search starts at their memberships, not at all groups.
    of_student, from: " FROM groups g JOIN classes k ON k.id = g.class_id",
    where: concat!(" AND ", own_groups!(), " AND (CAST($6 AS TEXT) IS NULL OR g.class_id = $6)", filter!()),
    order: in_order!()
);
group_queries!(
    /// The groups of one student, `$6`, that the viewer can view.
    of_member, from: " FROM groups g JOIN classes k ON k.id = g.class_id",
    where: concat!(" AND g.id IN (SELECT own.group_id FROM group_members own
            WHERE own.organization_id = $1 AND own.user_id = $6) AND ", crate::can_view_group!()),
    order: " ORDER BY g.group_number, g.id"
);
