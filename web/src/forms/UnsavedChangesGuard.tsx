import { useBlocker } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { isPageAbandoned } from "../auth/sessionEnd";
import { Button } from "../components/Button";
import { Dialog } from "../components/Dialog";

/** Asks before navigating away from unsaved changes; the browser asks when the page is closed. */
export function UnsavedChangesGuard({ isDirty, text }: { isDirty: boolean; text: string }) {
  const { t } = useTranslation();
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => isDirty && current.pathname !== next.pathname,
    enableBeforeUnload: () => isDirty && !isPageAbandoned(),
    withResolver: true,
  });
  if (blocker.status !== "blocked") return null;
  return (
    <Dialog
      title={t("divide.leave.title")}
      role="alertdialog"
      isOpen
      onOpenChange={(isOpen) => isOpen || blocker.reset()}
    >
      {() => (
        <>
          <p>{text}</p>
          <p className="flex flex-wrap justify-end gap-2">
            <Button autoFocus kind="main" onPress={blocker.reset}>
              {t("divide.leave.stay")}
            </Button>
            <Button kind="danger" onPress={blocker.proceed}>
              {t("divide.leave.go")}
            </Button>
          </p>
        </>
      )}
    </Dialog>
  );
}
