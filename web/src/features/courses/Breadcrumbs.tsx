import { Link } from "@tanstack/react-router";
import { ChevronRight } from "lucide-react";
import { useTranslation } from "react-i18next";
import { type FolderLocation } from "./location";

interface Breadcrumb {
  name: string;
  location: FolderLocation;
}

/** Breadcrumbs from the list of all courses to the current location. */
export function Breadcrumbs({ steps }: { steps: readonly Breadcrumb[] }) {
  const { t } = useTranslation();
  return (
    <nav aria-label={t("courses.way")}>
      <ol className="flex flex-wrap items-center gap-x-1">
        {steps.map((step, index) => (
          <li key={step.name} className="flex items-center gap-1">
            <Link
              to="/courses"
              search={step.location}
              activeOptions={{ exact: true }}
              className="inline-flex min-h-11 min-w-6 items-center"
            >
              {step.name}
            </Link>
            {index < steps.length - 1 ? <ChevronRight aria-hidden="true" className="text-soft size-4" /> : null}
          </li>
        ))}
      </ol>
    </nav>
  );
}
