import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Suspense } from "react";
import { useTranslation } from "react-i18next";

import { useErrorText } from "../../i18n/useErrorText";
import { type Me, signOut } from "../../auth/session";
import { isLanguage } from "../../i18n";
import { useChangeLanguage } from "../../features/account/account";
import { Avatar } from "../base/Avatar";
import { personColor } from "../base/people";
import { Button } from "../Button";
import { useMenuButton } from "../../hooks/useMenuButton";
import { toast } from "../base/toast";
import { lazyPart } from "../lazyPart";

const loadMenu = () => import("./AccountMenu");
const AccountMenu = lazyPart(async () => (await loadMenu()).AccountMenu);

const PAGES = { me: "/me", help: "/help", school: "/schools" } as const;

/** Account menu of the header. */
export function AccountButton({ person }: { person: Me }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const errorText = useErrorText();
  const choose = useChangeLanguage();
  const { button, opened } = useMenuButton(loadMenu);
  const label = t("nav.account", { name: person.name });
  const onAction = (key: string) => {
    if (isLanguage(key)) choose(key);
    else if (key in PAGES) void navigate({ to: PAGES[key as keyof typeof PAGES] });
    else
      void signOut(cache).then(
        () => navigate({ to: "/login" }),
        (problem: unknown) => toast(errorText(problem)),
      );
  };
  return (
    <>
      <Button {...button} kind="quiet" className="-me-2 min-w-0 px-1 sm:px-2" aria-label={label}>
        <Avatar name={person.name} color={personColor(person.id)} size="medium" />
        <span className="text-ink hidden truncate sm:inline">{person.name}</span>
      </Button>
      {opened ? (
        <Suspense>
          <AccountMenu {...opened} label={label} onAction={onAction} />
        </Suspense>
      ) : null}
    </>
  );
}
