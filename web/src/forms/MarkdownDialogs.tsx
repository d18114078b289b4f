import { useTranslation } from "react-i18next";
import { useState } from "react";

import { FileDropZone } from "./FileDropZone";
import { FormDialog } from "./FormDialog";
import { completeAddress, isWebAddress } from "./markdownEdits";
import type { TextPictures } from "./MarkdownField";
import { Select } from "./Select";
import { TextField } from "./TextField";
import { useForm } from "./useForm";

interface LinkProps {
  /** The selected words. */
  words: string;
  onInsert: (words: string, address: string) => void;
  onClose: () => void;
}

/** The words and the address of a link. */
export function LinkDialog({ words, onInsert, onClose }: LinkProps) {
  const { t } = useTranslation();
  const [isTried, setTried] = useState(false);
  const form = useForm({
    initial: { words, address: "" },
    send: async (values) => {
      setTried(true);
      await Promise.resolve();
      return isWebAddress(completeAddress(values.address));
    },
    onSent: (isValid, values) => {
      if (!isValid) return;
      onClose();
      // After the dialog has returned the focus to the text.
      setTimeout(() => onInsert(values.words, completeAddress(values.address)));
    },
  });
  const isBad = isTried && !isWebAddress(completeAddress(form.values.address));
  return (
    <FormDialog title={t("markdown.link")} form={form} submitLabel={t("markdown.insert")} onClose={onClose}>
      <TextField label={t("markdown.words")} maxLength={500} {...form.field("words")} />
      <TextField
        label={t("markdown.address")}
        hint={t("markdown.addressHint")}
        isRequired
        maxLength={2000}
        {...form.field("address")}
        problem={isBad ? t("markdown.badAddress") : undefined}
      />
    </FormDialog>
  );
}

interface PictureProps {
  pictures: TextPictures;
  onInsert: (alt: string, fileName: string) => void;
  onClose: () => void;
}

const PICTURE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** A picture of the topic's files, or a new one that is added to them, and its description. */
export function PictureDialog({ pictures, onInsert, onClose }: PictureProps) {
  const { t } = useTranslation();
  const known = Object.keys(pictures.urls);
  const [file, setFile] = useState<File>();
  const form = useForm({
    initial: { known: null as string | null, alt: "" },
    send: async (values) => (file === undefined ? (values.known ?? "") : pictures.add(file)),
    onSent: (name, values) => {
      onClose();
      setTimeout(() => onInsert(values.alt, name));
    },
  });
  return (
    <FormDialog
      title={t("markdown.picture")}
      form={form}
      submitLabel={t("markdown.insert")}
      isIncomplete={file === undefined && form.values.known === null}
      onClose={onClose}
    >
      <FileDropZone
        label={t("markdown.choosePicture")}
        hint={file?.name ?? t("markdown.pictureHint")}
        accept={PICTURE_TYPES}
        onFiles={([chosen]) => setFile(chosen)}
      />
      {known.length === 0 || file !== undefined ? null : (
        <Select
          label={t("markdown.knownPicture")}
          none={t("markdown.noPicture")}
          options={known.map((name) => ({ id: name, name }))}
          {...form.field("known")}
        />
      )}
      <TextField label={t("markdown.alt")} hint={t("markdown.altHint")} maxLength={300} {...form.field("alt")} />
    </FormDialog>
  );
}
