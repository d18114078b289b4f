import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Form } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { classesQuery, isManaged } from "../classes/classes";
import { serverNow } from "../../hooks/serverClock";
import type { ListedAssignment } from "../groups/groups";
import { fieldError } from "../../i18n/useErrorText";
import { invalidate } from "../../api/queryKeys";
import { Button } from "../../components/Button";
import { Checkbox } from "../../forms/Checkbox";
import { Select } from "../../forms/Select";
import { DateTimeField } from "../../forms/DateTimeField";
import { toast } from "../../components/base/toast";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Dialog } from "../../components/Dialog";
import { coursesQuery } from "./courses";
import { isArchived } from "./folders";

const WEEK = 604_800_000;

/** Clones a topic into this or another course, with a new deadline. */
export function CloneToCourseDialog({ topic, onClose }: { topic: ListedAssignment; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Dialog
      title={t("courses.cloneTitle", { title: topic.title })}
      isOpen
      onOpenChange={(isOpen) => isOpen || onClose()}
    >
      {(close) => <CloneForm topic={topic} close={close} />}
    </Dialog>
  );
}

function CloneForm({ topic, close }: { topic: ListedAssignment; close: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const own = new Set((useQuery(classesQuery).data ?? []).filter(isManaged).map((one) => one.id));
  const open = (useQuery(coursesQuery).data ?? []).filter((course) => own.has(course.classId) && !isArchived(course));
  const [target, setTarget] = useState<string | null>(null);
  const targetCourse = open.find((course) => course.id === (target ?? topic.courseId));
  const [deadline, setDeadline] = useState<string | null>(() =>
    new Date(Math.max(Date.parse(topic.deadline), serverNow()) + WEEK).toISOString(),
  );
  const [withFiles, setWithFiles] = useState(true);
  const clone = useMutation({
    mutationFn: (to: { courseId: string; classId: string; deadline: string }) =>
      unwrap(
        client.POST("/assignments/{id}/clone", { params: { path: { id: topic.id } }, body: { ...to, withFiles } }),
      ),
    onSuccess: async (made) => {
      await invalidate(cache, "assignments", "courses");
      toast(t("courses.cloned", { title: made.title }));
      close();
      await navigate({ to: "/t/$topicId", params: { topicId: made.id } });
    },
  });
  return (
    <Form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (targetCourse && deadline !== null)
          clone.mutate({ courseId: targetCourse.id, classId: targetCourse.classId, deadline });
      }}
    >
      <Select
        label={t("courses.intoCourse")}
        options={open.map((course) => ({
          id: course.id,
          name: `${course.name} · ${course.class.name} · ${course.subject.name}`,
        }))}
        value={targetCourse?.id ?? null}
        onChange={setTarget}
        none={t("courses.choose")}
      />
      <DateTimeField
        label={t("courses.deadline")}
        value={deadline}
        onChange={setDeadline}
        isRequired
        problem={fieldError(clone.error, "deadline")}
      />
      <Checkbox isSelected={withFiles} onChange={setWithFiles}>
        {t("courses.withFiles")}
      </Checkbox>
      <p className="text-soft text-sm">{t("courses.cloneText")}</p>
      {clone.isError ? <ErrorMessage problem={clone.error} /> : null}
      <p className="flex flex-wrap justify-end gap-2">
        <Button onPress={close}>{t("ask.cancel")}</Button>
        <Button
          type="submit"
          kind="main"
          isPending={clone.isPending}
          isDisabled={targetCourse === undefined || deadline === null}
        >
          {t("courses.cloneYes")}
        </Button>
      </p>
    </Form>
  );
}
