import { ToggleButton, ToggleButtonGroup } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { Checkbox } from "../../../forms/Checkbox";
import { type Level, useReadingPreferences } from "./readingPreferences";

const LEVELS: readonly Level[] = ["normal", "wide", "widest"];

/** Line spacing, letter spacing, text size and ruler of the reader. */
export function ReadingAids() {
  const { t } = useTranslation();
  const [preferences, change] = useReadingPreferences();
  return (
    <div className="flex w-80 max-w-full flex-col gap-3 p-2">
      <h2 className="text-base">{t("editor.reading.title")}</h2>
      {(["lines", "letters", "size"] as const).map((name) => (
        <div key={name} className="flex flex-col gap-1">
          <span className="text-soft text-sm">{t(`editor.reading.${name}`)}</span>
          <ToggleButtonGroup
            aria-label={t(`editor.reading.${name}`)}
            selectionMode="single"
            disallowEmptySelection
            selectedKeys={[preferences[name]]}
            onSelectionChange={(keys) => change({ [name]: [...keys][0] as Level })}
            className="segments"
          >
            {LEVELS.map((level) => (
              <ToggleButton key={level} id={level}>
                {t(name === "size" ? `editor.reading.sizes.${level}` : `editor.reading.levels.${level}`)}
              </ToggleButton>
            ))}
          </ToggleButtonGroup>
        </div>
      ))}
      <Checkbox isSelected={preferences.ruler} onChange={(ruler) => change({ ruler })}>
        {t("editor.reading.ruler")}
      </Checkbox>
      <Checkbox isSelected={preferences.announce} onChange={(announce) => change({ announce })}>
        {t("editor.reading.announce")}
      </Checkbox>
      <p className="text-soft text-sm">{t("editor.reading.private")}</p>
    </div>
  );
}
