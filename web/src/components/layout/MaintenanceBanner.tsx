import { useTranslation } from "react-i18next";

import type { Maintenance } from "../../api/maintenance";

/** Shown on every screen during maintenance: what still works, and the text of the operator. */
export function MaintenanceBanner({ message }: Maintenance) {
  const { t } = useTranslation();
  return (
    <section aria-label={t("maintenance.title")} className="bg-warn text-page px-4 py-1 text-center">
      <output>
        <span className="font-medium">{t("maintenance.text")}</span> {message}
      </output>
    </section>
  );
}
