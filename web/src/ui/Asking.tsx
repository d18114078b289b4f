import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "./Button";
import { TextField } from "../forms/TextField";
import { Window } from "./Window";

export interface Question {
  title: string;
  text: ReactNode;
  yes: string;
  /** Has to be typed before "yes" works: for what cannot be brought back. */
  typed?: string;
  onYes: () => void;
}

/** The window of a question; "Cancel" has the focus. */
export function Asking({ onClose, ...question }: Question & { onClose: () => void }) {
  return (
    <Window title={question.title} role="alertdialog" isOpen onOpenChange={(isOpen) => isOpen || onClose()}>
      {(close) => <Answer {...question} close={close} />}
    </Window>
  );
}

function Answer({ text, yes, typed, onYes, close }: Question & { close: () => void }) {
  const { t } = useTranslation();
  const [words, setWords] = useState("");
  return (
    <>
      <div>{text}</div>
      {typed === undefined ? null : <TextField label={t("ask.type", { words: typed })} value={words} onChange={setWords} />}
      <p className="flex flex-wrap justify-end gap-2">
        {/* oxlint-disable-next-line jsx-a11y/no-autofocus -- a dialog has to begin somewhere, and nothing happens here */}
        <Button autoFocus onPress={close}>
          {t("ask.cancel")}
        </Button>
        <Button
          kind="danger"
          isDisabled={typed !== undefined && words.trim() !== typed.trim()}
          onPress={() => {
            close();
            onYes();
          }}
        >
          {yes}
        </Button>
      </p>
    </>
  );
}
