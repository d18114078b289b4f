import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "./Button";

/** A secret that is shown only once, to copy or write down. */
export function OneTimeSecret({ secret }: { secret: string }) {
  const { t } = useTranslation();
  const [isCopied, setCopied] = useState(false);
  return (
    <p className="flex flex-wrap items-center gap-2">
      <code className="bg-faint rounded px-3 py-2 text-lg select-all">{secret}</code>
      <Button onPress={() => void navigator.clipboard.writeText(secret).then(() => setCopied(true))}>
        {isCopied ? <Check aria-hidden="true" className="size-4" /> : <Copy aria-hidden="true" className="size-4" />}
        <span aria-live="polite">{isCopied ? t("tenants.copied") : t("tenants.copy")}</span>
      </Button>
    </p>
  );
}
