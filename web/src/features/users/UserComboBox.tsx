import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";
import { ComboBox } from "../../forms/ComboBox";

interface Props {
  label: string;
  /** The selected user id; null for none. */
  value: string | null;
  onChange: (id: string | null) => void;
}

/** Searches a member of the school by name. */
export function UserComboBox({ label, value, onChange }: Props) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState<string>();
  const known = useQuery({
    queryKey: queryKeys.users.one(value ?? ""),
    queryFn: () => unwrap(client.GET("/users/{id}", { params: { path: { id: value ?? "" } } })),
    enabled: value !== null,
  });
  const text = typed ?? (value === null ? "" : (known.data?.name ?? ""));
  const search = useDeferredValue(text.trim());
  const found = useQuery({
    queryKey: queryKeys.users.found(search),
    queryFn: () =>
      unwrap(client.GET("/users", { params: { query: { limit: 20, ...(search === "" ? {} : { search }) } } })),
    placeholderData: keepPreviousData,
  });
  const isOutdated = text.trim() !== search || found.isPlaceholderData;
  const list = found.data?.data ?? [];
  const input = (next: string) => {
    setTyped(next);
    if (next === "" && value !== null) onChange(null);
  };
  const pick = (id: string) => {
    setTyped(list.find((one) => one.id === id)?.name);
    onChange(id);
  };
  const role = (one: (typeof list)[number]) =>
    "member" in one && one.member ? { note: t(`activity.role.${one.member.role}`) } : {};
  return (
    <ComboBox
      label={label}
      input={text}
      onInput={input}
      options={list.map((one) => ({ id: one.id, name: one.name, ...role(one) }))}
      onPick={pick}
      none={isOutdated || found.isPending ? t("courses.looking") : t("activity.nobody")}
      isOutdated={isOutdated}
      value={value}
    />
  );
}
