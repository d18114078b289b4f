import { useQuery } from "@tanstack/react-query";
import { createFileRoute } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { AdminPage } from "../../features/organization/AdminPage";
import { HomeroomDialog } from "../../features/homerooms/HomeroomDialog";
import { homeroomsQuery } from "../../features/homerooms/homerooms";
import { HomeroomList } from "../../features/homerooms/HomeroomList";
import { RollOverDialog } from "../../features/homerooms/RollOverDialog";
import { HomeroomClassesDialog } from "../../features/homerooms/HomeroomClassesDialog";
import { HomeroomDetails } from "../../features/homerooms/HomeroomDetails";
import { isAdmin, requireRole } from "../../auth/session";
import { PasswordSheets } from "../../features/users/PasswordSheets";
import { Button } from "../../components/Button";

export const Route = createFileRoute("/_school/admin/homerooms")({
  beforeLoad: requireRole(isAdmin),
  validateSearch: (search: Record<string, unknown>): { year?: string; room?: string; classes?: true } => ({
    ...(search.classes === true ? { classes: true } : {}),
    ...(typeof search.year === "string"
      ? { year: search.year }
      : typeof search.year === "number"
        ? { year: String(search.year) }
        : {}),
    ...(typeof search.room === "string" ? { room: search.room } : {}),
  }),
  component: Homerooms,
});

/** The homerooms of the school: the list, or one of them. */
function Homerooms() {
  const { t } = useTranslation();
  const { person: caller } = Route.useRouteContext();
  const { year, room, classes } = Route.useSearch();
  const navigate = Route.useNavigate();
  const { data: all = [] } = useQuery(homeroomsQuery);
  const [open, setOpen] = useState<"add" | "roll" | "classes" | null>(classes === true ? "classes" : null);
  const close = () => setOpen(null);
  const show = (wanted: string | undefined) =>
    void navigate({ search: wanted === undefined ? {} : { year: wanted }, replace: true });
  if (room !== undefined) {
    return (
      <>
        <HomeroomDetails key={room} id={room} onBack={() => void navigate({ search: {} })} />
        <PasswordSheets caller={caller} />
      </>
    );
  }
  const actions = (
    <>
      {all.length > 0 ? (
        <>
          <Button onPress={() => setOpen("classes")}>{t("homerooms.classes")}</Button>
          <Button onPress={() => setOpen("roll")}>{t("homerooms.roll")}</Button>
        </>
      ) : null}
      <Button kind="main" onPress={() => setOpen("add")}>
        {t("homerooms.add")}
      </Button>
    </>
  );
  return (
    <AdminPage title={t("admin.homerooms")} actions={actions}>
      <HomeroomList
        year={year}
        onYear={show}
        onOpen={(id) => void navigate({ search: { room: id } })}
        onAdd={() => setOpen("add")}
      />
      {open === "add" ? <HomeroomDialog homeroom={null} onClose={close} /> : null}
      {open === "classes" ? <HomeroomClassesDialog year={year} onClose={close} /> : null}
      {open === "roll" ? <RollOverDialog homerooms={all} onClose={close} onDone={show} /> : null}
    </AdminPage>
  );
}
