import { useState } from "react";
import { useTranslation } from "react-i18next";

import { ComboBox } from "./ComboBox";

const ZONES = Intl.supportedValuesOf("timeZone");
const normalized = (text: string) => text.toLowerCase().replaceAll(" ", "_");

interface Props {
  label: string;
  value: string | null;
  onChange: (zone: string | null) => void;
  /** Text of the default when no zone is selected. */
  none: string;
  problem?: string | undefined;
}

/** Selects a time zone by city name. */
export function TimeZoneField({ label, value, onChange, none, problem }: Props) {
  const { t } = useTranslation();
  const [text, setText] = useState(value ?? "");
  const found = ZONES.filter((zone) => normalized(zone).includes(normalized(text))).slice(0, 60);
  const input = (typed: string) => {
    setText(typed);
    if (typed === "") onChange(null);
  };
  const pick = (zone: string) => {
    setText(zone);
    onChange(zone);
  };
  return (
    <div className="flex flex-col gap-1">
      <ComboBox
        label={label}
        input={text}
        onInput={input}
        options={found.map((id) => ({ id, name: id.replaceAll("_", " ") }))}
        onPick={pick}
        none={t("zone.none")}
        problem={problem}
        value={value}
      />
      <p className="text-soft text-sm">{value === null ? none : t("zone.clear")}</p>
    </div>
  );
}
