import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "./Button";
import { TextField } from "../forms/TextField";
import { Dialog } from "./Dialog";

export interface Confirmation {
  title: string;
  text: ReactNode;
  confirmLabel: string;
  /** Has to be typed before "yes" works: for what cannot be brought back. */
  requiredText?: string;
  onConfirm: () => void;
}

/** The window of a question; "Cancel" has the focus. */
export function ConfirmDialogContent({ onClose, ...question }: Confirmation & { onClose: () => void }) {
  return (
    <Dialog title={question.title} role="alertdialog" isOpen onOpenChange={(isOpen) => isOpen || onClose()}>
      {(close) => <ConfirmForm {...question} close={close} />}
    </Dialog>
  );
}

function ConfirmForm({ text, confirmLabel, requiredText, onConfirm, close }: Confirmation & { close: () => void }) {
  const { t } = useTranslation();
  const [typedText, setTypedText] = useState("");
  return (
    <>
      <div>{text}</div>
      {requiredText === undefined ? null : <TextField label={t("ask.type", { words: requiredText })} value={typedText} onChange={setTypedText} />}
      <p className="flex flex-wrap justify-end gap-2">
        {/* oxlint-disable-next-line jsx-a11y/no-autofocus -- a dialog has to begin somewhere, and nothing happens here */}
        <Button autoFocus onPress={close}>
          {t("ask.cancel")}
        </Button>
        <Button
          kind="danger"
          isDisabled={requiredText !== undefined && typedText.trim() !== requiredText.trim()}
          onPress={() => {
            close();
            onConfirm();
          }}
        >
          {confirmLabel}
        </Button>
      </p>
    </>
  );
}
