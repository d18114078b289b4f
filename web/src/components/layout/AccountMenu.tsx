import { Check } from "lucide-react";
import { MenuItem, Separator } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { language, LANGUAGES } from "../../i18n";
import { OPTION } from "../base/fieldStyles";
import { MenuPopover } from "../MenuPopover";
import type { OpenMenu } from "../../hooks/useMenuButton";

/** Content of the account menu. */
export function AccountMenu({
  label,
  onAction,
  ...opened
}: OpenMenu & { label: string; onAction: (id: string) => void }) {
  const { t } = useTranslation();
  return (
    <MenuPopover {...opened} label={label} onAction={onAction}>
      <Item id="me">{t("account.profile")}</Item>
      <Item id="help">{t("account.help")}</Item>
      <Separator className="bg-faint my-1 h-px" />
      {Object.entries(LANGUAGES).map(([key, name]) => (
        <Item key={key} id={key} isChosen={language() === key}>
          {name}
        </Item>
      ))}
      <Separator className="bg-faint my-1 h-px" />
      <Item id="school">{t("account.school")}</Item>
      <Item id="out">{t("account.signOut")}</Item>
    </MenuPopover>
  );
}

function Item({ id, isChosen = false, children }: { id: string; isChosen?: boolean; children: string }) {
  const { t } = useTranslation();
  return (
    <MenuItem id={id} textValue={children} className={OPTION}>
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
