import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { toast } from "../../components/base/toast";
import { FormDialog } from "../../forms/FormDialog";
import { TextField } from "../../forms/TextField";
import { useForm } from "../../forms/useForm";
import { serverNow } from "../../hooks/serverClock";
import { homeroomsQuery, type Homeroom } from "./homerooms";
import { schoolYearAt } from "./schoolYears";
import { TeacherField } from "./TeacherField";

/** Creates a homeroom or edits its name, year, grade and teacher. */
export function HomeroomDialog({ homeroom, onClose }: { homeroom: Homeroom | null; onClose: () => void }) {
  const { t } = useTranslation();
  const years = (useQuery(homeroomsQuery).data ?? []).map((one) => one.academicYear ?? "").toSorted();
  const form = useForm({
    initial: {
      name: homeroom?.name ?? "",
      academicYear: homeroom ? (homeroom.academicYear ?? "") : years.at(-1) || schoolYearAt(serverNow()),
      gradeLevel: homeroom?.gradeLevel ?? "",
      teacherId: homeroom?.teacherId ?? null,
    },
    send: ({ name, academicYear, gradeLevel, teacherId }) => {
      const body = {
        name: name.trim(),
        academicYear: academicYear.trim() || null,
        gradeLevel: gradeLevel.trim() || null,
        teacherId,
      };
      return homeroom
        ? unwrap(client.PATCH("/homerooms/{id}", { params: { path: { id: homeroom.id } }, body }))
        : unwrap(client.POST("/homerooms", { body }));
    },
    refreshes: ["homerooms"],
    onSent: ({ name }) => {
      toast(homeroom ? t("app.saved") : t("homerooms.made", { name }));
      onClose();
    },
  });
  return (
    <FormDialog
      title={homeroom ? t("homerooms.edit", { name: homeroom.name }) : t("homerooms.add")}
      form={form}
      submitLabel={t("app.save")}
      onClose={onClose}
    >
      <TextField
        label={t("people.name")}
        hint={t("homerooms.nameHint")}
        isRequired
        maxLength={80}
        {...form.field("name")}
      />
      <div className="grid grid-cols-2 gap-3">
        <TextField label={t("homerooms.year")} maxLength={20} {...form.field("academicYear")} />
        <TextField label={t("homerooms.grade")} maxLength={20} {...form.field("gradeLevel")} />
      </div>
      <TeacherField {...form.field("teacherId")} />
    </FormDialog>
  );
}
