import type { ComponentProps } from "react";
import { useTranslation } from "react-i18next";

import { keyText } from "../../../components/keyNames";
import { ToolbarButton as BaseButton } from "../../../components/ToolbarButton";
import { KEYS } from "../editing/keys";

/** A shortcut as text for tooltips and help, by the name of its entry. */
export function useKeyText(): (name: string) => string | undefined {
  const { t } = useTranslation();
  return (name) => {
    const found = Object.values(KEYS)
      .flat()
      .find((key) => key.name === name);
    return found && keyText(found.key, { control: t("editor.keys.control"), shift: t("editor.keys.shift") });
  };
}

interface Props extends Omit<ComponentProps<typeof BaseButton>, "keys"> {
  /** Name of the shortcut in the table of keys. */
  shortcut?: string;
}

/** An icon of the toolbar with the shortcut of the table of keys. */
export function ToolbarButton({ shortcut, ...rest }: Props) {
  const keys = useKeyText();
  return <BaseButton {...rest} keys={shortcut === undefined ? undefined : keys(shortcut)} />;
}
