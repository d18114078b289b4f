import type { ReactNode } from "react";

import { PageHeading } from "../../components/PageHeading";
import { AdminNav } from "./AdminNav";

/** Layout of an administration screen: navigation, title, actions, content. */
export function AdminPage({ title, actions, children }: { title: string; actions?: ReactNode; children: ReactNode }) {
  return (
    <>
      <AdminNav />
      <div className="flex flex-col gap-4">
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          <PageHeading title={title}>{title}</PageHeading>
          {actions === undefined ? null : <div className="flex flex-wrap gap-2 sm:ms-auto">{actions}</div>}
        </div>
        {children}
      </div>
    </>
  );
}
