import { useTranslation } from "react-i18next";

import type { Me } from "../../auth/session";
import { useTime } from "../../i18n/time";

/** Shows who else set the password last, and when. */
export function ResetNotice({ reset }: { reset: Me["passwordReset"] }) {
  const { t } = useTranslation();
  const { full } = useTime();
  if (reset === null) return null;
  const values = { time: full(reset.at) };
  return (
    <p>
      {reset.by ? t("password.resetBy", { ...values, name: reset.by.name }) : t("password.resetByPlatform", values)}
    </p>
  );
}
