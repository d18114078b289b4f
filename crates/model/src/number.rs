//! Numbers that people set, each with its limits, said once for checking and the `OpenAPI` document.
//! Like texts they are read without checking; [`garde::Validate`] refuses.

use serde::{Deserialize, Serialize};

/// Why a number is refused; a plain sentence that follows the name of the field.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("must be between {min} and {max}")]
pub struct BadNumber {
    /// The least allowed value.
    pub min: f64,
    /// The greatest allowed value.
    pub max: f64,
}

/// Makes one whole-number type; the limits stand in its line and nowhere else.
macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident: $min:tt to $max:tt;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, utoipa::ToSchema)]
        #[serde(transparent)]
        #[schema(value_type = i64, minimum = $min, maximum = $max)]
        pub struct $name(i64);

        impl $name {
            /// The least allowed value.
            pub const MIN: i64 = $min;
            /// The greatest allowed value.
            pub const MAX: i64 = $max;

            /// Takes a number that was checked before, such as a column of the store, as it is.
            pub const fn stored(number: i64) -> Self {
                Self(number)
            }

            /// The number.
            pub const fn get(self) -> i64 {
                self.0
            }
        }

        impl TryFrom<i64> for $name {
            type Error = BadNumber;

            fn try_from(number: i64) -> Result<Self, BadNumber> {
                if (Self::MIN..=Self::MAX).contains(&number) {
                    Ok(Self(number))
                } else {
                    Err(BadNumber { min: f64::from($min), max: f64::from($max) })
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
    /// How many documents a group is asked for.
    RequiredDocuments: 0 to 50;
    /// How many documents a group has to submit for an assignment.
    RequiredSubmissions: 1 to 20;
    /// Day of the week, Monday first.
    Weekday: 1 to 7;
}

/// Points of a grade, or the most points an assignment gives.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(transparent)]
#[schema(value_type = f64, minimum = 0, maximum = 100_000)]
pub struct Points(f64);

impl Points {
    /// The greatest allowed value.
    pub const MAX: f64 = 100_000.0;

    /// Takes points that were checked before, such as a column of the store, as they are.
    pub const fn stored(points: f64) -> Self {
        Self(points)
    }

    /// The points.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Points {
    type Error = BadNumber;

    fn try_from(points: f64) -> Result<Self, BadNumber> {
        if (0.0..=Self::MAX).contains(&points) {
            Ok(Self(points))
        } else {
            Err(BadNumber {
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
    fn numbers_keep_their_limits() {
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
