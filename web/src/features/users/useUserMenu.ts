// Menu of the actions that the caller may take on a user.
import { useTranslation } from "react-i18next";

import { type Me, effectiveRole, isAdmin } from "../../auth/session";
import type { MenuAction } from "../../components/base/OverflowMenu";
import type { useUserActions } from "./useUserActions";
import { isFullUser, type KnownUser, canChangeUser, rolesBelow } from "./users";

/** The dialog that an entry opens. */
export type UserDialogKind = "role" | "password" | "factor" | "remove";

/** The menu entries for a user; none if the caller may not change the user. */
export function useUserMenu(
  caller: Me,
  actions: ReturnType<typeof useUserActions>,
  onOpen: (what: UserDialogKind, user: KnownUser) => void,
): (user: KnownUser) => MenuAction[] {
  const { t } = useTranslation();
  return (user) => {
    if (!canChangeUser(caller, user)) return [];
    const isOn = user.isActive !== false;
    const all: (MenuAction | false)[] = [
      rolesBelow(effectiveRole(caller)).length > 1 && {
        id: "role",
        name: t("people.changeRole"),
        onAction: () => onOpen("role", user),
      },
      isOn &&
        isFullUser(user) && { id: "password", name: t("people.newPassword"), onAction: () => onOpen("password", user) },
      isAdmin(caller) &&
        isFullUser(user) &&
        user.hasSecondFactor && {
          id: "factor",
          name: t("people.removeFactor"),
          onAction: () => onOpen("factor", user),
        },
      isOn &&
        isFullUser(user) && {
          id: "off",
          name: t("people.switchOff"),
          onAction: () => actions.allow.mutate({ user, isActive: false }),
        },
      !isOn && { id: "on", name: t("people.switchOn"), onAction: () => actions.allow.mutate({ user, isActive: true }) },
      { id: "remove", name: t("people.remove"), isDanger: true, onAction: () => onOpen("remove", user) },
    ];
    return all.filter((action): action is MenuAction => action !== false);
  };
}
