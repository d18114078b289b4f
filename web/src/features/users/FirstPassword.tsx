import { Copy, Printer } from "lucide-react";
import { useTranslation } from "react-i18next";

import { Button } from "../../components/Button";
import { toast } from "../../components/base/toast";
import { printSheets, type PasswordSheet } from "./passwordSheets";

/** A password that is shown only once: to copy, print or read out. */
export function FirstPassword({ sheet }: { sheet: PasswordSheet }) {
  const { t } = useTranslation();
  return (
    <>
      <p>{t("people.passwordIs", { name: sheet.name })}</p>
      <p
        className="border-line bg-page rounded-lg border p-3 text-center font-mono text-xl tracking-wide select-all"
        data-secret
      >
        {sheet.password}
      </p>
      <p>
        {t("people.slip.email")} <strong className="wrap-anywhere select-all">{sheet.signInName}</strong>
      </p>
      <p className="text-soft text-sm">{t("people.once")}</p>
      <p className="flex flex-wrap gap-2">
        <Button
          onPress={() => void navigator.clipboard.writeText(sheet.password).then(() => toast(t("people.copied")))}
        >
          <Copy aria-hidden="true" className="size-4" />
          {t("people.copy")}
        </Button>
        <Button onPress={() => void printSheets([sheet])}>
          <Printer aria-hidden="true" className="size-4" />
          {t("people.print")}
        </Button>
      </p>
    </>
  );
}
