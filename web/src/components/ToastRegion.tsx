import { X } from "lucide-react";
import {
  Text,
  UNSTABLE_Toast as Toast,
  UNSTABLE_ToastContent as AriaToastContent,
  UNSTABLE_ToastQueue as ToastQueue,
  UNSTABLE_ToastRegion as AriaToastRegion,
} from "react-aria-components";
import { useTranslation } from "react-i18next";

import { Button } from "./Button";

interface ToastContent {
  text: string;
  undo?: (() => void) | undefined;
  /** The name of the action if it is not "undo". */
  name?: string | undefined;
}

export const toastQueue = new ToastQueue<ToastContent>({ maxVisibleToasts: 3 });

/** Region that shows toasts and announces them to screen readers. */
export function ToastRegion() {
  const { t } = useTranslation();
  return (
    <AriaToastRegion
      queue={toastQueue}
      className="toasts fixed inset-x-2 bottom-2 z-40 flex max-w-md sm:end-auto sm:start-4 sm:bottom-4 sm:w-full flex-col gap-2 outline-none"
    >
      {({ toast }) => (
        <Toast toast={toast} className="bg-ink text-page flex items-center gap-2 rounded-lg px-4 py-2 shadow-xl">
          <AriaToastContent className="min-w-0 grow">
            <Text slot="title">{toast.content.text}</Text>
          </AriaToastContent>
          {toast.content.undo === undefined ? null : (
            <Button
              onPress={() => {
                toast.content.undo?.();
                toastQueue.close(toast.key);
              }}
            >
              {toast.content.name ?? t("app.undo")}
            </Button>
          )}
          <Button slot="close" kind="quiet" className="text-page px-0" aria-label={t("app.close")}>
            <X aria-hidden="true" className="size-5" />
          </Button>
        </Toast>
      )}
    </AriaToastRegion>
  );
}
