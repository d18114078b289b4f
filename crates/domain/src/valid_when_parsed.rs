//! `garde::Validate` for types without limits to check.

/// Implements `Validate` for a type that is valid whenever it is parsed: `valid_when_parsed!(Timestamp)`, with generic
/// parameters `valid_when_parsed!(Marker<T>, T)`.
#[macro_export]
macro_rules! valid_when_parsed {
    ($name:ty $(, $generic:ident)*) => {
        impl<$($generic),*> garde::Validate for $name {
            type Context = ();

            fn validate_into(&self, (): &(), _: &mut dyn FnMut() -> garde::Path, _: &mut garde::Report) {}
        }
    };
}
