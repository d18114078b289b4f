import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { useErrorText } from "../../i18n/useErrorText";
import { invalidate } from "../../api/queryKeys";
import { UserSearchField } from "../users/UserFilters";
import { usersQuery } from "../users/users";
import { Button } from "../../components/Button";
import { LoadMore } from "../../components/LoadMore";
import { Checkbox } from "../../forms/Checkbox";
import { toast } from "../../components/base/toast";
import { ErrorMessage } from "../../components/ErrorMessage";
import { ListSkeleton } from "../../components/ListSkeleton";
import { Dialog } from "../../components/Dialog";
import type { Homeroom } from "./homerooms";

/** Maximum number of students per request. */
const MAX_STUDENTS = 500;

/** Enrols several students in a homeroom. The selection survives changing the search. */
export function EnrolDialog({
  homeroom,
  enrolledIds,
  onClose,
}: {
  homeroom: Homeroom;
  enrolledIds: ReadonlySet<string>;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const [search, setSearch] = useState("");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const found = useInfiniteQuery(usersQuery({ role: "STUDENT", isActive: "1", ...(search === "" ? {} : { search }) }));
  const students = (found.data?.pages.flatMap((page) => page.data) ?? []).filter((user) => !enrolledIds.has(user.id));
  const enrol = useMutation({
    mutationFn: async () => {
      const ids = [...chosen];
      let added = 0;
      for (let at = 0; at < ids.length; at += MAX_STUDENTS) {
        added += (
          await unwrap(
            client.POST("/homerooms/{id}/students", {
              params: { path: { id: homeroom.id } },
              body: { studentIds: ids.slice(at, at + MAX_STUDENTS) },
            }),
          )
        ).added;
      }
      return added;
    },
    onSuccess: async (added) => {
      await invalidate(cache, "homerooms");
      toast(t("homerooms.enrolled", { count: added, name: homeroom.name }));
      onClose();
    },
  });
  const toggle = (ids: string[], isIn: boolean) =>
    setChosen((before) => new Set(isIn ? [...before, ...ids] : [...before].filter((id) => !ids.includes(id))));
  const isAll = students.length > 0 && students.every((user) => chosen.has(user.id));
  return (
    <Dialog
      title={t("homerooms.enrolInto", { name: homeroom.name })}
      isOpen
      onOpenChange={(isOpen) => isOpen || onClose()}
    >
      {(close) => (
        <>
          <UserSearchField text={search} onText={setSearch} />
          {found.isPending ? <ListSkeleton count={4} /> : null}
          {found.isError ? <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} /> : null}
          {found.data && students.length === 0 ? <p className="text-soft">{t("homerooms.noStudents")}</p> : null}
          {students.length > 0 ? (
            <fieldset className="flex flex-col">
              <legend className="sr-only">{t("homerooms.students")}</legend>
              <Checkbox
                isSelected={isAll}
                onChange={(isIn) =>
                  toggle(
                    students.map((user) => user.id),
                    isIn,
                  )
                }
              >
                {t("homerooms.allShown", { count: students.length })}
              </Checkbox>
              <div className="border-faint max-h-[45vh] overflow-y-auto rounded-lg border px-3">
                {students.map((user) => (
                  <Checkbox key={user.id} isSelected={chosen.has(user.id)} onChange={(isIn) => toggle([user.id], isIn)}>
                    <span className="[overflow-wrap:anywhere]">
                      {user.name} <span className="text-soft text-sm">{user.email}</span>
                    </span>
                  </Checkbox>
                ))}
                <LoadMore pages={found} className="my-2" />
              </div>
            </fieldset>
          ) : null}
          {enrol.isError ? (
            <p role="alert" className="text-bad">
              {errorText(enrol.error)}
            </p>
          ) : null}
          <p className="flex flex-wrap justify-end gap-2">
            <Button onPress={close}>{t("ask.cancel")}</Button>
            <Button
              kind="main"
              isDisabled={chosen.size === 0}
              isPending={enrol.isPending}
              onPress={() => enrol.mutate()}
            >
              {t("homerooms.enrolGo", { count: chosen.size })}
            </Button>
          </p>
        </>
      )}
    </Dialog>
  );
}
