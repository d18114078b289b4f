import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { Dialog } from "../../components/Dialog";
import { ShortcutList } from "./ShortcutList";
import { ShortcutSwitch } from "./ShortcutSwitch";
import type { ShortcutScreen } from "./shortcuts";

/** The dialog opened by `?`: shortcuts of the current screen, the switch, and a link to all others. */
export function ShortcutDialog({
  screen,
  isStaff,
  onClose,
}: {
  screen: ShortcutScreen | undefined;
  isStaff: boolean;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  return (
    <Dialog title={t("keys.title")} isOpen onOpenChange={(isOpen) => isOpen || onClose()}>
      {(close) => (
        <>
          <ShortcutList screens={screen === undefined ? ["everywhere"] : [screen, "everywhere"]} isStaff={isStaff} />
          <ShortcutSwitch />
          <Link to="/help" onClick={close} className="inline-flex min-h-11 items-center self-start">
            {t("keys.more")}
          </Link>
        </>
      )}
    </Dialog>
  );
}
