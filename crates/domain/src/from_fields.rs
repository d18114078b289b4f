//! Builds values whose fields mostly have the names of the fields of another value, such as views of domain objects.

/// Builds a struct from the fields of the same names of another value, and from expressions:
/// `from_fields!(class => Self { id, name, is_archived: class.is_archived() })`. The fields are moved, or cloned with
/// `&class`. A local variable is an expression too: `counts: counts`.
#[macro_export]
macro_rules! from_fields {
    (@clone $from:expr, $field:ident) => { $from.$field.clone() };
    (@clone $from:expr, $field:ident, $value:expr) => { $value };
    (@move $from:expr, $field:ident) => { $from.$field };
    (@move $from:expr, $field:ident, $value:expr) => { $value };
    (&$from:expr => $($noun:ident)::+ { $($field:ident $(: $value:expr)?),* $(,)? }) => {
        $($noun)::+ { $($field: $crate::from_fields!(@clone $from, $field $(, $value)?)),* }
    };
    ($from:expr => $($noun:ident)::+ { $($field:ident $(: $value:expr)?),* $(,)? }) => {
        $($noun)::+ { $($field: $crate::from_fields!(@move $from, $field $(, $value)?)),* }
    };
}
