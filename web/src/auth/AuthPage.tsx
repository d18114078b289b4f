import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { isLanguage, language, LANGUAGES, setLanguage } from "../i18n";
import { Button } from "../components/Button";
import { PageHeading } from "../components/PageHeading";
import { Card } from "../components/Card";

/** Layout of a page before sign-in: title, one card, and the language switch. */
export function AuthPage({ title, children, below }: { title: string; children: ReactNode; below?: ReactNode }) {
  const { t } = useTranslation();
  return (
    <main className="mx-auto flex min-h-dvh max-w-md flex-col justify-center gap-4 p-4">
      <div>
        <p className="text-accent font-semibold">{t("app.name")}</p>
        <PageHeading title={title}>{title}</PageHeading>
      </div>
      <Card className="flex flex-col gap-4 sm:p-6">{children}</Card>
      {below}
      <p className="flex justify-center gap-1">
        {Object.entries(LANGUAGES).map(([key, name]) => (
          <Button
            key={key}
            kind="quiet"
            lang={key}
            aria-pressed={language() === key}
            className="aria-pressed:text-ink aria-pressed:font-semibold"
            onPress={() => isLanguage(key) && void setLanguage(key)}
          >
            {name}
          </Button>
        ))}
      </p>
    </main>
  );
}
