//! The fields of PATCH bodies, read from the schemas of the OpenAPI document: those of the edit can be changed, the others
//! of the resource are ignored, so that a client may send what it read.

use std::any::TypeId;
use std::collections::{BTreeSet, HashMap};
use std::sync::{LazyLock, Mutex, PoisonError};

use garde::Validate;
use serde::de::DeserializeOwned;
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

/// The changes of a PATCH request.
pub trait Editable: DeserializeOwned + Validate<Context = ()> + ToSchema + 'static {
    /// The most detailed representation of the resource.
    type Resource: ToSchema;
    /// Fields that the resource had in earlier releases; ignored as well.
    const FORMER: &'static [&'static str] = &[];
}

/// The field names of a PATCH body.
#[derive(Debug)]
pub struct PatchFields {
    pub editable: BTreeSet<String>,
    pub read_only: BTreeSet<String>,
}

static FIELDS: LazyLock<Mutex<HashMap<TypeId, &'static PatchFields>>> = LazyLock::new(Mutex::default);

impl PatchFields {
    /// Returns the fields of an edit. They are computed once per type.
    pub fn of<E: Editable>() -> &'static Self {
        let mut known = FIELDS.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(TypeId::of::<E>()).or_insert_with(|| {
            let editable = field_names::<E>();
            let mut read_only = field_names::<E::Resource>();
            read_only.extend(E::FORMER.iter().map(|&name| name.to_owned()));
            Box::leak(Box::new(Self { editable, read_only }))
        })
    }
}

/// The names of the JSON fields of a type; of an enum, those of all variants.
fn field_names<T: ToSchema>() -> BTreeSet<String> {
    let mut schemas = Vec::new();
    T::schemas(&mut schemas);
    let schemas: HashMap<String, RefOr<Schema>> = schemas.into_iter().collect();
    let mut names = BTreeSet::new();
    add_names(&T::schema(), &schemas, &mut names);
    names
}

fn add_names(schema: &RefOr<Schema>, schemas: &HashMap<String, RefOr<Schema>>, names: &mut BTreeSet<String>) {
    let schema = match schema {
        RefOr::T(schema) => schema,
        RefOr::Ref(reference) => {
            let name = reference.ref_location.rsplit('/').next().unwrap_or_default();
            return schemas
                .get(name)
                .into_iter()
                .for_each(|schema| add_names(schema, schemas, names));
        }
    };
    let parts = match schema {
        Schema::Object(object) => return names.extend(object.properties.keys().cloned()),
        Schema::OneOf(one) => &one.items,
        Schema::AllOf(all) => &all.items,
        Schema::AnyOf(any) => &any.items,
        _ => return,
    };
    for part in parts {
        add_names(part, schemas, names);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::{Deserialize, Serialize};

    #[derive(Deserialize, Validate, ToSchema)]
    #[serde(rename_all = "camelCase")]
    struct BookEdit {
        #[garde(skip)]
        #[expect(dead_code, reason = "only its name is read")]
        short_title: String,
    }

    #[derive(Serialize, ToSchema)]
    #[serde(rename_all = "camelCase")]
    struct BookSummary {
        id: String,
        short_title: String,
    }

    #[derive(Serialize, ToSchema)]
    #[serde(rename_all = "camelCase")]
    struct Book {
        #[serde(flatten)]
        summary: BookSummary,
        page_count: i64,
    }

    impl Editable for BookEdit {
        type Resource = Book;
        const FORMER: &'static [&'static str] = &["isbn"];
    }

    #[test]
    fn fields_of_flattened_parts_and_former_fields_are_read_only() {
        let fields = PatchFields::of::<BookEdit>();
        let names = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>();
        assert_eq!(names(&fields.editable), ["shortTitle"]);
        assert_eq!(names(&fields.read_only), ["id", "isbn", "pageCount", "shortTitle"]);
    }
}
