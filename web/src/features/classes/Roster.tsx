import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { keepFocusNear } from "../../hooks/keepFocusNear";
import { Button } from "../../components/Button";
import { Checkbox } from "../../forms/Checkbox";
import { Badge } from "../../components/base/Badge";
import { Select } from "../../forms/Select";
import { EmptyState } from "../../components/base/EmptyState";
import { OverflowMenu } from "../../components/base/OverflowMenu";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";
import { Card } from "../../components/Card";
import { type ClassStudent, classStudentsQuery } from "./classes";
import { ClassSlips } from "./ClassSlips";
import { useEnrolment } from "./useEnrolment";
import { PersonPicker } from "./PersonPicker";
import { ResetPasswordDialog } from "./ResetPasswordDialog";
import { homeroomsQuery } from "../homerooms/homerooms";

interface Props {
  classId: string;
  canChange: boolean;
  /** Shows only students without a group. */
  isUngrouped: boolean;
  onUngrouped: (isOn: boolean) => void;
}

/** The students of a class; adds and removes them. */
export function Roster({ classId, canChange, isUngrouped, onUngrouped }: Props) {
  const { t } = useTranslation();
  const found = useQuery(classStudentsQuery(classId));
  const [isSlips, setSlips] = useState(false);
  if (found.isPending) return <Skeleton />;
  if (!found.data) return <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} />;
  const ungrouped = found.data.filter((student) => student.groupIds.length === 0);
  const shown = isUngrouped ? ungrouped : found.data;
  return (
    <div className="flex flex-col gap-3">
      {canChange ? <AddStudents classId={classId} existingIds={found.data} /> : null}
      {canChange && found.data.length > 0 ? (
        <p>
          <Button onPress={() => setSlips(true)}>{t("classes.slips")}</Button>
        </p>
      ) : null}
      {isSlips ? <ClassSlips students={found.data} onClose={() => setSlips(false)} /> : null}
      {found.data.length === 0 ? (
        <EmptyState>{t("classes.noStudents")}</EmptyState>
      ) : (
        <Checkbox isSelected={isUngrouped} onChange={onUngrouped}>
          {t("classes.onlyUngrouped", { count: ungrouped.length })}
        </Checkbox>
      )}
      {found.data.length > 0 && shown.length === 0 ? <p>{t("classes.everybodyGrouped")}</p> : null}
      <ul className="bg-sheet border-faint divide-faint divide-y rounded-xl border shadow-sm empty:hidden">
        {shown.map((student) => (
          <StudentRow key={student.user.id} classId={classId} student={student} canChange={canChange} />
        ))}
      </ul>
    </div>
  );
}

function StudentRow({ classId, student, canChange }: { classId: string; student: ClassStudent; canChange: boolean }) {
  const { t } = useTranslation();
  const row = useRef<HTMLLIElement>(null);
  const { remove } = useEnrolment(classId);
  const [isPassword, setIsPassword] = useState(false);
  const { user, groupIds } = student;
  return (
    <li ref={row} className="flex min-h-12 items-center gap-3 py-0.5 ps-4 pe-1">
      <div className="grid min-w-0 grow items-center gap-x-4 py-1 sm:grid-cols-[2fr_2fr_1fr]">
        <span className="wrap-break-word">{user.name}</span>
        <span className="text-soft text-sm wrap-anywhere">{user.email}</span>
        <span className="text-sm">
          {groupIds.length === 0 ? (
            <Badge tone="warn">{t("classes.inNoGroup")}</Badge>
          ) : (
            t("courses.groups", { count: groupIds.length })
          )}
        </span>
      </div>
      {canChange ? (
        <OverflowMenu
          label={user.name}
          isPending={remove.isPending}
          actions={[
            { id: "password", name: t("classes.newPassword"), onAction: () => setIsPassword(true) },
            {
              id: "remove",
              name: t("classes.remove"),
              onAction: () => {
                const focus = keepFocusNear(row.current);
                void remove.mutateAsync(user).then(focus, () => undefined);
              },
            },
          ]}
        />
      ) : null}
      {isPassword ? <ResetPasswordDialog person={user} onClose={() => setIsPassword(false)} /> : null}
    </li>
  );
}

function AddStudents({ classId, existingIds }: { classId: string; existingIds: readonly ClassStudent[] }) {
  const { t } = useTranslation();
  const rooms = useQuery(homeroomsQuery).data ?? [];
  const [chosen, setChosen] = useState<string | null>(null);
  const { add, addHomeroom } = useEnrolment(classId);
  return (
    <Card className={`grid items-end gap-x-6 gap-y-3 ${rooms.length === 0 ? "max-w-xl" : "md:grid-cols-2"}`}>
      <PersonPicker
        label={t("classes.addStudent")}
        roles={["STUDENT"]}
        excludedIds={new Set(existingIds.map((student) => student.user.id))}
        onPick={(person) => add.mutate(person)}
      />
      {rooms.length === 0 ? null : (
        <div className="flex items-end gap-2">
          <div className="min-w-0 grow">
            <Select
              label={t("classes.addHomeroom")}
              options={rooms.map((room) => ({
                id: room.id,
                name: `${room.name} · ${t("courses.students", { count: room.studentCount })}`,
              }))}
              value={chosen}
              onChange={setChosen}
              none={t("courses.choose")}
            />
          </div>
          <Button
            isDisabled={chosen === null}
            isPending={addHomeroom.isPending}
            onPress={() => chosen !== null && addHomeroom.mutate(chosen)}
          >
            {t("classes.takeIn")}
          </Button>
        </div>
      )}
    </Card>
  );
}
