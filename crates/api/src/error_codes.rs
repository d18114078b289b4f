//! Error codes with a description for the OpenAPI document. A route names its own codes in `responses(.., description =
//! "CODE, CODE")`; the codes common to all routes of its kind are added here. Each code becomes a documented response.
//! See docs/api-contract.md#error-codes.

use better_auth::error::AuthError;
use domain::access::Access;

/// The codes of this service and their meaning.
const CODES: &[(&str, &str)] = &[
    ("ALREADY_SUBMITTED", "The document is already submitted."),
    ("ASSIGNMENT_FINISHED", "The topic is finished; a teacher can reopen it."),
    ("ASSIGNMENT_ID_REQUIRED", "The body does not name the topic."),
    (
        "ASSIGNMENT_NOT_FINISHED",
        "The PDF is available once the topic is finished.",
    ),
    ("BAD_REQUEST", "The request is invalid; the message names the reason."),
    ("CLASS_ARCHIVED", "The class is archived and read-only."),
    (
        "CLASS_MISMATCH",
        "Class, course, group, topic and subject do not belong together.",
    ),
    ("CLASS_NOT_EMPTY", "The class still has courses, groups or topics."),
    ("COURSE_ARCHIVED", "The course is archived and accepts nothing new."),
    (
        "COURSE_MISMATCH",
        "Groups and topic are in different courses; details names the groups.",
    ),
    (
        "DOCSERVER_ERROR",
        "The document server failed; details contains the cause that it reported.",
    ),
    (
        "DISK_FULL",
        "The disk of the service is nearly full; the operator must free space.",
    ),
    ("DOCSERVER_TIMEOUT", "The document server did not respond in time."),
    (
        "DOCSERVER_TOKEN_INVALID",
        "The document-server token is forged or expired.",
    ),
    (
        "DOCSERVER_TOKEN_MISMATCH",
        "The document-server token is for another document.",
    ),
    ("DOCSERVER_TOKEN_MISSING", "There is no document-server token."),
    (
        "DOCUMENT_LOCKED",
        "The document is locked because its topic is finished, for every role.",
    ),
    (
        "DOMAIN_HELD",
        "Another organization has verified the mail domain; a SUPER_ADMIN can assign it to both.",
    ),
    (
        "DOMAIN_NOT_PROVEN",
        "The TXT record that proves the mail domain was not found.",
    ),
    (
        "DOMAIN_UNANSWERED",
        "The name servers of the mail domain did not respond.",
    ),
    ("DUPLICATE_COURSE", "The class already has a course of this name."),
    ("DUPLICATE_DOMAIN", "Another organization has this domain."),
    ("DUPLICATE_EMAIL", "A member of the organization has this address."),
    (
        "DUPLICATE_EXTERNAL_ID",
        "Another object of the organization has this external id.",
    ),
    (
        "DUPLICATE_GROUP_ASSIGNMENT",
        "The group already works on the topic, with another text.",
    ),
    (
        "DUPLICATE_GROUP_NUMBER",
        "The class already has a group with this number.",
    ),
    (
        "DUPLICATE_HOMEROOM",
        "A homeroom of this name exists in this school year.",
    ),
    (
        "DUPLICATE_MAIL_DOMAIN",
        "The organization has already added this mail domain.",
    ),
    ("DUPLICATE_SLUG", "Another organization has this short name."),
    (
        "DUPLICATE_SUBJECT",
        "A subject of this name exists, regardless of case.",
    ),
    ("EDIT_TIME_OVER", "Messages can be changed for 15 minutes only."),
    (
        "FIELD_NOT_ALLOWED",
        "The body sets a field that this route does not write.",
    ),
    (
        "FORBIDDEN",
        "Not allowed for this caller; the message names the reason.",
    ),
    ("FORBIDDEN_RANK", "Only a user of a higher rank may do this."),
    ("FORBIDDEN_ROLE", "Not allowed for the caller's role."),
    ("GRADE_PUBLISHED", "The grade is already published."),
    ("GROUP_NOT_ON_ASSIGNMENT", "The group does not work on this topic."),
    ("HAS_SUBMISSION", "The group has submitted work for this topic."),
    ("HEADERS_TOO_LARGE", "The head of the request is larger than 16 KiB."),
    (
        "IDEMPOTENCY_KEY_REUSED",
        "The Idempotency-Key was used for another request of the same user within 24 hours.",
    ),
    ("IMPORT_HEADER", "The file lacks a column that is required."),
    (
        "INTERNAL_ERROR",
        "An error of the service; the log contains the cause under the request id.",
    ),
    ("INVALID_HOST", "The request has no Host, several, or an invalid one."),
    ("INVALID_JSON", "The body is not JSON."),
    ("INVALID_ORIGIN", "The request comes from a page of another origin."),
    ("LAST_OWNER", "The organization would lose its last owner."),
    (
        "LATE_NOT_ALLOWED",
        "The deadline has passed and the topic accepts no late work.",
    ),
    (
        "LEGACY_FILE_FORMAT",
        "A .doc, .rtf, .xls or .ppt file, which is not converted here; details names the format.",
    ),
    ("LIMIT_REACHED", "The maximum number is reached."),
    ("METHOD_NOT_ALLOWED", "The path does not support this method."),
    (
        "MISSING_OR_NULL_ORIGIN",
        "The request does not name the origin of its page.",
    ),
    (
        "NAME_SET_BY_SCHOOL",
        "Only the staff of the school can change names of students.",
    ),
    ("NOTHING_TO_EXPORT", "There is no document to export."),
    ("ALREADY_INVITED", "A concurrent request invited the address."),
    ("NO_MAILBOX", "No email reaches this address, so it cannot be invited."),
    (
        "PASSWORD_NOT_CONFIRMED",
        "An administrator of another organization chose the password; a reset by email is required first.",
    ),
    (
        "NOT_A_MEMBER",
        "The caller does not belong to the organization of the request.",
    ),
    ("NOT_AUTHOR", "Only the author may change this."),
    (
        "NOT_CLASS_TEACHER",
        "Only the teachers of the class and admins may do this.",
    ),
    (
        "NOT_FOUND",
        "Unknown, of another organization, or invisible to the caller: always the same response.",
    ),
    (
        "NOT_READY",
        "A dependency of the service is unavailable; Retry-After is the time until the next attempt.",
    ),
    ("NOT_SUBMITTED", "The document is not submitted."),
    (
        "NO_ACTIVE_ORGANIZATION",
        "Neither the session nor the Host names an organization.",
    ),
    (
        "ORGANIZATION_CHANGED",
        "X-Organization-Id does not name the active organization of the caller; nothing was done.",
    ),
    ("ORGANIZATION_SUSPENDED", "The organization is suspended."),
    (
        "OVERLOADED",
        "The service is overloaded; Retry-After is the time until the next attempt.",
    ),
    ("PAYLOAD_TOO_LARGE", "Body or file is larger than allowed."),
    (
        "PRECONDITION_FAILED",
        "The version of the object differs from If-Match; `current` is the present object, ETag its version.",
    ),
    ("QUOTA_EXCEEDED", "The storage of the organization is used up."),
    (
        "RATE_LIMITED",
        "Too many requests; Retry-After is the time until the next attempt.",
    ),
    ("RANGE_NOT_SATISFIABLE", "The requested range is outside of the file."),
    (
        "SHARED_ACCOUNT",
        "The account does not belong to this organization alone.",
    ),
    (
        "STUDENT_NOT_ENROLLED",
        "A user in the request is not a student of the class; details names the user.",
    ),
    ("SUBJECT_IN_USE", "Courses or groups use the subject."),
    ("UNAUTHENTICATED", "No session, or an expired one."),
    (
        "UNREADABLE_FILE",
        "The file is damaged or protected with a password; details contains the reason.",
    ),
    ("UNSUPPORTED_FILE_TYPE", "Files of this type are not accepted."),
    (
        "UNSUPPORTED_MEDIA_TYPE",
        "The route does not accept the media type of the body.",
    ),
    ("URI_TOO_LONG", "The address of the request is longer than 8 KiB."),
    ("VALIDATION_ERROR", "The request is invalid; details names each field."),
];

/// The meaning of a code; `None` for an unknown code.
pub fn meaning(code: &str) -> Option<String> {
    let ours = CODES.iter().find(|(known, _)| *known == code);
    ours.map(|(_, meaning)| (*meaning).to_owned()).or_else(|| {
        let library = AuthError::all().into_iter();
        let mut found = library.filter(|refusal| refusal.code == Some(code));
        found
            .next()
            .map(|refusal| format!("{}.", refusal.message.trim_end_matches('.')))
    })
}

/// The parts of a description that look like error codes, known or not.
pub fn codes_in(description: &str) -> Vec<&str> {
    let words = description.split(|character: char| !(character.is_ascii_alphanumeric() || character == '_'));
    let capital = |word: &&str| {
        let plain = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        word.len() > 5 && word.bytes().all(plain) && word.bytes().next().is_some_and(|byte| byte.is_ascii_uppercase())
    };
    words.filter(capital).collect()
}

/// The properties of a route that determine its common error codes.
#[derive(Debug, Clone, Copy)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an independent property of the route"
)]
pub struct RouteProperties {
    /// Who may call the route.
    pub access: Access,
    /// Whether the route is mutating (not a GET).
    pub changes: bool,
    /// Whether the route creates an object and accepts an `Idempotency-Key`.
    pub creates: bool,
    /// Whether the route reads a JSON body.
    pub json: bool,
    /// Whether the route reads a form with files.
    pub form: bool,
    /// Whether the route is below `/auth` and has the library's error format.
    pub auth: bool,
}

/// The codes that every route with these properties can return, by status.
pub fn common_codes(route: RouteProperties) -> Vec<(u16, &'static str)> {
    let mut codes = vec![
        (429, "RATE_LIMITED"),
        (500, "INTERNAL_ERROR"),
        (503, "OVERLOADED"),
        (503, "NOT_READY"),
    ];
    let mut add = |applies: bool, more: &[(u16, &'static str)]| {
        if applies {
            codes.extend_from_slice(more);
        }
    };
    let RouteProperties { access, .. } = route;
    let person = !matches!(access, Access::Anyone | Access::DocumentServer);
    let origin = [(403, "INVALID_ORIGIN"), (403, "MISSING_OR_NULL_ORIGIN")];
    add(route.changes && access != Access::DocumentServer, &origin);
    // Also for `dryRun` on a route that does not support it.
    add(true, &[(400, "VALIDATION_ERROR")]);
    add(route.creates, &[(409, "IDEMPOTENCY_KEY_REUSED")]);
    add(
        route.json,
        &[
            (400, "INVALID_JSON"),
            (413, "PAYLOAD_TOO_LARGE"),
            (415, "UNSUPPORTED_MEDIA_TYPE"),
        ],
    );
    add(
        route.form,
        &[
            (413, "PAYLOAD_TOO_LARGE"),
            (415, "UNSUPPORTED_MEDIA_TYPE"),
            (415, "UNSUPPORTED_FILE_TYPE"),
            (415, "LEGACY_FILE_FORMAT"),
            (415, "UNREADABLE_FILE"),
            (507, "QUOTA_EXCEEDED"),
            (507, "DISK_FULL"),
        ],
    );
    let unauthenticated = if route.auth { "UNAUTHORIZED" } else { "UNAUTHENTICATED" };
    add(person, &[(401, unauthenticated)]);
    add(person && !route.auth, &[(404, "NOT_FOUND")]);
    add(
        access == Access::DocumentServer,
        &[
            (401, "DOCSERVER_TOKEN_MISSING"),
            (401, "DOCSERVER_TOKEN_INVALID"),
            (403, "DOCSERVER_TOKEN_MISMATCH"),
        ],
    );
    add(
        access.needs_organization(),
        &[
            (400, "NO_ACTIVE_ORGANIZATION"),
            (403, "NOT_A_MEMBER"),
            (403, "PASSWORD_NOT_CONFIRMED"),
            (403, "ORGANIZATION_SUSPENDED"),
            (409, "ORGANIZATION_CHANGED"),
        ],
    );
    let by_role = matches!(
        access,
        Access::Student | Access::Staff | Access::Admin | Access::SuperAdmin
    );
    add(by_role, &[(403, "FORBIDDEN_ROLE")]);
    codes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_codes_are_found_in_description() {
        let text = "HAS_SUBMISSION, CLASS_ARCHIVED when the JSON of a CSV is PDF; DUPLICATE_EMAIL";
        assert_eq!(codes_in(text), ["HAS_SUBMISSION", "CLASS_ARCHIVED", "DUPLICATE_EMAIL"]);
    }

    #[test]
    fn library_error_codes_have_library_messages() {
        assert_eq!(
            meaning("INVALID_EMAIL_OR_PASSWORD").as_deref(),
            Some("Invalid email or password.")
        );
        assert_eq!(meaning("NO_SUCH_CODE"), None);
    }

    #[test]
    fn error_codes_are_unique_and_have_descriptions() {
        assert!(CODES.iter().all(|(_, meaning)| meaning.ends_with('.')));
        let mut seen = std::collections::HashSet::new();
        assert!(CODES.iter().all(|(code, _)| seen.insert(code)), "a code stands twice");
    }
}
