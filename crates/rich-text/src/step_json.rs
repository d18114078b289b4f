//! The JSON of steps.

use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::{Mark, MarkChange, RichTextError, Slice, Step};

impl Step {
    pub fn from_json(json: &Value) -> Result<Self, RichTextError> {
        let step_type = json
            .get("stepType")
            .and_then(Value::as_str)
            .ok_or(RichTextError::Field("stepType"))?;
        match step_type {
            "replace" => {
                let (from, to) = read_range(json, "from", "to")?;
                Ok(Self::Replace {
                    from,
                    to,
                    slice: Slice::from_json(json.get("slice"))?,
                    is_structure: is_structure(json)?,
                })
            }
            "replaceAround" => {
                let (from, to) = read_range(json, "from", "to")?;
                let (gap_from, gap_to) = read_range(json, "gapFrom", "gapTo")?;
                let insert = read_position(json, "insert")?;
                let slice = Slice::from_json(json.get("slice"))?;
                if gap_from < from || to < gap_to || insert > slice.size() {
                    return Err(RichTextError::Range);
                }
                let is_structure = is_structure(json)?;
                Ok(Self::ReplaceAround {
                    from,
                    to,
                    gap_from,
                    gap_to,
                    slice,
                    insert,
                    is_structure,
                })
            }
            "addMark" | "removeMark" => MarkChange::from_json(json).map(Self::Mark),
            "markSet" => {
                let steps = json
                    .get("steps")
                    .and_then(Value::as_array)
                    .ok_or(RichTextError::Field("steps"))?;
                steps
                    .iter()
                    .map(MarkChange::from_json)
                    .collect::<Result<_, _>>()
                    .map(Self::MarkSet)
            }
            "addNodeMark" | "removeNodeMark" => Ok(Self::NodeMark {
                position: read_position(json, "pos")?,
                mark: read_mark(json)?,
                is_added: step_type == "addNodeMark",
            }),
            "attr" => Ok(Self::Attr {
                position: read_position(json, "pos")?,
                attr: read_text(json, "attr")?,
                value: read_value(json)?,
            }),
            "docAttr" => Ok(Self::DocAttr {
                attr: read_text(json, "attr")?,
                value: read_value(json)?,
            }),
            _ => Err(RichTextError::unknown("step", step_type)),
        }
    }

    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("a step has string keys only")
    }
}

impl MarkChange {
    fn from_json(json: &Value) -> Result<Self, RichTextError> {
        let is_added = match json.get("stepType").and_then(Value::as_str) {
            Some("addMark") => true,
            Some("removeMark") => false,
            _ => return Err(RichTextError::Field("stepType")),
        };
        let mark = read_mark(json)?;
        let (from, to) = read_range(json, "from", "to")?;
        Ok(Self {
            from,
            to,
            mark,
            is_added,
        })
    }
}

fn read_position(json: &Value, name: &'static str) -> Result<usize, RichTextError> {
    // No document is longer than u32, and sums of a few of them do not overflow.
    let position = json
        .get(name)
        .and_then(Value::as_u64)
        .and_then(|position| u32::try_from(position).ok());
    position
        .and_then(|position| usize::try_from(position).ok())
        .ok_or(RichTextError::Field(name))
}

fn read_range(json: &Value, from: &'static str, to: &'static str) -> Result<(usize, usize), RichTextError> {
    let (from, to) = (read_position(json, from)?, read_position(json, to)?);
    if from <= to {
        Ok((from, to))
    } else {
        Err(RichTextError::Range)
    }
}

fn read_mark(json: &Value) -> Result<Mark, RichTextError> {
    json.get("mark")
        .ok_or(RichTextError::Field("mark"))
        .and_then(Mark::from_json)
}

fn read_text(json: &Value, name: &'static str) -> Result<String, RichTextError> {
    json.get(name)
        .and_then(Value::as_str)
        .map(str::to_owned)
        .ok_or(RichTextError::Field(name))
}

fn read_value(json: &Value) -> Result<Value, RichTextError> {
    json.get("value").cloned().ok_or(RichTextError::Field("value"))
}

fn is_structure(json: &Value) -> Result<bool, RichTextError> {
    match json.get("structure") {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(is_structure)) => Ok(*is_structure),
        Some(_) => Err(RichTextError::Field("structure")),
    }
}

impl Serialize for Step {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Replace {
                from,
                to,
                slice,
                is_structure,
            } => {
                map.serialize_entry("stepType", "replace")?;
                map.serialize_entry("from", from)?;
                map.serialize_entry("to", to)?;
                serialize_slice(&mut map, slice, *is_structure)?;
            }
            Self::ReplaceAround {
                from,
                to,
                gap_from,
                gap_to,
                slice,
                insert,
                is_structure,
            } => {
                map.serialize_entry("stepType", "replaceAround")?;
                map.serialize_entry("from", from)?;
                map.serialize_entry("to", to)?;
                map.serialize_entry("gapFrom", gap_from)?;
                map.serialize_entry("gapTo", gap_to)?;
                map.serialize_entry("insert", insert)?;
                serialize_slice(&mut map, slice, *is_structure)?;
            }
            Self::Mark(change) => change.serialize_into(&mut map)?,
            Self::MarkSet(changes) => {
                map.serialize_entry("stepType", "markSet")?;
                map.serialize_entry("steps", changes)?;
            }
            Self::NodeMark {
                position,
                mark,
                is_added,
            } => {
                map.serialize_entry("stepType", if *is_added { "addNodeMark" } else { "removeNodeMark" })?;
                map.serialize_entry("pos", position)?;
                map.serialize_entry("mark", mark)?;
            }
            Self::Attr { position, attr, value } => {
                map.serialize_entry("stepType", "attr")?;
                map.serialize_entry("pos", position)?;
                map.serialize_entry("attr", attr)?;
                map.serialize_entry("value", value)?;
            }
            Self::DocAttr { attr, value } => {
                map.serialize_entry("stepType", "docAttr")?;
                map.serialize_entry("attr", attr)?;
                map.serialize_entry("value", value)?;
            }
        }
        map.end()
    }
}

fn serialize_slice<M: SerializeMap>(map: &mut M, slice: &Slice, is_structure: bool) -> Result<(), M::Error> {
    if slice.size() > 0 {
        map.serialize_entry("slice", slice)?;
    }
    if is_structure {
        map.serialize_entry("structure", &true)?;
    }
    Ok(())
}

impl MarkChange {
    fn serialize_into<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("stepType", if self.is_added { "addMark" } else { "removeMark" })?;
        map.serialize_entry("mark", &self.mark)?;
        map.serialize_entry("from", &self.from)?;
        map.serialize_entry("to", &self.to)
    }
}

impl Serialize for MarkChange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.serialize_into(&mut map)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Value::deserialize(deserializer)?;
        Self::from_json(&json).map_err(D::Error::custom)
    }
}
