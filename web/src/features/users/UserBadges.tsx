import { useTranslation } from "react-i18next";

import { Chip } from "../../ui/Chip";
import { isFullUser, type KnownUser, roleOf } from "./users";

/** The role of somebody, in a word. */
export function RoleBadge({ user }: { user: KnownUser }) {
  const { t } = useTranslation();
  const role = roleOf(user);
  return <Chip tone={role === "admin" || role === "owner" ? "warn" : "plain"}>{t(`role.${role}`)}</Chip>;
}

/** What is to be known of an account beside its name: that it is switched off, shared, or waits for a password; `isSaid` also says that all is well. */
export function UserState({ user, isOkShown = false }: { user: KnownUser; isOkShown?: boolean }) {
  const { t } = useTranslation();
  if (user.isActive === false) return <Chip tone="bad">{t("people.off")}</Chip>;
  if (!isFullUser(user)) return <Chip>{t("people.shared")}</Chip>;
  if (user.mustChangePassword) return <Chip>{t("people.mustChange")}</Chip>;
  return isOkShown ? <span className="text-soft text-sm">{t("people.active.1")}</span> : null;
}
