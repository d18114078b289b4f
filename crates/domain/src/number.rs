//! Number types of request fields. Each declares its limits once, for validation and the `OpenAPI` document.
//! Deserialization accepts any number; [`garde::Validate`] rejects invalid ones.

use serde::{Deserialize, Serialize};

/// Why a number is rejected; a clause that follows the name of the field.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("must be between {min} and {max}")]
pub struct NumberError {
    pub min: f64,
    pub max: f64,
}

/// Defines integer types together with their limits.
macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident: $min:tt to $max:tt;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, utoipa::ToSchema)]
        #[serde(transparent)]
        #[schema(value_type = i64, minimum = $min, maximum = $max)]
        pub struct $name(i64);

        impl $name {
            /// Minimum, inclusive.
            pub const MIN: i64 = $min;
            /// Maximum, inclusive.
            pub const MAX: i64 = $max;

            /// Wraps a number that was validated before, such as a database column.
            pub const fn stored(number: i64) -> Self {
                Self(number)
            }

            pub const fn get(self) -> i64 {
                self.0
            }
        }

        impl TryFrom<i64> for $name {
            type Error = NumberError;

            fn try_from(number: i64) -> Result<Self, NumberError> {
                if (Self::MIN..=Self::MAX).contains(&number) {
                    Ok(Self(number))
                } else {
                    Err(NumberError { min: f64::from($min), max: f64::from($max) })
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(formatter)
            }
        }

        impl garde::Validate for $name {
            type Context = ();

            fn validate_into(
                &self,
                (): &(),
                parent: &mut dyn FnMut() -> garde::Path,
                report: &mut garde::Report,
            ) {
                if let Err(reason) = Self::try_from(self.0) {
                    report.append(parent(), garde::Error::new(reason));
                }
            }
        }
    )+};
}

numbers! {
    /// Number of a group, unique within its class.
    GroupNumber: 1 to 9999;
    /// Number of documents a group has to create.
    RequiredDocuments: 0 to 50;
    /// Number of documents a group has to submit for an assignment.
    RequiredSubmissions: 1 to 20;
    /// Day of the week, from Monday (1) to Sunday (7).
    Weekday: 1 to 7;
}

/// Points of a grade, or the maximum number of points of an assignment.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(transparent)]
#[schema(value_type = f64, minimum = 0, maximum = 100_000)]
pub struct Points(f64);

impl Points {
    /// Maximum, inclusive.
    pub const MAX: f64 = 100_000.0;

    /// Wraps points that were validated before, such as a database column.
    pub const fn stored(points: f64) -> Self {
        Self(points)
    }

    pub const fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Points {
    type Error = NumberError;

    fn try_from(points: f64) -> Result<Self, NumberError> {
        if (0.0..=Self::MAX).contains(&points) {
            Ok(Self(points))
        } else {
            Err(NumberError {
                min: 0.0,
                max: Self::MAX,
            })
        }
    }
}

impl garde::Validate for Points {
    type Context = ();

    fn validate_into(&self, (): &(), parent: &mut dyn FnMut() -> garde::Path, report: &mut garde::Report) {
        if let Err(reason) = Self::try_from(self.0) {
            report.append(parent(), garde::Error::new(reason));
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use garde::Validate;

    use super::*;

    #[test]
    fn bounded_numbers_reject_values_outside() {
        assert!(GroupNumber::try_from(1).is_ok() && GroupNumber::try_from(9999).is_ok());
        assert!(GroupNumber::try_from(0).is_err() && GroupNumber::try_from(10_000).is_err());
        let read: RequiredSubmissions = serde_json::from_str("21").unwrap();
        assert_eq!(read.validate().unwrap_err().to_string(), "must be between 1 and 20\n");
    }

    #[test]
    fn points_are_finite_and_not_negative() {
        assert!(Points::try_from(2.5).is_ok());
        for bad in [-0.5, f64::NAN, f64::INFINITY, 100_001.0] {
            assert!(Points::try_from(bad).is_err(), "{bad}");
        }
    }
}
