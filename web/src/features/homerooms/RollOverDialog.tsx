import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { serverNow } from "../../hooks/serverClock";
import { useErrorText } from "../../i18n/useErrorText";
import { invalidate, queryKeys } from "../../api/queryKeys";
import { Button } from "../../components/Button";
import { Checkbox } from "../../forms/Checkbox";
import { Select } from "../../forms/Select";
import { TextField } from "../../forms/TextField";
import { toast } from "../../components/base/toast";
import { ProgressBar } from "../../components/ProgressBar";
import { Dialog } from "../../components/Dialog";
import type { Homeroom } from "./homerooms";
import { createCopy, planRollOver, type HomeroomCopy } from "./rollOver";
import { nextYear, schoolYearAt } from "./schoolYears";

/** The following school year, or the same text if it names no year. */
const nextOrSame = (year: string): string => nextYear(year) || schoolYearAt(serverNow());

/** Copies the homerooms of a school year into the next one, a grade higher, with their students. The originals stay. */
export function RollOverDialog({
  homerooms,
  onClose,
  onDone,
}: {
  homerooms: readonly Homeroom[];
  onClose: () => void;
  onDone: (year: string) => void;
}) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const years = [...new Set(homerooms.map((room) => room.academicYear ?? ""))].toSorted().toReversed();
  const [from, setFrom] = useState(years[0] ?? "");
  const [to, setTo] = useState(nextOrSame(years[0] ?? ""));
  const [changes, setChanges] = useState<Record<string, Partial<HomeroomCopy>>>({});
  const [keepsTeacher, setKeepsTeacher] = useState(true);
  const [share, setShare] = useState(0);
  const copies = planRollOver(homerooms, from, to).map((line) => ({ ...line, ...changes[line.source.id] }));
  const wanted = copies.filter((line) => line.isWanted);
  const change = (id: string, part: Partial<HomeroomCopy>) =>
    setChanges({ ...changes, [id]: { ...changes[id], ...part } });
  const run = useMutation({
    mutationFn: async () => {
      const made: string[] = [];
      const failed: string[] = [];
      for (const line of wanted) {
        try {
          made.push(await createCopy(line, to.trim(), keepsTeacher));
        } catch (problem) {
          failed.push(`${line.name}: ${errorText(problem)}`);
        }
        setShare((made.length + failed.length) / wanted.length);
      }
      return { made, failed };
    },
    onSuccess: async ({ made, failed }) => {
      await invalidate(cache, "homerooms");
      if (made.length > 0) toast(t("homerooms.rolled", { count: made.length, year: to }), () => undo.mutate(made));
      if (failed.length === 0) {
        onDone(to.trim());
        onClose();
      }
    },
  });
  const undo = useMutation({
    mutationFn: (made: string[]) =>
      Promise.all(made.map((id) => unwrap(client.DELETE("/homerooms/{id}", { params: { path: { id } } })))),
    onError: (problem) => void toast(errorText(problem)),
    onSettled: () => cache.invalidateQueries({ queryKey: queryKeys.homerooms.list() }),
  });
  return (
    <Dialog
      title={t("homerooms.rollTitle")}
      isWide
      isOpen
      onOpenChange={(isOpen) => isOpen || run.isPending || onClose()}
    >
      {(close) => (
        <>
          <p>{t("homerooms.rollText")}</p>
          <div className="grid grid-cols-2 gap-3">
            <Select
              label={t("homerooms.from")}
              options={years.map((id) => ({ id, name: id || t("homerooms.withoutYear") }))}
              value={from}
              onChange={(id) => {
                setFrom(id);
                setTo(nextOrSame(id));
                setChanges({});
              }}
            />
            <TextField label={t("homerooms.to")} value={to} onChange={setTo} isRequired maxLength={20} />
          </div>
          <Checkbox isSelected={keepsTeacher} onChange={setKeepsTeacher}>
            {t("homerooms.keepTeacher")}
          </Checkbox>
          <ul className="border-faint divide-faint max-h-[40vh] divide-y overflow-y-auto rounded-lg border px-3">
            {copies.map((line) => (
              <li key={line.source.id} className="grid grid-cols-[1fr_1fr] items-center gap-3 py-1">
                <Checkbox isSelected={line.isWanted} onChange={(isWanted) => change(line.source.id, { isWanted })}>
                  <span>
                    {line.source.name}{" "}
                    <span className="text-soft text-sm">
                      {t("homerooms.count", { count: line.source.studentCount })}
                    </span>
                  </span>
                </Checkbox>
                {line.isWanted ? (
                  <NameField
                    name={line.name}
                    of={line.source.name}
                    onName={(name) => change(line.source.id, { name })}
                  />
                ) : (
                  <span className="text-soft text-sm">
                    {line.isExisting ? t("homerooms.isThere", { name: line.name }) : t("homerooms.ends")}
                  </span>
                )}
              </li>
            ))}
          </ul>
          {run.isPending ? <ProgressBar label={t("homerooms.rolling")} share={share} /> : null}
          {run.data && run.data.failed.length > 0 ? (
            <ul role="alert" className="text-bad">
              {run.data.failed.map((text) => (
                <li key={text}>{text}</li>
              ))}
            </ul>
          ) : null}
          <p className="flex flex-wrap justify-end gap-2">
            <Button isDisabled={run.isPending} onPress={close}>
              {t("ask.cancel")}
            </Button>
            <Button
              kind="main"
              isDisabled={wanted.length === 0 || to.trim() === "" || wanted.some((line) => line.name.trim() === "")}
              isPending={run.isPending}
              onPress={() => run.mutate()}
            >
              {t("homerooms.rollGo", { count: wanted.length })}
            </Button>
          </p>
        </>
      )}
    </Dialog>
  );
}

function NameField({ name, of, onName }: { name: string; of: string; onName: (name: string) => void }) {
  const { t } = useTranslation();
  return (
    <TextField isBare label={t("homerooms.newNameOf", { name: of })} value={name} onChange={onName} maxLength={80} />
  );
}
