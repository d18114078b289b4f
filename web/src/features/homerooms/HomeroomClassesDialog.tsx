import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { invalidate, queryKeys } from "../../api/queryKeys";
import { serverNow } from "../../hooks/serverClock";
import { useErrorText } from "../../i18n/useErrorText";
import { staffQuery } from "../users/users";
import { Button } from "../../components/Button";
import { ErrorMessage } from "../../components/ErrorMessage";
import { ListSkeleton } from "../../components/ListSkeleton";
import { Checkbox } from "../../forms/Checkbox";
import { Select } from "../../forms/Select";
import { TextField } from "../../forms/TextField";
import { toast } from "../../components/base/toast";
import { Dialog } from "../../components/Dialog";
import { homeroomsQuery } from "./homerooms";
import { type HomeroomLine, homeroomsWithoutClass } from "./homeroomClasses";
import { schoolYearAt } from "./schoolYears";

interface Props {
  /** The school year of the classes; defaults to the present one. */
  year: string | undefined;
  onClose: () => void;
}

/** Creates a class for each selected homeroom, with its teacher and its students. */
export function HomeroomClassesDialog({ year: initialYear, onClose }: Props) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const [year, setYear] = useState(initialYear ?? schoolYearAt(serverNow()));
  const [follows, setFollows] = useState(true);
  const [skipped, setSkipped] = useState<ReadonlySet<string>>(new Set());
  const [teachers, setTeachers] = useState<Readonly<Record<string, string>>>({});
  const [common, setCommon] = useState<string | null>(null);
  const academicYear = year.trim();
  const rooms = useQuery(homeroomsQuery).data ?? [];
  const { data: staff = [] } = useQuery(staffQuery);
  const preview = useQuery({
    queryKey: queryKeys.homerooms.newClasses(academicYear),
    queryFn: () =>
      unwrap(client.POST("/homerooms/classes", { params: { query: { dryRun: "1" } }, body: { academicYear } })),
    enabled: academicYear !== "",
    staleTime: 0,
  });
  const lines = preview.data ? homeroomsWithoutClass(preview.data, rooms) : [];
  const chosenTeacher = (id: string) => teachers[id] ?? common;
  const isReady = (line: HomeroomLine) => line.teacher !== null || chosenTeacher(line.id) !== null;
  const wanted = lines.filter((line) => !skipped.has(line.id) && isReady(line));
  const run = useMutation({
    mutationFn: () =>
      unwrap(
        client.POST("/homerooms/classes", {
          body: {
            academicYear,
            followsHomeroom: follows,
            homerooms: wanted.map(({ id, teacher }) => {
              const teacherId = teacher === null ? chosenTeacher(id) : null;
              return { homeroomId: id, ...(teacherId === null ? {} : { teacherId }) };
            }),
          },
        }),
      ),
    onSuccess: async ({ created, problems }) => {
      await invalidate(cache, "homerooms", "classes", "courses", "admin");
      toast(t("homerooms.classesMade", { count: created.length }));
      if (problems.length === 0) onClose();
    },
  });
  const toggle = (id: string, isOn: boolean) =>
    setSkipped((before) => new Set(isOn ? [...before].filter((one) => one !== id) : [...before, id]));
  const options = staff.map((user) => ({ id: user.id, name: user.name }));
  return (
    <Dialog
      title={t("homerooms.classesTitle")}
      isWide
      isOpen
      onOpenChange={(isOpen) => isOpen || run.isPending || onClose()}
    >
      {(close) => (
        <>
          <p>{t("homerooms.classesText")}</p>
          <div className="grid gap-3 sm:grid-cols-2">
            <TextField label={t("homerooms.year")} value={year} onChange={setYear} isRequired maxLength={20} />
            {lines.some((line) => line.teacher === null) ? (
              <Select
                label={t("homerooms.commonTeacher")}
                none={t("homerooms.chooseTeacher")}
                options={options}
                value={common}
                onChange={setCommon}
              />
            ) : null}
          </div>
          {preview.isLoading ? <ListSkeleton count={4} /> : null}
          {preview.isError ? <ErrorMessage problem={preview.error} onRetry={() => void preview.refetch()} /> : null}
          {preview.data && lines.length === 0 ? <p className="text-soft">{t("homerooms.classesNone")}</p> : null}
          {lines.length > 0 ? (
            <ul
              aria-label={t("admin.homerooms")}
              className="border-faint divide-faint max-h-[40vh] divide-y overflow-y-auto rounded-lg border px-3"
            >
              {lines.map((line) => (
                <li key={line.id} className="grid items-center gap-x-3 py-1 sm:grid-cols-2">
                  <Checkbox
                    isSelected={wanted.some((one) => one.id === line.id)}
                    isDisabled={!isReady(line)}
                    onChange={(isOn) => toggle(line.id, isOn)}
                  >
                    <span className="wrap-anywhere">
                      {line.name}{" "}
                      <span className="text-soft text-sm">{t("homerooms.count", { count: line.students })}</span>
                    </span>
                  </Checkbox>
                  {line.teacher === null ? (
                    <Select
                      label={t("homerooms.teacherOf", { name: line.name })}
                      isLabelHidden
                      none={t("homerooms.chooseTeacher")}
                      options={options}
                      value={chosenTeacher(line.id)}
                      onChange={(id) => setTeachers({ ...teachers, [line.id]: id })}
                    />
                  ) : (
                    <span className="text-soft text-sm">{line.teacher}</span>
                  )}
                </li>
              ))}
            </ul>
          ) : null}
          <div>
            <Checkbox isSelected={follows} onChange={setFollows}>
              {t("classes.followsHomeroom")}
            </Checkbox>
            <p className="text-soft text-sm">{t("classes.followsHint")}</p>
          </div>
          {run.data && run.data.problems.length > 0 ? (
            <ul role="alert" className="text-bad">
              {run.data.problems.map((one) => (
                <li key={one.homeroomId}>
                  {t("homerooms.problemOf", { name: one.name, problem: t(`homerooms.problem.${one.problem}`) })}
                </li>
              ))}
            </ul>
          ) : null}
          {run.isError ? (
            <p role="alert" className="text-bad">
              {errorText(run.error)}
            </p>
          ) : null}
          <p className="flex flex-wrap justify-end gap-2">
            <Button isDisabled={run.isPending} onPress={close}>
              {t("ask.cancel")}
            </Button>
            <Button kind="main" isDisabled={wanted.length === 0} isPending={run.isPending} onPress={() => run.mutate()}>
              {t("homerooms.classesGo", { count: wanted.length })}
            </Button>
          </p>
        </>
      )}
    </Dialog>
  );
}
