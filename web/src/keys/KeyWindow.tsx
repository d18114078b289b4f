import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { Window } from "../ui/Window";
import { KeyList } from "./KeyList";
import { KeySwitch } from "./KeySwitch";

/** What `?` opens: the shortcuts of this screen, the switch for them, and the way to everything else. */
export function KeyWindow({ isOnBoard, isStaff, onClose }: { isOnBoard: boolean; isStaff: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Window title={t("keys.title")} isOpen onOpenChange={(isOpen) => isOpen || onClose()}>
      {(close) => (
        <>
          <KeyList places={isOnBoard && isStaff ? ["board", "everywhere"] : ["everywhere"]} isStaff={isStaff} />
          <KeySwitch />
          <Link to="/help" onClick={close} className="inline-flex min-h-11 items-center self-start">
            {t("keys.more")}
          </Link>
        </>
      )}
    </Window>
  );
}
