//! The SQL fragments of the access policy. Each has a replacement without effect that mutation tests activate. Outside
//! tests no clause can be switched off (`domain::policy`), and a statement is used as written.

use std::borrow::Cow;

use domain::policy::{self, Clause};

use super::sql::Sql;

/// Each clause as it is written in the statements, and its replacement. The replacement uses the same parameters, so
/// PostgreSQL still knows their types.
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

/// The PostgreSQL text of a statement with the clauses in force.
pub(super) fn text(sql: &'static Sql) -> Cow<'static, str> {
    if policy::off() == 0 {
        Cow::Borrowed(sql.text())
    } else {
        Cow::Owned(without(sql.text()))
    }
}

/// The SQLite text of a statement with the clauses in force.
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
