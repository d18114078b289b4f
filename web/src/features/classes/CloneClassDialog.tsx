import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Form } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { fieldError } from "../../i18n/useErrorText";
import { invalidate } from "../../api/queryKeys";
import { Button } from "../../components/Button";
import { Checkbox } from "../../forms/Checkbox";
import { TextField } from "../../forms/TextField";
import { toast } from "../../components/base/toast";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Dialog } from "../../components/Dialog";
import { type Class, yearAfter } from "./classes";

/** Clones a class for another school year, with selectable contents. */
export function CloneClassDialog({ schoolClass, onClose }: { schoolClass: Class; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Dialog
      title={t("classes.cloneTitle", { name: schoolClass.name })}
      isOpen
      onOpenChange={(isOpen) => isOpen || onClose()}
    >
      {(close) => <CloneForm schoolClass={schoolClass} close={close} />}
    </Dialog>
  );
}

function CloneForm({ schoolClass, close }: { schoolClass: Class; close: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState(schoolClass.name);
  const [academicYear, setYear] = useState(yearAfter(schoolClass.academicYear));
  const [withCourses, setCourses] = useState(true);
  const [withTopics, setTopics] = useState(true);
  const [withStudents, setStudents] = useState(false);
  const clone = useMutation({
    mutationFn: () =>
      unwrap(
        client.POST("/classes/{id}/clone", {
          params: { path: { id: schoolClass.id } },
          body: { name, academicYear, withCourses, withTopics: withCourses && withTopics, withStudents },
        }),
      ),
    onSuccess: async (made) => {
      await invalidate(cache, "classes", "courses", "assignments");
      toast(t("classes.made", { name: `${made.name} · ${made.academicYear}` }));
      close();
      await navigate({ to: "/classes/$classId", params: { classId: made.id } });
    },
  });
  const at = (path: string) => {
    const problem = fieldError(clone.error, path);
    return problem === undefined ? {} : { problem };
  };
  return (
    <Form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        clone.mutate();
      }}
    >
      <TextField
        label={t("classes.name")}
        value={name}
        onChange={setName}
        isRequired
        maxLength={120}
        autoComplete="off"
        {...at("name")}
      />
      <TextField
        label={t("classes.year")}
        value={academicYear}
        onChange={setYear}
        isRequired
        maxLength={20}
        autoComplete="off"
        {...at("academicYear")}
      />
      <fieldset>
        <legend className="font-medium">{t("classes.along")}</legend>
        <Checkbox isSelected={withCourses} onChange={setCourses}>
          {t("classes.withCourses")}
        </Checkbox>
        <Checkbox isSelected={withCourses && withTopics} onChange={setTopics} isDisabled={!withCourses}>
          {t("classes.withTopics")}
        </Checkbox>
        <Checkbox isSelected={withStudents} onChange={setStudents}>
          {t("classes.withStudents")}
        </Checkbox>
      </fieldset>
      <p className="text-soft text-sm">{t("classes.cloneText")}</p>
      {clone.isError ? <ErrorMessage problem={clone.error} /> : null}
      <p className="flex flex-wrap justify-end gap-2">
        <Button onPress={close}>{t("ask.cancel")}</Button>
        <Button type="submit" kind="main" isPending={clone.isPending}>
          {t("classes.cloneYes")}
        </Button>
      </p>
    </Form>
  );
}
