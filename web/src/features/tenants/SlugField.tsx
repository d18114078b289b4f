import type { ComponentProps } from "react";
import { useTranslation } from "react-i18next";

import { TextField } from "../../forms/TextField";

/** The name of a school in its address. */
export function SlugField(field: Pick<ComponentProps<typeof TextField>, "value" | "onChange" | "problem">) {
  const { t } = useTranslation();
  return (
    <TextField
      label={t("tenants.slug")}
      hint={t("tenants.slugHint")}
      minLength={2}
      maxLength={63}
      pattern="[a-z0-9\-]+"
      isRequired
      {...field}
    />
  );
}
