import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "./Button";
import { TextField } from "../forms/TextField";
import { Dialog } from "./Dialog";

export interface Confirmation {
  title: string;
  text: ReactNode;
  confirmLabel: string;
  /** Text to type before confirming, for actions that cannot be undone. */
  requiredText?: string;
  onConfirm: () => void;
}

/** The confirmation dialog; "Cancel" has the initial focus. */
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
      {requiredText === undefined ? null : (
        <TextField label={t("ask.type", { words: requiredText })} value={typedText} onChange={setTypedText} />
      )}
      <p className="flex flex-wrap justify-end gap-2">
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
