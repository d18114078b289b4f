import { Label, Radio, RadioGroup } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { toast } from "../../components/base/toast";
import { FormDialog } from "../../forms/FormDialog";
import { TextArea } from "../../forms/TextArea";
import { TextField } from "../../forms/TextField";
import { useForm } from "../../forms/useForm";
import { translateIfKnown } from "../../i18n";
import { COLOURS, type Subject } from "./subjects";

/** Creates a subject or edits its name, code, colour and description. */
export function SubjectDialog({ subject, onClose }: { subject: Subject | null; onClose: () => void }) {
  const { t } = useTranslation();
  const form = useForm({
    initial: {
      name: subject?.name ?? "",
      code: subject?.code ?? "",
      color: subject?.color ?? "",
      description: subject?.description ?? "",
    },
    send: ({ name, code, color, description }) => {
      const body = {
        name: name.trim(),
        code: code.trim() || null,
        color: color || null,
        description: description.trim() || null,
      };
      return subject
        ? unwrap(client.PATCH("/subjects/{id}", { params: { path: { id: subject.id } }, body }))
        : unwrap(client.POST("/subjects", { body }));
    },
    refreshes: ["subjects"],
    onSent: ({ name }) => {
      toast(subject ? t("app.saved") : t("subjects.made", { name }));
      onClose();
    },
  });
  return (
    <FormDialog
      title={subject ? t("subjects.edit", { name: subject.name }) : t("subjects.add")}
      form={form}
      submitLabel={t("app.save")}
      onClose={onClose}
    >
      <div className="grid grid-cols-[2fr_1fr] gap-3">
        <TextField label={t("people.name")} isRequired maxLength={80} {...form.field("name")} />
        <TextField label={t("subjects.code")} maxLength={20} {...form.field("code")} />
      </div>
      <ColourSelect {...form.field("color")} />
      <TextArea label={t("subjects.description")} rows={3} maxLength={1000} {...form.field("description")} />
    </FormDialog>
  );
}

/** Selects one of a few named colours; a different colour set elsewhere remains selectable. */
function ColourSelect({ value, onChange }: { value: string; onChange: (color: string) => void }) {
  const { t } = useTranslation();
  const known = COLOURS.some((color) => color === value) || value === "" ? [...COLOURS] : [value, ...COLOURS];
  const name = (color: string) => {
    const at = COLOURS.findIndex((one) => one === color);
    return translateIfKnown(`subjects.colour.${at}`) ?? t("subjects.own", { color });
  };
  return (
    <RadioGroup value={value} onChange={onChange} orientation="horizontal" className="flex flex-col gap-1">
      <Label className="font-medium">{t("subjects.color")}</Label>
      <div className="flex flex-wrap">
        {["", ...known].map((color) => (
          <Radio
            key={color}
            value={color}
            aria-label={color === "" ? t("subjects.noColor") : name(color)}
            className="data-selected:border-ink data-focus-visible:outline-accent flex size-11 cursor-pointer items-center justify-center rounded-lg border-2 border-transparent data-focus-visible:outline-3"
          >
            <Swatch color={color} />
          </Radio>
        ))}
      </div>
      <span className="text-soft text-sm">{value === "" ? t("subjects.noColor") : name(value)}</span>
    </RadioGroup>
  );
}

/** A colour swatch next to its name. Drawn as SVG, because forced colours remove backgrounds. */
export function Swatch({ color }: { color: string }) {
  return (
    <svg aria-hidden="true" viewBox="0 0 24 24" className="size-6 shrink-0">
      <rect
        x="1"
        y="1"
        width="22"
        height="22"
        rx="5"
        fill={color || "none"}
        stroke="currentColor"
        strokeWidth="1.5"
        {...(color === "" ? { strokeDasharray: "3 3" } : {})}
      />
    </svg>
  );
}
