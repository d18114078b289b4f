import { useTranslation } from "react-i18next";

import { Problem } from "../api/client";
import { useErrorText } from "../i18n/useErrorText";
import { Button } from "./Button";
import { Card } from "./Card";

/** An error in plain words, with a retry button. */
export function ErrorMessage({ problem, onRetry }: { problem: unknown; onRetry?: () => void }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  return (
    <Card className="border-bad flex flex-col items-start gap-3">
      <div role="alert">
        <h2>{t("problem.title")}</h2>
        <p>{errorText(problem)}</p>
      </div>
      {onRetry === undefined ? null : <Button onPress={onRetry}>{t("problem.again")}</Button>}
      {problem instanceof Problem && problem.requestId !== undefined ? (
        <p className="text-soft text-sm">{t("problem.id", { id: problem.requestId })}</p>
      ) : null}
    </Card>
  );
}
