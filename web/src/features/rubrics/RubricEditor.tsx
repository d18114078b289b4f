import { Plus, Trash2 } from "lucide-react";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { Button } from "../../components/Button";
import { Checkbox } from "../../forms/Checkbox";
import { FormBody } from "../../forms/FormDialog";
import { TextArea } from "../../forms/TextArea";
import { TextField } from "../../forms/TextField";
import { useForm } from "../../forms/useForm";
import {
  CRITERIA_MAX,
  type CriterionForm,
  emptyCriterion,
  emptyLevel,
  type LevelForm,
  LEVELS_MAX,
  parseRange,
  type Rubric,
  rubricBody,
  rubricForm,
} from "./rubrics";

interface Props {
  /** The rubric to edit; undefined for a new one. */
  rubric: Rubric | undefined;
  /** The rubric whose criteria a new one begins with. */
  template?: Rubric;
  onSaved: (rubric: Rubric) => void;
  close: () => void;
}

/** Creates or changes a rubric: its criteria, and the levels of each with their points. */
export function RubricEditor({ rubric, template, onSaved, close }: Props) {
  const { t } = useTranslation();
  const form = useForm({
    initial: () => ({
      ...rubricForm(rubric ?? template),
      ...(rubric === undefined && template !== undefined
        ? { title: t("rubrics.copyOf", { title: template.title }).slice(0, 120), isShared: false }
        : {}),
    }),
    send: (values) => {
      const body = rubricBody(values);
      if (body === undefined) throw new Error("an incomplete form is not sent");
      return rubric === undefined
        ? unwrap(client.POST("/rubrics", { body }))
        : unwrap(client.PATCH("/rubrics/{id}", { params: { path: { id: rubric.id } }, body }));
    },
    refreshes: ["rubrics"],
    onSent: onSaved,
  });
  const { criteria } = form.values;
  const change = (key: number, part: Partial<CriterionForm>) =>
    form.set({ criteria: criteria.map((one) => (one.key === key ? { ...one, ...part } : one)) });
  return (
    <FormBody
      form={form}
      submitLabel={t("app.save")}
      close={close}
      isIncomplete={rubricBody(form.values) === undefined}
    >
      <TextField label={t("rubrics.name")} isRequired autoFocus maxLength={120} {...form.field("title")} />
      <Checkbox {...form.check("isShared")}>{t("rubrics.share")}</Checkbox>
      {criteria.map((criterion, index) => (
        <CriterionFields
          key={criterion.key}
          criterion={criterion}
          number={index + 1}
          onChange={(part) => change(criterion.key, part)}
          {...(criteria.length > 1
            ? { onRemove: () => form.set({ criteria: criteria.filter((one) => one.key !== criterion.key) }) }
            : {})}
        />
      ))}
      {criteria.length < CRITERIA_MAX ? (
        <Button className="self-start" onPress={() => form.set({ criteria: [...criteria, emptyCriterion()] })}>
          <Plus aria-hidden="true" className="size-4.5" />
          {t("rubrics.addCriterion")}
        </Button>
      ) : null}
    </FormBody>
  );
}

function CriterionFields({
  criterion,
  number,
  onChange,
  onRemove,
}: {
  criterion: CriterionForm;
  number: number;
  onChange: (part: Partial<CriterionForm>) => void;
  onRemove?: () => void;
}) {
  const { t } = useTranslation();
  const { levels } = criterion;
  const change = (key: number, part: Partial<LevelForm>) =>
    onChange({ levels: levels.map((level) => (level.key === key ? { ...level, ...part } : level)) });
  return (
    <fieldset className="border-line flex min-w-0 flex-col gap-3 rounded-lg border p-3">
      <legend className="px-1 font-semibold">{t("rubrics.criterion", { number })}</legend>
      <TextField
        label={t("rubrics.criterionTitle")}
        isRequired
        maxLength={200}
        value={criterion.title}
        onChange={(title) => onChange({ title })}
      />
      <TextArea
        label={t("rubrics.description")}
        rows={1}
        maxLength={1000}
        value={criterion.description}
        onChange={(description) => onChange({ description })}
      />
      <ul aria-label={t("rubrics.levels")} className="flex flex-col gap-3">
        {levels.map((level, index) => (
          <li
            key={level.key}
            className="border-faint grid grid-cols-[minmax(0,1fr)_6.5rem_auto] items-start gap-x-2 gap-y-1 border-t pt-2"
          >
            <TextField
              label={t("rubrics.level", { number: index + 1 })}
              maxLength={80}
              value={level.label}
              onChange={(label) => change(level.key, { label })}
            />
            <TextField
              label={t("rubrics.levelPoints")}
              maxLength={20}
              inputMode="text"
              value={level.points}
              onChange={(points) => change(level.key, { points })}
              problem={parseRange(level.points) === undefined ? t("rubrics.pointsWrong") : undefined}
            />
            <Button
              kind="quiet"
              className="mt-7 px-0"
              aria-label={t("rubrics.removeLevel", { number: index + 1 })}
              isDisabled={levels.length === 1}
              onPress={() => onChange({ levels: levels.filter((one) => one.key !== level.key) })}
            >
              <Trash2 aria-hidden="true" className="size-4.5" />
            </Button>
            <div className="col-span-3">
              <TextField
                label={t("rubrics.levelDescription")}
                maxLength={1000}
                value={level.description}
                onChange={(description) => change(level.key, { description })}
              />
            </div>
          </li>
        ))}
      </ul>
      <p className="-mx-2 flex flex-wrap">
        {levels.length < LEVELS_MAX ? (
          <Button kind="quiet" className="px-2" onPress={() => onChange({ levels: [...levels, emptyLevel()] })}>
            {t("rubrics.addLevel")}
          </Button>
        ) : null}
        {onRemove === undefined ? null : (
          <Button kind="quiet" className="px-2" onPress={onRemove}>
            {t("rubrics.removeCriterion", { number })}
          </Button>
        )}
      </p>
    </fieldset>
  );
}
