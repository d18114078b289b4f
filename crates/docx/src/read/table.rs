//! Reads tables.

use std::borrow::Cow;
use std::ops::Range;

use crate::content::{DocxBlock, TextCell, TextRow, TextTable};
use crate::flat::{BlockContext, Flat};
use crate::grid::{Grid, pixels};
use crate::read::{DocxReader, SourceContent, empty_paragraph, is_marker, shown_text};
use crate::xml::{ElementId, Tree};

/// What was read from a table.
#[derive(Debug)]
pub struct SourceTable {
    pub read: TextTable,
    /// Widths of the columns in pixels.
    pub widths: Vec<u32>,
    /// The number of the first block after the table.
    pub end: usize,
}

/// What was read from a row.
#[derive(Debug)]
pub struct SourceRow {
    pub read: TextRow,
    /// Cells that continue one of the row above.
    pub continued: Vec<ContinuedCell>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContinuedCell {
    pub column: usize,
    pub colspan: usize,
    pub span: Range<usize>,
}

/// What was read from a cell.
#[derive(Debug)]
pub struct SourceCell {
    pub read: TextCell,
    /// The number of its container.
    pub container: usize,
}

/// A cell of the file before cells are merged.
struct RawCell {
    element: ElementId,
    column: usize,
    colspan: usize,
    merge: Merge,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Merge {
    None,
    Start,
    Continue,
}

impl DocxReader<'_> {
    pub(super) fn table(&mut self, element: ElementId, container: usize) -> Flat<'static> {
        let tree = self.tree;
        let kind = obstacle(tree, element);
        let raw = if kind.is_none() && self.nesting < self.nesting_max {
            raw_rows(tree, element)
        } else {
            None
        };
        let Some(rows) = raw else {
            let text = shown_text(tree, element);
            let span = tree.get(element).span.clone();
            return self.block_island(element, span, container, kind.unwrap_or("table"), &text);
        };
        let widths = grid_widths(tree, element);
        let columns = rows
            .iter()
            .flat_map(|(_, cells)| cells)
            .map(|cell| cell.column + cell.colspan)
            .max();
        let widths = widths.filter(|widths| Some(widths.len()) == columns);
        let source = self.add_source(element, tree.get(element).span.clone(), container, SourceContent::Rule);
        self.nesting += 1;
        let mut read_rows = Vec::new();
        for (index, (row, cells)) in rows.iter().enumerate() {
            let row_source = self.add_source(*row, tree.get(*row).span.clone(), usize::MAX, SourceContent::Rule);
            let properties = tree.child(*row, "trPr");
            let is_header = properties.is_some_and(|properties| tree.toggle(properties, "tblHeader") == Some(true));
            let mut read = TextRow {
                source: Some(row_source),
                cells: Vec::new(),
            };
            let mut continued = Vec::new();
            for cell in cells {
                if cell.merge == Merge::Continue {
                    let span = tree.get(cell.element).span.clone();
                    continued.push(ContinuedCell {
                        column: cell.column,
                        colspan: cell.colspan,
                        span,
                    });
                    continue;
                }
                let below = rows[index + 1..].iter().take_while(|(_, below)| {
                    below
                        .iter()
                        .any(|other| other.column == cell.column && other.merge == Merge::Continue)
                });
                let rowspan = if cell.merge == Merge::Start {
                    1 + below.count()
                } else {
                    1
                };
                let widths = widths
                    .as_ref()
                    .map(|widths| widths[cell.column..cell.column + cell.colspan].to_vec());
                read.cells.push(self.cell(cell, is_header, rowspan, widths));
            }
            self.sources[row_source].content = SourceContent::Row(SourceRow {
                read: read.clone(),
                continued,
            });
            read_rows.push(read);
        }
        self.nesting -= 1;
        let table = TextTable {
            source: Some(source),
            rows: read_rows,
        };
        let widths = Grid::of(&table).widths;
        let end = self.sources.len();
        self.sources[source].content = SourceContent::Table(SourceTable {
            read: table.clone(),
            widths,
            end,
        });
        Flat {
            block: Cow::Owned(DocxBlock::Table(table)),
            context: BlockContext::default(),
        }
    }

    fn cell(&mut self, cell: &RawCell, is_header: bool, rowspan: usize, widths: Option<Vec<u32>>) -> TextCell {
        let span = self.tree.get(cell.element).span.clone();
        let source = self.add_source(cell.element, span, usize::MAX, SourceContent::Rule);
        let container = self.containers.len();
        let mut blocks = self.container(cell.element, &["tcPr"]);
        if blocks.is_empty() {
            blocks.push(DocxBlock::Paragraph(empty_paragraph()));
        }
        let read = TextCell {
            source: Some(source),
            is_header,
            colspan: cell.colspan,
            rowspan,
            widths,
            blocks,
        };
        self.sources[source].content = SourceContent::Cell(SourceCell {
            read: read.clone(),
            container,
        });
        read
    }
}

/// The kind of the island that a table has to be.
fn obstacle(tree: &Tree, table: ElementId) -> Option<&'static str> {
    let declares = |id: ElementId| tree.get(id).declares_namespaces;
    let mut found = declares(table).then_some("table");
    for child in tree.children(table) {
        match tree.word(child) {
            "tblPr" | "tblGrid" if !declares(child) => {}
            "tr" if !declares(child) => {
                for part in tree.children(child) {
                    let has = |names: &[&str]| tree.children(part).any(|inner| names.contains(&tree.word(inner)));
                    match tree.word(part) {
                        _ if declares(part) => found = Some("table"),
                        "trPr" if has(&["ins", "del"]) => return Some("tracked_change"),
                        // The row does not begin or end at the edge of the table.
                        "trPr" if has(&["gridBefore", "gridAfter"]) => found = Some("table"),
                        "tblPrEx" | "trPr" => {}
                        "tc" => {
                            let properties = tree.child(part, "tcPr");
                            let has = |names: &[&str]| {
                                let children = properties.into_iter().flat_map(|properties| tree.children(properties));
                                children.map(|child| tree.word(child)).any(|name| names.contains(&name))
                            };
                            if has(&["cellIns", "cellDel", "cellMerge"]) {
                                return Some("tracked_change");
                            }
                            if has(&["hMerge"]) || properties.is_some_and(declares) {
                                found = Some("table");
                            }
                        }
                        _ => found = Some("table"),
                    }
                }
            }
            _ if is_marker(tree, child) => {}
            _ => found = Some("table"),
        }
    }
    found
}

/// Rows with their cells; nothing if they do not form a rectangle.
fn raw_rows(tree: &Tree, table: ElementId) -> Option<Vec<(ElementId, Vec<RawCell>)>> {
    let mut rows: Vec<(ElementId, Vec<RawCell>)> = Vec::new();
    let mut width = None;
    for row in tree.children(table).filter(|child| tree.word(*child) == "tr") {
        let mut cells = Vec::new();
        let mut column = 0;
        for element in tree.children(row).filter(|child| tree.word(*child) == "tc") {
            let properties = tree.child(element, "tcPr");
            let span = properties.and_then(|properties| tree.child_value(properties, "gridSpan"));
            let colspan = span
                .and_then(|span| span.trim().parse::<usize>().ok())
                .unwrap_or(1)
                .clamp(1, 1000);
            let merge = properties.and_then(|properties| tree.child(properties, "vMerge"));
            let merge = merge.map_or(Merge::None, |merge| match tree.value(merge).as_deref() {
                Some("restart") => Merge::Start,
                _ => Merge::Continue,
            });
            let merge = if merge == Merge::Continue {
                let above = rows
                    .last()
                    .and_then(|(_, above)| above.iter().find(|above| above.column == column));
                match above {
                    Some(above) if above.colspan == colspan && above.merge != Merge::None => Merge::Continue,
                    // A program would have to guess where the merged cell begins.
                    _ => return None,
                }
            } else {
                merge
            };
            cells.push(RawCell {
                element,
                column,
                colspan,
                merge,
            });
            column += colspan;
        }
        if column == 0 || column > 1000 || *width.get_or_insert(column) != column {
            return None;
        }
        rows.push((row, cells));
    }
    (!rows.is_empty() && rows.len() <= 10_000).then_some(rows)
}

/// The widths in `w:tblGrid` in pixels; nothing if one is missing.
fn grid_widths(tree: &Tree, table: ElementId) -> Option<Vec<u32>> {
    let grid = tree.child(table, "tblGrid")?;
    let columns = tree.children(grid).filter(|child| tree.word(*child) == "gridCol");
    columns
        .map(|column| {
            tree.attribute(column, "w")?
                .parse()
                .ok()
                .filter(|width| *width > 0)
                .map(pixels)
        })
        .collect()
}
