import { Download, Printer } from "lucide-react";
import { useTranslation } from "react-i18next";

import { Button } from "../../components/Button";

/** Recovery codes, which are shown once: to download, print or write down. */
export function RecoveryCodes({ codes }: { codes: readonly string[] }) {
  const { t } = useTranslation();
  const download = () => {
    const text = [t("secondFactor.fileTitle"), "", ...codes, ""].join("\n");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
    link.download = "groupwork-recovery-codes.txt";
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return (
    <>
      <p>{t("secondFactor.recoveryText")}</p>
      <ul aria-label={t("secondFactor.recoveryCodes")} className="grid grid-cols-1 gap-1 sm:grid-cols-2">
        {codes.map((code) => (
          <li key={code}>
            <code className="select-all">{code}</code>
          </li>
        ))}
      </ul>
      <p className="flex flex-wrap gap-2">
        <Button onPress={download}>
          <Download aria-hidden="true" className="size-4" />
          {t("secondFactor.download")}
        </Button>
        <Button onPress={() => window.print()}>
          <Printer aria-hidden="true" className="size-4" />
          {t("secondFactor.print")}
        </Button>
      </p>
    </>
  );
}
