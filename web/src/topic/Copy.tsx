import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client, data } from "../api/client";
import { now } from "../lib/clock";
import { Button } from "../ui/Button";
import { Check } from "../ui/Check";
import { Choice } from "../ui/Choice";
import { Moment } from "../ui/Moment";
import { note } from "../ui/notes";
import { Problems } from "../ui/Problems";
import type { Topic } from "./form";
import { courses, refresh } from "./topic";

const WEEK = 604_800_000;

/** The same task once more, in this course or another one; without groups and without what they did. */
export function Copy({ of, close }: { of: Topic; close: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const all = useQuery(courses);
  const [courseId, setCourse] = useState(of.courseId);
  const [deadline, setDeadline] = useState<string | null>(() => new Date(Math.max(Date.parse(of.deadline), now()) + WEEK).toISOString());
  const [withFiles, setFiles] = useState(true);
  const [isTried, setTried] = useState(false);
  const goal = all.data?.find((course) => course.id === courseId);
  const copy = useMutation({
    mutationFn: (until: string) =>
      data(client.POST("/assignments/{id}/clone", { params: { path: { id: of.id } }, body: { deadline: until, withFiles, classId: goal?.classId ?? of.classId, courseId: courseId ?? null } })),
    onSuccess: async (made) => {
      close();
      note(t("topic.copied"));
      await navigate({ to: "/t/$topicId", params: { topicId: made.id }, ignoreBlocker: true });
      await refresh(cache);
    },
  });
  const onCopy = () => {
    setTried(true);
    if (deadline !== null) copy.mutate(deadline);
  };
  return (
    <>
      <p className="text-soft">{t("topic.copyText")}</p>
      {all.isError ? <Problems problem={all.error} again={() => void all.refetch()} /> : null}
      <Choice
        label={t("topic.course")}
        options={(all.data ?? []).map((course) => ({ id: course.id, name: `${course.class.name} › ${course.subject.name} › ${course.name}` }))}
        value={courseId}
        onChange={setCourse}
        none={t("topic.noCourse")}
      />
      <Moment label={t("topic.deadline")} value={deadline} onChange={setDeadline} isRequired problem={isTried && deadline === null ? t("topic.lack.deadline") : undefined} />
      <Check isSelected={withFiles} onChange={setFiles}>
        {t("topic.withFiles")}
      </Check>
      {copy.isError ? <Problems problem={copy.error} /> : null}
      <p className="flex flex-wrap justify-end gap-2">
        <Button onPress={close}>{t("ask.cancel")}</Button>
        <Button kind="main" isPending={copy.isPending} onPress={onCopy}>
          {t("topic.copyYes")}
        </Button>
      </p>
    </>
  );
}
