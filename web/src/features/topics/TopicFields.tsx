import { useTranslation } from "react-i18next";

import { fieldError } from "../../i18n/useErrorText";
import { Select } from "../../forms/Select";
import { NumberField } from "../../forms/NumberField";
import { TextField } from "../../forms/TextField";
import { DateTimeField } from "../../forms/DateTimeField";
import { RadioGroup } from "../../forms/RadioGroup";
import { Card } from "../../components/Card";
import type { TopicEdits, TopicForm, MissingField } from "./topicForm";
import { GroupTexts } from "./GroupTexts";
import { MarkdownField, type TextPictures } from "../../forms/MarkdownField";

/** A group that may have its own text. */
export interface NamedGroup {
  id: string;
  name: string;
}

interface Props {
  form: TopicForm;
  onChange: (change: TopicEdits) => void;
  groups: readonly NamedGroup[];
  missingFields: readonly MissingField[];
  problem: unknown;
  /** Courses the topic can be moved to; empty where it stays. */
  courses: readonly NamedGroup[];
  /** Whether the start date of existing groups can be changed. */
  canSetStart: boolean;
  /** The pictures that the text of a group can show; null means the shared text. */
  picturesOf: (groupId: string | null) => TextPictures | undefined;
}

/** The fields of a topic. */
export function TopicFields(props: Props) {
  return (
    <div className="grid items-start gap-4 lg:grid-cols-[1fr_22rem]">
      <TopicTextFields {...props} />
      <TopicRuleFields {...props} />
    </div>
  );
}

/** Title and text of a topic, and the texts of single groups. */
export function TopicTextFields({ form, onChange, groups, missingFields, problem, picturesOf }: Props) {
  const { t } = useTranslation();
  const errorAt = useFieldProblems({ missingFields, problem });
  const title = errorAt("title", "title");
  return (
    <Card className="flex min-w-0 flex-col gap-4">
      <TextField
        label={t("topic.title")}
        value={form.title}
        onChange={(value) => onChange({ title: value })}
        maxLength={200}
        isRequired
        {...(title === undefined ? {} : { problem: title })}
      />
      <RadioGroup
        label={t("topic.text")}
        value={form.isShared ? "shared" : "each"}
        onChange={(value) => onChange({ isShared: value === "shared" })}
        options={[
          { id: "shared", name: t("topic.shared") },
          { id: "each", name: t("topic.each") },
        ]}
      />
      {Object.values(form.texts).some((text) => text !== "") ? (
        <p className="text-soft text-sm">{t("topic.nothingLost")}</p>
      ) : null}
      <MarkdownField
        label={form.isShared ? t("topic.textForAll") : t("topic.textForOthers")}
        value={form.description}
        onChange={(description) => onChange({ description })}
        problem={errorAt("description")}
        pictures={picturesOf(null)}
      />
      {form.isShared ? null : (
        <GroupTexts groups={groups} texts={form.texts} added={form.added} onChange={onChange} picturesOf={picturesOf} />
      )}
    </Card>
  );
}

/** Times, rules and grades of a topic. */
export function TopicRuleFields({ form, onChange, missingFields, problem, courses, canSetStart }: Props) {
  const { t } = useTranslation();
  const errorAt = useFieldProblems({ missingFields, problem });
  return (
    <Card className="flex min-w-0 flex-col gap-4">
      <DateTimeField
        label={t("topic.deadline")}
        value={form.deadline}
        onChange={(deadline) => onChange({ deadline })}
        problem={errorAt("deadline", "deadline")}
        isRequired
      />
      <ShortTextField
        field="workingTime"
        label={t("activity.field.workingTime")}
        hint={t("topic.workingTimeHint")}
        maxLength={80}
        form={form}
        onChange={onChange}
        problem={errorAt("workingTime")}
      />
      <PublicationField form={form} onChange={onChange} problem={errorAt("publishAt", "publishAt")} />
      <RadioGroup
        label={t("topic.late")}
        value={form.latePolicy}
        onChange={(latePolicy) => onChange({ latePolicy })}
        options={[
          { id: "ALLOW", name: t("topic.lateAllow") },
          { id: "BLOCK", name: t("topic.lateBlock") },
        ]}
      />
      <NumberField
        label={t("topic.required")}
        minValue={1}
        maxValue={20}
        value={form.requiredSubmissions}
        onChange={(value) => Number.isInteger(value) && onChange({ requiredSubmissions: value })}
        problem={errorAt("requiredSubmissions")}
      />
      <NumberField
        label={t("topic.points")}
        hint={t("topic.pointsHint")}
        minValue={0}
        maxValue={100_000}
        value={form.maxPoints ?? Number.NaN}
        onChange={(value) => onChange({ maxPoints: Number.isNaN(value) ? null : value })}
        problem={errorAt("maxPoints")}
      />
      <ShortTextField
        field="gradeScale"
        label={t("topic.scale")}
        hint={t("topic.scaleHint")}
        maxLength={200}
        form={form}
        onChange={onChange}
        problem={errorAt("gradeScale")}
      />
      {courses.length < 2 ? null : (
        <Select
          label={t("topic.course")}
          options={courses}
          value={form.courseId}
          onChange={(courseId) => onChange({ courseId })}
          problem={errorAt("courseId")}
        />
      )}
      {canSetStart ? (
        <>
          <RadioGroup
            label={t("topic.begin")}
            value={form.begin}
            onChange={(begin) => onChange({ begin })}
            options={[
              { id: "same", name: t("topic.beginSame") },
              { id: "now", name: t("topic.beginNow") },
              { id: "later", name: t("topic.beginLater") },
            ]}
          />
          {form.begin === "later" ? (
            <DateTimeField
              label={t("topic.start")}
              hint={t("topic.startHint")}
              value={form.startDate}
              onChange={(startDate) => onChange({ startDate })}
              problem={errorAt("startDate", "startDate")}
            />
          ) : null}
        </>
      ) : null}
    </Card>
  );
}

/** The error of a field by its path: a missing value, or what the service rejected. */
function useFieldProblems({ missingFields, problem }: Pick<Props, "missingFields" | "problem">) {
  const { t } = useTranslation();
  return (path: string, own?: MissingField) =>
    own !== undefined && missingFields.includes(own) ? t(`topic.lack.${own}`) : fieldError(problem, path);
}

/** When students see the topic. */
function PublicationField({
  form,
  onChange,
  problem,
}: {
  form: TopicForm;
  onChange: (change: TopicEdits) => void;
  problem: string | undefined;
}) {
  const { t } = useTranslation();
  return (
    <>
      <RadioGroup
        label={t("topic.publish")}
        value={form.publish}
        onChange={(publish) => onChange({ publish, ...(publish === "later" ? {} : { publishAt: null }) })}
        options={[
          { id: "now", name: t("topic.publishNow") },
          { id: "draft", name: t("topic.publishDraft") },
          { id: "later", name: t("topic.publishLater") },
        ]}
      />
      {form.publish === "draft" ? <p className="text-soft text-sm">{t("topic.draftHint")}</p> : null}
      {form.publish === "later" ? (
        <DateTimeField
          label={t("topic.publishAt")}
          hint={t("topic.publishAtHint")}
          value={form.publishAt}
          onChange={(publishAt) => onChange({ publishAt })}
          problem={problem}
        />
      ) : null}
    </>
  );
}

/** An optional text of one line. */
function ShortTextField({
  field,
  form,
  onChange,
  problem,
  ...texts
}: {
  field: "workingTime" | "gradeScale";
  label: string;
  hint: string;
  maxLength: number;
  form: TopicForm;
  onChange: (change: TopicEdits) => void;
  problem: string | undefined;
}) {
  return (
    <TextField
      value={form[field]}
      onChange={(value) => onChange({ [field]: value })}
      {...texts}
      {...(problem === undefined ? {} : { problem })}
    />
  );
}
