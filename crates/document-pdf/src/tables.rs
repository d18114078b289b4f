//! Tables, row by row.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use krilla::tagging::{TableHeaderScope, Tag, TagKind};
use rich_text::{Node, NodeType};

use crate::PdfError;
use crate::blocks::{Layouter, TextColumn};
use crate::strip::{Color, ItemKind, Strip, StripItem, StripSink};
use crate::structure::GroupId;

const PADDING: f32 = 4.0;
const BORDER: f32 = 0.5;
const BORDER_COLOR: Color = Color(140, 140, 140);
const HEADER_BACKGROUND: Color = Color(238, 238, 238);
/// Cells of wider tables are printed one below the other.
const MAX_COLUMNS: usize = 40;

/// A cell in a row of the grid, or the continuation of one from the row above.
#[derive(Clone, Copy)]
struct GridSlot<'a> {
    cell: &'a Node,
    column: usize,
    columns: usize,
    is_first_row: bool,
    is_last_row: bool,
}

impl Layouter<'_> {
    pub(crate) fn table(
        &mut self,
        table: &Node,
        parent: GroupId,
        column: TextColumn,
        sink: &mut dyn StripSink,
    ) -> Result<(), PdfError> {
        let Some(rows) = grid(table) else {
            let cells = table.children().iter().flat_map(Node::children);
            return cells
                .into_iter()
                .try_for_each(|cell| self.blocks(cell.children(), parent, column, sink));
        };
        let group = self.structure.add_group(parent, Tag::Table);
        let edges = edges(&rows, column);
        let mut space_before = 6.0;
        for (index, row) in rows.iter().enumerate() {
            let row_group = self.structure.add_group(group, Tag::TR);
            let mut cells = Vec::new();
            for slot in row {
                let x = edges[slot.column];
                let width = edges[slot.column + slot.columns] - x;
                let strips = if slot.is_first_row {
                    let cell_group = self.structure.add_group(row_group, cell_tag(slot, index, &rows));
                    let max_height = (column.max_height - 2.0 * PADDING).max(20.0);
                    let inner = TextColumn {
                        x: x + PADDING,
                        width: (width - 2.0 * PADDING).max(4.0),
                        max_height,
                    };
                    let mut strips = Vec::new();
                    self.blocks(slot.cell.children(), cell_group, inner, &mut strips)?;
                    // A cell without content would be missing in the structure.
                    let content = Some(self.structure.add_content(cell_group));
                    let nothing = StripItem {
                        x,
                        y: 0.0,
                        content,
                        kind: ItemKind::Nothing,
                    };
                    if let Some(first) = strips.first_mut() {
                        first.space_before = 0.0;
                        first.items.push(nothing);
                    }
                    strips
                } else {
                    Vec::new()
                };
                cells.push(CellLayout {
                    slot: *slot,
                    x,
                    width,
                    strips: strips.into(),
                });
            }
            for mut strip in row_strips(cells, column.max_height) {
                strip.space_before = std::mem::take(&mut space_before);
                sink.push(strip)?;
            }
        }
        Ok(())
    }
}

struct CellLayout<'a> {
    slot: GridSlot<'a>,
    x: f32,
    width: f32,
    strips: VecDeque<Strip>,
}

/// A row as one strip, or as several if it is higher than a page.
fn row_strips(mut cells: Vec<CellLayout<'_>>, max_height: f32) -> Vec<Strip> {
    let mut rows = Vec::new();
    loop {
        let is_first = rows.is_empty();
        let budget = (max_height - 2.0 * PADDING).max(1.0);
        let mut row = Strip {
            height: 2.0 * PADDING + 12.0,
            ..Strip::default()
        };
        for cell in &mut cells {
            let mut height = PADDING;
            let mut is_empty = true;
            while let Some(strip) = cell.strips.front() {
                let needed = strip.height + strip.space_before;
                if !is_empty && height + needed > budget {
                    break;
                }
                is_empty = false;
                if let Some(mut strip) = cell.strips.pop_front() {
                    row.notes.append(&mut strip.notes);
                    let top = height + strip.space_before;
                    row.items.extend(strip.moved(0.0, top));
                    height += needed;
                }
            }
            row.height = row.height.max(height + PADDING);
        }
        let is_last = cells.iter().all(|cell| cell.strips.is_empty());
        let height = row.height;
        for cell in &cells {
            let mut borders = borders(cell, height, is_first, is_last);
            borders.append(&mut row.items);
            row.items = borders;
        }
        rows.push(row);
        if is_last {
            return rows;
        }
    }
}

fn borders(cell: &CellLayout<'_>, height: f32, is_first: bool, is_last: bool) -> Vec<StripItem> {
    let rectangle = |x, y, width, height, color| StripItem {
        x,
        y,
        content: None,
        kind: ItemKind::Rectangle { width, height, color },
    };
    let line = |x, y, width, height| rectangle(x, y, width, height, BORDER_COLOR);
    let mut items = Vec::new();
    if cell.slot.cell.node_type() == NodeType::TableHeader {
        items.push(rectangle(cell.x, 0.0, cell.width, height, HEADER_BACKGROUND));
    }
    if cell.slot.is_first_row && is_first {
        items.push(line(cell.x, 0.0, cell.width, BORDER));
    }
    if cell.slot.is_last_row && is_last {
        items.push(line(cell.x, height, cell.width + BORDER, BORDER));
    }
    items.push(line(cell.x, 0.0, BORDER, height));
    items.push(line(cell.x + cell.width, 0.0, BORDER, height));
    items
}

fn cell_tag(slot: &GridSlot<'_>, row: usize, rows: &[Vec<GridSlot<'_>>]) -> TagKind {
    let span = |count: usize| {
        u32::try_from(count)
            .ok()
            .and_then(NonZeroU32::new)
            .filter(|count| count.get() > 1)
    };
    let covered = rows[row..]
        .iter()
        .take_while(|other| other.iter().any(|other| std::ptr::eq(other.cell, slot.cell)));
    let row_span = span(covered.count());
    let column_span = span(slot.columns);
    if slot.cell.node_type() != NodeType::TableHeader {
        return Tag::TD.with_row_span(row_span).with_col_span(column_span).into();
    }
    let is_header_row = rows[row]
        .iter()
        .all(|slot| slot.cell.node_type() == NodeType::TableHeader);
    let scope = match (is_header_row, slot.column) {
        (true, _) => TableHeaderScope::Column,
        (false, 0) => TableHeaderScope::Row,
        (false, _) => TableHeaderScope::Both,
    };
    Tag::TH(scope).with_row_span(row_span).with_col_span(column_span).into()
}

/// The cells of each row by column. None if the table is too wide.
fn grid(table: &Node) -> Option<Vec<Vec<GridSlot<'_>>>> {
    let count = table.children().len();
    // For each column: the cell that continues from above, and for how many rows.
    let mut above: Vec<Option<(GridSlot<'_>, usize)>> = Vec::new();
    let mut rows = Vec::new();
    for (index, row) in table.children().iter().enumerate() {
        let mut slots: Vec<GridSlot<'_>> = Vec::new();
        let mut cells = row.children().iter();
        let mut column = 0;
        loop {
            if let Some(Some((slot, rest))) = above.get(column).copied() {
                let continued = GridSlot {
                    is_first_row: false,
                    is_last_row: rest == 1,
                    ..slot
                };
                slots.push(continued);
                column = slot.column + slot.columns;
                continue;
            }
            let Some(cell) = cells.next() else {
                // Cells that continue further to the right.
                match above.iter().enumerate().skip(column).find(|(_, slot)| slot.is_some()) {
                    Some((next, _)) => {
                        column = next;
                        continue;
                    }
                    None => break,
                }
            };
            let span = |name| {
                cell.attr(name)
                    .as_u64()
                    .and_then(|count| usize::try_from(count).ok())
                    .unwrap_or(1)
                    .max(1)
            };
            let free = above.iter().skip(column).take_while(|slot| slot.is_none()).count();
            let is_last_column = column + free >= above.len();
            let columns = if is_last_column {
                span("colspan")
            } else {
                span("colspan").min(free)
            };
            let row_count = span("rowspan").min(count - index);
            if column + columns > MAX_COLUMNS {
                return None;
            }
            let slot = GridSlot {
                cell,
                column,
                columns,
                is_first_row: true,
                is_last_row: row_count == 1,
            };
            if above.len() < column + columns {
                above.resize(column + columns, None);
            }
            // One more than the rows that follow, because this row takes one below.
            above[column] = Some((slot, row_count));
            slots.push(slot);
            column += columns;
        }
        for covered in &mut above {
            *covered = covered
                .take()
                .and_then(|(slot, rest)| (rest > 1).then_some((slot, rest - 1)));
        }
        rows.push(slots);
    }
    rows.iter().any(|row| !row.is_empty()).then_some(rows)
}

/// The left edges of the columns, and the right edge of the last one.
fn edges(rows: &[Vec<GridSlot<'_>>], column: TextColumn) -> Vec<f32> {
    let count = rows
        .iter()
        .flatten()
        .map(|slot| slot.column + slot.columns)
        .max()
        .unwrap_or(1);
    let mut widths: Vec<Option<f32>> = vec![None; count];
    for slot in rows.iter().flatten().filter(|slot| slot.is_first_row) {
        for (offset, width) in slot
            .cell
            .attr("colwidth")
            .as_array()
            .into_iter()
            .flatten()
            .take(slot.columns)
            .enumerate()
        {
            let pixels = width
                .as_u64()
                .and_then(|width| u16::try_from(width).ok())
                .filter(|width| *width > 0);
            if let Some(pixels) = pixels {
                widths[slot.column + offset].get_or_insert(f32::from(pixels));
            }
        }
    }
    let known: Vec<f32> = widths.iter().copied().flatten().collect();
    let total: f32 = known.iter().sum();
    let usual = if known.is_empty() {
        1.0
    } else {
        total / f32::from(u16::try_from(known.len()).unwrap_or(1))
    };
    let widths: Vec<f32> = widths.into_iter().map(|width| width.unwrap_or(usual)).collect();
    let scale = column.width / widths.iter().sum::<f32>();
    let mut edges = vec![column.x];
    let mut x = column.x;
    for width in widths {
        x += width * scale;
        edges.push(x);
    }
    edges
}
