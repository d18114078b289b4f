import { useTranslation } from "react-i18next";

import { ShortcutSwitch } from "../shortcuts/ShortcutSwitch";
import { usePreference } from "../../hooks/usePreference";
import { SettingsSection } from "../../components/SettingsSection";
import { Checkbox } from "../../forms/Checkbox";

/** Preferences for the lesson board, stored in this browser. */
export function BoardPreferences() {
  const { t } = useTranslation();
  const [isSoundOn, setSoundOn] = usePreference("chime");
  return (
    <SettingsSection title={t("me.comfort")} text={t("me.comfortText")}>
      <div>
        <ShortcutSwitch />
        <Checkbox isSelected={isSoundOn} onChange={setSoundOn}>
          {t("me.chime")}
        </Checkbox>
      </div>
    </SettingsSection>
  );
}
