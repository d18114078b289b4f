use common::error::Error;

/// Why a roster cannot be used. The texts are shown to administrators; none contains a secret or a part of a response.
#[derive(Debug, thiserror::Error)]
pub enum RosterError {
    #[error("the address must begin with https:// and must not be a private address")]
    AddressNotAllowed,
    #[error("the roster server cannot be reached")]
    Unreachable,
    #[error("the roster server did not deliver the whole roster in time")]
    TimedOut,
    #[error("the roster server redirects to another address; enter that address")]
    Redirected,
    #[error("the token endpoint rejected the client id, the client secret or the scope")]
    TokenRefused,
    #[error("the token endpoint returned no access token")]
    NoToken,
    #[error("the roster server does not allow this client to read {0}")]
    Forbidden(&'static str),
    #[error("the roster server has no {0} at this address")]
    NotFound(&'static str),
    #[error("the roster server accepts no more requests at the moment")]
    TooManyRequests,
    #[error("the roster server returned an error (status {status}) for {resource}")]
    ErrorResponse { resource: &'static str, status: u16 },
    #[error("the response for {resource} is not a roster: {reason}")]
    NotARoster {
        resource: &'static str,
        reason: &'static str,
    },
    #[error("the roster has more than {limit} {resource}")]
    TooMany { resource: &'static str, limit: usize },
    #[error("the response for {0} is too large")]
    TooLarge(&'static str),
    #[error("the roster server announced {expected} {resource} and delivered {received}")]
    Truncated {
        resource: &'static str,
        expected: u64,
        received: u64,
    },
    #[error("the connection ended before the response for {0} was complete")]
    Interrupted(&'static str),
    #[error("{0} changed while they were read, or the roster server does not return its pages in a fixed order")]
    Inconsistent(&'static str),
    #[error("the roster server has no school with this id")]
    NoSchool,
    #[error("the roster server has {0} schools; enter the id of one")]
    SeveralSchools(u64),
    #[error("the roster contains no students and teachers")]
    Empty,
    /// A failure of this service, such as a full disk.
    #[error(transparent)]
    Internal(#[from] Error),
}

impl RosterError {
    /// Returns the stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::AddressNotAllowed => "address_not_allowed",
            Self::Unreachable => "unreachable",
            Self::TimedOut => "timed_out",
            Self::Redirected => "redirected",
            Self::TokenRefused => "token_refused",
            Self::NoToken => "no_token",
            Self::Forbidden(_) => "forbidden",
            Self::NotFound(_) => "not_found",
            Self::TooManyRequests => "too_many_requests",
            Self::ErrorResponse { .. } => "error_response",
            Self::NotARoster { .. } => "not_a_roster",
            Self::TooMany { .. } => "too_many",
            Self::TooLarge(_) => "too_large",
            Self::Truncated { .. } => "truncated",
            Self::Interrupted(_) => "interrupted",
            Self::Inconsistent(_) => "inconsistent",
            Self::NoSchool => "no_school",
            Self::SeveralSchools(_) => "several_schools",
            Self::Empty => "empty",
            Self::Internal(_) => "internal",
        }
    }

    /// Whether another attempt may succeed without a change of the settings.
    pub const fn is_temporary(&self) -> bool {
        matches!(
            self,
            Self::Unreachable
                | Self::TimedOut
                | Self::TooManyRequests
                | Self::ErrorResponse { status: 500.., .. }
                | Self::Truncated { .. }
                | Self::Interrupted(_)
                | Self::Inconsistent(_)
                | Self::Internal(_)
        )
    }

    /// Whether reading the roster again at once may succeed: the list changed, or the connection broke.
    pub(super) const fn is_retried(&self) -> bool {
        matches!(
            self,
            Self::Truncated { .. } | Self::Interrupted(_) | Self::Inconsistent(_)
        )
    }
}
