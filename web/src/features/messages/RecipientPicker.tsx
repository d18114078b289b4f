import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { useState } from "react";
import { CheckboxGroup, Label } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { useDebounce } from "../../hooks/useDebounce";
import { queryKeys } from "../../api/queryKeys";
import { Button } from "../../components/Button";
import { Checkbox } from "../../forms/Checkbox";
import { Select } from "../../forms/Select";
import { RadioGroup } from "../../forms/RadioGroup";
import { ComboBox } from "../../forms/ComboBox";
import { type Addressee, ownClassesQuery, listTeachers } from "./messages";

export interface Recipients {
  people: readonly Addressee[];
  /** Addresses a whole class instead of single users. */
  classId: string | null;
}

interface Props {
  isStaff: boolean;
  own: string;
  recipients: Recipients;
  onChange: (target: Recipients) => void;
}

/** Selects recipients: students choose teachers of their classes, staff any user of the school or a whole class. */
export function RecipientPicker({ isStaff, own, recipients, onChange }: Props) {
  const { t } = useTranslation();
  const known = useQuery(ownClassesQuery);
  const [sort, setSort] = useState<"people" | "class">("people");
  const choose = (next: "people" | "class") => {
    setSort(next);
    onChange({ people: [], classId: null });
  };
  const open = (known.data ?? []).filter((one) => one.status === "ACTIVE");
  return (
    <div className="flex flex-col gap-3">
      {isStaff && open.length > 0 ? (
        <RadioGroup
          label={t("messages.whom")}
          value={sort}
          onChange={choose}
          options={[
            { id: "people", name: t("messages.people") },
            { id: "class", name: t("messages.wholeClass") },
          ]}
        />
      ) : null}
      {sort === "class" ? (
        <Select
          label={t("messages.classLabel")}
          options={open}
          value={recipients.classId}
          none={t("messages.choose")}
          onChange={(classId) => onChange({ people: [], classId })}
        />
      ) : (
        <UserSelect
          isStaff={isStaff}
          own={own}
          teachers={listTeachers(known.data ?? [])}
          people={recipients.people}
          onChange={(people) => onChange({ people, classId: null })}
        />
      )}
    </div>
  );
}

interface UserSelectProps {
  isStaff: boolean;
  own: string;
  teachers: readonly Addressee[];
  people: readonly Addressee[];
  onChange: (people: Addressee[]) => void;
}

/** A student has few teachers, so all of them are shown. */
function TeacherSelect({ teachers, people, onChange }: Pick<UserSelectProps, "teachers" | "people" | "onChange">) {
  const { t } = useTranslation();
  if (teachers.length === 0) return <p>{t("messages.nobody")}</p>;
  return (
    <CheckboxGroup
      value={people.map((one) => one.id)}
      onChange={(ids) => onChange(teachers.filter((one) => ids.includes(one.id)))}
      className="flex flex-col"
    >
      <Label className="font-medium">{t("messages.whom")}</Label>
      {teachers.map((one) => (
        <Checkbox key={one.id} value={one.id}>
          {one.name} <span className="text-soft text-sm">{one.note}</span>
        </Checkbox>
      ))}
    </CheckboxGroup>
  );
}

function UserSelect({ isStaff, own, teachers, people, onChange }: UserSelectProps) {
  const { t } = useTranslation();
  const [input, setInput] = useState("");
  const searchText = useDebounce(input.trim());
  const some = useQuery({
    queryKey: queryKeys.users.addressees(searchText),
    queryFn: async () =>
      (
        await unwrap(
          client.GET("/users", {
            params: { query: { limit: 20, isActive: "1", ...(searchText === "" ? {} : { search: searchText }) } },
          }),
        )
      ).data.map((one) => ({ id: one.id, name: one.name })),
    enabled: isStaff,
    placeholderData: (before) => before,
  });
  const found = (some.data ?? []).filter((one) => one.id !== own && !people.some((chosen) => chosen.id === one.id));
  const isOutdated = input.trim() !== searchText || some.isPlaceholderData;
  const pick = (id: string) => {
    const one = found.find((person) => person.id === id);
    if (one) onChange([...people, one]);
    setInput("");
  };
  if (!isStaff) return <TeacherSelect teachers={teachers} people={people} onChange={onChange} />;
  return (
    <>
      {people.length === 0 ? null : (
        <ul aria-label={t("messages.whom")} className="flex flex-wrap gap-2">
          {people.map((one) => (
            <li key={one.id} className="border-line flex items-center rounded-full border ps-3">
              {one.name}
              <Button
                kind="quiet"
                className="px-0"
                aria-label={t("messages.without", { name: one.name })}
                onPress={() => onChange(people.filter((person) => person !== one))}
              >
                <X aria-hidden="true" className="size-4" />
              </Button>
            </li>
          ))}
        </ul>
      )}
      <ComboBox
        label={t("messages.find")}
        input={input}
        onInput={setInput}
        options={found}
        onPick={pick}
        none={isOutdated || some.isPending ? t("courses.looking") : t("messages.nobody")}
        isOutdated={isOutdated}
      />
    </>
  );
}
