import {
  addColumnAfter,
  addColumnBefore,
  addRowAfter,
  addRowBefore,
  deleteColumn,
  deleteRow,
  deleteTable,
  isInTable,
  mergeCells,
  splitCell,
  toggleHeaderColumn,
  toggleHeaderRow,
} from "prosemirror-tables";
import { type KeyboardEvent, useState } from "react";
import { Button, Menu, MenuItem, Separator } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { insertBlock } from "../../rich-text/commands";
import { newTable } from "../editing/commands";
import { useController } from "./useController";

const ACTIONS = [
  ["rowBefore", addRowBefore],
  ["rowAfter", addRowAfter],
  ["columnBefore", addColumnBefore],
  ["columnAfter", addColumnAfter],
  undefined,
  ["headerRow", toggleHeaderRow],
  ["headerColumn", toggleHeaderColumn],
  ["merge", mergeCells],
  ["split", splitCell],
  undefined,
  ["deleteRow", deleteRow],
  ["deleteColumn", deleteColumn],
  ["deleteTable", deleteTable],
] as const;

const MAX_ROWS = 8;
const MAX_COLUMNS = 6;

/** Inside of a table its actions, elsewhere the size of a new one. */
export function TableMenu({ close }: { close: () => void }) {
  const { t } = useTranslation();
  const controller = useController();
  if (!isInTable(controller.state)) return <TableSize close={close} />;
  return (
    <Menu
      aria-label={t("editor.table")}
      autoFocus="first"
      className="min-w-56 outline-none"
      disabledKeys={ACTIONS.filter((action) => action !== undefined)
        .filter(([, command]) => !controller.can(command))
        .map(([name]) => name)}
      onAction={(key) => {
        const action = ACTIONS.find((each) => each?.[0] === key);
        close();
        if (action !== undefined) setTimeout(() => controller.run(action[1]));
      }}
    >
      {ACTIONS.map((action, index) =>
        action === undefined ? (
          // eslint-disable-next-line react/no-array-index-key
          <Separator key={`separator-${index}`} className="bg-faint my-1 h-px" />
        ) : (
          <MenuItem key={action[0]} id={action[0]} className="menu-item">
            {t(`editor.tableActions.${action[0]}`)}
          </MenuItem>
        ),
      )}
    </Menu>
  );
}

/** A grid whose cell chooses the number of rows and columns; arrow keys change it, too. */
function TableSize({ close }: { close: () => void }) {
  const { t } = useTranslation();
  const controller = useController();
  const [[rows, columns], setSize] = useState<[number, number]>([3, 3]);
  const insert = (size: [number, number] = [rows, columns]) => {
    close();
    setTimeout(() => controller.run(insertBlock(newTable(...size))));
  };
  const onKeyDown = ({ key }: KeyboardEvent) => {
    const limit = (value: number, max: number) => Math.min(max, Math.max(1, value));
    if (key === "ArrowDown" || key === "ArrowUp")
      setSize([limit(rows + (key === "ArrowDown" ? 1 : -1), MAX_ROWS), columns]);
    if (key === "ArrowRight" || key === "ArrowLeft")
      setSize([rows, limit(columns + (key === "ArrowRight" ? 1 : -1), MAX_COLUMNS)]);
  };
  return (
    <div role="presentation" className="flex flex-col gap-2 p-2" onKeyDown={onKeyDown}>
      <div className="table-grid" aria-hidden="true">
        {Array.from({ length: MAX_ROWS * MAX_COLUMNS }, (_, index) => {
          const [row, column] = [Math.floor(index / MAX_COLUMNS) + 1, (index % MAX_COLUMNS) + 1];
          return (
            <span
              key={`${row}-${column}`}
              role="presentation"
              className={row <= rows && column <= columns ? "on" : ""}
              onMouseEnter={() => setSize([row, column])}
              onClick={() => insert([row, column])}
            />
          );
        })}
      </div>
      {/* eslint-disable-next-line jsx-a11y/no-autofocus -- the button is a component that moves the focus into the popover */}
      <Button
        autoFocus
        onPress={() => insert()}
        className="tool min-h-9 cursor-pointer rounded-lg px-2 text-sm font-medium"
        aria-live="polite"
      >
        {t("editor.tableSize", { rows, columns })}
      </Button>
    </div>
  );
}
