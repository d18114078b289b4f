//! The error type of this crate, by meaning. It is independent of HTTP: `error_response` maps it to status, code and
//! body.

use domain::domain_error::DomainError;
use domain::error_code::ErrorCode;
use domain::file::LegacyFormat;
use domain::idempotency::StoredResponse;
use domain::patch::NullNotAllowed;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no session, or it has expired or was revoked.
    #[error("Sign in first.")]
    Unauthenticated,
    /// Neither the session nor the Host names an organization.
    #[error("Choose an organization first (organization/set-active).")]
    NoActiveOrganization,
    /// The user is not a member of the organization of the request.
    #[error("You are not a member of this organization.")]
    NotAMember,
    /// An administrator of another organization set the password, which is valid for that organization only.
    #[error("An administrator of another organization chose your password. Reset it by email to work here.")]
    PasswordNotConfirmed,
    /// The user is required to have a second factor and has none.
    #[error("Your account needs a second factor. Set one up first.")]
    SecondFactorRequired,
    /// A sign-on provider of another organization opened the session, which is valid in that organization only.
    #[error("You signed in through another organization. Sign in with your password to work here.")]
    SignedOnElsewhere,
    /// The school requires its sign-on provider of everyone but its owners.
    #[error("Your school does not use passwords. Sign in with the account of your school.")]
    PasswordsOff,
    /// A sign-on provider cannot be used.
    #[error("{message}")]
    SignOnFailed {
        /// A stable code of the reason.
        code: &'static str,
        message: String,
    },
    /// A roster server cannot be used.
    #[error("{message}")]
    RosterFailed {
        /// A stable code of the reason.
        code: &'static str,
        message: String,
    },
    /// The client displays another organization than the session's active one.
    #[error("You are working in another organization now. Reload the page, or switch back.")]
    OrganizationChanged,
    #[error("This organization is suspended. Ask its owner.")]
    OrganizationSuspended,
    /// The role of the caller may not use the route.
    #[error("Your role may not do this.")]
    ForbiddenRole,
    /// The scopes of the API token do not open the route.
    #[error("This API token may not do this.")]
    TokenScopeMissing,
    /// A mutating request with cookies came from a foreign origin.
    #[error("Invalid origin")]
    InvalidOrigin,
    /// A mutating request with cookies names no origin.
    #[error("Missing or null Origin")]
    MissingOrigin,
    /// The object is unknown, belongs to another organization, or is invisible to the caller. The response is always
    /// the same.
    #[error("Not found.")]
    NotFound,
    /// The path exists, the method does not.
    #[error("This path does not know this method.")]
    MethodNotAllowed,
    /// Body or query are invalid; every problem names its field.
    #[error("The request does not fit: {}", first_problem(.0))]
    Invalid(Vec<Problem>),
    /// The body is not valid JSON.
    #[error("The body is not valid JSON: {0}")]
    InvalidJson(String),
    /// The route does not accept the media type of the body.
    #[error("Send this body as {0}.")]
    UnsupportedMediaType(&'static str),
    /// A table to import lacks a required column or has an unknown one.
    #[error("The header of the file does not fit: {} {}.", .0.path, .0.message)]
    ImportHeader(Problem),
    /// The object has another version than `If-Match` names.
    #[error("This was changed elsewhere in the meantime. Load it again and repeat your change.")]
    PreconditionFailed {
        /// The current object, as far as the caller may read it.
        current: Option<Box<Current>>,
    },
    /// The `Idempotency-Key` was used for another request.
    #[error("This Idempotency-Key was used for another request. Use a new one.")]
    IdempotencyKeyReused,
    /// The request was processed before under its `Idempotency-Key`. This is the stored response; nothing was done
    /// again.
    #[error("This request was answered before.")]
    IdempotentReplay(Box<StoredResponse>),
    /// A rule of the model was violated.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// A unique constraint was violated.
    #[error("{message}")]
    Conflict {
        /// A code with status 409.
        code: ErrorCode,
        /// The message for people.
        message: &'static str,
        /// The field that has to change.
        path: &'static str,
        /// The existing object, if the caller may read it.
        existing_id: Option<String>,
    },
    /// Body or file exceed the size limit.
    #[error("This is larger than allowed ({limit_bytes} bytes at most).")]
    TooLarge {
        /// The limit in bytes.
        limit_bytes: u64,
    },
    /// The body stalled or arrived below the minimum rate.
    #[error("The body stopped arriving. Send it again.")]
    BodyTimeout,
    /// Path and query exceed the limit.
    #[error("This address is too long (8192 bytes at most).")]
    UriTooLong,
    /// The Host header is missing, repeated or malformed.
    #[error("Send exactly one Host header with the name of this service.")]
    InvalidHost,
    /// The header fields exceed the limit.
    #[error("The header fields of this request are too large (16384 bytes at most).")]
    HeadTooLarge,
    /// The file type, judged by extension and content, is not allowed.
    #[error("Files of this type are not accepted: {0}")]
    UnsupportedFileType(String),
    /// A file of an older Office format where such files are not converted.
    #[error("Files of the type .{0} are not accepted here. Save the file as .{successor} or PDF and upload that.",
        successor = .0.successor())]
    LegacyFormat(LegacyFormat),
    /// A file that cannot be read, so that it is neither stored nor converted.
    #[error("This file cannot be read: {message}. Save it again as .docx, .xlsx, .pptx or PDF and upload that.")]
    UnreadableFile {
        /// A stable name of the reason.
        code: &'static str,
        /// The reason as a clause.
        message: &'static str,
    },
    /// The rate limit is exceeded.
    #[error("Too many requests. Please try again later.")]
    RateLimited {
        /// Seconds until the next attempt may succeed.
        retry_after: u64,
    },
    /// A document server route was called without a token.
    #[error("A document-server token is required.")]
    DocumentServerTokenMissing,
    /// The document server token is forged or expired.
    #[error("The document-server token is not valid.")]
    DocumentServerTokenInvalid,
    /// The document server token is valid, but for another document.
    #[error("The document-server token is for another document.")]
    DocumentServerTokenMismatch,
    /// The document server reported an error.
    #[error("The document server could not do this: {0}")]
    DocumentServer(String),
    /// The document server could not convert a document and named the cause.
    #[error("The document server could not do this: {message}.")]
    DocumentServerFault {
        /// The stable code of the cause.
        code: &'static str,
        /// The cause as text.
        message: &'static str,
    },
    /// The document server did not respond in time.
    #[error("The document server did not answer in time.")]
    DocumentServerTimeout,
    /// A queue is full or a lock timed out; the request may be repeated.
    #[error("The service is busy. Try again in a moment.")]
    Overloaded,
    /// A dependency of the service is unavailable.
    #[error("The service is not ready. Try again in a moment.")]
    NotReady,
    /// The installation is in maintenance mode.
    #[error("The service is being maintained: everything can be read, nothing can be changed. Try again later.")]
    Maintenance,
    /// The storage quota of the organization is exhausted.
    #[error("The storage of this organization is full.")]
    QuotaExceeded,
    #[error("The disk of the service is nearly full: nothing can be uploaded at the moment.")]
    DiskFull,
    /// Any other error. It is logged with the request id and never shown to clients.
    #[error("Something went wrong on our side.")]
    Internal(#[from] anyhow::Error),
}

/// The current state of an object, returned in a 412 response.
#[derive(Debug, Clone)]
pub struct Current {
    /// The entity tag of the current version.
    pub etag: String,
    /// The object as its GET returns it.
    pub body: serde_json::Value,
}

/// One problem of a request, as listed in `details` of an error.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
pub struct Problem {
    /// Path of the field, for example `title` or `groups[0].groupId`.
    pub path: String,
    /// Machine-readable reason. In validation errors one of `required`, `too_short`, `too_long`, `type`, `format`,
    /// `enum` and `unknown`; other errors use a code of their own.
    pub code: String,
    /// Human-readable reason in English.
    pub message: String,
    /// Id of the object that already has the unique value. Present only if the caller may read that object.
    #[serde(rename = "existingId", skip_serializing_if = "Option::is_none")]
    pub existing_id: Option<String>,
}

impl Problem {
    pub fn new(path: impl Into<String>, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            code: code.into(),
            message: message.into(),
            existing_id: None,
        }
    }
}

impl From<NullNotAllowed> for Error {
    fn from(refused: NullNotAllowed) -> Self {
        DomainError::from(refused).into()
    }
}

impl Error {
    /// An invalid request with a single problem.
    pub fn invalid(path: impl Into<String>, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid(vec![Problem::new(path, code, message)])
    }

    /// A failed precondition. The handler adds the current object.
    pub const fn precondition_failed() -> Self {
        Self::PreconditionFailed { current: None }
    }

    /// Whether this is a conflict with the state of objects (409). Preconditions are reported first.
    pub fn is_conflict(&self) -> bool {
        match self {
            Self::Conflict { .. } => true,
            Self::Domain(domain_error) => domain_error.code().status() == 409,
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

pub type Result<T, E = Error> = std::result::Result<T, E>;

fn first_problem(problems: &[Problem]) -> String {
    problems.first().map_or_else(
        || "see details.".to_owned(),
        |first| format!("{}: {}", first.path, first.message),
    )
}
