import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Check } from "lucide-react";
import { useTranslation } from "react-i18next";

import { buttonClass } from "../../components/Button";
import { Card } from "../../components/Card";
import { homeroomsQuery } from "../homerooms/homerooms";
import { subjectsQuery } from "../subjects/subjects";
import { listFirstSteps } from "./firstStepsOrder";
import { statsQuery } from "./organization";

/** The way from an empty school to the first lesson, until every step is done: each step needs the one before. */
export function FirstSteps() {
  const { t } = useTranslation();
  const stats = useQuery(statsQuery).data;
  const subjects = useQuery(subjectsQuery).data;
  const hasHomerooms = (useQuery(homeroomsQuery).data ?? []).length > 0;
  if (!stats || !subjects) return null;
  const steps = listFirstSteps(stats, subjects.length);
  const next = steps.find((step) => !step.isDone);
  if (next === undefined) return null;
  return (
    <Card className="flex flex-col gap-3">
      <h2>{t("firstSteps.title")}</h2>
      <ol className="flex flex-col gap-2">
        {steps.map((step, index) => {
          const isNext = step === next;
          return (
            <li
              key={step.id}
              {...(isNext ? { "aria-current": "step" } : {})}
              className="flex flex-wrap items-center gap-x-3 gap-y-2"
            >
              <span
                aria-hidden="true"
                className={`inline-flex size-7 shrink-0 items-center justify-center rounded-full border text-sm ${isNext ? "bg-accent text-on-accent border-accent" : "border-line text-soft"}`}
              >
                {step.isDone ? <Check className="size-4" /> : index + 1}
              </span>
              <span className="min-w-0 grow basis-60">
                <span className={isNext ? "font-semibold" : ""}>{t(`firstSteps.${step.id}.name`)}</span>{" "}
                {step.isDone ? <span className="sr-only">{t("import.stepDone")}</span> : null}
                <span className="text-soft block text-sm">{t(`firstSteps.${step.id}.text`)}</span>
              </span>
              {step.id === "classes" && !step.isDone && hasHomerooms ? (
                <Link
                  to="/admin/homerooms"
                  search={{ classes: true }}
                  className={buttonClass(isNext ? "main" : "plain")}
                >
                  {t("firstSteps.classes.fromHomerooms")}
                </Link>
              ) : null}
              {step.isDone ? null : (
                <Link
                  to={step.to}
                  className={buttonClass(isNext && !(step.id === "classes" && hasHomerooms) ? "main" : "plain")}
                >
                  {t(`firstSteps.${step.id}.go`)}
                </Link>
              )}
            </li>
          );
        })}
      </ol>
    </Card>
  );
}
