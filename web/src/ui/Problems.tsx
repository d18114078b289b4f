import { useTranslation } from "react-i18next";

import { Problem } from "../api/client";
import { Button } from "./Button";
import { Sheet } from "./Sheet";

/** What went wrong in plain words, and the way on. */
export function Problems({ problem, again }: { problem: unknown; again?: () => void }) {
  const { t, i18n } = useTranslation();
  const code = problem instanceof Problem ? problem.code : "UNKNOWN";
  const words = i18n.exists(`problem.${code}`) ? t(`problem.${code}`) : problem instanceof Problem ? problem.message : t("problem.UNKNOWN");
  return (
    <Sheet className="border-bad flex flex-col items-start gap-3">
      <div role="alert">
        <h2>{t("problem.title")}</h2>
        <p>{words}</p>
      </div>
      {again === undefined ? null : <Button onPress={again}>{t("problem.again")}</Button>}
      {problem instanceof Problem && problem.requestId !== undefined ? (
        <p className="text-soft text-sm">{t("problem.id", { id: problem.requestId })}</p>
      ) : null}
    </Sheet>
  );
}
