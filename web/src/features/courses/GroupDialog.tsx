import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { client, unwrap, Problem } from "../../api/client";
import type { ListedGroup } from "../groups/groups";
import { fieldError, useErrorText } from "../../i18n/useErrorText";
import { queryKeys } from "../../api/queryKeys";
import { useTime } from "../../i18n/time";
import {
  currentVersion,
  type FieldConflict,
  ifMatch,
  mergeForm,
  type Versioned,
  withVersion,
} from "../../api/versions";
import { Button } from "../../components/Button";
import { Select } from "../../forms/Select";
import { TextField } from "../../forms/TextField";
import { EditConflict } from "../../forms/EditConflict";
import { DateTimeField } from "../../forms/DateTimeField";
import { toast } from "../../components/base/toast";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";
import { Dialog } from "../../components/Dialog";
import { coursesQuery } from "./courses";
import { isArchived } from "./folders";
import { refreshGroups } from "./useMembers";
import { numberedName } from "../lesson/groupNames";

interface Props {
  /** The group to edit; undefined for a new one. */
  group?: ListedGroup;
  classId: string;
  courseId: string | null;
  onClose: () => void;
}

/** Creates or edits a group. */
export function GroupDialog(props: Props) {
  const { t } = useTranslation();
  return (
    <Dialog
      title={props.group ? t("courses.changeGroup", { name: numberedName(props.group) }) : t("courses.newGroup")}
      isOpen
      onOpenChange={(isOpen) => isOpen || props.onClose()}
    >
      {(close) =>
        props.group ? (
          <LoadedGroupForm {...props} id={props.group.id} close={close} />
        ) : (
          <GroupForm {...props} close={close} />
        )
      }
    </Dialog>
  );
}

/** Loads the current group before editing: list data may be older, and a change names the version it is based on. */
function LoadedGroupForm({ id, ...props }: Omit<Props, "group"> & { id: string; close: () => void }) {
  const found = useQuery({
    queryKey: queryKeys.groups.form(id),
    queryFn: () => withVersion(client.GET("/groups/{id}", { params: { path: { id } } })),
    gcTime: 0,
    staleTime: Infinity,
  });
  if (found.isError) return <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} />;
  if (found.data === undefined || found.data.view !== "FULL") return <Skeleton count={1} />;
  return <GroupForm {...props} group={found.data} />;
}

const NONE = "";

const initialForm = (group: ListedGroup | undefined, courseId: string | null) => ({
  name: group?.name ?? "",
  displayName: group?.displayName ?? "",
  number: group ? String(group.groupNumber) : "",
  needed: String(group?.requiredDocuments ?? 1),
  startDate: group?.startDate ?? null,
  within: group ? (group.courseId ?? NONE) : (courseId ?? NONE),
});

const LABELS = {
  name: "courses.name",
  displayName: "courses.shownAs",
  number: "courses.number",
  needed: "courses.needed",
  startDate: "courses.begins",
  within: "courses.course",
} as const;

function GroupForm({
  group,
  classId,
  courseId,
  close,
}: Omit<Props, "group"> & { group?: Versioned<ListedGroup>; close: () => void }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const { moment } = useTime();
  const [form, setForm] = useState(() => initialForm(group, courseId));
  // Initial values of the form; after a concurrent change, the current values of the service.
  const [base, setBase] = useState(group);
  const [differences, setDifferences] = useState<FieldConflict<typeof form>[]>();
  const update = (part: Partial<typeof form>) => setForm({ ...form, ...part });
  const { name, displayName, number, needed, startDate, within } = form;
  const there = (useQuery(coursesQuery).data ?? []).filter(
    (course) => course.classId === classId && (!isArchived(course) || course.id === base?.courseId),
  );
  const save = useMutation({
    mutationFn: () => {
      const body = {
        displayName: displayName || null,
        requiredDocuments: Number(needed),
        startDate,
        courseId: within || null,
      };
      const groupNumber = number === "" ? {} : { groupNumber: Number(number) };
      return base
        ? unwrap(
            client.PATCH("/groups/{id}", {
              params: { path: { id: base.id } },
              body: { ...body, ...groupNumber, name },
              ...ifMatch(base),
            }),
          )
        : unwrap(
            client.POST("/groups", { body: { ...body, ...groupNumber, classId, ...(name === "" ? {} : { name }) } }),
          );
    },
    onError: (problem) => {
      const now = currentVersion<ListedGroup>(problem);
      if (now === undefined || base === undefined) return;
      const merged = mergeForm(initialForm(base, courseId), form, initialForm(now, courseId));
      setForm(merged.form);
      setDifferences(merged.differences);
      setBase(now);
    },
    onSuccess: async (saved) => {
      await refreshGroups(cache);
      toast(group ? t("app.saved") : t("courses.groupMade", { name: numberedName(saved) }));
      close();
    },
  });
  const isTaken = save.error instanceof Problem && save.error.code === "DUPLICATE_GROUP_NUMBER";
  const at = (path: string) => {
    const problem = fieldError(save.error, path);
    return problem === undefined ? {} : { problem };
  };
  const nowOf = (field: keyof typeof form): string => {
    const now = initialForm(base, courseId)[field];
    if (field === "startDate") return now === null ? t("courses.beginsNow") : moment(now);
    if (field === "within") return there.find((course) => course.id === now)?.name ?? t("courses.loose");
    return now ?? "";
  };
  const isLate = currentVersion(save.error) !== undefined;
  return (
    <Form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <TextField
        label={t("courses.name")}
        value={name}
        onChange={(value) => update({ name: value })}
        isRequired={group !== undefined}
        maxLength={80}
        autoComplete="off"
        {...(group ? {} : { hint: t("courses.nameHint") })}
        {...at("name")}
      />
      <TextField
        label={t("courses.shownAs")}
        value={displayName}
        onChange={(value) => update({ displayName: value })}
        maxLength={80}
        autoComplete="off"
        {...at("displayName")}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label={t("courses.number")}
          value={number}
          onChange={(value) => update({ number: value })}
          inputMode="numeric"
          pattern="[1-9][0-9]{0,3}"
          isRequired={group !== undefined}
          {...(group ? {} : { hint: t("courses.numberHint") })}
          {...(isTaken ? { problem: errorText(save.error) } : at("groupNumber"))}
        />
        <TextField
          label={t("courses.needed")}
          value={needed}
          onChange={(value) => update({ needed: value })}
          inputMode="numeric"
          pattern="[0-9]|[1-4][0-9]|50"
          isRequired
          {...at("requiredDocuments")}
        />
      </div>
      <DateTimeField
        label={t("courses.begins")}
        value={startDate}
        onChange={(value) => update({ startDate: value })}
        hint={t("courses.beginsHint")}
        problem={fieldError(save.error, "startDate")}
      />
      {startDate === null ? null : (
        <span className="-mt-2">
          <Button onPress={() => update({ startDate: null })}>{t("courses.beginsNow")}</Button>
        </span>
      )}
      {group ? (
        <Select
          label={t("courses.course")}
          options={[
            { id: NONE, name: t("courses.loose") },
            ...there.map((course) => ({ id: course.id, name: `${course.name} · ${course.subject.name}` })),
          ]}
          value={within}
          onChange={(value) => update({ within: value })}
        />
      ) : null}
      {isLate && differences !== undefined ? (
        <EditConflict
          changes={differences.map(({ field, isTyped }) => ({
            field: t(LABELS[field]),
            current: nowOf(field),
            isTyped,
          }))}
        />
      ) : null}
      {save.isError && !isTaken && !isLate ? <ErrorMessage problem={save.error} /> : null}
      <p className="flex flex-wrap justify-end gap-2">
        <Button onPress={close}>{t("ask.cancel")}</Button>
        <Button type="submit" kind="main" isPending={save.isPending}>
          {group ? t("app.save") : t("courses.makeGroup")}
        </Button>
      </p>
    </Form>
  );
}
