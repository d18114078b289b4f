//! The visibility rules of `domain::group` and `domain::publication` in SQL: fragments that the statements of all files
//! use. Aliases are fixed: `k` is the class, `g` the group, `a` the topic, `ga` the link. `$1` is the organization, `$2`
//! the viewer's role (`ADMIN`, `TEACHER`, `STUDENT`), `$3` the viewer, `$4` the current time.
//! `tests/permissions/visibility.rs` and `topic_visibility.rs` prove that both agree.

use crate::fragments;

fragments! {
    /// The viewer manages class `k`: an admin, its owner, or a co-teacher.
    pub CAN_MANAGE_CLASS = "($2 = 'ADMIN' OR ($2 = 'TEACHER' AND (k.teacher_id = $3 OR EXISTS (SELECT 1
        FROM class_teachers ct
            WHERE ct.organization_id = k.organization_id AND ct.class_id = k.id AND ct.user_id = $3))))";
    /// The viewer can view group `g` of class `k`: staff of the class always; members once the group has started,
    /// unless the class is a draft (docs/api-contract.md#group-visibility).
    pub CAN_VIEW_GROUP = "({CAN_MANAGE_CLASS} OR ($2 = 'STUDENT' AND k.status <> 'DRAFT'
            AND (g.start_date IS NULL OR g.start_date <= $4)
            AND EXISTS (SELECT 1 FROM group_members gm
                WHERE gm.organization_id = g.organization_id AND gm.group_id = g.id AND gm.user_id = $3)))";
    /// The viewer can list group `g`: everyone who can view it, and teachers of other classes, who see only its outline
    /// (docs/api-contract.md#group-visibility).
    pub CAN_LIST_GROUP = "($2 = 'TEACHER' OR {CAN_VIEW_GROUP})";
    /// Topic `a` is published for the group of link `ga`: the link's exception, or else the publication of the topic
    /// (`domain::publication`).
    pub IS_PUBLISHED = "(NOT ga.is_draft AND COALESCE(ga.publish_at <= $4,
            NOT a.is_draft AND COALESCE(a.publish_at <= $4, TRUE)))";
    /// The viewer can view the work of group `g` on topic `a`, link `ga`: everyone who can view the group, students only
    /// once the topic is published for it.
    pub CAN_VIEW_LINK = "({CAN_VIEW_GROUP} AND ($2 <> 'STUDENT' OR {IS_PUBLISHED}))";
    /// The viewer can list class `k`: all staff, and enrolled students unless the class is a draft. `$4` is used
    /// because PostgreSQL must know the type of every parameter.
    pub CAN_LIST_CLASS = "(CAST($4 AS BIGINT) IS NOT NULL AND ($2 <> 'STUDENT' OR (k.status <> 'DRAFT'
            AND EXISTS (SELECT 1 FROM class_enrollments ce
                WHERE ce.organization_id = k.organization_id AND ce.class_id = k.id AND ce.student_id = $3))))";
    /// The number of messages in work room `w` that user `$5` has not read. Computed from counters without reading
    /// messages, so lists of rooms stay cheap.
    pub UNREAD_MESSAGES = "w.last_message_seq - COALESCE((SELECT r.last_read_seq + r.own_after FROM work_room_reads r
            WHERE r.organization_id = $1 AND r.work_room_id = w.id AND r.user_id = $5), 0)";
}
