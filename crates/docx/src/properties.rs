//! Property elements like `w:pPr` and `w:rPr`: children in a fixed order, of which some are replaced and all others are
//! kept as they are.

use crate::xml::{ElementId, Namespace, Tree};

/// The order of the children of `w:pPr`.
pub const PARAGRAPH: &[&str] = &[
    "pStyle",
    "keepNext",
    "keepLines",
    "pageBreakBefore",
    "framePr",
    "widowControl",
    "numPr",
    "suppressLineNumbers",
    "pBdr",
    "shd",
    "tabs",
    "suppressAutoHyphens",
    "kinsoku",
    "wordWrap",
    "overflowPunct",
    "topLinePunct",
    "autoSpaceDE",
    "autoSpaceDN",
    "bidi",
    "adjustRightInd",
    "snapToGrid",
    "spacing",
    "ind",
    "contextualSpacing",
    "mirrorIndents",
    "suppressOverlap",
    "jc",
    "textDirection",
    "textAlignment",
    "textboxTightWrap",
    "outlineLvl",
    "divId",
    "cnfStyle",
    "rPr",
    "sectPr",
    "pPrChange",
];

/// The order of the children of `w:rPr`; extensions of other namespaces follow before `rPrChange`.
pub const RUN: &[&str] = &[
    "rStyle",
    "rFonts",
    "b",
    "bCs",
    "i",
    "iCs",
    "caps",
    "smallCaps",
    "strike",
    "dstrike",
    "outline",
    "shadow",
    "emboss",
    "imprint",
    "noProof",
    "snapToGrid",
    "vanish",
    "webHidden",
    "color",
    "spacing",
    "w",
    "kern",
    "position",
    "sz",
    "szCs",
    "highlight",
    "u",
    "effect",
    "bdr",
    "shd",
    "fitText",
    "vertAlign",
    "rtl",
    "cs",
    "em",
    "lang",
    "eastAsianLayout",
    "specVanish",
    "oMath",
    "",
    "rPrChange",
];

/// The order of the children of `w:tcPr`.
pub const CELL: &[&str] = &[
    "cnfStyle",
    "tcW",
    "gridSpan",
    "hMerge",
    "vMerge",
    "tcBorders",
    "shd",
    "noWrap",
    "tcMar",
    "textDirection",
    "tcFitText",
    "vAlign",
    "hideMark",
    "headers",
    "cellIns",
    "cellDel",
    "cellMerge",
    "tcPrChange",
];

/// The order of the children of `w:trPr`.
pub const ROW: &[&str] = &[
    "cnfStyle",
    "divId",
    "gridBefore",
    "gridAfter",
    "wBefore",
    "wAfter",
    "cantSplit",
    "trHeight",
    "tblHeader",
    "tblCellSpacing",
    "jc",
    "hidden",
    "ins",
    "del",
    "trPrChange",
];

/// The children of a property element: name and XML.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Properties {
    children: Vec<(String, String)>,
}

impl Properties {
    pub fn read(tree: &Tree, element: Option<ElementId>) -> Self {
        let Some(element) = element else { return Self::default() };
        let children = tree.children(element).map(|child| {
            // Names of other namespaces have no place in the order of WordprocessingML.
            let name = if tree.get(child).namespace == Namespace::Word {
                tree.local(child)
            } else {
                ""
            };
            (name.to_owned(), tree.xml(child).to_owned())
        });
        Self {
            children: children.collect(),
        }
    }

    pub fn remove(&mut self, names: &[&str]) {
        self.children.retain(|(child, _)| !names.contains(&child.as_str()));
    }

    /// Replaces or inserts a child where the order requires it.
    pub fn set(&mut self, order: &[&str], name: &str, xml: String) {
        if let Some(child) = self.children.iter_mut().find(|(child, _)| child == name) {
            child.1 = xml;
            return;
        }
        let rank = |name: &str| order.iter().position(|known| *known == name).unwrap_or(order.len());
        let place = self.children.iter().position(|(child, _)| rank(child) > rank(name));
        self.children
            .insert(place.unwrap_or(self.children.len()), (name.to_owned(), xml));
    }

    /// The element with this name; nothing if it has no children.
    pub fn xml(&self, name: &str) -> String {
        if self.children.is_empty() {
            return String::new();
        }
        let inner: String = self.children.iter().map(|(_, xml)| xml.as_str()).collect();
        format!("<{name}>{inner}</{name}>")
    }
}
