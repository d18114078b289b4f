import { useNavigate } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { toast } from "../../components/base/toast";
import { Checkbox } from "../../forms/Checkbox";
import { FormDialog } from "../../forms/FormDialog";
import { TextField } from "../../forms/TextField";
import { useForm } from "../../forms/useForm";
import { type Class, yearAfter } from "./classes";

/** Clones a class for another school year, with selectable contents. */
export function CloneClassDialog({ schoolClass, onClose }: { schoolClass: Class; onClose: () => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const form = useForm({
    initial: {
      name: schoolClass.name,
      academicYear: yearAfter(schoolClass.academicYear),
      withCourses: true,
      withTopics: true,
      withStudents: false,
    },
    send: (values) =>
      unwrap(
        client.POST("/classes/{id}/clone", {
          params: { path: { id: schoolClass.id } },
          body: { ...values, withTopics: values.withCourses && values.withTopics },
        }),
      ),
    refreshes: ["classes", "courses", "assignments"],
    onSent: (made) => {
      toast(t("classes.made", { name: `${made.name} · ${made.academicYear}` }));
      onClose();
      return navigate({ to: "/classes/$classId", params: { classId: made.id } });
    },
  });
  const { withCourses, withTopics } = form.values;
  return (
    <FormDialog
      title={t("classes.cloneTitle", { name: schoolClass.name })}
      form={form}
      submitLabel={t("classes.cloneYes")}
      onClose={onClose}
    >
      <TextField label={t("classes.name")} isRequired maxLength={120} {...form.field("name")} />
      <TextField label={t("classes.year")} isRequired maxLength={20} {...form.field("academicYear")} />
      <fieldset>
        <legend className="font-medium">{t("classes.along")}</legend>
        <Checkbox {...form.check("withCourses")}>{t("classes.withCourses")}</Checkbox>
        <Checkbox {...form.check("withTopics")} isSelected={withCourses && withTopics} isDisabled={!withCourses}>
          {t("classes.withTopics")}
        </Checkbox>
        <Checkbox {...form.check("withStudents")}>{t("classes.withStudents")}</Checkbox>
      </fieldset>
      <p className="text-soft text-sm">{t("classes.cloneText")}</p>
    </FormDialog>
  );
}
