import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Check, TriangleAlert } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { invalidate, queryKeys } from "../../api/queryKeys";
import { Dialog } from "../../components/Dialog";
import { toast } from "../../components/base/toast";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Checkbox } from "../../forms/Checkbox";
import { CheckboxList } from "../../forms/CheckboxList";
import { DateTimeField } from "../../forms/DateTimeField";
import { FormBody } from "../../forms/FormDialog";
import { NumberField } from "../../forms/NumberField";
import { RadioGroup } from "../../forms/RadioGroup";
import { useForm } from "../../forms/useForm";
import { serverNow } from "../../hooks/serverClock";
import { useDebounce } from "../../hooks/useDebounce";
import { useErrorText } from "../../i18n/useErrorText";
import { type Class, classesQuery, isManaged } from "../classes/classes";
import { managedCoursesQuery } from "../topics/topic";
import { ClassCopyForm } from "./ClassCopyForm";
import { GroupsChoice, PublicationChoice } from "./CopyChoices";
import { type CopyChoice, type CopySource, copyIntoAll, type TargetResult } from "./copies";

const WEEK = 604_800_000;
/** Targets whose result is previewed. */
const PREVIEWED = 5;

interface Props {
  source: CopySource | { kind: "class"; schoolClass: Class };
  onClose: () => void;
}

/**
 * Copies topics into courses, a course into classes, or a class for another school year, with a choice of groups, dates and
 * publication.
 */
export function CopyDialog({ source, onClose }: Props) {
  const { t } = useTranslation();
  const title =
    source.kind === "class"
      ? t("classes.cloneTitle", { name: source.schoolClass.name })
      : source.kind === "course"
        ? t("copies.titleCourse", { name: source.course.name })
        : source.topics.length === 1
          ? t("copies.titleTopic", { title: source.topics[0]?.title })
          : t("copies.titleTopics");
  return (
    <Dialog title={title} isWide isOpen onOpenChange={(isOpen) => isOpen || onClose()}>
      {(close) =>
        source.kind === "class" ? (
          <ClassCopyForm schoolClass={source.schoolClass} close={close} />
        ) : (
          <CopyForm source={source} close={close} />
        )
      }
    </Dialog>
  );
}

function initialChoice(source: CopySource): CopyChoice {
  const topics = source.kind === "topics" ? source.topics : [];
  const [only] = topics;
  const isSingle = topics.length === 1 && only !== undefined;
  return {
    topicIds: topics.map((topic) => topic.id),
    targetIds: source.kind === "topics" && source.courseId !== null ? [source.courseId] : [],
    dates: isSingle ? "deadline" : "year",
    weeks: 1,
    deadline: isSingle ? new Date(Math.max(Date.parse(only.deadline), serverNow()) + WEEK).toISOString() : null,
    withFiles: true,
    groups: "NONE",
    publication: "DRAFT",
  };
}

/** The courses or classes into which the user can copy. */
function useTargets(source: CopySource) {
  const courses = useQuery({ ...managedCoursesQuery, enabled: source.kind === "topics" });
  const classes = useQuery({ ...classesQuery, enabled: source.kind === "course" });
  const targets =
    source.kind === "topics"
      ? courses.data?.map((course) => ({
          id: course.id,
          name: `${course.class.name} › ${course.subject.name} › ${course.name}`,
        }))
      : classes.data
          ?.filter((one) => isManaged(one) && one.status !== "ARCHIVED")
          .map((one) => ({ id: one.id, name: `${one.name} · ${one.academicYear}` }));
  return { targets: targets ?? [], error: courses.error ?? classes.error };
}

function CopyForm({ source, close }: { source: CopySource; close: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const { targets, error } = useTargets(source);
  const [done, setDone] = useState<readonly TargetResult[]>([]);
  const isMade = (id: string) => done.some((one) => one.targetId === id && "copies" in one);
  const form = useForm({
    initial: () => initialChoice(source),
    send: (choice) =>
      copyIntoAll(
        source,
        choice,
        choice.targetIds.filter((id) => !isMade(id)),
        false,
      ),
    onSent: async (results) => {
      const all = [...done.filter((one) => "copies" in one), ...results];
      setDone(all);
      const failed = results.filter((one) => "problem" in one);
      if (failed.length === 0) {
        close();
        toast(t("copies.made", { count: all.length }));
        const [only] = all;
        if (all.length === 1 && only !== undefined && "copies" in only) await openCopy(only.copies);
      }
      await invalidate(cache, "assignments", "courses", "groups", "classes");
    },
  });
  const openCopy = ({ course, assignments }: Extract<TargetResult, { copies: unknown }>["copies"]) =>
    assignments.length === 1 && assignments[0] !== undefined && source.kind === "topics"
      ? navigate({ to: "/topics/$topicId", params: { topicId: assignments[0].id }, ignoreBlocker: true })
      : navigate({ to: "/courses/$courseId", params: { courseId: course.id }, ignoreBlocker: true });
  const choice = form.values;
  const isIncomplete =
    choice.targetIds.length === 0 ||
    (source.kind === "topics" && choice.topicIds.length === 0) ||
    (choice.dates === "deadline" && choice.deadline === null) ||
    (choice.dates === "weeks" && !Number.isInteger(choice.weeks));
  return (
    <FormBody
      form={form}
      submitLabel={t(done.some((one) => "problem" in one) ? "copies.again" : "copies.go")}
      isIncomplete={isIncomplete}
      close={close}
    >
      {error ? <ErrorMessage problem={error} /> : null}
      {source.kind === "topics" && source.topics.length > 1 ? (
        <CheckboxList
          label={t("copies.topics")}
          options={source.topics.map((topic) => ({ id: topic.id, name: topic.title }))}
          value={choice.topicIds}
          onChange={(topicIds) => form.set({ topicIds })}
        />
      ) : null}
      <CheckboxList
        label={t(source.kind === "topics" ? "copies.intoCourses" : "copies.intoClasses")}
        layout="scroll"
        options={targets.map((target) => ({ ...target, isDisabled: isMade(target.id) }))}
        value={choice.targetIds}
        onChange={(targetIds) => form.set({ targetIds })}
      />
      <CopyOptions source={source} choice={choice} onChange={form.set} />
      <Checkbox {...form.check("withFiles")}>{t("copies.withFiles")}</Checkbox>
      {done.length > 0 ? (
        <Results results={done} targets={targets} />
      ) : isIncomplete ? null : (
        <Preview source={source} choice={choice} targets={targets} />
      )}
    </FormBody>
  );
}

function CopyOptions({
  source,
  choice,
  onChange,
}: {
  source: CopySource;
  choice: CopyChoice;
  onChange: (part: Partial<CopyChoice>) => void;
}) {
  const { t } = useTranslation();
  const isSingle = source.kind === "topics" && choice.topicIds.length === 1;
  const dates = choice.dates === "deadline" && !isSingle ? "year" : choice.dates;
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <div className="flex flex-col gap-2">
        <RadioGroup
          label={t("copies.dates")}
          value={dates}
          onChange={(value) => onChange({ dates: value })}
          options={[
            ...(isSingle ? [{ id: "deadline" as const, name: t("copies.datesDeadline") }] : []),
            { id: "year", name: t("copies.datesYear") },
            { id: "weeks", name: t("copies.datesWeeks") },
          ]}
        />
        {dates === "deadline" ? (
          <DateTimeField
            label={t("copies.deadline")}
            isRequired
            value={choice.deadline}
            onChange={(deadline) => onChange({ deadline })}
          />
        ) : null}
        {dates === "weeks" ? (
          <NumberField
            label={t("copies.weeks")}
            minValue={-520}
            maxValue={520}
            value={choice.weeks}
            onChange={(weeks) => onChange({ weeks })}
          />
        ) : null}
      </div>
      <div className="flex flex-col gap-4">
        <GroupsChoice
          offered={["NONE", "SAME", "NAMES"]}
          value={choice.groups}
          onChange={(groups) => onChange({ groups })}
        />
        <PublicationChoice value={choice.publication} onChange={(publication) => onChange({ publication })} />
      </div>
    </div>
  );
}

interface ListedTarget {
  id: string;
  name: string;
}

/** What the copy would create in each target. */
function Preview({
  source,
  choice,
  targets,
}: {
  source: CopySource;
  choice: CopyChoice;
  targets: readonly ListedTarget[];
}) {
  const { t } = useTranslation();
  const wanted = useDebounce(choice, 400);
  const previewed = wanted.targetIds.slice(0, PREVIEWED);
  const found = useQuery({
    queryKey: queryKeys.courses.copies(source, wanted),
    queryFn: () => copyIntoAll(source, wanted, previewed, true),
    placeholderData: (before) => before,
    staleTime: 0,
    gcTime: 0,
  });
  return (
    <section aria-label={t("copies.preview")} aria-busy={found.isFetching} className="min-h-11">
      {found.data ? <Results results={found.data} targets={targets} isPreview /> : null}
      {wanted.targetIds.length > PREVIEWED ? (
        <p className="text-soft text-sm">{t("copies.more", { count: wanted.targetIds.length - PREVIEWED })}</p>
      ) : null}
    </section>
  );
}

function Results({
  results,
  targets,
  isPreview = false,
}: {
  results: readonly TargetResult[];
  targets: readonly ListedTarget[];
  isPreview?: boolean;
}) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const nameOf = (id: string) => targets.find((target) => target.id === id)?.name ?? "";
  return (
    <ul aria-label={t(isPreview ? "copies.preview" : "copies.results")} className="flex flex-col gap-1 text-sm">
      {results.map((result) => (
        <li key={result.targetId} className="flex items-start gap-2">
          {"copies" in result ? (
            <Check aria-hidden="true" className="text-good mt-0.5 size-4 shrink-0" />
          ) : (
            <TriangleAlert aria-hidden="true" className="text-bad mt-0.5 size-4 shrink-0" />
          )}
          <span className="min-w-0 wrap-anywhere">
            <span className="font-medium">{nameOf(result.targetId)}: </span>
            {"copies" in result ? (
              <CreatedParts result={result} isPreview={isPreview} />
            ) : (
              <span className="text-bad" role={isPreview ? undefined : "alert"}>
                {errorText(result.problem)}
              </span>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}

function CreatedParts({
  result,
  isPreview,
}: {
  result: Extract<TargetResult, { copies: unknown }>;
  isPreview: boolean;
}) {
  const { t, i18n } = useTranslation();
  const { assignments, groups, files, missingMembers } = result.copies;
  const list = new Intl.ListFormat(i18n.language, { type: "conjunction" });
  const parts = [
    t("courses.topics", { count: assignments.length }),
    ...(groups.length === 0 ? [] : [t("courses.groups", { count: groups.length })]),
    ...(files === 0 ? [] : [t("copies.files", { count: files })]),
  ];
  return (
    <>
      {t(isPreview ? "copies.creates" : "copies.created", { parts: list.format(parts) })}
      {missingMembers === 0 ? "" : ` ${t("copies.missing", { count: missingMembers })}`}
    </>
  );
}
