import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { CircleUserRound } from "lucide-react";
import { useTranslation } from "react-i18next";

import { useSay } from "../lib/problems";
import { type Me, signOut } from "../lib/session";
import { isLanguage, LANGUAGES } from "../lib/words";
import { useLanguage } from "../me/me";
import { type DeedOrLine, MenuButton } from "../ui/More";
import { note } from "../ui/notes";

/** What somebody can do with his account, from every screen. */
export function Account({ person }: { person: Me }) {
  const { t, i18n } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const say = useSay();
  const choose = useLanguage();
  const leave = () =>
    void signOut(cache).then(
      () => navigate({ to: "/login" }),
      (problem: unknown) => note(say(problem)),
    );
  const languages = Object.entries(LANGUAGES).map(([id, name]) => ({
    id,
    name,
    chosen: i18n.language === id ? t("account.chosen") : undefined,
    onAction: () => isLanguage(id) && choose(id),
  }));
  const deeds: DeedOrLine[] = [
    { id: "me", name: t("account.profile"), onAction: () => void navigate({ to: "/me" }) },
    { id: "help", name: t("account.help"), onAction: () => void navigate({ to: "/help" }) },
    "-",
    ...languages,
    "-",
    { id: "school", name: t("account.school"), onAction: () => void navigate({ to: "/schools" }) },
    { id: "out", name: t("account.signOut"), onAction: leave },
  ];
  const label = t("nav.account", { name: person.name });
  return (
    <MenuButton label={label} name={label} deeds={deeds} className="min-w-0 px-1 sm:px-2">
      <CircleUserRound aria-hidden="true" className="size-5 shrink-0" />
      <span className="hidden truncate sm:inline">{person.name}</span>
    </MenuButton>
  );
}
