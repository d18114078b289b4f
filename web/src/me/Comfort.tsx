import { useTranslation } from "react-i18next";

import { KeySwitch } from "../keys/KeySwitch";
import { usePreference } from "../lib/preference";
import { SettingsSection } from "../features/organization/SettingsSection";
import { Check } from "../ui/Check";

/** What somebody likes at the lesson board, kept in this browser. */
export function Comfort() {
  const { t } = useTranslation();
  const [isChime, setChime] = usePreference("chime");
  return (
    <SettingsSection title={t("me.comfort")} text={t("me.comfortText")}>
      <div>
        <KeySwitch />
        <Check isSelected={isChime} onChange={setChime}>
          {t("me.chime")}
        </Check>
      </div>
    </SettingsSection>
  );
}
