import type { ReactNode } from "react";

import { PageHeading } from "./PageHeading";

interface Props {
  title: string;
  /** Where the page is, above the title. */
  breadcrumbs?: ReactNode;
  /** A state next to the title. */
  chip?: ReactNode;
  /** The actions on the whole page; the primary one stands last. */
  children?: ReactNode;
}

/** The head of a page: breadcrumbs, title, and its actions at the end of the line. */
export function PageHeader({ title, breadcrumbs, chip, children }: Props) {
  return (
    <div className="flex flex-wrap items-end gap-x-4 gap-y-3">
      <div className="min-w-0 grow basis-60">
        {breadcrumbs}
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <div className="min-w-0 wrap-break-word">
            <PageHeading title={title}>{title}</PageHeading>
          </div>
          {chip}
        </div>
      </div>
      {children ? <div className="flex flex-wrap items-center gap-2">{children}</div> : null}
    </div>
  );
}
