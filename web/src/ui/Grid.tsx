import type { ReactNode } from "react";
import { Cell, Column, Row, Table, TableBody, TableHeader, type SortDescriptor } from "react-aria-components";

export interface ColumnOf<T> {
  id: string;
  name: string;
  cell: (row: T) => ReactNode;
  /** By what this column sorts what is shown. */
  sort?: (row: T) => string | number;
}

interface Props<T> {
  label: string;
  columns: readonly ColumnOf<T>[];
  rows: readonly T[];
  none: ReactNode;
  sort?: SortDescriptor | undefined;
  onSort?: (sort: SortDescriptor) => void;
}

/** A table; its first column names the row. On a narrow screen it scrolls sideways by itself, the page does not. */
export function Grid<T extends { id: string }>({ label, columns, rows, none, sort, onSort }: Props<T>) {
  const by = columns.find((column) => column.id === sort?.column)?.sort;
  const sorted = by ? rows.toSorted((one, other) => compare(by(one), by(other)) * (sort?.direction === "descending" ? -1 : 1)) : rows;
  return (
    <div className="border-faint bg-sheet overflow-x-auto rounded-xl border">
      <Table aria-label={label} className="w-full border-collapse" {...(sort ? { sortDescriptor: sort } : {})} {...(onSort ? { onSortChange: onSort } : {})}>
        <TableHeader>
          {columns.map((column, index) => (
            <Column
              key={column.id}
              id={column.id}
              isRowHeader={index === 0}
              allowsSorting={column.sort !== undefined && onSort !== undefined}
              className="border-faint border-b px-3 py-2 text-start font-semibold whitespace-nowrap data-allows-sorting:cursor-pointer"
            >
              {({ sortDirection }) => (
                <>
                  {column.name}
                  {column.sort === undefined || onSort === undefined ? null : <span aria-hidden="true"> {sortDirection === undefined ? "↕" : sortDirection === "ascending" ? "↑" : "↓"}</span>}
                </>
              )}
            </Column>
          ))}
        </TableHeader>
        <TableBody renderEmptyState={() => <div className="text-soft p-4">{none}</div>}>
          {sorted.map((row) => (
            <Row key={row.id} id={row.id} className="border-faint border-b last:border-b-0">
              {columns.map((column) => (
                <Cell key={column.id} className="px-3 py-2 align-top">
                  {column.cell(row)}
                </Cell>
              ))}
            </Row>
          ))}
        </TableBody>
      </Table>
    </div>
  );
}

const compare = (one: string | number, other: string | number): number =>
  typeof one === "number" && typeof other === "number" ? one - other : String(one).localeCompare(String(other), undefined, { numeric: true });
