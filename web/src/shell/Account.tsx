import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { CircleUserRound } from "lucide-react";
import { Menu, MenuItem, MenuTrigger, Popover, Separator } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { type Me, signOut } from "../lib/session";
import { isLanguage, LANGUAGES, speak } from "../lib/words";
import { Button } from "../ui/Button";
import { LINE, OVER } from "../ui/field";

const PAGES = { me: "/me", help: "/help", school: "/schools" } as const;

/** What somebody can do with his account, from every screen. */
export function Account({ person }: { person: Me }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const act = (key: string) => {
    if (isLanguage(key)) void speak(key);
    else if (key in PAGES) void navigate({ to: PAGES[key as keyof typeof PAGES] });
    else void signOut(cache).then(() => navigate({ to: "/login" }));
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
            <Item key={key} id={key}>
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

function Item({ id, children }: { id: string; children: string }) {
  return (
    <MenuItem id={id} className={LINE}>
      {children}
    </MenuItem>
  );
}
