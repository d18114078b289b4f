//! Splits a JSON response into the elements of one array while it is received, so that memory does not depend on the
//! number of elements.

/// Maximum size of an element in bytes.
const ITEM_MAX: usize = 1 << 20;

/// Why a response cannot be split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SplitError {
    NotJson,
    /// The document lacks the array.
    NoList,
    ItemTooLarge,
    /// The document is not complete.
    Incomplete,
}

/// Where the array is.
#[derive(Debug, Clone, Copy)]
pub(super) enum ListLocation {
    /// The document is the array.
    Document,
    /// The document is an object, and the array has one of these keys.
    Keys(&'static [&'static str]),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SplitState {
    Start,
    /// In the object, before a key or the end.
    Members,
    Key,
    AfterKey,
    BeforeValue,
    /// In a value that is ignored.
    OtherValue,
    /// In the array, before an element or the end.
    Items,
    Item,
    End,
}

/// The splitter of one response.
#[derive(Debug)]
pub(super) struct ItemSplitter {
    location: ListLocation,
    state: SplitState,
    /// The key or the element that is being read.
    text: Vec<u8>,
    /// Open brackets within the element or the ignored value.
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
    has_list: bool,
}

impl ItemSplitter {
    pub(super) const fn new(location: ListLocation) -> Self {
        Self {
            location,
            state: SplitState::Start,
            text: Vec::new(),
            depth: 0,
            is_in_string: false,
            is_escaped: false,
            has_list: false,
        }
    }

    /// Reads the next bytes and appends the elements that are complete.
    pub(super) fn feed(&mut self, bytes: &[u8], items: &mut Vec<Vec<u8>>) -> Result<(), SplitError> {
        bytes.iter().try_for_each(|byte| self.step(*byte, items))
    }

    /// Checks that the response was complete.
    pub(super) fn finish(&self) -> Result<(), SplitError> {
        match (self.state, self.has_list) {
            (SplitState::End, true) => Ok(()),
            (SplitState::End, false) => Err(SplitError::NoList),
            _ => Err(SplitError::Incomplete),
        }
    }

    fn step(&mut self, byte: u8, items: &mut Vec<Vec<u8>>) -> Result<(), SplitError> {
        let is_space = byte.is_ascii_whitespace();
        match self.state {
            SplitState::Start => match (byte, self.location) {
                _ if is_space => {}
                (b'[', ListLocation::Document) => self.start_list(),
                (b'{', ListLocation::Keys(_)) => self.state = SplitState::Members,
                (b'{' | b'[', _) => return Err(SplitError::NoList),
                _ => return Err(SplitError::NotJson),
            },
            SplitState::Members => match byte {
                b'"' => {
                    self.text.clear();
                    self.state = SplitState::Key;
                }
                b'}' => self.state = SplitState::End,
                b',' => {}
                _ if is_space => {}
                _ => return Err(SplitError::NotJson),
            },
            SplitState::Key => self.step_key(byte)?,
            SplitState::AfterKey => match byte {
                b':' => self.state = SplitState::BeforeValue,
                _ if is_space => {}
                _ => return Err(SplitError::NotJson),
            },
            SplitState::BeforeValue | SplitState::End if is_space => {}
            SplitState::BeforeValue => {
                if byte == b'[' && self.is_list_key() {
                    self.start_list();
                } else {
                    self.state = SplitState::OtherValue;
                    self.step_value(byte, items)?;
                }
            }
            SplitState::OtherValue | SplitState::Item => self.step_value(byte, items)?,
            SplitState::Items => match byte {
                b']' => self.end_list(),
                b',' => {}
                _ if is_space => {}
                _ => {
                    self.text.clear();
                    self.state = SplitState::Item;
                    self.step_value(byte, items)?;
                }
            },
            SplitState::End => return Err(SplitError::NotJson),
        }
        Ok(())
    }

    fn step_key(&mut self, byte: u8) -> Result<(), SplitError> {
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' => self.is_escaped = true,
            b'"' => {
                self.state = SplitState::AfterKey;
                return Ok(());
            }
            _ => {}
        }
        self.push(byte)
    }

    /// Reads a byte of an element, which is kept, or of an ignored value.
    fn step_value(&mut self, byte: u8, items: &mut Vec<Vec<u8>>) -> Result<(), SplitError> {
        if self.is_in_string {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.is_in_string = false,
                _ => {}
            }
            return self.keep(byte);
        }
        match byte {
            b'"' => self.is_in_string = true,
            b'{' | b'[' => self.depth += 1,
            // The brackets of the element itself are counted, so that these end what is around it.
            b',' | b'}' | b']' if self.depth == 0 => return self.end_value(byte, items),
            b'}' | b']' => self.depth -= 1,
            _ => {}
        }
        self.keep(byte)
    }

    fn end_value(&mut self, byte: u8, items: &mut Vec<Vec<u8>>) -> Result<(), SplitError> {
        if self.state == SplitState::Item {
            items.push(std::mem::take(&mut self.text));
            match byte {
                b',' => self.state = SplitState::Items,
                b']' => self.end_list(),
                _ => return Err(SplitError::NotJson),
            }
            return Ok(());
        }
        self.state = match byte {
            b',' => SplitState::Members,
            b'}' => SplitState::End,
            _ => return Err(SplitError::NotJson),
        };
        Ok(())
    }

    fn start_list(&mut self) {
        self.has_list = true;
        self.state = SplitState::Items;
    }

    fn end_list(&mut self) {
        self.state = match self.location {
            ListLocation::Document => SplitState::End,
            ListLocation::Keys(_) => SplitState::Members,
        };
    }

    fn is_list_key(&self) -> bool {
        match self.location {
            ListLocation::Document => false,
            ListLocation::Keys(keys) => !self.has_list && keys.iter().any(|key| key.as_bytes() == self.text),
        }
    }

    fn keep(&mut self, byte: u8) -> Result<(), SplitError> {
        match self.state {
            SplitState::Item => self.push(byte),
            _ => Ok(()),
        }
    }

    fn push(&mut self, byte: u8) -> Result<(), SplitError> {
        if self.text.len() == ITEM_MAX {
            return Err(SplitError::ItemTooLarge);
        }
        self.text.push(byte);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;

    const USERS: ListLocation = ListLocation::Keys(&["users"]);

    /// Splits a document that arrives in pieces of this size.
    fn split(document: &str, location: ListLocation, piece: usize) -> Result<Vec<String>, SplitError> {
        let (mut splitter, mut items) = (ItemSplitter::new(location), Vec::new());
        for bytes in document.as_bytes().chunks(piece) {
            splitter.feed(bytes, &mut items)?;
        }
        splitter.finish()?;
        Ok(items.into_iter().map(|item| String::from_utf8(item).unwrap()).collect())
    }

    #[test]
    fn elements_of_list_are_found_in_pieces_of_any_size() {
        let tricky = r#"{"a":"]},\"","b":[{"c":[1]},"}"],"ü":"\\"}"#;
        let document =
            format!(r#" {{"total":2,"x":{{"users":[0]}},"n":null, "users" : [ {tricky} ,7,{{}} ],"y":[1]}} "#);
        for piece in [1, 2, 3, 7, 1000] {
            assert_eq!(
                split(&document, USERS, piece).unwrap(),
                [&format!("{tricky} "), "7", "{} "]
            );
            assert_eq!(
                split(&format!("[{tricky}]"), ListLocation::Document, piece).unwrap(),
                [tricky]
            );
        }
        assert!(split(r#"{"users":[]}"#, USERS, 1).unwrap().is_empty());
        assert!(split("[]", ListLocation::Document, 1).unwrap().is_empty());
    }

    #[test]
    fn incomplete_and_other_documents_are_rejected() {
        for (document, error) in [
            ("", SplitError::Incomplete),
            (r#"{"users":[{"a":1},"#, SplitError::Incomplete),
            (r#"{"users":[{"a":1}]"#, SplitError::Incomplete),
            (r#"{"errors":["users"]}"#, SplitError::NoList),
            (r#"{"users":{"a":[1]}}"#, SplitError::NoList),
            ("[1]", SplitError::NoList),
            ("<html>", SplitError::NotJson),
            (r#"{"users":[]}{"users":[]}"#, SplitError::NotJson),
            (r#"{"users":[1}"#, SplitError::NotJson),
        ] {
            assert_eq!(split(document, USERS, 3), Err(error), "{document}");
        }
        let large = format!(r#"{{"users":["{}"]}}"#, "x".repeat(ITEM_MAX));
        assert_eq!(split(&large, USERS, 1000), Err(SplitError::ItemTooLarge));
    }
}
