import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { serverNow } from "../../hooks/serverClock";
import { isFieldError, useFieldErrors, useErrorText } from "../../i18n/useErrorText";
import { invalidate } from "../../api/queryKeys";
import { Button } from "../../components/Button";
import { TextField } from "../../forms/TextField";
import { toast } from "../../components/base/toast";
import { Dialog } from "../../components/Dialog";
import { homeroomsQuery, type Homeroom } from "./homerooms";
import { TeacherField } from "./TeacherField";
import { schoolYearAt } from "./schoolYears";

/** Creates a homeroom or edits its name, year, grade and teacher. */
export function HomeroomDialog({ homeroom, onClose }: { homeroom: Homeroom | null; onClose: () => void }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const { data: known } = useQuery(homeroomsQuery);
  const latest = known
    ?.map((one) => one.academicYear ?? "")
    .toSorted()
    .at(-1);
  const [name, setName] = useState(homeroom?.name ?? "");
  const [year, setYear] = useState(homeroom ? (homeroom.academicYear ?? "") : latest || schoolYearAt(serverNow()));
  const [grade, setGrade] = useState(homeroom?.gradeLevel ?? "");
  const [teacherId, setTeacherId] = useState(homeroom?.teacherId ?? null);
  const body = { name: name.trim(), academicYear: year.trim() || null, gradeLevel: grade.trim() || null, teacherId };
  const save = useMutation({
    mutationFn: () =>
      homeroom
        ? unwrap(client.PATCH("/homerooms/{id}", { params: { path: { id: homeroom.id } }, body }))
        : unwrap(client.POST("/homerooms", { body })),
    onSuccess: async () => {
      await invalidate(cache, "homerooms");
      toast(homeroom ? t("app.saved") : t("homerooms.made", { name: body.name }));
      onClose();
    },
  });
  const of = useFieldErrors(save.error);
  return (
    <Dialog
      title={homeroom ? t("homerooms.edit", { name: homeroom.name }) : t("homerooms.add")}
      isOpen
      onOpenChange={(isOpen) => isOpen || onClose()}
    >
      {(close) => (
        <Form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            save.mutate();
          }}
        >
          <TextField
            label={t("people.name")}
            hint={t("homerooms.nameHint")}
            value={name}
            onChange={setName}
            isRequired
            maxLength={80}
            {...of("name")}
          />
          <div className="grid grid-cols-2 gap-3">
            <TextField
              label={t("homerooms.year")}
              value={year}
              onChange={setYear}
              maxLength={20}
              {...of("academicYear")}
            />
            <TextField
              label={t("homerooms.grade")}
              value={grade}
              onChange={setGrade}
              maxLength={20}
              {...of("gradeLevel")}
            />
          </div>
          <TeacherField value={teacherId} onChange={setTeacherId} {...of("teacherId")} />
          {save.isError && !isFieldError(save.error, ["name", "academicYear", "gradeLevel", "teacherId"]) ? (
            <p role="alert" className="text-bad">
              {errorText(save.error)}
            </p>
          ) : null}
          <p className="flex flex-wrap justify-end gap-2">
            <Button onPress={close}>{t("ask.cancel")}</Button>
            <Button kind="main" type="submit" isPending={save.isPending}>
              {t("app.save")}
            </Button>
          </p>
        </Form>
      )}
    </Dialog>
  );
}
