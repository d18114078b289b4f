import { useTranslation } from "react-i18next";

import { Badge } from "../../components/base/Badge";
import { isFullUser, type KnownUser, roleOf } from "./users";

/** The role of a user. */
export function RoleBadge({ user }: { user: KnownUser }) {
  const { t } = useTranslation();
  const role = roleOf(user);
  return <Badge tone={role === "admin" || role === "owner" ? "warn" : "plain"}>{t(`role.${role}`)}</Badge>;
}

/**
 * State of an account next to its name: deactivated, shared, without a valid password, with a temporary one, or with a
 * second factor; `isOkShown` also shows the normal state.
 */
export function UserState({ user, isOkShown = false }: { user: KnownUser; isOkShown?: boolean }) {
  const { t } = useTranslation();
  if (user.isActive === false) return <Badge tone="bad">{t("people.off")}</Badge>;
  if (!isFullUser(user)) return <Badge>{t("people.shared")}</Badge>;
  if (user.hasCredential === false) return <Badge tone="warn">{t("people.noCredential")}</Badge>;
  if (user.mustChangePassword) return <Badge>{t("people.mustChange")}</Badge>;
  if (user.hasSecondFactor) return <Badge tone="good">{t("people.hasFactor")}</Badge>;
  return isOkShown ? <span className="text-soft text-sm">{t("people.active.1")}</span> : null;
}
