//! Schemas with several variants in the OpenAPI document: tagged types get a discriminator, the others an `anyOf` that
//! clients and validators can decide.

use std::collections::BTreeMap;

use serde_json::Value;
use utoipa::openapi::schema::{AnyOfBuilder, ArrayItems, SchemaType, Type};
use utoipa::openapi::{Discriminator, Ref, RefOr, Schema};

/// Gives each variant of a tagged type a schema of its own and the type a discriminator, so that generated clients
/// narrow it by its tag. utoipa writes the variants inline, where a discriminator cannot refer to them.
pub fn name_variants(schemas: &mut BTreeMap<String, RefOr<Schema>>) {
    let mut variants = BTreeMap::new();
    for (name, schema) in schemas.iter_mut() {
        let RefOr::T(Schema::OneOf(choice)) = schema else {
            continue;
        };
        let tags: Option<Vec<(String, String)>> = choice.items.iter().map(tag_of).collect();
        let Some(tags) = tags.filter(|tags| !tags.is_empty()) else {
            continue;
        };
        let mut mapping = BTreeMap::new();
        let tag = tags[0].0.clone();
        for (item, (_, value)) in choice.items.iter_mut().zip(tags) {
            let of_variant = format!("{name}{}{}", &value[..1], value[1..].to_lowercase());
            let reference = Ref::from_schema_name(&of_variant);
            mapping.insert(value, reference.ref_location.clone());
            let inline = std::mem::replace(item, reference.into());
            variants.insert(of_variant, inline);
        }
        choice.discriminator = Some(Discriminator::with_mapping(tag, mapping));
    }
    schemas.extend(variants);
}

/// Name and value of the tag of an inline variant.
fn tag_of(variant: &RefOr<Schema>) -> Option<(String, String)> {
    let RefOr::T(Schema::AllOf(all)) = variant else {
        return None;
    };
    let Some(RefOr::T(Schema::Object(object))) = all.items.last() else {
        return None;
    };
    let (name, tag) = object
        .properties
        .iter()
        .next()
        .filter(|_| object.properties.len() == 1)?;
    match tag {
        RefOr::T(Schema::Object(tag)) => match tag.enum_values.as_deref() {
            Some([Value::String(value)]) => Some((name.clone(), value.clone())),
            _ => None,
        },
        _ => None,
    }
}

/// Replaces `oneOf` by `anyOf` where no discriminator exists. An outline has a subset of the fields of the full view,
/// so a full view matches both schemas. A choice with null keeps `oneOf`, because a value never matches both.
pub fn use_any_of(schema: &mut RefOr<Schema>) {
    let RefOr::T(schema) = schema else { return };
    match schema {
        Schema::Array(list) => {
            if let ArrayItems::RefOrSchema(items) = &mut list.items {
                use_any_of(items);
            }
        }
        Schema::Object(object) => object.properties.values_mut().for_each(use_any_of),
        Schema::AllOf(all) => all.items.iter_mut().for_each(use_any_of),
        Schema::OneOf(choice) if choice.discriminator.is_none() && !choice.items.iter().any(is_null) => {
            let mut any = AnyOfBuilder::new().description(choice.description.take());
            for item in std::mem::take(&mut choice.items) {
                any = any.item(item);
            }
            *schema = any.build().into();
        }
        _ => {}
    }
}

/// Whether a schema allows null only.
pub fn is_null(schema: &RefOr<Schema>) -> bool {
    matches!(schema, RefOr::T(Schema::Object(object)) if object.schema_type == SchemaType::Type(Type::Null))
}
