import { useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { queryKeys } from "../../api/queryKeys";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { OneTimeSecret } from "../../components/OneTimeSecret";
import { CheckboxList } from "../../forms/CheckboxList";
import { FormBody } from "../../forms/FormDialog";
import { Select } from "../../forms/Select";
import { TextField } from "../../forms/TextField";
import { useForm } from "../../forms/useForm";
import { createToken, TOKEN_SCOPES, type TokenScope, VALIDITIES } from "./apiTokens";

interface NewToken {
  name: string;
  scopes: readonly string[];
  days: (typeof VALIDITIES)[number];
}

const INITIAL: NewToken = { name: "", scopes: ["read"], days: "365" };

/** Creates an API token and shows it once. */
export function CreateTokenDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const form = useForm({
    initial: INITIAL,
    send: ({ name, scopes, days }) => createToken(name, scopes as TokenScope[], Number(days)),
    onSent: () => cache.invalidateQueries({ queryKey: queryKeys.admin.tokens() }),
  });
  const secret = form.result?.secret ?? undefined;
  return (
    <Dialog title={t("tokens.createTitle")} isOpen onOpenChange={(isOpen) => isOpen || onClose()}>
      {(close) =>
        secret === undefined ? (
          <FormBody
            form={form}
            submitLabel={t("tokens.create")}
            close={close}
            isIncomplete={form.values.scopes.length === 0}
          >
            <TextField
              label={t("tokens.name")}
              hint={t("tokens.nameHint")}
              maxLength={80}
              isRequired
              {...form.field("name")}
            />
            <CheckboxList
              label={t("tokens.scopes")}
              layout="scroll"
              options={TOKEN_SCOPES.map((id) => ({ id, name: t(`tokens.scope.${id}`) }))}
              value={form.values.scopes}
              onChange={(scopes) => form.set({ scopes })}
            />
            <Select
              label={t("tokens.validity")}
              options={VALIDITIES.map((id) => ({ id, name: t(`tokens.days.${id}`) }))}
              {...form.field("days", "expiresAt")}
            />
          </FormBody>
        ) : (
          <div className="flex flex-col gap-4">
            <p>{t("tokens.once")}</p>
            <OneTimeSecret secret={secret} />
            <p className="flex justify-end">
              <Button kind="main" onPress={close}>
                {t("tokens.done")}
              </Button>
            </p>
          </div>
        )
      }
    </Dialog>
  );
}
