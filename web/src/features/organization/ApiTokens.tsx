import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { Badge } from "../../components/base/Badge";
import { ConfirmButton } from "../../components/base/ConfirmButton";
import { Time } from "../../components/base/Time";
import { toast } from "../../components/base/toast";
import { Button } from "../../components/Button";
import { ErrorMessage } from "../../components/ErrorMessage";
import { ListSkeleton } from "../../components/ListSkeleton";
import { SettingsSection } from "../../components/SettingsSection";
import { useErrorText } from "../../i18n/useErrorText";
import { type ApiToken, apiTokensQuery, useRevokeToken } from "./apiTokens";
import { CreateTokenDialog } from "./CreateTokenDialog";

/** The API tokens of the school, with which other programs act for its administrators. */
export function ApiTokens() {
  const { t } = useTranslation();
  const found = useQuery(apiTokensQuery);
  const [isCreating, setCreating] = useState(false);
  return (
    <SettingsSection title={t("tokens.title")} text={t("tokens.text")}>
      {found.isPending ? <ListSkeleton count={2} /> : null}
      {found.isError && !found.data ? (
        <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} />
      ) : null}
      {found.data?.length === 0 ? <p className="text-soft">{t("tokens.none")}</p> : null}
      {found.data && found.data.length > 0 ? (
        <ul className="flex flex-col gap-4">
          {found.data.map((token) => (
            <li key={token.id} className="border-line flex flex-col gap-2 border-b pb-4">
              <ApiTokenItem token={token} />
            </li>
          ))}
        </ul>
      ) : null}
      <p>
        <Button aria-haspopup="dialog" onPress={() => setCreating(true)}>
          {t("tokens.create")}
        </Button>
      </p>
      {isCreating ? <CreateTokenDialog onClose={() => setCreating(false)} /> : null}
    </SettingsSection>
  );
}

function ApiTokenItem({ token }: { token: ApiToken }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const revoke = useRevokeToken();
  return (
    <>
      <p className="flex flex-wrap items-center gap-2">
        <strong className="font-medium wrap-anywhere">{token.name}</strong>
        <code className="bg-faint rounded px-1 text-sm">{token.hint}…</code>
        {token.isValid ? null : <Badge tone="bad">{t("tokens.invalid")}</Badge>}
      </p>
      <p className="text-sm">{token.scopes.map((scope) => t(`tokens.scope.${scope}`)).join(" · ")}</p>
      <p className="text-soft text-sm">
        {t("tokens.actsFor", { name: token.createdBy.name })} {t("tokens.until")} <Time at={token.expiresAt} />.{" "}
        {token.lastUsedAt === null ? (
          t("tokens.unused")
        ) : (
          <>
            {t("tokens.lastUsed")} <Time at={token.lastUsedAt} />
          </>
        )}
      </p>
      <p>
        <ConfirmButton
          open={t("tokens.revoke")}
          title={t("tokens.revokeTitle", { name: token.name })}
          text={t("tokens.revokeText")}
          confirmLabel={t("tokens.revokeYes")}
          onConfirm={() => revoke.mutate(token.id, { onError: (refused) => toast(errorText(refused)) })}
        />
      </p>
    </>
  );
}
