//! How values are stored in columns of the database: every type is one of the primitive types that a column has.

use crate::time::Timestamp;

/// A value of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StoredValue<'a> {
    /// SQL NULL of any type.
    Null,
    Bool(bool),
    /// Integers and timestamps; every integer column is BIGINT.
    Int(i64),
    Real(f64),
    /// Text, ids, enumerations and JSON.
    Text(&'a str),
}

/// A type that can be stored in a column.
pub trait ToStored {
    fn to_stored(&self) -> StoredValue<'_>;
}

/// A type that can be read from a column.
pub trait FromStored: Sized {
    /// Returns `None` for a value of another type, and for unknown values of an enumeration.
    fn from_stored(value: StoredValue<'_>) -> Option<Self>;
    /// Returns a value with which tests call the readers of rows.
    fn sample() -> Self;
}

impl<T: ToStored + ?Sized> ToStored for &T {
    fn to_stored(&self) -> StoredValue<'_> {
        (**self).to_stored()
    }
}

impl<T: ToStored> ToStored for Option<T> {
    fn to_stored(&self) -> StoredValue<'_> {
        self.as_ref().map_or(StoredValue::Null, ToStored::to_stored)
    }
}

impl ToStored for str {
    fn to_stored(&self) -> StoredValue<'_> {
        StoredValue::Text(self)
    }
}

impl<T: FromStored> FromStored for Option<T> {
    fn from_stored(value: StoredValue<'_>) -> Option<Self> {
        match value {
            StoredValue::Null => Some(None),
            value => T::from_stored(value).map(Some),
        }
    }

    fn sample() -> Self {
        Some(T::sample())
    }
}

/// Stores a type as one of the primitive types: how it is written, how it is read, and a sample.
macro_rules! stored {
    ($type:ty as $primitive:ident: |$own:ident| $written:expr, |$value:ident| $read:expr, $sample:expr) => {
        impl $crate::stored::ToStored for $type {
            fn to_stored(&self) -> $crate::stored::StoredValue<'_> {
                let $own = self;
                $crate::stored::StoredValue::$primitive($written)
            }
        }

        impl $crate::stored::FromStored for $type {
            fn from_stored(value: $crate::stored::StoredValue<'_>) -> Option<Self> {
                match value {
                    $crate::stored::StoredValue::$primitive($value) => $read,
                    _ => None,
                }
            }

            fn sample() -> Self {
                $sample
            }
        }
    };
}
pub(crate) use stored;

stored!(String as Text: |text| text, |text| Some(text.to_owned()), Self::new());
stored!(i64 as Int: |number| *number, |number| Some(number), 0);
stored!(f64 as Real: |number| *number, |number| Some(number), 0.0);
stored!(bool as Bool: |truth| *truth, |truth| Some(truth), true);
stored!(Timestamp as Int: |time| time.as_millis(), |millis| Some(Self::from_millis(millis)), Self::from_millis(0));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::GroupRole;
    use crate::id::GroupId;

    #[test]
    fn values_are_read_as_they_are_stored() {
        let id = GroupId::new("g");
        assert_eq!(id.to_stored(), StoredValue::Text("g"));
        assert_eq!(GroupId::from_stored(id.to_stored()), Some(id));
        assert_eq!(
            GroupRole::from_stored(StoredValue::Text("MEMBER")),
            Some(GroupRole::Member)
        );
        let time = Some(Timestamp::from_millis(5));
        assert_eq!(time.to_stored(), StoredValue::Int(5));
        assert_eq!(Option::from_stored(time.to_stored()), Some(time));
        assert_eq!(Option::<bool>::from_stored(StoredValue::Null), Some(None));
    }

    #[test]
    fn other_types_and_unknown_values_are_refused() {
        assert_eq!(GroupRole::from_stored(StoredValue::Text("BOSS")), None);
        assert_eq!(bool::from_stored(StoredValue::Int(1)), None);
        assert_eq!(Option::<i64>::from_stored(StoredValue::Text("1")), None);
        assert_eq!(String::from_stored(StoredValue::Null), None);
    }
}
