import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Check, CircleUserRound } from "lucide-react";
import { Menu, MenuItem, MenuTrigger, Popover, Separator } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { useSay } from "../lib/problems";
import { type Me, signOut } from "../lib/session";
import { isLanguage, LANGUAGES } from "../lib/words";
import { useLanguage } from "../me/me";
import { Button } from "../ui/Button";
import { LINE, OVER } from "../ui/field";
import { note } from "../ui/notes";

const PAGES = { me: "/me", help: "/help", school: "/schools" } as const;

/** What somebody can do with his account, from every screen. */
export function Account({ person }: { person: Me }) {
  const { t, i18n } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const say = useSay();
  const choose = useLanguage();
  const act = (key: string) => {
    if (isLanguage(key)) choose(key);
    else if (key in PAGES) void navigate({ to: PAGES[key as keyof typeof PAGES] });
    else
      void signOut(cache).then(
        () => navigate({ to: "/login" }),
        (problem: unknown) => note(say(problem)),
      );
  };
  return (
    <MenuTrigger>
      <Button kind="quiet" className="min-w-0 px-1 sm:px-2" aria-label={t("nav.account", { name: person.name })}>
        <CircleUserRound aria-hidden="true" className="size-5 shrink-0" />
        <span className="hidden truncate sm:inline">{person.name}</span>
      </Button>
      <Popover className={`${OVER} min-w-48`}>
        <Menu className="outline-none" onAction={(key) => act(String(key))}>
          <Item id="me">{t("account.profile")}</Item>
          <Item id="help">{t("account.help")}</Item>
          <Separator className="bg-faint my-1 h-px" />
          {Object.entries(LANGUAGES).map(([key, name]) => (
            <Item key={key} id={key} isChosen={i18n.language === key}>
              {name}
            </Item>
          ))}
          <Separator className="bg-faint my-1 h-px" />
          <Item id="school">{t("account.school")}</Item>
          <Item id="out">{t("account.signOut")}</Item>
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

function Item({ id, isChosen = false, children }: { id: string; isChosen?: boolean; children: string }) {
  const { t } = useTranslation();
  return (
    <MenuItem id={id} textValue={children} className={LINE}>
      {children}
      {isChosen ? (
        <>
          <Check aria-hidden="true" className="text-accent ms-auto size-4" />
          <span className="sr-only">{t("account.chosen")}</span>
        </>
      ) : null}
    </MenuItem>
  );
}
