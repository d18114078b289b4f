// What the caller may do to somebody, as the entries of a menu.
import { useTranslation } from "react-i18next";

import { type Me, standing } from "../lib/session";
import type { Deed } from "../ui/More";
import type { useDeeds } from "./deeds";
import { isWhole, type Known, mayChange, rolesFrom } from "./people";

/** What an entry opens. */
export type Opened = "role" | "password" | "remove";

/** The entries for somebody; none for whom the caller may not change. */
export function useMenu(caller: Me, deeds: ReturnType<typeof useDeeds>, onOpen: (what: Opened, user: Known) => void): (user: Known) => Deed[] {
  const { t } = useTranslation();
  return (user) => {
    if (!mayChange(caller, user)) return [];
    const isOn = user.isActive !== false;
    const all: (Deed | false)[] = [
      rolesFrom(standing(caller)).length > 1 && { id: "role", name: t("people.changeRole"), onAction: () => onOpen("role", user) },
      isOn && isWhole(user) && { id: "password", name: t("people.newPassword"), onAction: () => onOpen("password", user) },
      isOn && isWhole(user) && { id: "off", name: t("people.switchOff"), onAction: () => deeds.allow.mutate({ user, isActive: false }) },
      !isOn && { id: "on", name: t("people.switchOn"), onAction: () => deeds.allow.mutate({ user, isActive: true }) },
      { id: "remove", name: t("people.remove"), isDanger: true, onAction: () => onOpen("remove", user) },
    ];
    return all.filter((deed): deed is Deed => deed !== false);
  };
}
