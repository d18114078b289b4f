import { useTranslation } from "react-i18next";

import { MailDomainList } from "../organization/MailDomains";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import type { Tenant } from "./tenants";

/** The mail domains of a school, set by a platform administrator. */
export function TenantDomainsDialog({ tenant, onClose }: { tenant: Tenant; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Dialog
      title={t("domains.titleOf", { name: tenant.name })}
      isOpen
      isWide
      onOpenChange={(isOpen) => isOpen || onClose()}
    >
      {(close) => (
        <>
          <p className="text-soft text-sm">{t("domains.superText")}</p>
          <MailDomainList tenant={tenant.id} />
          <p className="flex justify-end">
            <Button onPress={close}>{t("app.close")}</Button>
          </p>
        </>
      )}
    </Dialog>
  );
}
