//! Builds the request for a row of the matrix: its path with the ids of a lesson, its query, and a body that can
//! succeed.

use serde_json::{Value, json};

use super::fixture::{LessonIds, MatrixFixture, UNKNOWN_ID};
use super::people::MatrixActor;
use super::rows::MatrixRow;
use test_support::samples::{Ids, Sample, fill_path, sample};
use test_support::{Answer, TestApp};

/// Resources whose lists and new objects require `organizationId` if the caller has no active school.
const SCHOOL_RESOURCES: [&str; 12] = [
    "rubrics",
    "snippets",
    "users",
    "subjects",
    "homerooms",
    "classes",
    "courses",
    "groups",
    "assignments",
    "workrooms",
    "activity-logs",
    "admin",
];

/// Calls a row as the given actor. The ids come from `lesson`, which may consist of ids that do not exist.
pub async fn call(
    app: &TestApp,
    fixture: &MatrixFixture,
    line: &MatrixRow,
    lesson: &LessonIds,
    actor: &MatrixActor,
) -> Answer {
    let path = request_path(app, fixture, line, lesson, actor);
    let sample = body(app, fixture, line, lesson, actor);
    sample.send(&actor.client, line.method, &path).await
}

fn request_path(
    app: &TestApp,
    fixture: &MatrixFixture,
    line: &MatrixRow,
    lesson: &LessonIds,
    actor: &MatrixActor,
) -> String {
    let mut path = fill_path(line.path, |name| parameter(app, fixture, line, lesson, name));
    let world = &app.world;
    let noun = line.path.split('/').nth(1).unwrap_or_default();
    let ben = if lesson.group == UNKNOWN_ID {
        UNKNOWN_ID
    } else {
        &world.ben.id
    };
    let query = match (line.method, line.path) {
        ("DELETE", "/assignments/{id}/groups/{groupId}" | "/classes/{id}") => Some("force=true".to_owned()),
        ("GET", "/assignments/submission-candidates") => Some(format!("groupId={}", lesson.group)),
        ("GET", "/feedback") => Some(format!("submissionId={}", lesson.submission)),
        ("GET", "/auth/admin/get-user") => Some(format!("id={ben}")),
        (
            "GET",
            "/auth/organization/get-organization"
            | "/auth/organization/get-full-organization"
            | "/auth/organization/list-members",
        ) => Some(format!("organizationId={}", world.north)),
        ("GET", "/auth/organization/get-invitation") => Some(format!("id={UNKNOWN_ID}")),
        ("GET", "/auth/reset-password/{token}") => Some("callbackURL=/".to_owned()),
        _ => None,
    };
    let is_own = line.path.starts_with("/users/me") || line.path == "/admin/system";
    let school = (actor.is_super
        && (!line.path.contains('{') || line.path.starts_with("/admin/sessions/"))
        && SCHOOL_RESOURCES.contains(&noun)
        && !is_own)
        .then(|| format!("organizationId={}", world.north));
    for (index, part) in [query, school].into_iter().flatten().enumerate() {
        path.push(if index == 0 { '?' } else { '&' });
        path.push_str(&part);
    }
    path
}

fn parameter(app: &TestApp, fixture: &MatrixFixture, line: &MatrixRow, lesson: &LessonIds, name: &str) -> String {
    let noun = line.path.split('/').nth(1).unwrap_or_default();
    let is_known = lesson.group != UNKNOWN_ID;
    let world = &app.world;
    let of_base_lesson = |id: &String| if is_known { id.clone() } else { UNKNOWN_ID.to_owned() };
    let found = match (noun, name) {
        (_, "version") => return "1".to_owned(),
        (_, "token" | "file") => return name.to_owned(),
        ("tenants", "id") if line.path.contains("/domains") => return of_base_lesson(&world.north),
        ("tenants", "domainId") => return of_base_lesson(&fixture.base_lesson.mail_domain),
        ("admin", "id") if line.path.starts_with("/admin/domains/") => {
            return of_base_lesson(&fixture.base_lesson.mail_domain);
        }
        ("admin", "id") if line.path.starts_with("/admin/api-tokens/") => {
            return of_base_lesson(&fixture.base_lesson.api_token);
        }
        ("admin", "id") if line.path.starts_with("/admin/sign-on/") => {
            return of_base_lesson(&fixture.base_lesson.sign_on_provider);
        }
        ("admin", "id") if line.path.starts_with("/admin/rosters/") => {
            return of_base_lesson(&fixture.base_lesson.roster_source);
        }
        ("admin", "runId") => return of_base_lesson(&fixture.base_lesson.roster_run),
        ("admin", "identityId") => return of_base_lesson(&fixture.base_lesson.external_identity),
        (_, "providerId") => return UNKNOWN_ID.to_owned(),
        ("tenants", "id") => return of_base_lesson(&fixture.spare),
        ("admin", "id") if line.path.starts_with("/admin/members/") => {
            return of_base_lesson(&fixture.base_lesson.member);
        }
        ("admin", "id") if line.path.starts_with("/admin/sessions/") => {
            return of_base_lesson(&fixture.base_lesson.session);
        }
        ("admin", "id") if line.path.starts_with("/admin/invitations/") => {
            return of_base_lesson(&fixture.base_lesson.invitation);
        }
        ("admin", "id") => return of_base_lesson(&fixture.base_lesson.job),
        ("rubrics", "id") => return of_base_lesson(&fixture.base_lesson.rubric),
        ("snippets", "id") => return of_base_lesson(&fixture.base_lesson.snippet),
        ("homerooms", "id") => return of_base_lesson(&fixture.base_lesson.homeroom),
        ("users", "id") if line.situation == "above" => return of_base_lesson(&world.olga.id),
        ("users", "id") if line.situation == "shared" => return of_base_lesson(&fixture.shared),
        ("homerooms", "studentId") | ("users", "id") => return of_base_lesson(&world.ben.id),
        ("classes", "userId") => return of_base_lesson(&fixture.helper),
        ("groups", "userId") if line.situation == "hidden" => return of_base_lesson(&world.dana.id),
        ("classes", "studentId") | ("groups", "userId") => return of_base_lesson(&world.cem.id),
        ("messages", "id") if line.situation == "direct" => return of_base_lesson(&fixture.direct),
        ("messages", "id") => return of_base_lesson(&fixture.announcement),
        ("deletions", "id") => &lesson.deletion,
        ("subjects", "id") => &lesson.subject,
        ("classes", "id") => &lesson.class,
        ("courses", "id") => &lesson.course,
        ("groups", "id") | (_, "groupId") => &lesson.group,
        ("groups", "attachmentId") => &lesson.group_file,
        ("assignments", "id") if line.path.ends_with("/reopen") => &lesson.finished,
        ("assignments", "id") => &lesson.topic,
        ("assignments", "attachmentId") => match line.situation {
            "others" => &lesson.others_file,
            "staged" => &lesson.staged_file,
            _ => &lesson.own_file,
        },
        ("workrooms", "id" | "threadId" | "commentId") if line.path.starts_with("/workrooms/documents/") => {
            match line.situation {
                "submitted" => &lesson.submitted,
                "locked" => &lesson.locked,
                "others" => &lesson.others,
                _ => &lesson.draft,
            }
        }
        (_, "imageId") => &lesson.image,
        ("workrooms", "id") if line.path.starts_with("/workrooms/late-texts/") => &lesson.late_text,
        ("workrooms", "id") => &lesson.room,
        (_, "messageId") => &lesson.message,
        ("feedback", "id") if line.path.starts_with("/feedback/group-assignments/") => &lesson.link,
        ("feedback", "id") if line.path.starts_with("/feedback/submissions/") => &lesson.submission,
        ("feedback", "id") if line.path.starts_with("/feedback/assignments/") => &lesson.topic,
        ("feedback", "id") => &lesson.feedback,
        (_, "documentId") => &lesson.copy,
        (_, "fileId") => &lesson.grade_file,
        ("workrooms", "attachmentId") => &lesson.chat_file,
        _ => panic!("the matrix knows no {{{name}}} of {}", line.path),
    };
    found.clone()
}

fn body(app: &TestApp, fixture: &MatrixFixture, line: &MatrixRow, lesson: &LessonIds, actor: &MatrixActor) -> Sample {
    let world = &app.world;
    let person = |person: &test_support::TestUser| {
        if lesson.group == UNKNOWN_ID {
            UNKNOWN_ID.to_owned()
        } else {
            person.id.clone()
        }
    };
    let body = match (line.method, line.path) {
        (_, path) if path.starts_with("/auth/") => return auth_body(app, line, lesson, actor),
        ("PATCH", "/classes/{id}") if line.situation == "handover" => json!({"teacherId": person(&world.tom)}),
        ("POST", "/classes/{id}/students") => json!({"studentIds": [person(&world.finn)]}),
        ("POST", "/classes/{id}/teachers") => json!({"userId": person(&world.adam)}),
        ("POST", "/classes") if actor.is_super => {
            json!({"name": "Sample", "academicYear": "2026/2027", "teacherId": world.ada.id})
        }
        ("POST", "/homerooms/{id}/students") => json!({"studentIds": [person(&world.cem)]}),
        ("POST", "/groups/{id}/members") => json!({"userIds": [person(&world.eli)]}),
        ("POST", "/groups/{id}/members/{userId}/move") => json!({"toGroupId": lesson.other_group}),
        ("POST", "/assignments/{id}/groups") => json!({"groupIds": [lesson.other_group]}),
        ("POST", "/assignments/{id}/handouts") => json!({"templateAttachmentId": lesson.shared_file}),
        ("PUT", "/assignments/{id}/rubric") => json!({"rubricId": fixture.base_lesson.rubric}),
        ("POST", "/assignments/{id}/clone") => json!({"deadline": "2099-01-01T00:00:00Z"}),
        ("POST", "/workrooms/documents/{id}/submit") if line.situation == "locked" => {
            json!({"assignmentId": lesson.finished})
        }
        ("DELETE", "/tenants/{id}") => json!({"confirm": "spare"}),
        ("PUT", "/workrooms/documents/{id}/grade" | "/feedback/submissions/{id}/grade") => json!({"value": "1"}),
        (
            "POST",
            "/workrooms/{id}/read"
            | "/messages/{id}/read"
            | "/workrooms/documents/{id}/comments/read"
            | "/workrooms/documents/{id}/callback",
        ) => json!({}),
        // Teachers post an announcement to the class, students write to their teacher.
        ("POST", "/messages") if line.situation.is_empty() && matches!(actor.column, 4..=6 | 8) => {
            json!({"classId": lesson.class, "content": "Sample"})
        }
        ("POST", "/messages") => json!({"recipientIds": [person(&world.ada)], "content": "Sample"}),
        _ => {
            let ids = Ids {
                class: lesson.class.clone(),
                subject: lesson.subject.clone(),
                course: lesson.course.clone(),
                group: lesson.group.clone(),
                assignment: lesson.topic.clone(),
                attachment: lesson.shared_file.clone(),
                submission: lesson.submission.clone(),
                user: person(&world.ben),
                homeroom: fixture.base_lesson.homeroom.clone(),
                teacher: person(&world.ada),
            };
            return sample(line.method, line.path, &ids);
        }
    };
    assert!(!fixture.helper.is_empty());
    Sample::Json(body)
}

/// Bodies of the routes that better-auth's client calls.
fn auth_body(app: &TestApp, line: &MatrixRow, lesson: &LessonIds, actor: &MatrixActor) -> Sample {
    let world = &app.world;
    let ben = if lesson.group == UNKNOWN_ID {
        UNKNOWN_ID
    } else {
        &world.ben.id
    };
    let unknown = format!(
        "{}-of-nowhere@test.example",
        actor.name.replace(' ', "-").to_lowercase()
    );
    // A name of each caller, because failures of one name from one address are limited.
    let unknown_name = format!("{}@nowhere", actor.name.replace(' ', ".").to_lowercase());
    let end = line.path.strip_prefix("/auth/").unwrap_or_default();
    let body = match (line.method, end) {
        ("GET", _) => return Sample::Empty,
        (_, "sign-in/email") => json!({"email": unknown, "password": "wrong wrong"}),
        (_, "sign-in/username") => json!({"username": unknown_name, "password": "wrong wrong"}),
        (_, "sign-in/slip") => json!({"token": "unknown"}),
        (_, "is-username-available") => json!({"username": "no.body"}),
        (_, "new-password") => json!({"newPassword": "uncommon-Q7wz-phrase"}),
        (_, "sign-in/sso") => json!({"providerId": "unknown", "callbackURL": "/"}),
        (_, "sign-up/email") => json!({"email": unknown, "password": "wrong wrong", "name": "Sample"}),
        (_, "request-password-reset") => json!({"email": unknown}),
        (_, "reset-password") => json!({"newPassword": "uncommon-Q7wz-phrase", "token": "unknown"}),
        (_, "change-password") => json!({"currentPassword": "wrong wrong", "newPassword": "uncommon-Q7wz-phrase"}),
        (_, "verify-password") => json!({"password": "wrong wrong"}),
        (_, "passkey/verify-registration" | "passkey/verify-authentication") => json!({"response": {"id": "unknown"}}),
        (_, "passkey/update-passkey") => json!({"id": "unknown", "name": "Sample"}),
        (_, "passkey/delete-passkey") => json!({"id": "unknown"}),
        (_, "two-factor/verify-totp" | "two-factor/verify-backup-code" | "two-factor/verify-otp") => {
            json!({"code": "000000"})
        }
        (_, "two-factor/send-otp") => json!({}),
        (_, path) if path.starts_with("two-factor/") => json!({"password": "wrong wrong"}),
        (_, "update-session") => json!({"theme": "dark"}),
        (_, "update-user") => json!({"image": null}),
        (_, "revoke-session") => json!({"token": world.eli.token}),
        (_, "organization/set-active") => json!({"organizationId": world.north}),
        (_, "organization/has-permission") => json!({"permissions": {"organization": ["update"]}}),
        (_, "admin/has-permission") => json!({"permissions": {"user": ["list"]}}),
        (_, "admin/create-user") => {
            json!({"email": "sample@test.example", "password": "uncommon-Q7wz-phrase", "name": "Sample"})
        }
        (_, "admin/update-user") => json!({"userId": ben, "data": {"name": "Sample"}}),
        (_, "admin/set-role") => json!({"userId": ben, "role": "TEACHER"}),
        (_, "admin/set-user-password") => json!({"userId": ben, "newPassword": "uncommon-Q7wz-phrase"}),
        (_, "admin/revoke-user-session") => json!({"sessionToken": world.eli.token}),
        (_, path) if path.starts_with("admin/") => json!({"userId": ben}),
        (_, path) if path.starts_with("organization/") => organization_body(world, path),
        _ => json!({}),
    };
    Sample::Json(body)
}

/// Bodies with which better-auth would perform what this service rejects.
fn organization_body(world: &test_support::World, path: &str) -> Value {
    json!({
        "organizationId": world.north, "name": "Sample", "slug": "sample", "data": {"name": "Sample"}, "email": "a@b.example",
        "role": "admin", "memberId": UNKNOWN_ID, "memberIdOrEmail": world.ben.email, "invitationId": UNKNOWN_ID, "for": path,
    })
}
