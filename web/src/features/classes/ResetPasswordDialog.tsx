import { useMutation } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { Button } from "../../components/Button";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Dialog } from "../../components/Dialog";
import { FirstPassword } from "../users/FirstPassword";
import { sheetOf } from "../users/passwordSheets";

/** Resets the password of a student and shows the new one once. */
export function ResetPasswordDialog({
  person,
  onClose,
}: {
  person: { id: string; name: string; email: string | null };
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const reset = useMutation({
    mutationFn: () => unwrap(client.POST("/users/{id}/reset-password", { params: { path: { id: person.id } } })),
  });
  return (
    <Dialog
      title={t("classes.passwordTitle", { name: person.name })}
      role="alertdialog"
      isOpen
      onOpenChange={(isOpen) => isOpen || onClose()}
    >
      {(close) => (
        <>
          {reset.data ? (
            <FirstPassword sheet={sheetOf(person, reset.data)} />
          ) : (
            <p>{t("classes.passwordText", { name: person.name })}</p>
          )}
          {reset.isError ? <ErrorMessage problem={reset.error} /> : null}
          <p className="flex flex-wrap justify-end gap-2">
            <Button autoFocus onPress={close}>
              {reset.data ? t("app.close") : t("ask.cancel")}
            </Button>
            {reset.data ? null : (
              <Button kind="danger" isPending={reset.isPending} onPress={() => reset.mutate()}>
                {t("classes.passwordYes")}
              </Button>
            )}
          </p>
        </>
      )}
    </Dialog>
  );
}
