import { Link, type LinkProps } from "@tanstack/react-router";
import { ChevronRight } from "lucide-react";
import { useTranslation } from "react-i18next";
import { type FolderLocation } from "./location";

/** A step leads to a folder of the list of courses, or to another page. */
type Breadcrumb = { name: string } & ({ location: FolderLocation } | { link: Pick<LinkProps, "to" | "params"> });

/** Breadcrumbs from the list of all courses to the current location. */
export function Breadcrumbs({ steps }: { steps: readonly Breadcrumb[] }) {
  const { t } = useTranslation();
  return (
    <nav aria-label={t("courses.way")}>
      <ol className="text-note flex flex-wrap items-center gap-x-0.5">
        {steps.map((step, index) => (
          <li key={step.name} className="flex items-center gap-1">
            <Link
              {...("location" in step ? { to: "/courses", search: step.location } : step.link)}
              activeOptions={{ exact: true }}
              className="text-soft hover:text-ink inline-flex min-h-6 min-w-6 items-center"
            >
              {step.name}
            </Link>
            {index < steps.length - 1 ? <ChevronRight aria-hidden="true" className="text-soft size-3.5" /> : null}
          </li>
        ))}
      </ol>
    </nav>
  );
}
