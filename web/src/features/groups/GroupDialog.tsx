import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { FormBody } from "../../forms/FormDialog";
import { useVersionedForm } from "../../forms/useForm";
import { client, unwrap } from "../../api/client";
import type { ListedGroup } from "./groups";
import { queryKeys } from "../../api/queryKeys";
import { useTime } from "../../i18n/time";
import { ifMatch, type Versioned, withVersion } from "../../api/versions";
import { Button } from "../../components/Button";
import { OptionalSelect } from "../../forms/Select";
import { TextField } from "../../forms/TextField";
import { EditConflict } from "../../forms/EditConflict";
import { DateTimeField } from "../../forms/DateTimeField";
import { toast } from "../../components/base/toast";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";
import { Dialog } from "../../components/Dialog";
import { coursesQuery } from "../courses/courses";
import { isArchived } from "../courses/folders";
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

const valuesOf = (group: ListedGroup | undefined, courseId: string | null) => ({
  name: group?.name ?? "",
  displayName: group?.displayName ?? "",
  groupNumber: group ? String(group.groupNumber) : "",
  requiredDocuments: String(group?.requiredDocuments ?? 1),
  startDate: group?.startDate ?? null,
  meetingPlace: group?.meetingPlace ?? "",
  courseId: group ? group.courseId : courseId,
});
type GroupValues = ReturnType<typeof valuesOf>;

const LABELS = {
  name: "courses.name",
  displayName: "courses.shownAs",
  groupNumber: "courses.number",
  requiredDocuments: "courses.needed",
  startDate: "courses.begins",
  meetingPlace: "activity.field.meetingPlace",
  courseId: "courses.course",
} as const;

function saveGroup(classId: string, values: GroupValues, base: Versioned<ListedGroup> | undefined) {
  const { name, groupNumber, ...rest } = values;
  const body = {
    displayName: rest.displayName || null,
    requiredDocuments: Number(rest.requiredDocuments),
    startDate: rest.startDate,
    meetingPlace: rest.meetingPlace || null,
    courseId: rest.courseId,
    ...(groupNumber === "" ? {} : { groupNumber: Number(groupNumber) }),
  };
  if (base === undefined)
    return unwrap(client.POST("/groups", { body: { ...body, classId, ...(name === "" ? {} : { name }) } }));
  const params = { path: { id: base.id } };
  return unwrap(client.PATCH("/groups/{id}", { params, body: { ...body, name }, ...ifMatch(base) }));
}

type GroupFormProps = Omit<Props, "group" | "onClose"> & { group?: Versioned<ListedGroup>; close: () => void };

function GroupForm({ group, classId, courseId, close }: GroupFormProps) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const { moment } = useTime();
  const form = useVersionedForm({
    item: group,
    valuesOf: (item: ListedGroup | undefined) => valuesOf(item, courseId),
    send: (values, current) => saveGroup(classId, values, current),
    onSent: async (saved) => {
      await refreshGroups(cache);
      toast(group ? t("app.saved") : t("courses.groupMade", { name: numberedName(saved) }));
      close();
    },
    codes: { DUPLICATE_GROUP_NUMBER: "groupNumber" },
  });
  const { base } = form;
  const there = (useQuery(coursesQuery).data ?? []).filter(
    (course) => course.classId === classId && (!isArchived(course) || course.id === base?.courseId),
  );
  const currentText = (field: keyof GroupValues): string => {
    const now = valuesOf(base, courseId)[field];
    if (field === "startDate") return now === null ? t("courses.beginsNow") : moment(now);
    if (field === "courseId") return there.find((course) => course.id === now)?.name ?? t("courses.loose");
    return now ?? "";
  };
  return (
    <FormBody form={form} submitLabel={group ? t("app.save") : t("courses.makeGroup")} close={close}>
      <TextField
        label={t("courses.name")}
        isRequired={group !== undefined}
        maxLength={80}
        {...(group ? {} : { hint: t("courses.nameHint") })}
        {...form.field("name")}
      />
      <TextField label={t("courses.shownAs")} maxLength={80} {...form.field("displayName")} />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label={t("courses.number")}
          inputMode="numeric"
          pattern="[1-9][0-9]{0,3}"
          isRequired={group !== undefined}
          {...(group ? {} : { hint: t("courses.numberHint") })}
          {...form.field("groupNumber")}
        />
        <TextField
          label={t("courses.needed")}
          inputMode="numeric"
          pattern="[0-9]|[1-4][0-9]|50"
          isRequired
          {...form.field("requiredDocuments")}
        />
      </div>
      <TextField label={t("activity.field.meetingPlace")} maxLength={80} {...form.field("meetingPlace")} />
      <DateTimeField label={t("courses.begins")} hint={t("courses.beginsHint")} {...form.field("startDate")} />
      {form.values.startDate === null ? null : (
        <span className="-mt-2">
          <Button onPress={() => form.set({ startDate: null })}>{t("courses.beginsNow")}</Button>
        </span>
      )}
      {group ? (
        <OptionalSelect
          label={t("courses.course")}
          none={t("courses.loose")}
          options={there.map((course) => ({ id: course.id, name: `${course.name} · ${course.subject.name}` }))}
          {...form.field("courseId")}
        />
      ) : null}
      <EditConflict differences={form.differences} label={(field) => t(LABELS[field])} current={currentText} />
    </FormBody>
  );
}
