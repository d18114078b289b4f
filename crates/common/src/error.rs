//! One error for the whole service, said by meaning. It knows nothing of HTTP: `http/reply.rs` turns it into a status,
//! a code and a body as the last step.

use model::idempotency::StoredAnswer;
use model::refusal::{Refusal, RefusalKind};

/// What went wrong, by meaning.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No session, an expired one, or one that was revoked.
    #[error("Sign in first.")]
    Unauthenticated,
    /// The session names no organization and neither does the Host.
    #[error("Choose an organization first (organization/set-active).")]
    NoActiveOrganization,
    /// The person does not belong to the organization of the request.
    #[error("You are not a member of this organization.")]
    NotAMember,
    /// An administrator of another organization chose the password; it opens that organization only.
    #[error("An administrator of another organization chose your password. Reset it by email to work here.")]
    PasswordNotConfirmed,
    /// The page names the organization it shows, and the session works in another one or in none.
    #[error("You are working in another organization now. Reload the page, or switch back.")]
    OrganizationChanged,
    /// The organization of the request is suspended.
    #[error("This organization is suspended. Ask its owner.")]
    OrganizationSuspended,
    /// The route is not for this role.
    #[error("Your role may not do this.")]
    ForbiddenRole,
    /// A cookie-carrying request that changes something came from a foreign page.
    #[error("Invalid origin")]
    InvalidOrigin,
    /// A cookie-carrying request that changes something names no page it came from.
    #[error("Missing or null Origin")]
    MissingOrigin,
    /// Unknown, of another school, or invisible to the caller: always the same words.
    #[error("Not found.")]
    NotFound,
    /// The path is known, the method is not.
    #[error("This path does not know this method.")]
    MethodNotAllowed,
    /// The body or the query does not fit; every problem names its field.
    #[error("The request does not fit: {}", first_problem(.0))]
    Invalid(Vec<Problem>),
    /// The body is not JSON at all.
    #[error("The body is not valid JSON: {0}")]
    InvalidJson(String),
    /// The media type of the body is not the one this route takes.
    #[error("Send this body as {0}.")]
    UnsupportedMediaType(&'static str),
    /// A table to be imported lacks a column, or has one that nobody knows.
    #[error("The header of the file does not fit: {} {}.", .0.path, .0.message)]
    ImportHeader(Problem),
    /// The object has another version than `If-Match` names.
    #[error("This was changed elsewhere in the meantime. Load it again and repeat your change.")]
    PreconditionFailed {
        /// The object as it is now, as far as the caller may read it.
        current: Option<Box<Current>>,
    },
    /// The idempotency key was used for another request.
    #[error("This Idempotency-Key was used for another request. Use a new one.")]
    KeyReused,
    /// The request was answered before under its idempotency key: this is the answer, and nothing was done.
    #[error("This request was answered before.")]
    Repeated(Box<StoredAnswer>),
    /// A rule of the model said no.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A unique key is taken.
    #[error("{message}")]
    Conflict {
        /// The stable code, for example `DUPLICATE_COURSE`.
        code: &'static str,
        /// The sentence people read.
        message: &'static str,
        /// The field that has to change.
        path: &'static str,
        /// The object that has it, if the caller can read it.
        existing_id: Option<String>,
    },
    /// The body or the file is larger than allowed.
    #[error("This is larger than allowed ({limit_bytes} bytes at most).")]
    TooLarge {
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// The body stalled, or came so slowly that it would never end.
    #[error("The body stopped arriving. Send it again.")]
    SlowBody,
    /// The path with its query is longer than any of ours.
    #[error("This address is too long (8192 bytes at most).")]
    UriTooLong,
    /// The request has no Host, two of them, or one that is no host.
    #[error("Send exactly one Host header with the name of this service.")]
    InvalidHost,
    /// The header fields are larger than any client of ours needs.
    #[error("The header fields of this request are too large (16384 bytes at most).")]
    HeadTooLarge,
    /// The file's type (by name or by content) is not allowed.
    #[error("Files of this type are not accepted: {0}")]
    UnsupportedFileType(String),
    /// Too many requests; try again later.
    #[error("Too many requests. Please try again later.")]
    RateLimited {
        /// Seconds until the next try may succeed.
        retry_after: u64,
    },
    /// A document-server route was called without its token.
    #[error("A document-server token is required.")]
    DocumentServerTokenMissing,
    /// The document-server token is forged, expired or of another shape.
    #[error("The document-server token is not valid.")]
    DocumentServerTokenInvalid,
    /// The document-server token is genuine but for something else.
    #[error("The document-server token is for another document.")]
    DocumentServerTokenMismatch,
    /// The document server answered with a failure.
    #[error("The document server could not do this: {0}")]
    DocumentServer(String),
    /// The document server could not convert a document, for a reason it named.
    #[error("The document server could not do this: {message}.")]
    DocumentServerFault {
        /// A stable word for the reason.
        code: &'static str,
        /// What is wrong, in words.
        message: &'static str,
    },
    /// The document server did not answer in time.
    #[error("The document server did not answer in time.")]
    DocumentServerTimeout,
    /// A queue is full; the caller may try again at once or a little later.
    #[error("The service is busy. Try again in a moment.")]
    Overloaded,
    /// Something the service needs is down.
    #[error("The service is not ready. Try again in a moment.")]
    NotReady,
    /// The organization's storage is used up.
    #[error("The storage of this organization is full.")]
    QuotaExceeded,
    /// The disk of the service is nearly full.
    #[error("The disk of the service is nearly full: nothing can be uploaded at the moment.")]
    DiskFull,
    /// Anything else; logged with the request id, never shown.
    #[error("Something went wrong on our side.")]
    Internal(#[from] anyhow::Error),
}

/// An object as it is now: the body of a 412.
#[derive(Debug, Clone)]
pub struct Current {
    /// The entity tag of its version.
    pub etag: String,
    /// The object as its GET shows it.
    pub body: serde_json::Value,
}

/// One field that does not fit, as `details` of an answer lists it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
pub struct Problem {
    /// Where: a field name or a dotted path (`groups[0].groupId`).
    pub path: String,
    /// Why, for programs: `required`, `too_short`, `too_long`, `type`, `format`, `enum` or `unknown` for a request that does not fit; others name the rule.
    pub code: String,
    /// Why, for people.
    pub message: String,
    /// The id of the object that has what was to be unique, if the caller can read it.
    #[serde(rename = "existingId", skip_serializing_if = "Option::is_none")]
    pub existing_id: Option<String>,
}

impl Problem {
    /// A problem with one field.
    pub fn new(path: impl Into<String>, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            code: code.into(),
            message: message.into(),
            existing_id: None,
        }
    }
}

impl Error {
    /// An invalid request with a single problem.
    pub fn invalid(path: impl Into<String>, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid(vec![Problem::new(path, code, message)])
    }

    /// A precondition that is not met; the handler adds the object as it is now.
    pub const fn precondition_failed() -> Self {
        Self::PreconditionFailed { current: None }
    }

    /// Whether this is a conflict with the state of the objects (409), which is reported after a precondition.
    pub fn is_conflict(&self) -> bool {
        match self {
            Self::Conflict { .. } => true,
            Self::Refused(refusal) => refusal.kind() == RefusalKind::Conflict,
            _ => false,
        }
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::Internal(error.into())
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::Internal(error.into())
    }
}

/// The result of everything in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

fn first_problem(problems: &[Problem]) -> String {
    problems.first().map_or_else(
        || "see details.".to_owned(),
        |first| format!("{}: {}", first.path, first.message),
    )
}
