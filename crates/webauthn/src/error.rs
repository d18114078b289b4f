//! The reasons for which a registration or an assertion is rejected.

/// Why a response of an authenticator is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WebAuthnError {
    #[error("malformed")]
    Malformed,
    #[error("too large")]
    TooLarge,
    #[error("not a response of this kind")]
    WrongType,
    #[error("not the challenge that was issued")]
    WrongChallenge,
    #[error("not the origin of the service")]
    WrongOrigin,
    #[error("not for this relying party")]
    WrongRelyingParty,
    #[error("the user was not present")]
    UserNotPresent,
    #[error("the attestation is not supported")]
    UnsupportedAttestation,
    #[error("the algorithm is not supported")]
    UnsupportedAlgorithm,
    #[error("the public key is invalid")]
    InvalidKey,
    #[error("the signature is invalid")]
    InvalidSignature,
}

impl WebAuthnError {
    /// Returns the constant name of the reason, for logs.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::TooLarge => "too_large",
            Self::WrongType => "wrong_type",
            Self::WrongChallenge => "wrong_challenge",
            Self::WrongOrigin => "wrong_origin",
            Self::WrongRelyingParty => "wrong_relying_party",
            Self::UserNotPresent => "user_not_present",
            Self::UnsupportedAttestation => "unsupported_attestation",
            Self::UnsupportedAlgorithm => "unsupported_algorithm",
            Self::InvalidKey => "invalid_key",
            Self::InvalidSignature => "invalid_signature",
        }
    }
}
