import { useNavigate } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { client, type Schemas, unwrap } from "../../api/client";
import { toast } from "../../components/base/toast";
import { Checkbox } from "../../forms/Checkbox";
import { FormBody } from "../../forms/FormDialog";
import { TextField } from "../../forms/TextField";
import { useForm } from "../../forms/useForm";
import { type Class, yearAfter } from "../classes/classes";
import { GroupsChoice, PublicationChoice } from "./CopyChoices";

/** Copies a class for another school year, with selectable contents. */
export function ClassCopyForm({ schoolClass, close }: { schoolClass: Class; close: () => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const form = useForm({
    initial: {
      name: schoolClass.name,
      academicYear: yearAfter(schoolClass.academicYear),
      withCourses: true,
      withTopics: true,
      withStudents: false,
      groups: "NONE" as Schemas["GroupsOfCopy"],
      publication: "DRAFT" as Schemas["PublicationOfCopy"],
    },
    send: (values) =>
      unwrap(
        client.POST("/classes/{id}/clone", {
          params: { path: { id: schoolClass.id } },
          body: {
            ...values,
            withTopics: values.withCourses && values.withTopics,
            groups: values.groups === "SAME" && !values.withStudents ? "NAMES" : values.groups,
          },
        }),
      ),
    refreshes: ["classes", "courses", "assignments"],
    onSent: (made) => {
      toast(t("classes.made", { name: `${made.name} · ${made.academicYear}` }));
      close();
      return navigate({ to: "/classes/$classId", params: { classId: made.id } });
    },
  });
  const { withCourses, withTopics, withStudents, groups, publication } = form.values;
  return (
    <FormBody form={form} submitLabel={t("copies.go")} close={close}>
      <div className="grid gap-4 sm:grid-cols-2">
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
        <GroupsChoice
          offered={withStudents ? ["NONE", "SAME", "NAMES"] : ["NONE", "NAMES"]}
          value={groups === "SAME" && !withStudents ? "NAMES" : groups}
          onChange={(chosen) => form.set({ groups: chosen })}
        />
        {withCourses && withTopics ? (
          <PublicationChoice value={publication} onChange={(chosen) => form.set({ publication: chosen })} />
        ) : null}
      </div>
      <p className="text-soft text-sm">{t("classes.cloneText")}</p>
    </FormBody>
  );
}
