import { Copy, Printer } from "lucide-react";
import { useTranslation } from "react-i18next";

import { Button } from "../ui/Button";
import { note } from "../ui/notes";
import { printSlips, type Slip } from "./slips";

/** A password that is shown this once: to copy, to print, to read out. */
export function Secret({ slip }: { slip: Slip }) {
  const { t } = useTranslation();
  return (
    <>
      <p>{t("people.passwordIs", { name: slip.name })}</p>
      <p className="border-line bg-page rounded-lg border p-3 text-center font-mono text-xl tracking-wide select-all" data-secret>
        {slip.password}
      </p>
      <p className="text-soft text-sm">{t("people.once")}</p>
      <p className="flex flex-wrap gap-2">
        <Button onPress={() => void navigator.clipboard.writeText(slip.password).then(() => note(t("people.copied")))}>
          <Copy aria-hidden="true" className="size-4" />
          {t("people.copy")}
        </Button>
        <Button onPress={() => printSlips([slip])}>
          <Printer aria-hidden="true" className="size-4" />
          {t("people.print")}
        </Button>
      </p>
    </>
  );
}
