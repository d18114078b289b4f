import { useTranslation } from "react-i18next";

import { translateIfKnown } from "../../i18n";
import { useFormatBytes } from "../../i18n/bytes";
import { useTime } from "../../i18n/time";
import { type Detail, listDetails, type DetailValue } from "./details";

/** The details of a log entry. */
export function ActivityDetails({
  details,
  of,
}: {
  details: Readonly<Record<string, unknown>>;
  of: ReadonlyMap<string, string>;
}) {
  const known = listDetails(details, of);
  return known.map((fact) => <DetailRow key={fact.field} fact={fact} />);
}

function DetailRow({ fact }: { fact: Detail }) {
  const { t } = useTranslation();
  const valueText = useDetailText();
  // A field added by a newer version of the service is shown under its own name.
  const name = translateIfKnown(`activity.field.${fact.field}`) ?? fact.field;
  return (
    <>
      <dt className="text-soft">{name}</dt>
      <dd className="mb-1 min-w-0 wrap-anywhere sm:mb-0">
        {fact.before === undefined ? null : (
          <>
            <span className="sr-only">{t("activity.before")} </span>
            <s className="text-soft">{valueText(fact.before)}</s> <span aria-hidden="true">→ </span>
            <span className="sr-only">{t("activity.after")} </span>
          </>
        )}
        {valueText(fact.value)}
      </dd>
    </>
  );
}

/** Returns a function that renders a value as text. */
function useDetailText(): (value: DetailValue) => string {
  const { t } = useTranslation();
  const { moment, language } = useTime();
  const bytes = useFormatBytes();
  return (value) => {
    switch (value.is) {
      case "text":
        return value.text;
      case "moment":
        return moment(value.at);
      case "list":
        return new Intl.ListFormat(language, { type: "unit" }).format(value.items);
      case "seconds":
        return value.count < 60
          ? t("activity.seconds", { count: value.count })
          : t("activity.minutes", { count: Math.round(value.count / 60) });
      case "bytes":
        return bytes(value.count);
      case "number":
        return value.count.toLocaleString(language);
      case "word":
        return translateIfKnown(`activity.word.${value.word}`) ?? value.word;
    }
  };
}
