import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { serverNow } from "../../hooks/serverClock";
import { Button } from "../../components/Button";
import { Checkbox } from "../../forms/Checkbox";
import { Select } from "../../forms/Select";
import { DateTimeField } from "../../forms/DateTimeField";
import { toast } from "../../components/base/toast";
import { ErrorMessage } from "../../components/ErrorMessage";
import type { Topic } from "./topicForm";
import { managedCoursesQuery, refreshTopics } from "./topic";

const WEEK = 604_800_000;

/** Clones a topic into this or another course, without groups and their work. */
export function CloneTopicDialog({ topic, close }: { topic: Topic; close: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const all = useQuery(managedCoursesQuery);
  const [courseId, setCourse] = useState(topic.courseId);
  const [deadline, setDeadline] = useState<string | null>(() =>
    new Date(Math.max(Date.parse(topic.deadline), serverNow()) + WEEK).toISOString(),
  );
  const [withFiles, setFiles] = useState(true);
  const [isTried, setTried] = useState(false);
  const targetCourse = all.data?.find((course) => course.id === courseId);
  const clone = useMutation({
    mutationFn: (until: string) =>
      unwrap(
        client.POST("/assignments/{id}/clone", {
          params: { path: { id: topic.id } },
          body: {
            deadline: until,
            withFiles,
            classId: targetCourse?.classId ?? topic.classId,
            courseId: courseId ?? null,
          },
        }),
      ),
    onSuccess: async (made) => {
      close();
      toast(t("topic.copied"));
      await navigate({ to: "/topics/$topicId", params: { topicId: made.id }, ignoreBlocker: true });
      await refreshTopics(cache);
    },
  });
  const onClone = () => {
    setTried(true);
    if (deadline !== null) clone.mutate(deadline);
  };
  return (
    <>
      <p className="text-soft">{t("topic.copyText")}</p>
      {all.isError ? <ErrorMessage problem={all.error} onRetry={() => void all.refetch()} /> : null}
      <Select
        label={t("topic.course")}
        options={(all.data ?? []).map((course) => ({
          id: course.id,
          name: `${course.class.name} › ${course.subject.name} › ${course.name}`,
        }))}
        value={courseId}
        onChange={setCourse}
        none={t("topic.noCourse")}
      />
      <DateTimeField
        label={t("topic.deadline")}
        value={deadline}
        onChange={setDeadline}
        isRequired
        problem={isTried && deadline === null ? t("topic.lack.deadline") : undefined}
      />
      <Checkbox isSelected={withFiles} onChange={setFiles}>
        {t("topic.withFiles")}
      </Checkbox>
      {clone.isError ? <ErrorMessage problem={clone.error} /> : null}
      <p className="flex flex-wrap justify-end gap-2">
        <Button onPress={close}>{t("ask.cancel")}</Button>
        <Button kind="main" isPending={clone.isPending} onPress={onClone}>
          {t("topic.copyYes")}
        </Button>
      </p>
    </>
  );
}
