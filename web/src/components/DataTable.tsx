import type { ReactNode } from "react";
import { Cell, Column, Row, Table, TableBody, TableHeader, type SortDescriptor } from "react-aria-components";

import { compareNumbered } from "../i18n/names";
import { useIsWide } from "../hooks/useIsWide";

export interface DataColumn<T> {
  id: string;
  name: string;
  cell: (row: T) => ReactNode;
  /** Sort key of a row in this column. */
  sort?: (row: T) => string | number;
  /** Hidden on narrow screens; the content is shown elsewhere or not essential. */
  isExtra?: boolean;
  /** As narrow as its content, for buttons at the end of a row. */
  isSlim?: boolean;
}

interface Props<T> {
  label: string;
  columns: readonly DataColumn<T>[];
  rows: readonly T[];
  none: ReactNode;
  sort?: SortDescriptor | undefined;
  onSort?: (sort: SortDescriptor) => void;
  /** For long tables: the header row stays visible. */
  isLong?: boolean;
  /** Called when a row is activated by Enter or click; the link in its first cell has the same target. */
  onOpen?: (row: T) => void;
}

/** A table whose first column is the row header. On narrow screens the table scrolls horizontally, not the page. */
export function DataTable<T extends { id: string }>({
  label,
  columns: all,
  rows,
  none,
  sort,
  onSort,
  isLong = false,
  onOpen,
}: Props<T>) {
  const isWide = useIsWide();
  const columns = isWide ? all : all.filter((column) => column.isExtra !== true);
  const by = columns.find((column) => column.id === sort?.column)?.sort;
  const sorted = by
    ? rows.toSorted((one, other) => compare(by(one), by(other)) * (sort?.direction === "descending" ? -1 : 1))
    : rows;
  return (
    <div className={`border-faint bg-sheet overflow-x-auto rounded-xl border ${isLong ? "lg:overflow-clip" : ""}`}>
      <Table
        aria-label={label}
        className="w-full border-collapse"
        {...(sort ? { sortDescriptor: sort } : {})}
        {...(onSort ? { onSortChange: onSort } : {})}
      >
        <TableHeader>
          {columns.map((column, index) => (
            <Column
              key={column.id}
              id={column.id}
              isRowHeader={index === 0}
              allowsSorting={column.sort !== undefined && onSort !== undefined}
              className={`border-faint border-b px-3 py-2 text-start font-semibold whitespace-nowrap data-allows-sorting:cursor-pointer ${isLong ? "bg-sheet lg:sticky lg:top-(--header-height) lg:z-1" : ""} ${column.isSlim ? "w-1" : ""}`}
            >
              {({ sortDirection }) => (
                <>
                  {column.name}
                  {column.sort === undefined || onSort === undefined ? null : (
                    <span aria-hidden="true">
                      {" "}
                      {sortDirection === undefined ? "↕" : sortDirection === "ascending" ? "↑" : "↓"}
                    </span>
                  )}
                </>
              )}
            </Column>
          ))}
        </TableHeader>
        <TableBody renderEmptyState={() => <div className="text-soft p-4">{none}</div>}>
          {sorted.map((row) => (
            <Row
              key={row.id}
              id={row.id}
              {...(onOpen ? { onAction: () => onOpen(row) } : {})}
              className={`border-faint border-b last:border-b-0 ${onOpen ? "hover:bg-page cursor-pointer" : ""}`}
            >
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
  typeof one === "number" && typeof other === "number" ? one - other : compareNumbered(String(one), String(other));
