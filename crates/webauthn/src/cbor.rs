//! Reads CBOR maps of authenticators. Nesting is bounded, and a map that names a key twice is rejected.

use ciborium::Value;

use crate::error::WebAuthnError;

/// Maximum nesting. Authenticators send at most four levels (CTAP 2, section 8).
const DEPTH_MAX: usize = 8;

/// Reads one map from the start of the bytes and advances them past it.
pub(crate) fn read_map(bytes: &mut &[u8]) -> Result<Vec<(Value, Value)>, WebAuthnError> {
    let value: Value =
        ciborium::de::from_reader_with_recursion_limit(&mut *bytes, DEPTH_MAX).map_err(|_| WebAuthnError::Malformed)?;
    let Value::Map(entries) = value else {
        return Err(WebAuthnError::Malformed);
    };
    let is_repeated =
        |(index, (key, _)): (usize, &(Value, Value))| entries[..index].iter().any(|(other, _)| other == key);
    if entries.iter().enumerate().any(is_repeated) {
        return Err(WebAuthnError::Malformed);
    }
    Ok(entries)
}

/// Reads bytes that consist of one map.
pub(crate) fn read_whole_map(mut bytes: &[u8]) -> Result<Vec<(Value, Value)>, WebAuthnError> {
    let entries = read_map(&mut bytes)?;
    if bytes.is_empty() {
        Ok(entries)
    } else {
        Err(WebAuthnError::Malformed)
    }
}

/// Returns the value of a text key.
pub(crate) fn text_key<'a>(entries: &'a [(Value, Value)], key: &str) -> Option<&'a Value> {
    entries
        .iter()
        .find(|(found, _)| found.as_text() == Some(key))
        .map(|(_, value)| value)
}

/// Returns the value of an integer key.
pub(crate) fn integer_key(entries: &[(Value, Value)], key: i64) -> Option<&Value> {
    let key = Value::from(key);
    entries.iter().find(|(found, _)| *found == key).map(|(_, value)| value)
}
