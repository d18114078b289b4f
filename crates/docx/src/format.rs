//! Formatting of characters: the marks that a run shows, and the run properties that show other marks.

use crate::content::{Marks, Script};
use crate::properties::{Properties, RUN};
use crate::styles::{CharacterFormat, Styles, VerticalAlign};
use crate::xml::{ElementId, Tree};

const CODE_FONTS: &[&str] = &[
    "courier",
    "courier new",
    "consolas",
    "menlo",
    "monaco",
    "cascadia code",
    "cascadia mono",
    "dejavu sans mono",
    "liberation mono",
    "lucida console",
    "source code pro",
    "jetbrains mono",
    "fira code",
    "andale mono",
];

/// Highlights of the schema with the names that Word has for them; the first is written.
const HIGHLIGHTS: &[(&str, &[&str])] = &[
    ("yellow", &["yellow"]),
    ("green", &["green", "darkGreen"]),
    ("blue", &["cyan", "blue", "darkBlue", "darkCyan"]),
    ("pink", &["magenta"]),
    ("red", &["red", "darkRed"]),
    ("orange", &["darkYellow"]),
    ("purple", &["darkMagenta"]),
    ("gray", &["lightGray", "darkGray", "black"]),
];

/// Colors of the schema and their values.
const COLORS: &[(&str, [u8; 3])] = &[
    ("black", [0x00, 0x00, 0x00]),
    ("gray", [0x75, 0x75, 0x75]),
    ("red", [0xc0, 0x1c, 0x1c]),
    ("orange", [0xc5, 0x5a, 0x11]),
    ("green", [0x2e, 0x7d, 0x32]),
    ("teal", [0x00, 0x79, 0x7a]),
    ("blue", [0x1f, 0x4e, 0xbd]),
    ("purple", [0x70, 0x30, 0xa0]),
];
/// Text that is lighter than this is meant for a dark background and has no color of the schema.
const LIGHTEST: u32 = 0xe8;

/// The marks of a run.
pub fn read_marks(tree: &Tree, styles: &Styles, properties: Option<ElementId>, is_link: bool) -> Marks {
    let Some(properties) = properties else {
        return Marks::default();
    };
    let style = tree.child_value(properties, "rStyle");
    let mut style_format = style
        .as_deref()
        .map(|style| styles.character_format(style))
        .unwrap_or_default();
    if is_link {
        // The style of hyperlinks is not a mark of its own.
        style_format.underline = None;
    }
    let mut marks = CharacterFormat::read(tree, properties).or(style_format).marks();
    let fonts = tree
        .child(properties, "rFonts")
        .and_then(|fonts| tree.attribute(fonts, "ascii"));
    marks.code = style.is_some_and(|style| styles.is_code(&style))
        || fonts.is_some_and(|font| CODE_FONTS.contains(&font.to_lowercase().as_str()));
    marks.highlight = tree.child_value(properties, "highlight").and_then(|value| {
        HIGHLIGHTS
            .iter()
            .find(|(_, names)| names.contains(&&*value))
            .map(|(name, _)| (*name).to_owned())
    });
    marks.color = tree
        .child_value(properties, "color")
        .and_then(|value| nearest_color(&value))
        .map(str::to_owned);
    marks
}

fn nearest_color(value: &str) -> Option<&'static str> {
    if value.len() != 6 || !value.is_ascii() {
        return None;
    }
    let number = u32::from_str_radix(value, 16).ok()?;
    let [_, red, green, blue] = number.to_be_bytes();
    if [red, green, blue].iter().all(|part| u32::from(*part) >= LIGHTEST) {
        return None;
    }
    let distance = |color: &[u8; 3]| -> u32 {
        let parts = color.iter().zip([red, green, blue]);
        parts.map(|(one, other)| u32::from(one.abs_diff(other)).pow(2)).sum()
    };
    COLORS
        .iter()
        .min_by_key(|(_, color)| distance(color))
        .map(|(name, _)| *name)
}

/// Changes run properties so that they show other marks. What did not change is kept.
pub fn apply_marks(properties: &mut Properties, styles: &Styles, style: Option<&str>, from: &Marks, to: &Marks) {
    let base = style.map(|style| styles.character_format(style)).unwrap_or_default();
    let mut set = |name: &str, xml: String| properties.set(RUN, name, xml);
    let mut removed: Vec<&str> = Vec::new();
    let mut toggle = |is_on: bool, was_on: bool, is_on_in_style: Option<bool>, names: &[&'static str]| {
        if is_on == was_on {
            return;
        }
        if is_on {
            for name in names {
                set(name, format!("<w:{name}/>"));
            }
        } else if is_on_in_style == Some(true) {
            for name in names {
                set(name, format!("<w:{name} w:val=\"0\"/>"));
            }
        } else {
            removed.extend(names);
        }
    };
    toggle(to.strong, from.strong, base.strong, &["b", "bCs"]);
    toggle(to.em, from.em, base.em, &["i", "iCs"]);
    toggle(to.strike, from.strike, base.strike, &["strike"]);
    if to.underline != from.underline {
        if to.underline {
            set("u", "<w:u w:val=\"single\"/>".to_owned());
        } else if base.underline == Some(true) {
            set("u", "<w:u w:val=\"none\"/>".to_owned());
        } else {
            removed.push("u");
        }
    }
    if to.script != from.script {
        match to.script {
            Some(Script::Superscript) => set("vertAlign", "<w:vertAlign w:val=\"superscript\"/>".to_owned()),
            Some(Script::Subscript) => set("vertAlign", "<w:vertAlign w:val=\"subscript\"/>".to_owned()),
            None if base.vertical.and_then(VerticalAlign::script).is_some() => {
                set("vertAlign", "<w:vertAlign w:val=\"baseline\"/>".to_owned());
            }
            None => removed.push("vertAlign"),
        }
    }
    if to.highlight != from.highlight {
        let name = to
            .highlight
            .as_deref()
            .and_then(|name| HIGHLIGHTS.iter().find(|(known, _)| *known == name));
        match name {
            Some((_, names)) => set("highlight", format!("<w:highlight w:val=\"{}\"/>", names[0])),
            None => removed.push("highlight"),
        }
    }
    if to.color != from.color {
        let color = to
            .color
            .as_deref()
            .and_then(|name| COLORS.iter().find(|(known, _)| *known == name));
        match color {
            Some((_, [red, green, blue])) => {
                set("color", format!("<w:color w:val=\"{red:02X}{green:02X}{blue:02X}\"/>"));
            }
            None => removed.push("color"),
        }
    }
    if to.code != from.code {
        if to.code {
            let fonts = "<w:rFonts w:ascii=\"Courier New\" w:hAnsi=\"Courier New\" w:cs=\"Courier New\"/>";
            set("rFonts", fonts.to_owned());
        } else {
            removed.push("rFonts");
            if style.is_some_and(|style| styles.is_code(style)) {
                removed.push("rStyle");
            }
        }
    }
    properties.remove(&removed);
}

#[cfg(test)]
mod tests {
    use super::{COLORS, nearest_color};

    #[test]
    fn color_of_the_schema_when_written_is_read_as_itself() {
        for (name, [red, green, blue]) in COLORS {
            assert_eq!(nearest_color(&format!("{red:02X}{green:02X}{blue:02X}")), Some(*name));
        }
    }

    #[test]
    fn color_for_dark_backgrounds_when_read_is_no_color_of_the_schema() {
        assert_eq!(nearest_color("FFFFFF"), None);
        assert_eq!(nearest_color("auto"), None);
        assert_eq!(nearest_color("äöü"), None);
    }
}
