import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Form, Label, Radio, RadioGroup } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { translateIfKnown } from "../../i18n";
import { isFieldError, useFieldErrors, useErrorText } from "../../i18n/useErrorText";
import { invalidate } from "../../api/queryKeys";
import { TextArea } from "../../forms/TextArea";
import { Button } from "../../components/Button";
import { TextField } from "../../forms/TextField";
import { toast } from "../../components/base/toast";
import { Dialog } from "../../components/Dialog";
import { COLOURS, type Subject } from "./subjects";

/** Creates a subject or edits its name, code, colour and description. */
export function SubjectDialog({ subject, onClose }: { subject: Subject | null; onClose: () => void }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const [name, setName] = useState(subject?.name ?? "");
  const [code, setCode] = useState(subject?.code ?? "");
  const [color, setColor] = useState(subject?.color ?? "");
  const [description, setDescription] = useState(subject?.description ?? "");
  const body = {
    name: name.trim(),
    code: code.trim() || null,
    color: color || null,
    description: description.trim() || null,
  };
  const save = useMutation({
    mutationFn: () =>
      subject
        ? unwrap(client.PATCH("/subjects/{id}", { params: { path: { id: subject.id } }, body }))
        : unwrap(client.POST("/subjects", { body })),
    onSuccess: async () => {
      await invalidate(cache, "subjects");
      toast(subject ? t("app.saved") : t("subjects.made", { name: body.name }));
      onClose();
    },
  });
  const of = useFieldErrors(save.error);
  return (
    <Dialog
      title={subject ? t("subjects.edit", { name: subject.name }) : t("subjects.add")}
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
          <div className="grid grid-cols-[2fr_1fr] gap-3">
            <TextField
              label={t("people.name")}
              value={name}
              onChange={setName}
              isRequired
              maxLength={80}
              {...of("name")}
            />
            <TextField label={t("subjects.code")} value={code} onChange={setCode} maxLength={20} {...of("code")} />
          </div>
          <ColourSelect value={color} onChange={setColor} />
          <TextArea
            label={t("subjects.description")}
            value={description}
            onChange={setDescription}
            rows={3}
            maxLength={1000}
            {...of("description")}
          />
          {save.isError && !isFieldError(save.error, ["name", "code", "description"]) ? (
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
