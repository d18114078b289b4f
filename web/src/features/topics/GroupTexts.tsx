import { ChevronDown, ChevronRight } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "../../components/Button";
import { Badge } from "../../components/base/Badge";
import type { NamedGroup } from "./TopicFields";
import { MarkdownField } from "../../forms/MarkdownField";

interface Props {
  groups: readonly NamedGroup[];
  texts: Readonly<Record<string, string>>;
  onChange: (texts: Record<string, string>) => void;
}

/** A text per group; groups without one get the shared text. */
export function GroupTexts({ groups, texts, onChange }: Props) {
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
                <Badge tone="good">{t("topic.ownText")}</Badge>
              )}
            </div>
            {isOpen ? (
              <>
                <MarkdownField
                  label={t("topic.textOf", { name: group.name })}
                  value={text}
                  onChange={(value) => onChange({ [group.id]: value })}
                  rows={6}
                />
                {text === "" ? null : (
                  <Button className="self-start" onPress={() => onChange({ [group.id]: "" })}>
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
