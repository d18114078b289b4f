//! Writes tables: unchanged rows and cells are copied, others keep their properties.

use crate::content::{Source, TextCell, TextRow, TextTable};
use crate::grid::{Grid, GridPlace, SlotContent, twips};
use crate::properties::{CELL, Properties, ROW};
use crate::read::table::{SourceCell, SourceRow};
use crate::read::{SourceContent, is_marker};
use crate::write::{DocxWriter, EMPTY_PARAGRAPH};
use crate::xml::{ElementId, push};

impl DocxWriter<'_> {
    pub(super) fn table(&mut self, table: &TextTable) -> String {
        let reading = self.reading;
        let base = table.source.and_then(|source| {
            let block = reading.sources.get(source)?;
            match &block.content {
                SourceContent::Table(read) if !self.used.contains(&source) => Some((source, block, read)),
                _ => None,
            }
        });
        if let Some((source, block, read)) = base {
            if read.read == *table && (source..read.end).all(|inner| !self.used.contains(&inner)) {
                self.mark_used(source..read.end);
                return self.tree.text_of(&block.span).to_owned();
            }
            self.used.insert(source);
        }
        let tree = self.tree;
        let grid = Grid::of(table);
        let element = base.map(|(_, block, _)| block.element);
        let is_same_grid = base.is_some_and(|(_, _, read)| read.widths == grid.widths);
        let mut xml = String::new();
        if let Some(element) = element {
            xml.push_str(tree.text_of(&tree.get(element).tag));
            xml.push_str(
                tree.child(element, "tblPr")
                    .map_or("", |properties| tree.xml(properties)),
            );
        } else {
            let style = self.styles.table_grid_or_added();
            push!(
                xml,
                "<w:tbl><w:tblPr><w:tblStyle w:val=\"{style}\"/><w:tblW w:w=\"0\" w:type=\"auto\"/><w:tblLook \
                     w:val=\"04A0\" w:firstRow=\"1\" w:lastRow=\"0\" w:firstColumn=\"1\" w:lastColumn=\"0\" \
                     w:noHBand=\"0\" w:noVBand=\"1\"/></w:tblPr>"
            );
        }
        let original_grid = element
            .and_then(|element| tree.child(element, "tblGrid"))
            .filter(|_| is_same_grid);
        if let Some(grid) = original_grid {
            xml.push_str(tree.xml(grid));
        } else {
            xml.push_str("<w:tblGrid>");
            for width in &grid.widths {
                push!(xml, "<w:gridCol w:w=\"{}\"/>", twips(*width));
            }
            xml.push_str("</w:tblGrid>");
        }
        self.table_depth += 1;
        let mut markers = element.map(|element| self.row_markers(element)).unwrap_or_default();
        for (row, slots) in table.rows.iter().zip(&grid.rows) {
            if let Some(source) = row.source {
                xml.push_str(&take_until(&mut markers, source));
            }
            self.push_row(&mut xml, row, slots, &grid, is_same_grid);
        }
        self.table_depth -= 1;
        xml.push_str(&take_until(&mut markers, usize::MAX));
        let end = element.map_or("</w:tbl>".to_owned(), |element| format!("</{}>", tree.name(element)));
        xml.push_str(&end);
        xml
    }

    fn mark_used(&mut self, sources: std::ops::Range<usize>) {
        for source in sources {
            self.used.insert(source);
            self.mark_footnotes(source);
        }
    }

    /// Bookmarks between rows, with the number of the row that follows.
    fn row_markers(&self, table: ElementId) -> Vec<(usize, String)> {
        let tree = self.tree;
        let mut markers = Vec::new();
        let mut waiting: Vec<String> = Vec::new();
        for child in tree.children(table) {
            if is_marker(tree, child) {
                waiting.push(tree.xml(child).to_owned());
            } else if tree.word(child) == "tr" && !waiting.is_empty() {
                let row = self.reading.sources.iter().position(|block| block.element == child);
                markers.extend(waiting.drain(..).map(|xml| (row.unwrap_or(usize::MAX), xml)));
            }
        }
        markers.extend(waiting.into_iter().map(|xml| (usize::MAX, xml)));
        markers
    }

    fn row_source(&self, source: Source) -> Option<(usize, ElementId, &SourceRow)> {
        let source = source?;
        let block = self.reading.sources.get(source)?;
        match &block.content {
            SourceContent::Row(row) if !self.used.contains(&source) => Some((source, block.element, row)),
            _ => None,
        }
    }

    fn push_row(
        &mut self,
        xml: &mut String,
        row: &TextRow,
        slots: &[GridPlace<'_>],
        grid: &Grid<'_>,
        is_same_grid: bool,
    ) {
        let tree = self.tree;
        let reading = self.reading;
        let base = self
            .row_source(row.source)
            .map(|(source, element, _)| (source, element));
        let read = base.and_then(|(source, _)| match &reading.sources[source].content {
            SourceContent::Row(row) => Some(row),
            _ => None,
        });
        let continued: Vec<(usize, usize)> = slots
            .iter()
            .filter(|slot| matches!(slot.content, SlotContent::Continued))
            .map(|slot| (slot.column, slot.colspan))
            .collect();
        if let (Some((source, element)), Some(read)) = (base, read) {
            let before = read.continued.iter().map(|cell| (cell.column, cell.colspan));
            let is_whole = !slots.iter().any(|slot| matches!(slot.content, SlotContent::Missing));
            let inner = source..self.end_of_row(source);
            if is_same_grid
                && is_whole
                && read.read == *row
                && before.eq(continued.iter().copied())
                && inner.clone().all(|inner| !self.used.contains(&inner))
            {
                self.mark_used(inner);
                xml.push_str(tree.xml(element));
                return;
            }
            self.used.insert(source);
        }
        let is_header = is_header(row);
        let was_header = read.is_some_and(|read| self::is_header(&read.read));
        let element = base.map(|(_, element)| element);
        let properties = element.and_then(|element| tree.child(element, "trPr"));
        let mut properties = Properties::read(tree, properties);
        if is_header && !was_header {
            properties.set(ROW, "tblHeader", "<w:tblHeader/>".to_owned());
        } else if was_header && !is_header {
            properties.remove(&["tblHeader"]);
        }
        match element {
            Some(element) => {
                xml.push_str(tree.text_of(&tree.get(element).tag));
                xml.push_str(
                    tree.child(element, "tblPrEx")
                        .map_or("", |exceptions| tree.xml(exceptions)),
                );
            }
            None => xml.push_str("<w:tr>"),
        }
        xml.push_str(&properties.xml("w:trPr"));
        for slot in slots {
            let width: u32 = grid.slot_widths(slot).iter().map(|pixels| twips(*pixels)).sum();
            match slot.content {
                SlotContent::Cell { cell, rowspan } => {
                    self.push_cell(
                        xml,
                        cell,
                        slot.colspan,
                        rowspan,
                        (!is_same_grid).then_some(width),
                        width,
                    );
                }
                SlotContent::Continued => {
                    let original = read.and_then(|read| {
                        read.continued
                            .iter()
                            .find(|cell| (cell.column, cell.colspan) == (slot.column, slot.colspan))
                    });
                    if let Some(cell) = original.filter(|_| is_same_grid) {
                        xml.push_str(tree.text_of(&cell.span));
                    } else {
                        let properties = new_cell_properties(width, slot.colspan, "<w:vMerge/>");
                        push!(xml, "<w:tc>{properties}{EMPTY_PARAGRAPH}</w:tc>");
                    }
                }
                SlotContent::Missing => {
                    let properties = new_cell_properties(width, 1, "");
                    push!(xml, "<w:tc>{properties}{EMPTY_PARAGRAPH}</w:tc>");
                }
            }
        }
        let end = element.map_or("</w:tr>".to_owned(), |element| format!("</{}>", tree.name(element)));
        xml.push_str(&end);
    }

    /// The number of the first block after a row of the original: its blocks have consecutive numbers.
    fn end_of_row(&self, source: usize) -> usize {
        let sources = &self.reading.sources;
        let end = sources[source].span.end;
        source
            + sources[source..]
                .iter()
                .take_while(|block| block.span.start < end)
                .count()
    }

    fn push_cell(
        &mut self,
        xml: &mut String,
        cell: &TextCell,
        colspan: usize,
        rowspan: usize,
        new_width: Option<u32>,
        width: u32,
    ) {
        let tree = self.tree;
        let reading = self.reading;
        let base: Option<(usize, ElementId, &SourceCell)> = cell.source.and_then(|source| {
            let block = reading.sources.get(source)?;
            match &block.content {
                SourceContent::Cell(read) if !self.used.contains(&source) => Some((source, block.element, read)),
                _ => None,
            }
        });
        let Some((source, element, read)) = base else {
            let merge = if rowspan > 1 {
                "<w:vMerge w:val=\"restart\"/>"
            } else {
                ""
            };
            let properties = new_cell_properties(width, colspan, merge);
            let blocks = self.container(&cell.blocks, None);
            push!(xml, "<w:tc>{properties}{blocks}</w:tc>");
            return;
        };
        self.used.insert(source);
        let mut properties = Properties::read(tree, tree.child(element, "tcPr"));
        if new_width.is_some() || colspan != read.read.colspan {
            properties.set(CELL, "tcW", format!("<w:tcW w:w=\"{width}\" w:type=\"dxa\"/>"));
        }
        if colspan != read.read.colspan {
            if colspan > 1 {
                properties.set(CELL, "gridSpan", format!("<w:gridSpan w:val=\"{colspan}\"/>"));
            } else {
                properties.remove(&["gridSpan"]);
            }
        }
        if rowspan != read.read.rowspan {
            if rowspan > 1 {
                properties.set(CELL, "vMerge", "<w:vMerge w:val=\"restart\"/>".to_owned());
            } else {
                properties.remove(&["vMerge"]);
            }
        }
        let blocks = self.container(&cell.blocks, Some(read.container));
        let (tag, name) = (tree.text_of(&tree.get(element).tag), tree.name(element));
        let tag = tag
            .strip_suffix("/>")
            .map_or_else(|| tag.to_owned(), |open| format!("{open}>"));
        push!(xml, "{tag}{}{blocks}</{name}>", properties.xml("w:tcPr"));
    }
}

/// Whether a row is repeated on every page.
pub(crate) fn is_header(row: &TextRow) -> bool {
    !row.cells.is_empty() && row.cells.iter().all(|cell| cell.is_header)
}

fn take_until(markers: &mut Vec<(usize, String)>, row: usize) -> String {
    let count = markers.iter().take_while(|(before, _)| *before <= row).count();
    markers.drain(..count).map(|(_, xml)| xml).collect()
}

fn new_cell_properties(width: u32, colspan: usize, merge: &str) -> String {
    let span = if colspan > 1 {
        format!("<w:gridSpan w:val=\"{colspan}\"/>")
    } else {
        String::new()
    };
    format!("<w:tcPr><w:tcW w:w=\"{width}\" w:type=\"dxa\"/>{span}{merge}</w:tcPr>")
}
