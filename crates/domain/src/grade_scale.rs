//! Validation of grades against a grade scale. A scale is free text written by a teacher. If it clearly lists its
//! values or names its two ends, other values are rejected; any other scale accepts every value.

use crate::text::{GradeScale, GradeValue};

/// Separators of a scale that lists its values.
const SEPARATORS: [char; 4] = [',', ';', '|', '/'];

impl GradeScale {
    /// Returns whether a value is part of this scale. `A, B, C` accepts these three; `1-6` and `A to F` accept the
    /// values between the ends, with an optional trailing plus or minus, and numbers with a fraction.
    pub fn accepts(&self, value: &GradeValue) -> bool {
        let (scale, value) = (self.as_str(), value.as_str().trim());
        if !scale.contains(SEPARATORS) {
            return parse_range(scale).is_none_or(|range| range.contains(value));
        }
        let mut entries = scale.split(SEPARATORS).map(str::trim).filter(|entry| !entry.is_empty());
        // "1-6, half steps" is a sentence about a scale, not a list of values.
        entries.clone().any(|entry| parse_range(entry).is_some())
            || entries.any(|entry| entry.eq_ignore_ascii_case(value))
    }
}

enum ScaleRange {
    Numbers(f64, f64),
    Letters(char, char),
}

impl ScaleRange {
    fn contains(&self, value: &str) -> bool {
        let step = value.strip_suffix(['+', '-', '−']).unwrap_or(value);
        match self {
            Self::Numbers(first, last) => number(step).is_some_and(|step| lies_between(&step, first, last)),
            Self::Letters(first, last) => letter(step).is_some_and(|step| lies_between(&step, first, last)),
        }
    }
}

/// Parses the two ends of scales like `1-6`, `A – F` and `A to F`.
fn parse_range(scale: &str) -> Option<ScaleRange> {
    let (first, last) = ["..", " to ", "-", "–"]
        .into_iter()
        .find_map(|between| scale.split_once(between))?;
    let (first, last) = (first.trim(), last.trim());
    let numbers = number(first).zip(number(last));
    let letters = letter(first).zip(letter(last));
    numbers
        .map(|(first, last)| ScaleRange::Numbers(first, last))
        .or_else(|| letters.map(|(first, last)| ScaleRange::Letters(first, last)))
}

fn lies_between<T: PartialOrd>(step: &T, first: &T, last: &T) -> bool {
    (first <= step && step <= last) || (last <= step && step <= first)
}

fn number(text: &str) -> Option<f64> {
    let is_plain = text
        .chars()
        .all(|mark| mark.is_ascii_digit() || matches!(mark, '.' | ','));
    text.replace(',', ".").parse().ok().filter(|_| is_plain)
}

fn letter(text: &str) -> Option<char> {
    let mut marks = text.chars();
    let letter = marks.next().filter(|mark| mark.is_ascii_alphabetic())?;
    marks.next().is_none().then_some(letter.to_ascii_uppercase())
}

/// Returns the number of a value such as `2`, `4,5` or `3-`; a plus or minus after it is ignored, because a scale does
/// not define its size.
pub fn numeric_value(value: &GradeValue) -> Option<f64> {
    let value = value.as_str().trim();
    number(value.strip_suffix(['+', '-', '−']).unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(scale: &str, values: &[&str]) -> Vec<bool> {
        let scale = GradeScale::stored(scale);
        values
            .iter()
            .map(|value| scale.accepts(&GradeValue::stored(*value)))
            .collect()
    }

    #[test]
    fn grade_scale_list_accepts_its_entries() {
        for scale in ["pass, fail", "pass/fail", "pass;fail", "Pass | Fail"] {
            assert_eq!(
                taken(scale, &["pass", "Fail", "passed", "A"]),
                [true, true, false, false],
                "{scale}"
            );
        }
    }

    #[test]
    fn grade_scale_range_accepts_values_between() {
        for scale in ["1-6", "6-1", "1 – 6", "1 to 6", "1..6"] {
            let values = ["1", "6", "2+", "3-", "4.5", "4,5", "0", "7", "A", "", "-2"];
            let expected = [true, true, true, true, true, true, false, false, false, false, false];
            assert_eq!(taken(scale, &values), expected, "{scale}");
        }
        assert_eq!(
            taken("A to F", &["A", "f", "C+", "G", "1", "AB"]),
            [true, true, true, false, false, false]
        );
        assert_eq!(taken("0-15", &["15", "15.5", "16"]), [true, false, false]);
    }

    #[test]
    fn free_text_grade_scale_accepts_any_value() {
        assert_eq!(taken("as agreed", &["fine"]), [true]);
        assert_eq!(taken("1-6, half steps", &["4.5"]), [true]);
        assert_eq!(taken("self-assessment", &["well done"]), [true]);
    }
}
