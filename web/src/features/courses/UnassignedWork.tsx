import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { numberedName } from "../lesson/groupNames";
import { client } from "../../api/client";
import type { ListedAssignment, ListedGroup } from "../groups/groups";
import { invalidate } from "../../api/queryKeys";
import { Button } from "../../components/Button";
import { FormDialog } from "../../forms/FormDialog";
import { useForm } from "../../forms/useForm";
import { Select } from "../../forms/Select";
import { EmptyState } from "../../components/base/EmptyState";
import { toast } from "../../components/base/toast";
import { coursesQuery } from "./courses";
import { isArchived } from "./folders";

/** Groups and topics without a course; each can be moved into one. */
export function UnassignedWork({
  groups,
  topics,
  canChange = true,
}: {
  groups: readonly ListedGroup[];
  topics: readonly ListedAssignment[];
  canChange?: boolean;
}) {
  const { t } = useTranslation();
  const [moving, setMoving] = useState<Moving>();
  return (
    <section aria-label={t("courses.loose")} className="flex min-w-0 flex-col gap-3">
      <h2>{t("courses.loose")}</h2>
      <p className="text-soft">{t("courses.looseText")}</p>
      {groups.length + topics.length === 0 ? <EmptyState>{t("courses.noneLoose")}</EmptyState> : null}
      <ul className="flex flex-col gap-2">
        {topics.map((topic) => (
          <UnassignedRow
            key={topic.id}
            kind={t("courses.topic")}
            within={topic.class.name}
            onMove={
              canChange
                ? () => setMoving({ kind: "topic", id: topic.id, name: topic.title, classId: topic.classId })
                : undefined
            }
            name={topic.title}
          >
            <Link
              to="/topics/$topicId"
              params={{ topicId: topic.id }}
              className="grow py-2 font-medium wrap-break-word"
            >
              {topic.title}
            </Link>
          </UnassignedRow>
        ))}
        {groups.map((group) => (
          <UnassignedRow
            key={group.id}
            kind={t("courses.group")}
            within={group.class.name}
            onMove={
              canChange
                ? () => setMoving({ kind: "group", id: group.id, name: group.name, classId: group.classId })
                : undefined
            }
            name={group.name}
          >
            <Link
              to="/groups/$groupId"
              params={{ groupId: group.id }}
              className="grow py-2 font-medium wrap-break-word"
            >
              {numberedName(group)}
            </Link>
          </UnassignedRow>
        ))}
      </ul>
      {moving ? <MoveToCourseDialog moving={moving} onClose={() => setMoving(undefined)} /> : null}
    </section>
  );
}

interface UnassignedRowProps {
  kind: string;
  within: string;
  name: string;
  onMove: (() => void) | undefined;
  children: React.ReactNode;
}

function UnassignedRow({ kind, within, name, onMove, children }: UnassignedRowProps) {
  const { t } = useTranslation();
  return (
    <li className="bg-sheet border-faint flex flex-wrap items-center gap-x-4 gap-y-1 rounded-xl border px-4 py-2 shadow-sm">
      {children}
      <span className="text-soft text-sm">
        {kind} · {within}
      </span>
      {onMove === undefined ? null : (
        <Button onPress={onMove}>
          <span>
            {t("courses.into")} <span className="sr-only">({name})</span>
          </span>
        </Button>
      )}
    </li>
  );
}

interface Moving {
  kind: "topic" | "group";
  id: string;
  name: string;
  classId: string;
}

/** Selects the course for a topic (with its groups) or a group. */
function MoveToCourseDialog({ moving, onClose }: { moving: Moving; onClose: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const there = (useQuery(coursesQuery).data ?? []).filter(
    (course) => course.classId === moving.classId && !isArchived(course),
  );
  const moveTo = (courseId: string | null): Promise<unknown> =>
    moving.kind === "group"
      ? client.PATCH("/groups/{id}", { params: { path: { id: moving.id } }, body: { courseId } })
      : client.PATCH("/assignments/{id}", { params: { path: { id: moving.id } }, body: { courseId } });
  const refresh = () => invalidate(cache, "courses", "groups", "assignments");
  const form = useForm({
    initial: { courseId: null as string | null },
    send: ({ courseId }) => moveTo(courseId),
    onSent: async (_, { courseId }) => {
      const course = there.find((one) => one.id === courseId)?.name ?? "";
      toast(t("courses.isIn", { name: moving.name, course }), () => void moveTo(null).then(refresh));
      await refresh();
      onClose();
    },
  });
  return (
    <FormDialog
      title={t("courses.intoOf", { name: moving.name })}
      form={form}
      submitLabel={there.length === 0 ? undefined : t("courses.put")}
      isIncomplete={form.values.courseId === null}
      onClose={onClose}
    >
      {there.length === 0 ? (
        <p>{t("courses.noneInClass")}</p>
      ) : (
        <Select
          label={t("courses.course")}
          options={there.map((course) => ({ id: course.id, name: `${course.name} · ${course.subject.name}` }))}
          none={t("courses.choose")}
          {...form.field("courseId")}
        />
      )}
      {moving.kind === "topic" ? <p className="text-soft text-sm">{t("courses.withGroups")}</p> : null}
    </FormDialog>
  );
}
