import { Eye, EyeOff } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "../components/Button";
import { TextField } from "./TextField";

interface Props {
  label: string;
  name: string;
  /** A new password has a minimum length and is suggested by password managers. */
  isNew?: boolean;
  problem?: string | undefined;
}

/** A password field that can reveal its value. */
export function PasswordField({ label, name, isNew = false, problem }: Props) {
  const { t } = useTranslation();
  const [isShown, setShown] = useState(false);
  const Icon = isShown ? EyeOff : Eye;
  return (
    <TextField
      label={label}
      name={name}
      type={isShown ? "text" : "password"}
      autoComplete={isNew ? "new-password" : "current-password"}
      isRequired
      {...(isNew ? { minLength: 8, maxLength: 128, hint: t("password.rule") } : {})}
      {...(problem === undefined ? {} : { problem })}
      end={
        <Button
          aria-label={t("password.show")}
          aria-pressed={isShown}
          className="px-0"
          onPress={() => setShown(!isShown)}
        >
          <Icon aria-hidden="true" className="size-5" />
        </Button>
      }
    />
  );
}
