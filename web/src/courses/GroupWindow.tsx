import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { client, data, Problem } from "../api/client";
import type { Group } from "../lib/groups";
import { fieldProblem, useSay } from "../lib/problems";
import { Button } from "../ui/Button";
import { Choice } from "../ui/Choice";
import { Field } from "../ui/Field";
import { Moment } from "../ui/Moment";
import { note } from "../ui/notes";
import { Problems } from "../ui/Problems";
import { Window } from "../ui/Window";
import { courses } from "./courses";
import { isArchived } from "./folders";
import { called, refreshGroups } from "./members";

interface Props {
  /** The group that is changed; none for a new one. */
  group?: Group;
  classId: string;
  courseId: string | null;
  onClose: () => void;
}

/** A new group, or what is said of one. */
export function GroupWindow(props: Props) {
  const { t } = useTranslation();
  return (
    <Window title={props.group ? t("courses.changeGroup", { name: called(props.group) }) : t("courses.newGroup")} isOpen onOpenChange={(isOpen) => isOpen || props.onClose()}>
      {(close) => <GroupForm {...props} close={close} />}
    </Window>
  );
}

const NONE = "";

function GroupForm({ group, classId, courseId, close }: Props & { close: () => void }) {
  const { t } = useTranslation();
  const say = useSay();
  const cache = useQueryClient();
  const [name, setName] = useState(group?.name ?? "");
  const [displayName, setDisplayName] = useState(group?.displayName ?? "");
  const [number, setNumber] = useState(group ? String(group.groupNumber) : "");
  const [needed, setNeeded] = useState(String(group?.requiredDocuments ?? 1));
  const [startDate, setStartDate] = useState(group?.startDate ?? null);
  const [within, setWithin] = useState(group ? (group.courseId ?? NONE) : (courseId ?? NONE));
  const there = (useQuery(courses).data ?? []).filter((course) => course.classId === classId && (!isArchived(course) || course.id === group?.courseId));
  const save = useMutation({
    mutationFn: () => {
      const body = { displayName: displayName || null, requiredDocuments: Number(needed), startDate, courseId: within || null };
      const groupNumber = number === "" ? {} : { groupNumber: Number(number) };
      return group
        ? data(client.PATCH("/groups/{id}", { params: { path: { id: group.id } }, body: { ...body, ...groupNumber, name } }))
        : data(client.POST("/groups", { body: { ...body, ...groupNumber, classId, ...(name === "" ? {} : { name }) } }));
    },
    onSuccess: async (saved) => {
      await refreshGroups(cache);
      note(group ? t("app.saved") : t("courses.groupMade", { name: called(saved) }));
      close();
    },
  });
  const isTaken = save.error instanceof Problem && save.error.code === "DUPLICATE_GROUP_NUMBER";
  const at = (path: string) => {
    const problem = fieldProblem(save.error, path);
    return problem === undefined ? {} : { problem };
  };
  return (
    <Form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <Field label={t("courses.name")} value={name} onChange={setName} isRequired={group !== undefined} maxLength={80} autoComplete="off" {...(group ? {} : { hint: t("courses.nameHint") })} {...at("name")} />
      <Field label={t("courses.shownAs")} value={displayName} onChange={setDisplayName} maxLength={80} autoComplete="off" {...at("displayName")} />
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label={t("courses.number")} value={number} onChange={setNumber} inputMode="numeric" pattern="[1-9][0-9]{0,3}" isRequired={group !== undefined} {...(group ? {} : { hint: t("courses.numberHint") })} {...(isTaken ? { problem: say(save.error) } : at("groupNumber"))} />
        <Field label={t("courses.needed")} value={needed} onChange={setNeeded} inputMode="numeric" pattern="[0-9]|[1-4][0-9]|50" isRequired {...at("requiredDocuments")} />
      </div>
      <Moment label={t("courses.begins")} value={startDate} onChange={setStartDate} hint={t("courses.beginsHint")} problem={fieldProblem(save.error, "startDate")} />
      {startDate === null ? null : (
        <span className="-mt-2">
          <Button onPress={() => setStartDate(null)}>{t("courses.beginsNow")}</Button>
        </span>
      )}
      {group ? (
        <Choice label={t("courses.course")} options={[{ id: NONE, name: t("courses.loose") }, ...there.map((course) => ({ id: course.id, name: `${course.name} · ${course.subject.name}` }))]} value={within} onChange={setWithin} />
      ) : null}
      {save.isError && !isTaken ? <Problems problem={save.error} /> : null}
      <p className="flex flex-wrap justify-end gap-2">
        <Button onPress={close}>{t("ask.cancel")}</Button>
        <Button type="submit" kind="main" isPending={save.isPending}>
          {group ? t("app.save") : t("courses.makeGroup")}
        </Button>
      </p>
    </Form>
  );
}
