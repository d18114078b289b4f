import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Check, ChevronDown } from "lucide-react";
import { Menu, MenuItem, MenuTrigger, Popover, Separator } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { useSay } from "../lib/problems";
import { acting, type Me, signOut } from "../lib/session";
import { isLanguage, LANGUAGES } from "../lib/words";
import { useLanguage } from "../me/me";
import { Button } from "../ui/Button";
import { LINE, OVER } from "../ui/field";
import { note } from "../ui/notes";

/** What belongs to the person, behind his name: profile, language, another school, signing out. */
export function Account({ person }: { person: Me }) {
  const { t, i18n } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const say = useSay();
  const isActing = useQuery(acting).data === true;
  const choose = useLanguage(isActing);
  const act = (key: string) => {
    if (isLanguage(key)) choose(key);
    else if (key === "me") void navigate({ to: "/me" });
    else if (key === "school") void navigate({ to: "/schools" });
    else
      void signOut(cache).then(
        () => navigate({ to: "/login" }),
        (problem: unknown) => note(say(problem)),
      );
  };
  return (
    <MenuTrigger>
      <Button kind="quiet" aria-label={t("nav.account", { name: person.name })} className="max-w-48">
        <span className="truncate">{person.name}</span>
        <ChevronDown aria-hidden="true" className="size-4 shrink-0" />
      </Button>
      <Popover className={`${OVER} min-w-52`}>
        <Menu aria-label={t("nav.account", { name: person.name })} className="outline-none" onAction={(key) => act(String(key))}>
          <Item id="me">{t("account.me")}</Item>
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
      {isChosen ? <Check aria-label={t("account.chosen")} className="text-accent ms-auto size-4" /> : null}
    </MenuItem>
  );
}
