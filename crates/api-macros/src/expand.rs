//! The expansions, as functions of tokens so that tests can call them.

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Data, DeriveInput, Error, Field, GenericArgument, Path, PathArguments, PathSegment, Result, Token, Type,
    parse_quote, parse2,
};

/// Parameters whose types have no schema of their own, with the attributes that describe them.
const PARAMETERS: &[(&str, &str)] = &[
    ("Limit", "#[param(value_type = Option<i64>, minimum = 1, default = 50)]"),
    ("Cursor", "#[param(value_type = Option<String>)]"),
    ("Delimiter", "#[param(value_type = Option<String>)]"),
    ("DryRun", "#[serde(default)] #[param(value_type = Option<DryRun>)]"),
    ("Switch", "#[serde(default)]"),
];

/// Types that do not restrict their values: a field needs a `garde` attribute with its limits.
const UNLIMITED: &[&str] = &[
    "String", "Vec", "HashMap", "BTreeMap", "Value", "i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64",
    "usize", "f32", "f64",
];

/// Returns the expansion, or the error at the place that caused it.
pub fn finish(expansion: Result<TokenStream>) -> proc_macro::TokenStream {
    expansion.unwrap_or_else(|error| error.to_compile_error()).into()
}

pub fn view(derives: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let mut item: DeriveInput = parse2(item)?;
    rename_fields(&mut item);
    if let Some(name) = item.ident.to_string().strip_suffix("View")
        && !has(&item.attrs, "schema", "as")
    {
        let name = syn::Ident::new(name, item.ident.span());
        item.attrs.push(parse_quote!(#[schema(as = #name)]));
    }
    for field in fields(&mut item) {
        let outer = outer_segment(&field.ty);
        if outer.is_some_and(|outer| outer.ident == "StaffOnly") {
            describe_staff_only(field)?;
        } else if outer.is_some_and(|outer| outer.ident == "Option")
            && !has(&field.attrs, "serde", "skip_serializing_if")
            && !has(&field.attrs, "schema", "required")
        {
            field.attrs.push(parse_quote!(#[schema(required)]));
        }
    }
    derive(
        quote!(Debug, Clone, ::serde::Serialize, ::utoipa::ToSchema),
        derives,
        &item,
    )
}

pub fn described(derives: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let mut item: DeriveInput = parse2(item)?;
    if matches!(item.data, Data::Struct(_)) {
        item.attrs.push(parse_quote!(#[schema(rename_all = "camelCase")]));
    }
    for field in fields(&mut item) {
        let has_own = has(&field.attrs, "schema", "nullable") || has(&field.attrs, "schema", "required");
        if !has_own && outer_segment(&field.ty).is_some_and(|outer| outer.ident == "Option") {
            field.attrs.push(parse_quote!(#[schema(nullable = false)]));
        }
    }
    derive(quote!(::utoipa::ToSchema), derives, &item)
}

pub fn query(derives: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let mut item: DeriveInput = parse2(item)?;
    rename_fields(&mut item);
    item.attrs.push(parse_quote!(#[into_params(parameter_in = Query)]));
    for field in fields(&mut item) {
        validate(field)?;
        let name = innermost(&field.ty).map(|inner| inner.ident.to_string());
        let shared = PARAMETERS
            .iter()
            .find(|(parameter, _)| name.as_deref() == Some(*parameter));
        if let Some((_, attributes)) = shared
            && !field
                .attrs
                .iter()
                .any(|own| own.path().is_ident("param") || own.path().is_ident("serde"))
        {
            field.attrs.extend(Attribute::parse_outer.parse_str(attributes)?);
        }
    }
    derive(
        quote!(::serde::Deserialize, ::garde::Validate, ::utoipa::IntoParams),
        derives,
        &item,
    )
}

pub fn body(derives: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let mut item: DeriveInput = parse2(item)?;
    item.attrs.push(parse_quote!(#[serde(deny_unknown_fields)]));
    read(quote!(Debug, Clone), derives, item)
}

pub fn patch(derives: TokenStream, item: TokenStream) -> Result<TokenStream> {
    read(quote!(Debug, Clone, Default), derives, parse2(item)?)
}

fn read(shared: TokenStream, derives: TokenStream, mut item: DeriveInput) -> Result<TokenStream> {
    rename_fields(&mut item);
    for field in fields(&mut item) {
        validate(field)?;
        let is_patch = outer_segment(&field.ty).is_some_and(|outer| outer.ident == "FieldPatch");
        if is_patch && !has(&field.attrs, "serde", "default") {
            field.attrs.push(parse_quote!(#[serde(default)]));
        }
    }
    let shared = quote!(#shared, ::serde::Deserialize, ::garde::Validate, ::utoipa::ToSchema);
    derive(shared, derives, &item)
}

fn derive(shared: TokenStream, further: TokenStream, item: &DeriveInput) -> Result<TokenStream> {
    let further = Punctuated::<Path, Token![,]>::parse_terminated.parse2(further)?;
    Ok(quote!(#[derive(#shared, #further)] #item))
}

fn rename_fields(item: &mut DeriveInput) {
    if matches!(item.data, Data::Struct(_)) && !has(&item.attrs, "serde", "rename_all") {
        item.attrs.push(parse_quote!(#[serde(rename_all = "camelCase")]));
    }
}

/// Adds what each `StaffOnly<T>` needs: it is written as `T`, or not at all.
fn describe_staff_only(field: &mut Field) -> Result<()> {
    let value = outer_segment(&field.ty).and_then(argument).cloned();
    let value = value.ok_or_else(|| Error::new_spanned(&field.ty, "StaffOnly needs a type"))?;
    field
        .attrs
        .push(parse_quote!(#[serde(skip_serializing_if = "StaffOnly::is_absent")]));
    if !has(&field.attrs, "schema", "value_type") {
        field.attrs.push(parse_quote!(#[schema(value_type = #value)]));
    }
    field.attrs.push(parse_quote!(#[schema(required = false)]));
    Ok(())
}

/// Adds the `garde` attribute of a field that has none. `dive` requires that the type implements `Validate`.
fn validate(field: &mut Field) -> Result<()> {
    if field.attrs.iter().any(|own| own.path().is_ident("garde")) {
        return Ok(());
    }
    let name = innermost(&field.ty).map(|inner| inner.ident.to_string());
    match name.as_deref() {
        Some("bool") => field.attrs.push(parse_quote!(#[garde(skip)])),
        Some(name) if !UNLIMITED.contains(&name) => field.attrs.push(parse_quote!(#[garde(dive)])),
        _ => {
            return Err(Error::new_spanned(
                &field.ty,
                "this type has no limits: add a `garde` attribute",
            ));
        }
    }
    Ok(())
}

fn fields(item: &mut DeriveInput) -> impl Iterator<Item = &mut Field> {
    let data = match &mut item.data {
        Data::Struct(data) => Some(data.fields.iter_mut()),
        Data::Enum(_) | Data::Union(_) => None,
    };
    data.into_iter().flatten()
}

/// Whether an attribute with this name has this key, as in `#[schema(required)]`.
fn has(attributes: &[Attribute], name: &str, key: &str) -> bool {
    let lists = attributes.iter().filter(|attribute| attribute.path().is_ident(name));
    let tokens = lists.filter_map(|attribute| attribute.meta.require_list().ok());
    tokens
        .flat_map(|list| list.tokens.clone())
        .any(|token| matches!(token, TokenTree::Ident(ident) if ident == key))
}

/// The last segment of a path: `Option<T>` of `std::option::Option<T>`.
fn outer_segment(ty: &Type) -> Option<&PathSegment> {
    match ty {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    }
}

/// The type inside of `Option` and `FieldPatch`.
fn innermost(ty: &Type) -> Option<&PathSegment> {
    let outer = outer_segment(ty)?;
    if outer.ident == "Option" || outer.ident == "FieldPatch" {
        innermost(argument(outer)?)
    } else {
        Some(outer)
    }
}

fn argument(segment: &PathSegment) -> Option<&Type> {
    match &segment.arguments {
        PathArguments::AngleBracketed(arguments) => arguments.args.iter().find_map(|argument| match argument {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;

    fn expand_body(field: &TokenStream) -> std::result::Result<String, String> {
        let item = quote! { struct NewSample { #field } };
        body(TokenStream::new(), item)
            .map(|tokens| tokens.to_string())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn field_without_limits_is_rejected() {
        let unlimited = [
            quote!(name: String),
            quote!(name: Option<String>),
            quote!(name: FieldPatch<String>),
            quote!(names: Vec<Name>),
            quote!(count: i64),
            quote!(pair: (Name, Name)),
            quote!(name: &'a str),
        ];
        for field in unlimited {
            let error = expand_body(&field).unwrap_err();
            assert!(error.contains("add a `garde` attribute"), "{field}: {error}");
        }
    }

    #[test]
    fn field_with_own_attribute_keeps_it() {
        let expanded = expand_body(&quote!(#[garde(length(max = 9))] name: String)).unwrap();
        assert!(
            expanded.contains("length (max = 9)") && !expanded.contains("dive"),
            "{expanded}"
        );
    }

    #[test]
    fn field_of_another_type_is_validated_by_it() {
        for field in [
            quote!(name: Name),
            quote!(name: Option<Name>),
            quote!(name: crate::text::Name),
        ] {
            assert!(expand_body(&field).unwrap().contains("garde (dive)"), "{field}");
        }
        assert!(
            expand_body(&quote!(force: Option<bool>))
                .unwrap()
                .contains("garde (skip)")
        );
    }
}
