import { useTranslation } from "react-i18next";

import { fieldProblem } from "../lib/problems";
import { Choice } from "../ui/Choice";
import { Count } from "../ui/Count";
import { Field } from "../ui/Field";
import { Moment } from "../ui/Moment";
import { Radios } from "../ui/Radios";
import { Sheet } from "../ui/Sheet";
import type { Edits, Form, Lack } from "./form";
import { GroupTexts } from "./GroupTexts";
import { Text } from "./Text";

/** A group whose text may differ. */
export interface Named {
  id: string;
  name: string;
}

interface Props {
  form: Form;
  onChange: (change: Edits) => void;
  groups: readonly Named[];
  lack: readonly Lack[];
  problem: unknown;
  /** The courses the topic may be moved to; none where it stays. */
  courses: readonly Named[];
  /** Whether groups that exist already can get another beginning. */
  canBegin: boolean;
}

/** Everything a topic says about itself. */
export function Fields({ form, onChange, groups, lack, problem, courses, canBegin }: Props) {
  const { t } = useTranslation();
  const wrong = (path: string, own?: Lack) => (own !== undefined && lack.includes(own) ? t(`topic.lack.${own}`) : fieldProblem(problem, path));
  const title = wrong("title", "title");
  return (
    <div className="grid items-start gap-4 lg:grid-cols-[1fr_22rem]">
      <Sheet className="flex min-w-0 flex-col gap-4">
        <Field label={t("topic.title")} value={form.title} onChange={(value) => onChange({ title: value })} maxLength={200} isRequired {...(title === undefined ? {} : { problem: title })} />
        <Radios
          label={t("topic.text")}
          value={form.isShared ? "shared" : "each"}
          onChange={(value) => onChange({ isShared: value === "shared" })}
          options={[
            { id: "shared", name: t("topic.shared") },
            { id: "each", name: t("topic.each") },
          ]}
        />
        {Object.values(form.texts).some((text) => text !== "") ? <p className="text-soft text-sm">{t("topic.nothingLost")}</p> : null}
        <Text label={form.isShared ? t("topic.textForAll") : t("topic.textForOthers")} value={form.description} onChange={(description) => onChange({ description })} problem={wrong("description")} />
        {form.isShared ? null : <GroupTexts groups={groups} texts={form.texts} onChange={(texts) => onChange({ texts })} />}
      </Sheet>
      <Sheet className="flex min-w-0 flex-col gap-4">
        <Moment label={t("topic.deadline")} value={form.deadline} onChange={(deadline) => onChange({ deadline })} problem={wrong("deadline", "deadline")} isRequired />
        <Radios
          label={t("topic.late")}
          value={form.latePolicy}
          onChange={(latePolicy) => onChange({ latePolicy })}
          options={[
            { id: "ALLOW", name: t("topic.lateAllow") },
            { id: "BLOCK", name: t("topic.lateBlock") },
          ]}
        />
        <Count
          label={t("topic.required")}
          minValue={1}
          maxValue={20}
          value={form.requiredSubmissions}
          onChange={(value) => Number.isInteger(value) && onChange({ requiredSubmissions: value })}
          problem={wrong("requiredSubmissions")}
        />
        <Count
          label={t("topic.points")}
          hint={t("topic.pointsHint")}
          minValue={0}
          maxValue={100_000}
          value={form.maxPoints ?? Number.NaN}
          onChange={(value) => onChange({ maxPoints: Number.isNaN(value) ? null : value })}
          problem={wrong("maxPoints")}
        />
        <ScaleField form={form} onChange={onChange} problem={wrong("gradeScale")} />
        {courses.length < 2 ? null : <Choice label={t("topic.course")} options={courses} value={form.courseId} onChange={(courseId) => onChange({ courseId })} problem={wrong("courseId")} />}
        {canBegin ? (
          <>
            <Radios
              label={t("topic.begin")}
              value={form.begin}
              onChange={(begin) => onChange({ begin })}
              options={[
                { id: "same", name: t("topic.beginSame") },
                { id: "now", name: t("topic.beginNow") },
                { id: "later", name: t("topic.beginLater") },
              ]}
            />
            {form.begin === "later" ? <Moment label={t("topic.start")} hint={t("topic.startHint")} value={form.startDate} onChange={(startDate) => onChange({ startDate })} problem={wrong("startDate", "startDate")} /> : null}
          </>
        ) : null}
      </Sheet>
    </div>
  );
}

function ScaleField({ form, onChange, problem }: { form: Form; onChange: (change: Edits) => void; problem: string | undefined }) {
  const { t } = useTranslation();
  return <Field label={t("topic.scale")} hint={t("topic.scaleHint")} value={form.gradeScale} onChange={(gradeScale) => onChange({ gradeScale })} maxLength={200} {...(problem === undefined ? {} : { problem })} />;
}
