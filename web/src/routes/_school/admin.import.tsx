import { createFileRoute } from "@tanstack/react-router";
import { Suspense, useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";

import { AdminPage } from "../../features/organization/AdminPage";
import { ColumnsStep } from "../../features/import/ColumnsStep";
import { DoneStep } from "../../features/import/DoneStep";
import { FileStep } from "../../features/import/FileStep";
import { StepIndicator } from "../../features/import/StepIndicator";
import { CheckStep } from "../../features/import/CheckStep";
import { useWizard } from "../../features/import/wizard";
import { isAdmin, requireRole } from "../../auth/session";
import { lazyPart } from "../../components/lazyPart";
import { PasswordSheets } from "../../features/users/PasswordSheets";
import { loadTexts } from "../../i18n";

const Rosters = lazyPart(async () => {
  const [{ Rosters: section }] = await Promise.all([import("../../features/rosters/Rosters"), loadTexts("rosters")]);
  return section;
});

export const Route = createFileRoute("/_school/admin/import")({ beforeLoad: requireRole(isAdmin), component: Import });

/** Imports users from a file in four steps; nothing is changed before the last. */
function Import() {
  const { t } = useTranslation();
  const { person: caller } = Route.useRouteContext();
  const { wizard, change, restart } = useWizard();
  const step = useRef<HTMLElement>(null);
  const before = useRef(wizard.step);
  // Each step scrolls to the top and moves the focus to its heading.
  useEffect(() => {
    if (before.current !== wizard.step) {
      step.current?.focus({ preventScroll: true });
      window.scrollTo(0, 0);
    }
    before.current = wizard.step;
  }, [wizard.step]);
  return (
    <AdminPage title={t("admin.import")}>
      <StepIndicator step={wizard.step} />
      <section ref={step} tabIndex={-1} aria-label={t(`import.step.${wizard.step}`)} className="outline-none">
        {wizard.step === "file" ? <FileStep change={change} /> : null}
        {wizard.step === "columns" ? <ColumnsStep wizard={wizard} change={change} onBack={restart} /> : null}
        {wizard.step === "check" ? <CheckStep wizard={wizard} change={change} /> : null}
        {wizard.step === "done" ? <DoneStep wizard={wizard} change={change} restart={restart} /> : null}
      </section>
      <PasswordSheets caller={caller} />
      {wizard.step === "file" ? (
        <Suspense>
          <Rosters />
        </Suspense>
      ) : null}
    </AdminPage>
  );
}
