//! Marks: strong text, links and the like.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::schema::AttrRules;
use crate::{Attrs, MarkType, RichTextError};

#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    mark_type: MarkType,
    attrs: Attrs,
}

impl Mark {
    /// Missing attributes get their defaults.
    pub fn new(mark_type: MarkType, attrs: &[(&str, Value)]) -> Result<Self, RichTextError> {
        let attrs = mark_type.attr_rules().build(|name| find(attrs, name))?;
        Ok(Self { mark_type, attrs })
    }

    pub fn from_json(json: &Value) -> Result<Self, RichTextError> {
        let name = json
            .get("type")
            .and_then(Value::as_str)
            .ok_or(RichTextError::Field("type"))?;
        let mark_type = MarkType::from_name(name).ok_or_else(|| RichTextError::unknown("mark", name))?;
        let attrs = mark_type.attr_rules().read(json.get("attrs"))?;
        Ok(Self { mark_type, attrs })
    }

    pub fn mark_type(&self) -> MarkType {
        self.mark_type
    }

    pub fn attr(&self, name: &str) -> &Value {
        self.attrs
            .get(self.mark_type.attr_rules(), name)
            .unwrap_or(&Value::Null)
    }

    /// Adds the mark to a set, in which it replaces the marks that it excludes. A mark in the set that excludes this one
    /// keeps it out.
    pub fn add_to(&self, set: &[Self]) -> Vec<Self> {
        let mut added = Vec::with_capacity(set.len() + 1);
        let mut is_placed = false;
        for other in set {
            if other == self {
                return set.to_vec();
            }
            if self.mark_type.excludes(other.mark_type) {
                continue;
            }
            if other.mark_type.excludes(self.mark_type) {
                return set.to_vec();
            }
            if !is_placed && other.mark_type > self.mark_type {
                added.push(self.clone());
                is_placed = true;
            }
            added.push(other.clone());
        }
        if !is_placed {
            added.push(self.clone());
        }
        added
    }

    pub fn remove_from(&self, set: &[Self]) -> Vec<Self> {
        set.iter().filter(|other| *other != self).cloned().collect()
    }

    /// Whether the marks are in order and can be combined.
    pub(crate) fn is_valid_set(set: &[Self]) -> bool {
        let rebuilt = set.iter().fold(Vec::new(), |rebuilt, mark| mark.add_to(&rebuilt));
        rebuilt == set
    }

    /// Reads the marks of a node and sorts them.
    pub(crate) fn set_from_json(json: Option<&Value>) -> Result<Vec<Self>, RichTextError> {
        let list = match json {
            None | Some(Value::Null) => return Ok(Vec::new()),
            // No valid set is longer, because each type excludes itself.
            Some(Value::Array(list)) if list.len() <= MarkType::ALL.len() => list,
            Some(_) => return Err(RichTextError::Field("marks")),
        };
        let mut marks = list.iter().map(Self::from_json).collect::<Result<Vec<_>, _>>()?;
        marks.sort_by_key(|mark| mark.mark_type);
        Ok(marks)
    }
}

pub(crate) fn find<'a>(attrs: &'a [(&str, Value)], name: &str) -> Option<&'a Value> {
    attrs.iter().find(|(other, _)| *other == name).map(|(_, value)| value)
}

impl Serialize for Mark {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", self.mark_type.name())?;
        serialize_attrs(&mut map, self.mark_type.attr_rules(), &self.attrs)?;
        map.end()
    }
}

pub(crate) fn serialize_attrs<M: SerializeMap>(
    map: &mut M,
    rules: &'static AttrRules,
    attrs: &Attrs,
) -> Result<(), M::Error> {
    if rules.names().len() == 0 {
        return Ok(());
    }
    map.serialize_entry("attrs", &AttrMap { rules, attrs })
}

struct AttrMap<'a> {
    rules: &'static AttrRules,
    attrs: &'a Attrs,
}

impl Serialize for AttrMap<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.rules.names().zip(self.attrs.values()))
    }
}
