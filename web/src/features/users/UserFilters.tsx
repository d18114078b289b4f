import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { homeroomLabel, homeroomsQuery } from "../homerooms/homerooms";
import { OptionalSelect } from "../../forms/Select";
import { TextField } from "../../forms/TextField";
import { ROLE_FILTERS, type UserFilterValues as Wanted } from "./filters";

/** Filters of the user list, stored in the URL. */
export function UserFilters({ filters, onChange }: { filters: Wanted; onChange: (filters: Wanted) => void }) {
  const { t } = useTranslation();
  const rooms = useQuery(homeroomsQuery);
  const known = (rooms.data ?? []).map((room) => ({ id: room.id, name: homeroomLabel(room) }));
  const { search: _, ...others } = filters;
  return (
    <search className="grid grid-cols-2 gap-3 sm:grid-cols-4">
      <div className="col-span-2 sm:col-span-1">
        <UserSearchField
          text={filters.search ?? ""}
          onText={(search) => onChange(search === "" ? others : { ...others, search })}
        />
      </div>
      <OptionalSelect
        label={t("people.roleIs")}
        none={t("app.all")}
        options={ROLE_FILTERS.map((id) => ({ id, name: t(`people.roles.${id}`) }))}
        value={filters.role ?? null}
        onChange={(role) => onChange({ ...filters, role: role ?? undefined })}
      />
      <OptionalSelect
        label={t("people.state")}
        none={t("app.all")}
        options={(["1", "0"] as const).map((id) => ({ id, name: t(`people.active.${id}`) }))}
        value={filters.isActive ?? null}
        onChange={(isActive) => onChange({ ...filters, isActive: isActive ?? undefined })}
      />
      {known.length > 0 ? (
        <OptionalSelect
          label={t("people.homeroom")}
          none={t("app.all")}
          options={known}
          value={filters.homeroomId ?? null}
          onChange={(id) => onChange({ ...filters, homeroomId: id ?? undefined })}
        />
      ) : null}
    </search>
  );
}

/** Updates the search after the user stops typing. */
export function UserSearchField({
  text,
  onText,
  label,
}: {
  text: string;
  onText: (text: string) => void;
  label?: string;
}) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState(text);
  const [sent, setSent] = useState(text);
  // Going back changes the search of the URL, which updates the field.
  if (text !== sent) {
    setSent(text);
    setTyped(text);
  }
  useEffect(() => {
    const wanted = typed.trim();
    if (wanted === sent) return;
    const timer = setTimeout(() => {
      setSent(wanted);
      onText(wanted);
    }, 300);
    return () => clearTimeout(timer);
  }, [typed, sent, onText]);
  return <TextField type="search" label={label ?? t("app.search")} value={typed} onChange={setTyped} maxLength={100} />;
}
