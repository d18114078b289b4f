//! Parses settings files with the rules of systemd's `EnvironmentFile=`, so that one file works for both. Lines that
//! systemd would silently ignore or merge (without `=`, an invalid name, an unclosed quote) are rejected with the line
//! number and the name of the setting, never with its value.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::environment;
use common::settings::SettingsError;

/// Why a file is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}{}: {why}", name.as_ref().map_or(String::new(), |name| format!(" ({name})")))]
pub struct UnreadableLine {
    /// The line where the setting begins, counted from 1.
    pub line: usize,
    /// The setting, if the line contains the name of one. Other text of the line may be part of a secret.
    pub name: Option<String>,
    why: &'static str,
}

const NO_EQUALS_SIGN: &str = "there is no `=`; a setting is NAME=value, and a value of several lines needs quotes";
const NO_NAME: &str = "before the `=` must stand a name of letters, digits and `_`, without `export`";
const OPEN_QUOTE: &str = "a quote is never closed, so that the rest of the file would become the value";
const NOT_TEXT: &str = "it is not UTF-8 text";
const COMMENT_ESCAPE: &str =
    "a comment ends with a backslash: releases of systemd differ in whether the next line is a comment too";

/// Sets environment variables of this process, replacing empty ones.
pub fn set_variables(values: &BTreeMap<String, String>) -> Result<(), SettingsError> {
    dotenvy::from_read_override(quoted(values).as_bytes()).map_err(|_| SettingsError("cannot be read".to_owned()))?;
    for (name, value) in values {
        // Verifies that the setter read the same value as the parser.
        if environment(name).as_ref() != Some(value) {
            return Err(SettingsError(format!("{name} cannot be set")));
        }
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ParserState {
    BeforeName,
    Name,
    BeforeValue,
    Value,
    ValueEscape,
    SingleQuoted,
    DoubleQuoted,
    DoubleQuotedEscape,
    Comment,
    CommentEscape,
}

/// Returns whether a setting of this name exists.
type IsSetting<'s> = &'s dyn Fn(&str) -> bool;

/// Parses a file; the last value of a repeated name wins.
pub fn parse(bytes: &[u8], is_setting: IsSetting<'_>) -> Result<BTreeMap<String, String>, UnreadableLine> {
    let mut parser = Parser {
        is_setting,
        found: BTreeMap::new(),
        state: ParserState::BeforeName,
        line: 1,
        begin: 1,
        name: String::new(),
        value: String::new(),
        trimmed: None,
    };
    for character in text(bytes, is_setting)?.chars() {
        parser.state = parser.step(character)?;
        parser.line += usize::from(character == '\n');
    }
    parser.end()
}

/// The states and transitions of systemd's parser (`parse_env_file_internal`).
struct Parser<'s> {
    is_setting: IsSetting<'s>,
    found: BTreeMap<String, String>,
    state: ParserState,
    line: usize,
    /// The line where the present setting begins.
    begin: usize,
    name: String,
    value: String,
    /// The length of an unquoted value without trailing whitespace.
    trimmed: Option<usize>,
}

impl Parser<'_> {
    fn step(&mut self, character: char) -> Result<ParserState, UnreadableLine> {
        let (is_newline, is_space) = (is_newline(character), is_space(character));
        Ok(match self.state {
            ParserState::BeforeName if matches!(character, '#' | ';') => ParserState::Comment,
            ParserState::BeforeName if is_space => ParserState::BeforeName,
            ParserState::BeforeName if character == '=' => {
                return Err(unreadable(self.line, "", self.is_setting, NO_NAME));
            }
            ParserState::BeforeName => {
                self.begin = self.line;
                self.name.push(character);
                ParserState::Name
            }
            ParserState::Name if is_newline => return Err(self.unreadable(NO_EQUALS_SIGN)),
            ParserState::Name if character == '=' => {
                self.trimmed = None;
                ParserState::BeforeValue
            }
            ParserState::Name => {
                self.name.push(character);
                ParserState::Name
            }
            ParserState::BeforeValue | ParserState::Value if is_newline => {
                self.keep()?;
                ParserState::BeforeName
            }
            ParserState::BeforeValue if character == '\'' => ParserState::SingleQuoted,
            ParserState::BeforeValue if character == '"' => ParserState::DoubleQuoted,
            ParserState::BeforeValue | ParserState::Value if character == '\\' => {
                self.trimmed = None;
                ParserState::ValueEscape
            }
            ParserState::BeforeValue if is_space => ParserState::BeforeValue,
            ParserState::BeforeValue | ParserState::Value => {
                if !is_space {
                    self.trimmed = None;
                } else if self.trimmed.is_none() {
                    self.trimmed = Some(self.value.len());
                }
                self.value.push(character);
                ParserState::Value
            }
            ParserState::ValueEscape => {
                if !is_newline {
                    self.value.push(character);
                }
                ParserState::Value
            }
            ParserState::SingleQuoted if character == '\'' => ParserState::BeforeValue,
            ParserState::DoubleQuoted if character == '"' => ParserState::BeforeValue,
            ParserState::DoubleQuoted if character == '\\' => ParserState::DoubleQuotedEscape,
            ParserState::SingleQuoted | ParserState::DoubleQuoted => {
                self.value.push(character);
                self.state
            }
            ParserState::DoubleQuotedEscape => {
                if matches!(character, '"' | '\\' | '`' | '$') {
                    self.value.push(character);
                } else if character != '\n' {
                    self.value.extend(['\\', character]);
                }
                ParserState::DoubleQuoted
            }
            ParserState::Comment if is_newline => ParserState::BeforeName,
            ParserState::Comment if character == '\\' => ParserState::CommentEscape,
            ParserState::CommentEscape if is_newline => {
                return Err(unreadable(self.line, "", self.is_setting, COMMENT_ESCAPE));
            }
            ParserState::Comment | ParserState::CommentEscape => ParserState::Comment,
        })
    }

    fn end(mut self) -> Result<BTreeMap<String, String>, UnreadableLine> {
        match self.state {
            ParserState::BeforeName | ParserState::Comment | ParserState::CommentEscape => {}
            ParserState::Name => return Err(self.unreadable(NO_EQUALS_SIGN)),
            ParserState::SingleQuoted | ParserState::DoubleQuoted | ParserState::DoubleQuotedEscape => {
                return Err(self.unreadable(OPEN_QUOTE));
            }
            ParserState::BeforeValue | ParserState::Value | ParserState::ValueEscape => self.keep()?,
        }
        Ok(self.found)
    }

    fn keep(&mut self) -> Result<(), UnreadableLine> {
        if let (ParserState::Value, Some(length)) = (self.state, self.trimmed) {
            self.value.truncate(length);
        }
        let name = self.name.trim_end_matches(is_space);
        let begins = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        if !begins || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return Err(self.unreadable(NO_NAME));
        }
        self.found.insert(name.to_owned(), std::mem::take(&mut self.value));
        self.name.clear();
        Ok(())
    }

    fn unreadable(&self, why: &'static str) -> UnreadableLine {
        unreadable(self.begin, &self.name, self.is_setting, why)
    }
}

fn text<'a>(bytes: &'a [u8], is_setting: IsSetting<'_>) -> Result<&'a str, UnreadableLine> {
    let valid = match std::str::from_utf8(bytes) {
        Ok(text) => text.find('\0').unwrap_or(text.len()),
        Err(error) => error.valid_up_to(),
    };
    if valid == bytes.len() {
        return std::str::from_utf8(bytes).map_err(|_| unreadable(1, "", is_setting, NOT_TEXT));
    }
    let before = String::from_utf8_lossy(&bytes[..valid]);
    let last = before.rsplit('\n').next().unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let name = last.split('=').next().unwrap_or_default();
    Err(unreadable(line, name, is_setting, NOT_TEXT))
}

fn unreadable(line: usize, text: &str, is_setting: IsSetting<'_>, why: &'static str) -> UnreadableLine {
    let mut words = text.split(|character: char| !character.is_ascii_alphanumeric() && character != '_');
    let name = words.find(|word| is_setting(word)).map(str::to_owned);
    UnreadableLine { line, name, why }
}

fn is_newline(character: char) -> bool {
    matches!(character, '\n' | '\r')
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r')
}

/// Serializes the values for the library that sets them, because setting variables in Rust is `unsafe`.
fn quoted(values: &BTreeMap<String, String>) -> String {
    let mut text = String::new();
    for (name, value) in values {
        let _ = write!(text, "{name}=\"");
        for character in value.chars() {
            match character {
                '\n' => text.push_str("\\n"),
                '\\' | '"' | '$' => text.extend(['\\', character]),
                other => text.push(other),
            }
        }
        text.push_str("\"\n");
    }
    text
}

#[cfg(test)]
#[path = "dotenv_tests.rs"]
mod tests;
