//! The grid of a table: the column of each cell, and which cells continue one of the row above.

use crate::content::{TextCell, TextRow, TextTable};

/// More columns than any program shows.
const COLUMNS_MAX: usize = 1000;
/// Width of the text of an A4 page in pixels.
const PAGE_WIDTH: u32 = 604;
/// Twentieths of a point per pixel.
const TWIPS: u32 = 15;

/// A place in a row.
#[derive(Debug, Clone, Copy)]
pub struct GridPlace<'t> {
    pub content: SlotContent<'t>,
    pub column: usize,
    pub colspan: usize,
}

#[derive(Debug, Clone, Copy)]
pub enum SlotContent<'t> {
    Cell {
        cell: &'t TextCell,
        rowspan: usize,
    },
    /// Part of a cell that begins in a row above.
    Continued,
    /// A cell that the row lacks.
    Missing,
}

/// A cell that extends over the rows below.
struct OpenCell {
    column: usize,
    colspan: usize,
    rows_left: usize,
}

/// The rows of a table, all of the same width.
pub struct Grid<'t> {
    pub rows: Vec<Vec<GridPlace<'t>>>,
    /// Widths of the columns in pixels.
    pub widths: Vec<u32>,
}

impl<'t> Grid<'t> {
    pub fn of(table: &'t TextTable) -> Self {
        let mut open: Vec<OpenCell> = Vec::new();
        let mut rows = Vec::new();
        for (index, row) in table.rows.iter().enumerate() {
            rows.push(slots(row, table.rows.len() - index, &mut open));
        }
        let end = |slots: &Vec<GridPlace<'_>>| slots.last().map_or(0, |slot| slot.column + slot.colspan);
        let width = rows.iter().map(end).max().unwrap_or_default().max(1);
        for slots in &mut rows {
            slots.extend((end(slots)..width).map(missing));
        }
        let widths = widths(&rows, width);
        Self { rows, widths }
    }

    pub fn slot_widths(&self, slot: &GridPlace<'_>) -> Vec<u32> {
        self.widths[slot.column..slot.column + slot.colspan].to_vec()
    }
}

const fn missing<'t>(column: usize) -> GridPlace<'t> {
    GridPlace {
        content: SlotContent::Missing,
        column,
        colspan: 1,
    }
}

fn slots<'t>(row: &'t TextRow, rows_left: usize, open: &mut Vec<OpenCell>) -> Vec<GridPlace<'t>> {
    open.retain_mut(|cell| {
        cell.rows_left -= 1;
        cell.rows_left > 0
    });
    open.sort_by_key(|cell| cell.column);
    let mut slots = Vec::new();
    let mut added = Vec::new();
    let mut above = open.iter().peekable();
    let mut column = 0;
    for cell in &row.cells {
        while let Some(cell) = above.next_if(|cell| cell.column == column) {
            slots.push(GridPlace {
                content: SlotContent::Continued,
                column,
                colspan: cell.colspan,
            });
            column += cell.colspan;
        }
        let next = above.peek().map_or(COLUMNS_MAX.max(column + 1), |cell| cell.column);
        let colspan = cell.colspan.min(next - column).max(1);
        let rowspan = cell.rowspan.min(rows_left).max(1);
        slots.push(GridPlace {
            content: SlotContent::Cell { cell, rowspan },
            column,
            colspan,
        });
        added.push(OpenCell {
            column,
            colspan,
            rows_left: rowspan,
        });
        column += colspan;
    }
    for cell in above {
        slots.extend((column..cell.column).map(missing));
        slots.push(GridPlace {
            content: SlotContent::Continued,
            column: cell.column,
            colspan: cell.colspan,
        });
        column = cell.column + cell.colspan;
    }
    open.extend(added);
    slots
}

fn widths(rows: &[Vec<GridPlace<'_>>], width: usize) -> Vec<u32> {
    let mut widths = vec![0; width];
    for slot in rows.iter().flatten() {
        if let SlotContent::Cell { cell, .. } = slot.content
            && let Some(own) = &cell.widths
        {
            for (known, own) in widths[slot.column..slot.column + slot.colspan].iter_mut().zip(own) {
                if *known == 0 {
                    *known = *own;
                }
            }
        }
    }
    let columns = u32::try_from(width).unwrap_or(u32::MAX);
    let usual = (PAGE_WIDTH / columns).max(24);
    widths
        .iter()
        .map(|known| if *known == 0 { usual } else { *known })
        .collect()
}

pub const fn twips(pixels: u32) -> u32 {
    pixels.saturating_mul(TWIPS)
}

/// Pixels of a width in twentieths of a point.
pub fn pixels(twips: u32) -> u32 {
    (twips.saturating_add(TWIPS / 2) / TWIPS).clamp(1, 20_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::TextCell;

    fn is_regular(grid: &Grid<'_>) -> bool {
        let is_whole = |slot: &GridPlace<'_>| match slot.content {
            SlotContent::Cell { cell, rowspan } => cell.colspan == slot.colspan && cell.rowspan == rowspan,
            SlotContent::Continued => true,
            SlotContent::Missing => false,
        };
        grid.rows.iter().flatten().all(is_whole)
    }

    fn cell(colspan: usize, rowspan: usize) -> TextCell {
        TextCell {
            source: None,
            is_header: false,
            colspan,
            rowspan,
            widths: None,
            blocks: Vec::new(),
        }
    }

    fn table(rows: Vec<Vec<TextCell>>) -> TextTable {
        TextTable {
            source: None,
            rows: rows.into_iter().map(|cells| TextRow { source: None, cells }).collect(),
        }
    }

    #[test]
    fn cell_over_two_rows_when_laid_out_is_continued_below() {
        let table = table(vec![vec![cell(1, 2), cell(2, 1)], vec![cell(1, 1), cell(1, 1)]]);
        let grid = Grid::of(&table);
        assert!(is_regular(&grid));
        assert_eq!(grid.widths.len(), 3);
        assert!(matches!(grid.rows[1][0].content, SlotContent::Continued));
        assert_eq!(grid.rows[1][2].column, 2);
    }

    #[test]
    fn rows_of_different_length_when_laid_out_are_filled() {
        let table = table(vec![vec![cell(1, 9)], vec![cell(1, 1), cell(1, 1)], vec![]]);
        let grid = Grid::of(&table);
        assert!(!is_regular(&grid));
        assert!(
            grid.rows
                .iter()
                .all(|slots| slots.iter().map(|slot| slot.colspan).sum::<usize>() == 3)
        );
    }

    #[test]
    fn cell_that_would_cover_another_when_laid_out_is_narrower() {
        let table = table(vec![vec![cell(1, 1), cell(1, 2)], vec![cell(5, 1)]]);
        let grid = Grid::of(&table);
        assert_eq!(grid.rows[1][0].colspan, 1);
        assert!(matches!(grid.rows[1][1].content, SlotContent::Continued));
    }
}
