import { X } from "lucide-react";
import { useRouteContext } from "@tanstack/react-router";
import { useRef } from "react";
import { useTranslation } from "react-i18next";

import { keepFocusNear } from "../../hooks/keepFocusNear";
import { isAdmin } from "../../auth/session";
import { Button } from "../../components/Button";
import { Badge } from "../../components/base/Badge";
import { Card } from "../../components/Card";
import type { Class } from "./classes";
import { useTeachers } from "./useEnrolment";
import { PersonPicker } from "./PersonPicker";

/** The teachers of a class; its owner adds and removes co-teachers. */
export function ClassTeachers({ schoolClass, canChange }: { schoolClass: Class; canChange: boolean }) {
  const { t } = useTranslation();
  const { person } = useRouteContext({ from: "/_school" });
  const { add } = useTeachers(schoolClass.id);
  const coTeachers = schoolClass.coTeachers ?? [];
  const canAssign = canChange && (isAdmin(person) || schoolClass.teacherId === person.id);
  return (
    <div className="flex flex-col gap-3">
      {canAssign ? (
        <Card className="max-w-xl">
          <PersonPicker
            label={t("classes.addTeacher")}
            roles={["TEACHER", "ADMIN"]}
            excludedIds={new Set([schoolClass.teacherId, ...coTeachers.map((one) => one.id)])}
            onPick={(one) => add.mutate(one)}
          />
        </Card>
      ) : null}
      <ul className="bg-sheet border-faint divide-faint max-w-xl divide-y rounded-xl border shadow-sm">
        <li className="flex min-h-12 flex-wrap items-center gap-3 py-1 ps-4 pe-1">
          <span className="grow">{schoolClass.teacher.name}</span>
          <span className="pe-3">
            <Badge>{t("classes.owns")}</Badge>
          </span>
        </li>
        {coTeachers.map((one) => (
          <CoTeacher key={one.id} classId={schoolClass.id} person={one} canRemove={canAssign} />
        ))}
      </ul>
    </div>
  );
}

function CoTeacher({
  classId,
  person,
  canRemove,
}: {
  classId: string;
  person: { id: string; name: string };
  canRemove: boolean;
}) {
  const { t } = useTranslation();
  const row = useRef<HTMLLIElement>(null);
  const { remove } = useTeachers(classId);
  return (
    <li ref={row} className="flex min-h-12 items-center gap-3 py-0.5 ps-4 pe-1">
      <span className="min-w-0 grow wrap-break-word">{person.name}</span>
      {canRemove ? (
        <Button
          kind="quiet"
          className="px-0"
          aria-label={t("classes.removeTeacher", { name: person.name })}
          isPending={remove.isPending}
          onPress={() => {
            const focus = keepFocusNear(row.current);
            void remove.mutateAsync(person).then(focus, () => undefined);
          }}
        >
          <X aria-hidden="true" className="size-5" />
        </Button>
      ) : null}
    </li>
  );
}
