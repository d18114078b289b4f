import { useTranslation } from "react-i18next";

import { Problem } from "../api/client";
import { useErrorText } from "../i18n/useErrorText";
import { Button } from "./Button";
import { Sheet } from "./Sheet";

/** What went wrong in plain words, and the way on. */
export function Problems({ problem, again }: { problem: unknown; again?: () => void }) {
  const { t } = useTranslation();
  const say = useErrorText();
  return (
    <Sheet className="border-bad flex flex-col items-start gap-3">
      <div role="alert">
        <h2>{t("problem.title")}</h2>
        <p>{say(problem)}</p>
      </div>
      {again === undefined ? null : <Button onPress={again}>{t("problem.again")}</Button>}
      {problem instanceof Problem && problem.requestId !== undefined ? (
        <p className="text-soft text-sm">{t("problem.id", { id: problem.requestId })}</p>
      ) : null}
    </Sheet>
  );
}
