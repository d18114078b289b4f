import { EyeOff, Lock } from "lucide-react";
import { useState, type ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { Form } from "../../forms/Form";
import { Button } from "../../components/Button";
import { Badge } from "../../components/base/Badge";
import { NumberField } from "../../forms/NumberField";
import { TextField } from "../../forms/TextField";
import { OverflowMenu } from "../../components/base/OverflowMenu";
import { Dialog } from "../../components/Dialog";
import { GroupName } from "../lesson/GroupName";
import { isNumberInName } from "../lesson/groupNames";
import type { PlanColumn } from "./plan";

interface Props {
  /** null for the column of students without a group. */
  column: PlanColumn | null;
  name: string;
  count: number;
  isHidden: boolean;
  isLocked: boolean;
  onUnlock: () => void;
  /** Why this group cannot be created as it is. */
  problem: string | undefined;
  /** Hints, such as two students who should be apart. */
  hints: readonly string[];
  onRelabel: (number: number, name: string) => void;
  onRemove: () => void;
  children: ReactNode;
}

/** Frame around the cards of a group: name, member count, errors and hints. */
export function PlannedGroup({
  column,
  name,
  count,
  isHidden,
  isLocked,
  onUnlock,
  problem,
  hints,
  onRelabel,
  onRemove,
  children,
}: Props) {
  const { t } = useTranslation();
  const [isNaming, setNaming] = useState(false);
  // The column of students without a group is next to the groups, not one of them.
  const Title = column === null ? "h2" : "h3";
  const isNew = column !== null && column.groupId === null;
  const border = problem !== undefined ? "border-bad border-2" : "border-faint";
  return (
    <section
      aria-label={name}
      data-group={column?.key ?? ""}
      tabIndex={-1}
      className={`bg-sheet flex h-full scroll-mt-20 flex-col gap-1 rounded-xl border p-2 shadow-xs ${border}`}
    >
      <div className="flex min-h-11 items-center gap-2 ps-1">
        <Title className="flex min-w-0 grow items-center gap-2 text-base font-semibold break-words">
          {column !== null && !isNumberInName({ groupNumber: column.number, name: column.name }) ? (
            <GroupName group={{ groupNumber: column.number, name: column.name }} />
          ) : (
            name
          )}
        </Title>
        {isNew ? <Badge>{t("divide.new")}</Badge> : null}
        {isHidden ? (
          <Badge>
            <EyeOff aria-hidden="true" className="size-3.5" />
            {t("divide.hidden")}
          </Badge>
        ) : null}
        <span className="text-soft tabular-nums">
          <span aria-hidden="true">{count}</span>
          <span className="sr-only">{t("divide.members", { count })}</span>
        </span>
        {isNew ? (
          <OverflowMenu
            label={name}
            actions={[
              { id: "name", name: t("divide.rename"), onAction: () => setNaming(true) },
              { id: "remove", name: t("divide.remove"), onAction: onRemove },
            ]}
          />
        ) : null}
      </div>
      {problem === undefined ? null : (
        <p role="alert" className="text-bad px-1 text-sm">
          {problem}
        </p>
      )}
      {hints.map((hint) => (
        <p key={hint} className="text-warn px-1 text-sm">
          {hint}
        </p>
      ))}
      {isLocked ? (
        <div className="text-soft flex flex-wrap items-center gap-x-2 px-1 text-sm">
          <span>
            <Lock aria-hidden="true" className="inline size-4" /> {t("divide.locked")}
          </span>
          <Button kind="quiet" className="px-2" onPress={onUnlock} aria-label={t("divide.unlockOf", { name })}>
            {t("divide.unlock")}
          </Button>
        </div>
      ) : null}
      {children}
      {isNaming && column !== null ? (
        <Dialog title={t("divide.rename")} isOpen onOpenChange={setNaming}>
          {(close) => <NameFields column={column} close={close} onRelabel={onRelabel} />}
        </Dialog>
      ) : null}
    </section>
  );
}

function NameFields({
  column,
  close,
  onRelabel,
}: {
  column: PlanColumn;
  close: () => void;
  onRelabel: (number: number, name: string) => void;
}) {
  const { t } = useTranslation();
  const [name, setName] = useState(column.name);
  const [number, setNumber] = useState(column.number);
  return (
    <Form
      isPending={false}
      onSubmit={() => {
        if (name.trim() === "") return;
        onRelabel(number, name.trim());
        close();
      }}
    >
      <TextField label={t("divide.name")} value={name} onChange={setName} maxLength={80} isRequired />
      <NumberField
        label={t("divide.number")}
        minValue={1}
        maxValue={9999}
        value={number}
        onChange={(value) => Number.isInteger(value) && setNumber(value)}
      />
      <p className="flex flex-wrap justify-end gap-2">
        <Button onPress={close}>{t("ask.cancel")}</Button>
        <Button type="submit" kind="main">
          {t("divide.take")}
        </Button>
      </p>
    </Form>
  );
}
