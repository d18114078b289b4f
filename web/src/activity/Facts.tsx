import { useTranslation } from "react-i18next";

import { useBytes } from "../lib/bytes";
import { useTime } from "../lib/time";
import { type Fact, facts, type Value } from "./facts";

/** The details of a record. */
export function Facts({ details, of }: { details: Readonly<Record<string, unknown>>; of: ReadonlyMap<string, string> }) {
  const known = facts(details, of);
  return known.map((fact) => <Line key={fact.field} fact={fact} />);
}

function Line({ fact }: { fact: Fact }) {
  const { t, i18n } = useTranslation();
  const say = useValue();
  // A field that a newer service has keeps its own name.
  const name = i18n.exists(`activity.field.${fact.field}`) ? t(`activity.field.${fact.field}`) : fact.field;
  return (
    <>
      <dt className="text-soft">{name}</dt>
      <dd className="mb-1 min-w-0 wrap-anywhere sm:mb-0">
        {fact.before === undefined ? null : (
          <>
            <span className="sr-only">{t("activity.before")} </span>
            <s className="text-soft">{say(fact.before)}</s> <span aria-hidden="true">→ </span>
            <span className="sr-only">{t("activity.after")} </span>
          </>
        )}
        {say(fact.value)}
      </dd>
    </>
  );
}

/** A value in words. */
function useValue(): (value: Value) => string {
  const { t, i18n } = useTranslation();
  const { moment, language } = useTime();
  const bytes = useBytes();
  return (value) => {
    switch (value.is) {
      case "text":
        return value.text;
      case "moment":
        return moment(value.at);
      case "list":
        return new Intl.ListFormat(language, { type: "unit" }).format(value.items);
      case "seconds":
        return value.count < 60 ? t("activity.seconds", { count: value.count }) : t("activity.minutes", { count: Math.round(value.count / 60) });
      case "bytes":
        return bytes(value.count);
      case "number":
        return value.count.toLocaleString(language);
      case "word":
        return i18n.exists(`activity.word.${value.word}`) ? t(`activity.word.${value.word}`) : value.word;
    }
  };
}
