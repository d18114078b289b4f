//! Attributes for the types of the API, in place of the derives and field attributes that all of them share. Each accepts
//! further derives: `#[view(PartialEq, Eq)]`. An attribute that a type or a field has itself takes precedence.

mod expand;

use proc_macro::TokenStream;

/// A response or a part of one. Derives `Debug`, `Clone`, `Serialize` and `ToSchema`.
///
/// - Fields are written in camelCase.
/// - `GroupView` is called `Group` in the OpenAPI document.
/// - An `Option` is a required field of the schema, because it is written as null, unless it has `skip_serializing_if`.
/// - A `StaffOnly` field is skipped if it is absent.
#[proc_macro_attribute]
pub fn view(derives: TokenStream, item: TokenStream) -> TokenStream {
    expand::finish(expand::view(derives.into(), item.into()))
}

/// A type that only describes JSON which is read or written without it. Derives `ToSchema`; fields are in camelCase. An
/// `Option` may be absent, but not null.
#[proc_macro_attribute]
pub fn described(derives: TokenStream, item: TokenStream) -> TokenStream {
    expand::finish(expand::described(derives.into(), item.into()))
}

/// The parameters of a query. Derives `Deserialize`, `Validate` and `IntoParams`; names are in camelCase. Fields are
/// validated as in a [`macro@body`]. The schemas of parameters that several routes share are in `expand::PARAMETERS`.
#[proc_macro_attribute]
pub fn query(derives: TokenStream, item: TokenStream) -> TokenStream {
    expand::finish(expand::query(derives.into(), item.into()))
}

/// The body of a request, or a part of one. Derives `Debug`, `Clone`, `Deserialize`, `Validate` and `ToSchema`.
///
/// - Fields are read in camelCase; unknown fields are rejected. A `FieldPatch` may be absent.
/// - A field without a `garde` attribute is validated by its type. A type that is valid whenever it is parsed (an id, an
///   enum) states so with an empty `Validate`. A text, list or number without a `garde` attribute does not compile.
#[proc_macro_attribute]
pub fn body(derives: TokenStream, item: TokenStream) -> TokenStream {
    expand::finish(expand::body(derives.into(), item.into()))
}

/// The body of a PATCH request. As [`macro@body`], but derives `Default`, too, and does not reject unknown fields: the
/// extractor `Patch` rejects those that are not fields of the resource.
#[proc_macro_attribute]
pub fn patch(derives: TokenStream, item: TokenStream) -> TokenStream {
    expand::finish(expand::patch(derives.into(), item.into()))
}
