import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { Window } from "../ui/Window";
import { KeyList } from "./KeyList";
import { KeySwitch } from "./KeySwitch";
import type { Place } from "./list";

/** What `?` opens: the shortcuts of this screen, the switch for them, and the way to everything else. */
export function KeyWindow({ here, isStaff, onClose }: { here: Place | undefined; isStaff: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Window title={t("keys.title")} isOpen onOpenChange={(isOpen) => isOpen || onClose()}>
      {(close) => (
        <>
          <KeyList places={here === undefined ? ["everywhere"] : [here, "everywhere"]} isStaff={isStaff} />
          <KeySwitch />
          <Link to="/help" onClick={close} className="inline-flex min-h-11 items-center self-start">
            {t("keys.more")}
          </Link>
        </>
      )}
    </Window>
  );
}
