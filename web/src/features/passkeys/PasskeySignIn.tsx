import { useMutation } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";

import { FormAlert } from "../../auth/FormAlert";
import { Button } from "../../components/Button";
import { signInWithPasskey } from "./passkeys";
import { supportsPasskeys, supportsSuggestions } from "./webauthn";

/** A challenge is valid for five minutes; then the suggestions get another one. */
const RENEWAL = 4 * 60_000;

/** Signs in with a passkey: with a button, or with a suggestion of the browser in the name field. */
export function PasskeySignIn({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation();
  const suggestions = useRef<AbortController>(undefined);
  const done = useRef(onDone);
  useEffect(() => {
    done.current = onDone;
  }, [onDone]);
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const suggest = async () => {
      if (!(await supportsSuggestions()) || isOver) return;
      const controller = new AbortController();
      suggestions.current = controller;
      timer = setTimeout(() => {
        controller.abort();
        void suggest();
      }, RENEWAL);
      // Errors are not shown: the user may not have noticed the suggestion.
      await signInWithPasskey(controller.signal).then(
        () => done.current(),
        () => undefined,
      );
    };
    void suggest();
    return () => {
      isOver = true;
      clearTimeout(timer);
      suggestions.current?.abort();
    };
  }, []);
  const signingIn = useMutation({
    mutationFn: () => {
      suggestions.current?.abort();
      return signInWithPasskey();
    },
    onSuccess: onDone,
  });
  if (!supportsPasskeys()) return null;
  return (
    <>
      {signingIn.isError ? <FormAlert problem={signingIn.error} /> : null}
      <Button isPending={signingIn.isPending} onPress={() => signingIn.mutate()}>
        <KeyRound aria-hidden="true" className="size-4" />
        {t("passkey.signIn")}
      </Button>
    </>
  );
}
