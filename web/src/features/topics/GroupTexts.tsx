import { ChevronDown, ChevronRight } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "../../components/Button";
import { Badge } from "../../components/base/Badge";
import type { NamedGroup } from "./TopicFields";
import { Checkbox } from "../../forms/Checkbox";
import { MarkdownField, type TextPictures } from "../../forms/MarkdownField";

interface Props {
  groups: readonly NamedGroup[];
  texts: Readonly<Record<string, string>>;
  /** Whether an own text follows the shared one. */
  added: Readonly<Record<string, boolean>>;
  onChange: (change: { texts?: Record<string, string>; added?: Record<string, boolean> }) => void;
  /** The pictures of a group. */
  picturesOf: (groupId: string) => TextPictures | undefined;
}

/** A text per group, instead of the shared one or after it; groups without one get the shared text. */
export function GroupTexts({ groups, texts, added, onChange, picturesOf }: Props) {
  const { t } = useTranslation();
  const [open, setOpen] = useState<string>();
  if (groups.length === 0) return <p className="text-soft">{t("topic.noGroupsYet")}</p>;
  return (
    <ul className="flex flex-col gap-2" aria-label={t("topic.groupTexts")}>
      {groups.map((group) => {
        const text = texts[group.id] ?? "";
        const isOpen = open === group.id;
        return (
          <li key={group.id} className="border-faint flex flex-col gap-2 rounded-lg border p-2">
            <div className="flex flex-wrap items-center gap-2">
              <Button
                kind="quiet"
                className="text-ink min-w-0 px-2"
                aria-expanded={isOpen}
                onPress={() => setOpen(isOpen ? undefined : group.id)}
              >
                {isOpen ? (
                  <ChevronDown aria-hidden="true" className="size-4 shrink-0" />
                ) : (
                  <ChevronRight aria-hidden="true" className="size-4 shrink-0" />
                )}
                {group.name}
              </Button>
              {text === "" ? (
                <span className="text-soft text-sm">{t("topic.usesShared")}</span>
              ) : (
                <Badge tone="good">{t(added[group.id] === true ? "topic.addedText" : "topic.ownText")}</Badge>
              )}
            </div>
            {isOpen ? (
              <>
                <MarkdownField
                  label={t("topic.textOf", { name: group.name })}
                  value={text}
                  onChange={(value) => onChange({ texts: { [group.id]: value } })}
                  rows={6}
                  pictures={picturesOf(group.id)}
                />
                <Checkbox
                  isSelected={added[group.id] ?? false}
                  onChange={(isOn) => onChange({ added: { [group.id]: isOn } })}
                >
                  {t("topic.addToShared")}
                </Checkbox>
                {text === "" ? null : (
                  <Button className="self-start" onPress={() => onChange({ texts: { [group.id]: "" } })}>
                    {t("topic.useShared")}
                  </Button>
                )}
              </>
            ) : null}
          </li>
        );
      })}
    </ul>
  );
}
