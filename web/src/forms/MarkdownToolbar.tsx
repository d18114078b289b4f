import { FileCode2, type LucideIcon } from "lucide-react";
import { Fragment, type Ref } from "react";
import { Toolbar } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { keyText } from "../components/keyNames";
import { Separator, ToolbarButton } from "../components/ToolbarButton";
import type texts from "../i18n/en/markdown.json";

export interface Tool {
  name: keyof typeof texts.markdown.tool;
  icon: LucideIcon;
  /** The shortcut in ProseMirror's notation. */
  keys?: string;
  isSelected?: boolean;
  isDisabled?: boolean;
  onPress: () => void;
}

interface Props {
  ref?: Ref<HTMLDivElement>;
  /** Name of the field. */
  label: string;
  groups: readonly (readonly Tool[])[];
  isSource: boolean;
  /** Switches between the formatted text and its Markdown. */
  onSource: () => void;
  onEscape?: () => void;
}

/** The buttons above a Markdown text. On narrow screens they scroll. */
export function MarkdownToolbar({ ref, label, groups, isSource, onSource, onEscape }: Props) {
  const { t } = useTranslation();
  const keyNames = { control: t("markdown.control"), shift: t("markdown.shift") };
  return (
    <div
      ref={ref}
      role="presentation"
      className="markdown-tools"
      onKeyDown={(event) => {
        if (event.key === "Escape" && !event.defaultPrevented) onEscape?.();
      }}
    >
      <Toolbar aria-label={t("markdown.tools", { label })} className="flex items-center gap-0.5 sm:flex-wrap">
        {groups.map((tools) => (
          <Fragment key={tools[0]?.name}>
            {tools.map(({ name, keys, ...tool }) => (
              <ToolbarButton
                key={name}
                label={t(`markdown.tool.${name}`)}
                keys={keys === undefined ? undefined : keyText(keys, keyNames)}
                {...tool}
              />
            ))}
            <Separator />
          </Fragment>
        ))}
        <ToolbarButton icon={FileCode2} label="Markdown" isSelected={isSource} onPress={onSource} />
      </Toolbar>
    </div>
  );
}
