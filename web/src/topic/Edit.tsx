import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Form as Frame } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { Problem } from "../api/client";
import { useTime } from "../lib/time";
import { currentOf, merge, type Tagged } from "../lib/versions";
import { Button } from "../ui/Button";
import { Check } from "../ui/Check";
import { Leave } from "../ui/Leave";
import { type Change, Meanwhile } from "../ui/Meanwhile";
import { note } from "../ui/notes";
import { Problems } from "../ui/Problems";
import { useEdits } from "./edits";
import { Fields } from "./Fields";
import { Files } from "./Files";
import { type Form, formOf, lacks, ownOf, type Topic } from "./form";
import { Found } from "./Found";
import { Groups } from "./Groups";
import { courses, groupName, preview, refresh, save } from "./topic";
import { useSoon } from "./soon";

/** A value of the form in words; texts of single groups are not repeated. */
const textOf = (value: Form[keyof Form]): string => (value === null || typeof value === "object" ? "" : typeof value === "boolean" ? (value ? "✓" : "✗") : String(value));

/** A topic that may be changed: its fields are saved together, its groups and files one by one. */
export function Edit({ of, person }: { of: Tagged<Topic>; person: string }) {
  const { t, i18n } = useTranslation();
  const cache = useQueryClient();
  const { moment } = useTime();
  const { form, edits, isDirty, isFound, change, forget } = useEdits(formOf(of), person, `topic:${of.id}`);
  const all = useQuery(courses);
  const [isTried, setTried] = useState(false);
  const [recompute, setRecompute] = useState(true);
  const lack = lacks(form);
  const asked = useSoon(edits);
  const would = useQuery({ ...preview(of.id, asked), enabled: isDirty && lack.length === 0 && Object.keys(asked).length > 0 });
  const handedIn = (of.stats?.submitted ?? 0) + (of.stats?.graded ?? 0) + (of.stats?.returned ?? 0);
  const [changes, setChanges] = useState<Change[]>();
  const saving = useMutation({
    mutationFn: () => save(of, edits, recompute && edits.deadline !== undefined && handedIn > 0),
    onError: (problem) => {
      const now = currentOf<Topic>(problem);
      if (now === undefined) return;
      const { differences } = merge<Form>(formOf(of), form, formOf(now));
      setChanges(differences.map(({ field, isTyped }) => ({ field: t(`topic.field.${field}`), now: field === "deadline" ? moment(now.deadline) : textOf(formOf(now)[field]), isTyped })));
    },
    onSuccess: () => {
      setChanges(undefined);
      setTried(false);
      note(t("topic.saved"));
    },
    onSettled: () => refresh(cache),
  });
  const discard = () => {
    forget();
    note(t("topic.discarded"), () => change(edits));
  };
  const problem = saving.error ?? (would.error instanceof Problem && would.error.status === 400 ? would.error : null);
  const names = new Map(of.groupAssignments.map((own) => [own.groupId, own.group.groupNumber]));
  const list = new Intl.ListFormat(i18n.language, { type: "conjunction" });
  const shared = would.data && would.data.changes.length > 0 ? would.data : undefined;
  const own = Object.keys(ownOf(edits)).filter((key) => key !== "groups");
  const texts = Object.keys(edits.texts ?? {}).map((groupId) => names.get(groupId)).filter((number) => number !== undefined);
  const lines = [
    shared === undefined ? "" : t("topic.changes", { fields: list.format(shared.changes.map((field) => t(`topic.field.${field}`))), count: shared.groupIds.length, groups: shared.groupIds.map((id) => names.get(id)).join(" ") }),
    own.length === 0 ? "" : t("topic.changesOwn", { fields: list.format(own.map((field) => t(`topic.field.${field}`))) }),
    texts.length === 0 ? "" : t("topic.changesTexts", { count: texts.length, groups: texts.join(" ") }),
  ].filter(Boolean);
  return (
    <>
      {isFound ? <Found onForget={discard} /> : null}
      <Frame
        className="flex flex-col gap-4"
        validationBehavior="aria"
        onSubmit={(event) => {
          event.preventDefault();
          setTried(true);
          if (lack.length === 0) saving.mutate();
          else requestAnimationFrame(() => document.querySelector<HTMLElement>("main [aria-invalid=true]")?.focus());
        }}
      >
        <Fields
          form={form}
          onChange={change}
          groups={of.groupAssignments.map((one) => ({ id: one.groupId, name: groupName(one.group) }))}
          lack={isTried ? lack : []}
          problem={problem}
          courses={(all.data ?? []).filter((course) => course.classId === of.classId).map((course) => ({ id: course.id, name: `${course.subject.name} › ${course.name}` }))}
          canBegin={of.groupAssignments.length > 0}
        />
        {saving.isError && changes !== undefined && currentOf(saving.error) !== undefined ? <Meanwhile changes={changes} /> : null}
        {saving.isError && currentOf(saving.error) === undefined && !(saving.error instanceof Problem && saving.error.status === 400) ? <Problems problem={saving.error} /> : null}
        {isDirty && edits.deadline !== undefined && handedIn > 0 ? (
          <Check isSelected={recompute} onChange={setRecompute}>
            {t("topic.recompute", { count: handedIn })}
          </Check>
        ) : null}
        <div className="flex flex-wrap items-center gap-3">
          <Button type="submit" kind="main" isDisabled={!isDirty} isPending={saving.isPending}>
            {t("app.save")}
          </Button>
          {isDirty ? <Button onPress={discard}>{t("topic.discard")}</Button> : null}
          <output className="text-soft min-w-0 grow basis-60 text-sm">
            {isDirty ? lines.map((line) => <span key={line} className="block">{line}</span>) : t("topic.allSaved")}
          </output>
        </div>
      </Frame>
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <Files of={of} isLocked={false} />
        <Groups of={of} isLocked={false} />
      </div>
      <Leave isDirty={isDirty} text={t("topic.leaveText")} />
    </>
  );
}
