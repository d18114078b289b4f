import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "../components/Button";
import { Dialog } from "../components/Dialog";
import { ErrorMessage } from "../components/ErrorMessage";
import { FileDropZone } from "./FileDropZone";
import { completeAddress, isWebAddress } from "./markdownEdits";
import type { TextPictures } from "./MarkdownField";
import { Select } from "./Select";
import { TextField } from "./TextField";

interface InsertDialogProps {
  title: string;
  isDisabled?: boolean;
  isPending?: boolean;
  problem?: unknown;
  onInsert: () => void;
  /** Without it, there is nothing to remove. */
  onRemove?: (() => void) | undefined;
  onClose: () => void;
  children: ReactNode;
}

/** A dialog without a form of its own, because it is opened inside the form of the text. Enter in a field inserts. */
function InsertDialog({
  title,
  isDisabled = false,
  isPending = false,
  problem = null,
  onInsert,
  onRemove,
  onClose,
  children,
}: InsertDialogProps) {
  const { t } = useTranslation();
  return (
    <Dialog title={title} isOpen onOpenChange={(isOpen) => isOpen || onClose()}>
      {(close) => (
        <>
          {children}
          {problem === null ? null : <ErrorMessage problem={problem} />}
          <p className="flex flex-wrap justify-end gap-2">
            {onRemove === undefined ? null : <Button onPress={onRemove}>{t("markdown.removeLink")}</Button>}
            <Button onPress={close}>{t("ask.cancel")}</Button>
            <Button kind="main" isDisabled={isDisabled} isPending={isPending} onPress={onInsert}>
              {t("markdown.insert")}
            </Button>
          </p>
        </>
      )}
    </Dialog>
  );
}

/** Calls a function when Enter is pressed in a field. */
const onEnter = (act: () => void) => (event: { key: string }) => {
  if (event.key === "Enter") act();
};

interface LinkProps {
  /** The selected words. */
  words: string;
  /** The address of the selected link. */
  address?: string | undefined;
  onInsert: (words: string, address: string) => void;
  onRemove: () => void;
  onClose: () => void;
}

/** The words and the address of a link. */
export function LinkDialog({ words: selected, address: known, onInsert, onRemove, onClose }: LinkProps) {
  const { t } = useTranslation();
  const [words, setWords] = useState(selected);
  const [typed, setTyped] = useState(known ?? "");
  const [isTried, setTried] = useState(false);
  const address = completeAddress(typed);
  const insert = () => {
    setTried(true);
    if (!isWebAddress(address)) return;
    onClose();
    // After the dialog has returned the focus to the text.
    setTimeout(() => onInsert(words, address));
  };
  const remove = () => {
    onClose();
    setTimeout(onRemove);
  };
  return (
    <InsertDialog
      title={t("markdown.tool.link")}
      onInsert={insert}
      onRemove={known === undefined ? undefined : remove}
      onClose={onClose}
    >
      <TextField
        label={t("markdown.words")}
        maxLength={500}
        value={words}
        onChange={setWords}
        onKeyDown={onEnter(insert)}
      />
      <TextField
        label={t("markdown.address")}
        hint={t("markdown.addressHint")}
        isRequired
        maxLength={2000}
        value={typed}
        onChange={setTyped}
        onKeyDown={onEnter(insert)}
        problem={isTried && !isWebAddress(address) ? t("markdown.badAddress") : undefined}
      />
    </InsertDialog>
  );
}

interface PictureProps {
  pictures: TextPictures;
  /** A file that was dropped or pasted. */
  file?: File | undefined;
  onInsert: (alt: string, fileName: string) => void;
  onClose: () => void;
}

const PICTURE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** A picture of the topic's files, or a new one that is added to them, and its description. */
export function PictureDialog({ pictures, file: given, onInsert, onClose }: PictureProps) {
  const { t } = useTranslation();
  const names = Object.keys(pictures.urls);
  const [file, setFile] = useState(given);
  const [known, setKnown] = useState<string | null>(null);
  const [alt, setAlt] = useState("");
  const adding = useMutation({
    mutationFn: async () => (file === undefined ? (known ?? "") : pictures.add(file)),
    onSuccess: (name) => {
      onClose();
      setTimeout(() => onInsert(alt, name));
    },
  });
  const isIncomplete = file === undefined && known === null;
  const insert = () => {
    if (!isIncomplete && !adding.isPending) adding.mutate();
  };
  return (
    <InsertDialog
      title={t("markdown.tool.picture")}
      isDisabled={isIncomplete}
      isPending={adding.isPending}
      problem={adding.error}
      onInsert={insert}
      onClose={onClose}
    >
      <FileDropZone
        label={t("markdown.choosePicture")}
        hint={file?.name ?? t("markdown.pictureHint")}
        accept={PICTURE_TYPES}
        onFiles={([chosen]) => setFile(chosen)}
      />
      {names.length === 0 || file !== undefined ? null : (
        <Select
          label={t("markdown.knownPicture")}
          none={t("markdown.noPicture")}
          options={names.map((name) => ({ id: name, name }))}
          value={known}
          onChange={setKnown}
        />
      )}
      <TextField
        label={t("markdown.alt")}
        hint={t("markdown.altHint")}
        maxLength={300}
        value={alt}
        onChange={setAlt}
        onKeyDown={onEnter(insert)}
      />
    </InsertDialog>
  );
}
