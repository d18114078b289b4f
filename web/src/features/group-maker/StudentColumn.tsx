import { Lock } from "lucide-react";
import { useState } from "react";
import { Button as Grip, GridList, GridListItem, useDragAndDrop, type Selection } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { Avatar } from "../../components/base/Avatar";
import { personColors } from "../../components/base/people";
import { Badge } from "../../components/base/Badge";
import { type MenuAction, OverflowMenu } from "../../components/base/OverflowMenu";
import type { Student } from "./courseGroups";

/** A column that cards can be moved to. */
export interface MoveTarget {
  /** null for the column of students without a group. */
  key: string | null;
  name: string;
}

interface Props {
  /** null for the column of students without a group. */
  column: string | null;
  name: string;
  /** The group that a moved, not yet saved student would leave. */
  origin: (student: string) => string | undefined;
  students: readonly Student[];
  absent: readonly string[];
  targets: readonly MoveTarget[];
  isLocked: boolean;
  none: string;
  onMove: (students: string[], from: string | null, to: string | null) => void;
  /** Undefined for existing groups: their members stay. */
  onMark?: ((students: string[], isAbsent: boolean) => void) | undefined;
}

const DRAG_TYPE = "groupwork-student";
const UNASSIGNED = "";

/** The cards of one group, moved by drag and drop (mouse, touch or keyboard) or by the menu of a card. */
export function StudentColumn({
  column,
  name,
  origin,
  students,
  absent,
  targets,
  isLocked,
  none,
  onMove,
  onMark,
}: Props) {
  const { t } = useTranslation();
  const [selected, setSelected] = useState<Selection>(new Set());
  const colors = personColors(students.map((student) => student.id));
  const { dragAndDropHooks } = useDragAndDrop<Student>({
    isDisabled: isLocked,
    getItems: (keys) =>
      [...keys].map((key) => ({
        [DRAG_TYPE]: JSON.stringify({ student: key, from: column }),
        "text/plain": students.find((one) => one.id === key)?.name ?? "",
      })),
    acceptedDragTypes: [DRAG_TYPE],
    getDropOperation: () => "move",
    onRootDrop: (event) =>
      void parseDraggedCards(event.items).then((dropped) => {
        const from = dropped[0]?.from ?? null;
        onMove(
          dropped.map((card) => card.student),
          from,
          column,
        );
        setSelected(new Set());
      }),
    renderDragPreview: (items) => (
      <span className="bg-accent text-on-accent rounded-lg px-3 py-2">
        {items.length === 1 ? items[0]?.["text/plain"] : t("divide.students", { count: items.length })}
      </span>
    ),
  });
  /** The ids to move: the whole selection if the card is selected, else the card alone. */
  const selectionWith = (id: string): string[] => {
    const chosen = students.filter((one) => selected === "all" || selected.has(one.id)).map((one) => one.id);
    return chosen.includes(id) ? chosen : [id];
  };
  const move = (id: string, to: string | null) => {
    onMove(selectionWith(id), column, to);
    focusNext(students, selectionWith(id), column);
    setSelected(new Set());
  };
  const menuActions = (student: Student): MenuAction[] => {
    const isAbsent = absent.includes(student.id);
    return [
      ...targets
        .filter((target) => target.key !== column)
        .map((target) => ({
          id: target.key ?? UNASSIGNED,
          name: target.name,
          onAction: () => move(student.id, target.key),
        })),
      ...(onMark === undefined
        ? []
        : [
            {
              id: "absent",
              name: isAbsent ? t("divide.here") : t("divide.absent"),
              onAction: () => onMark(selectionWith(student.id), !isAbsent),
            },
          ]),
    ];
  };
  return (
    <GridList
      aria-label={name}
      data-place={column ?? UNASSIGNED}
      items={students.map((student) => ({ ...student, from: origin(student.id) }))}
      // The rows also depend on these values.
      dependencies={[selected, targets, absent, isLocked]}
      selectionMode={isLocked ? "none" : "multiple"}
      selectionBehavior="replace"
      selectedKeys={selected}
      onSelectionChange={setSelected}
      dragAndDropHooks={dragAndDropHooks}
      renderEmptyState={() => <span className="text-soft block px-2 py-3 text-sm">{none}</span>}
      className="data-drop-target:outline-accent flex min-h-14 grow flex-col rounded-lg outline-offset-2 data-drop-target:outline-2 data-drop-target:outline-dashed"
    >
      {(student) => (
        <GridListItem
          id={student.id}
          textValue={student.name}
          className="student-row data-selected:bg-accent-soft hover:bg-sunk flex min-h-9 scroll-mt-20 items-center gap-2 rounded-md border border-transparent ps-1.5 text-sm data-dragging:opacity-50 pointer-coarse:min-h-11"
        >
          {isLocked ? (
            <Lock aria-hidden="true" className="text-soft ms-2 size-4 shrink-0" />
          ) : (
            <Grip
              slot="drag"
              aria-label={t("divide.drag", { name: student.name })}
              className="inline-flex size-7 shrink-0 cursor-grab items-center justify-center rounded-full pointer-coarse:size-11"
            >
              <Avatar name={student.name} color={colors.get(student.id) ?? 0} />
            </Grip>
          )}
          <span className="min-w-0 grow py-1 break-words">
            {student.name}
            {student.from === undefined ? null : (
              <span className="text-soft block text-sm">{t("divide.from", { name: student.from })}</span>
            )}
          </span>
          {absent.includes(student.id) ? <Badge>{t("divide.isAbsent")}</Badge> : null}
          {isLocked ? null : (
            <span className="reveal -my-1">
              <OverflowMenu
                label={t("divide.move", { count: selectionWith(student.id).length, name: student.name })}
                heading={t("divide.move", { count: selectionWith(student.id).length, name: student.name })}
                actions={() => menuActions(student)}
              />
            </span>
          )}
        </GridListItem>
      )}
    </GridList>
  );
}

interface DraggedCard {
  student: string;
  from: string | null;
}

async function parseDraggedCards(items: readonly { kind: string }[]): Promise<DraggedCard[]> {
  const texts = items.map((item) =>
    item.kind === "text" && "getText" in item
      ? (item as { getText: (type: string) => Promise<string> }).getText(DRAG_TYPE)
      : Promise.resolve(""),
  );
  return (await Promise.all(texts)).filter(Boolean).map((text) => JSON.parse(text) as DraggedCard);
}

/** After moving a card by its menu, focuses the next card, so that a column can be cleared by keyboard. */
function focusNext(students: readonly Student[], gone: readonly string[], column: string | null): void {
  const at = students.findIndex((one) => gone.includes(one.id));
  const rest = students.filter((one) => !gone.includes(one.id));
  const next = rest[Math.min(at, rest.length - 1)];
  const grid = () => document.querySelector<HTMLElement>(`[data-place="${column ?? UNASSIGNED}"]`);
  // The menu restores the focus to its removed button, so this has to run after that.
  setTimeout(() => (next ? grid()?.querySelector<HTMLElement>(`[data-key="${next.id}"]`) : grid())?.focus(), 100);
}
