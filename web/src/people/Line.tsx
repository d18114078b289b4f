import { useTranslation } from "react-i18next";

import { Chip } from "../ui/Chip";
import { isWhole, type Known, roleOf } from "./people";

/** The role of somebody, in a word. */
export function RoleChip({ user }: { user: Known }) {
  const { t } = useTranslation();
  const role = roleOf(user);
  return <Chip tone={role === "admin" || role === "owner" ? "warn" : "plain"}>{t(`role.${role}`)}</Chip>;
}

/** What is to be known of an account beside its name: that it is switched off, shared, or waits for a password; `isSaid` also says that all is well. */
export function State({ user, isSaid = false }: { user: Known; isSaid?: boolean }) {
  const { t } = useTranslation();
  if (user.isActive === false) return <Chip tone="bad">{t("people.off")}</Chip>;
  if (!isWhole(user)) return <Chip>{t("people.shared")}</Chip>;
  if (user.mustChangePassword) return <Chip>{t("people.mustChange")}</Chip>;
  return isSaid ? <span className="text-soft text-sm">{t("people.active.1")}</span> : null;
}
