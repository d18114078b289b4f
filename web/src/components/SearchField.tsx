import { Search, X } from "lucide-react";
import { Button, Input, SearchField as Base } from "react-aria-components";
import { useTranslation } from "react-i18next";

/** A field that filters the list below it. */
export function SearchField({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
}) {
  const { t } = useTranslation();
  return (
    <Base
      aria-label={label}
      value={value}
      onChange={onChange}
      className="bg-sheet border-line focus-within:outline-accent min-h-control flex w-full items-center gap-2 rounded-lg border ps-3 focus-within:outline-3 focus-within:outline-offset-2 sm:w-72"
    >
      <Search aria-hidden="true" className="text-soft size-4.5 shrink-0" />
      <Input
        placeholder={label}
        className="placeholder:text-soft min-w-0 grow bg-transparent py-1.5 outline-none [&::-webkit-search-cancel-button]:hidden"
      />
      {value === "" ? null : (
        <Button
          aria-label={t("app.clear")}
          className="text-soft flex size-9 shrink-0 cursor-pointer items-center justify-center rounded-md"
        >
          <X aria-hidden="true" className="size-4" />
        </Button>
      )}
    </Base>
  );
}
