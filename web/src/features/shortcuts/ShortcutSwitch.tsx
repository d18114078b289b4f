import { useTranslation } from "react-i18next";

import { usePreference } from "../../hooks/usePreference";
import { Checkbox } from "../../forms/Checkbox";

/** Turns single-key shortcuts on and off for this user in this browser. */
export function ShortcutSwitch() {
  const { t } = useTranslation();
  const [isOn, setOn] = usePreference("keys");
  return (
    <Checkbox isSelected={isOn} onChange={setOn}>
      {t("keys.switch")}
    </Checkbox>
  );
}
