import { useNavigate } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { client, type Schemas, unwrap } from "../../api/client";
import { toast } from "../../components/base/toast";
import { Checkbox } from "../../forms/Checkbox";
import { FormDialog } from "../../forms/FormDialog";
import { RadioGroup } from "../../forms/RadioGroup";
import { TextField } from "../../forms/TextField";
import { useForm } from "../../forms/useForm";
import { type Class, yearAfter } from "./classes";

/** Copies a class for another school year, with selectable contents. */
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
      onClose();
      return navigate({ to: "/classes/$classId", params: { classId: made.id } });
    },
  });
  const { withCourses, withTopics, withStudents, groups, publication } = form.values;
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
      <RadioGroup
        label={t("copies.groups")}
        value={groups === "SAME" && !withStudents ? "NAMES" : groups}
        onChange={(id) => form.set({ groups: id })}
        options={(["NONE", ...(withStudents ? (["SAME"] as const) : []), "NAMES"] as const).map((id) => ({
          id,
          name: t(`copies.groupsOf.${id}`),
        }))}
      />
      {withCourses && withTopics ? (
        <RadioGroup
          label={t("copies.publication")}
          value={publication}
          onChange={(id) => form.set({ publication: id })}
          options={(["DRAFT", "SAME"] as const).map((id) => ({ id, name: t(`copies.publicationOf.${id}`) }))}
        />
      ) : null}
      <p className="text-soft text-sm">{t("classes.cloneText")}</p>
    </FormDialog>
  );
}
