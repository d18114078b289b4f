import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { Dialog } from "../../components/Dialog";
import { ShortcutList } from "./ShortcutList";
import { ShortcutSwitch } from "./ShortcutSwitch";
import type { ShortcutScreen } from "./shortcuts";

/** What `?` opens: the shortcuts of this screen, the switch for them, and the way to everything else. */
export function ShortcutDialog({ screen, isStaff, onClose }: { screen: ShortcutScreen | undefined; isStaff: boolean; onClose: () => void }) {
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
