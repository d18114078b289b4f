//! The clauses of the policy that are SQL: how each is written, and what stands there when a test switches it off. Outside
//! tests there is nothing to switch (`model::policy`), and a statement is its text.

use std::borrow::Cow;

use model::policy::{self, Clause};

use super::sql::Sql;

/// A clause as it is written in statements, and the same without effect. What takes its place names the same parameters,
/// so that PostgreSQL still knows their types.
pub const FRAGMENTS: &[(Clause, &str, &str)] = &[
    (
        Clause::Tenant,
        "organization_id = $1",
        "organization_id <> CAST($1 AS TEXT) || '!'",
    ),
    (
        Clause::EnrolledInClass,
        "ce.student_id = $3",
        "ce.student_id <> CAST($3 AS TEXT) || '!'",
    ),
    (Clause::ClassNoDraft, "k.status <> 'DRAFT'", "k.status <> ''"),
    (
        Clause::TeacherOfClass,
        "k.teacher_id = $3",
        "k.teacher_id <> CAST($3 AS TEXT) || '!'",
    ),
    (
        Clause::MemberOfGroup,
        "gm.user_id = $3",
        "gm.user_id <> CAST($3 AS TEXT) || '!'",
    ),
    (Clause::GroupStarted, "g.start_date <= $4", "g.start_date <> $4"),
    (
        Clause::FileOfGroup,
        "(NOT a.is_shared AND f.group_assignment_id = ga.id)",
        "f.group_assignment_id <> ''",
    ),
    (Clause::FilePublished, "f.staged_at IS NULL", "f.id <> ''"),
    (
        Clause::FeedbackForStudents,
        "(fb.visibility = 'GROUP' AND fb.published_at IS NOT NULL)",
        "fb.id <> ''",
    ),
    (
        Clause::MessageAddressed,
        "(d.class_id IS NULL AND r.user_id IS NOT NULL)",
        "d.class_id IS NULL",
    ),
];

/// The text of a statement with the clauses that are in force.
pub(super) fn text(sql: &'static Sql) -> Cow<'static, str> {
    if policy::off() == 0 {
        Cow::Borrowed(sql.text())
    } else {
        Cow::Owned(without(sql.text()))
    }
}

/// The same for SQLite.
pub(super) fn sqlite(sql: &'static Sql) -> Cow<'static, str> {
    if policy::off() == 0 {
        Cow::Borrowed(sql.sqlite())
    } else {
        Cow::Owned(Sql::for_sqlite(&without(sql.text())))
    }
}

fn without(text: &str) -> String {
    let off = FRAGMENTS.iter().filter(|(clause, ..)| !policy::is_in_force(*clause));
    off.fold(text.to_owned(), |text, (_, written, idle)| text.replace(written, idle))
}
