import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useErrorText } from "../../i18n/useErrorText";
import { Badge } from "../../components/base/Badge";
import { ConfirmButton } from "../../components/base/ConfirmButton";
import { toast } from "../../components/base/toast";
import { Button } from "../../components/Button";
import { SettingsList } from "../../components/SettingsList";
import { SignOnDialog } from "./SignOnDialog";
import { SignOnIdentities } from "./SignOnIdentities";
import { signOnQuery, type SignOnProvider, useSignOn } from "./useSignOn";

/** The sign-on providers of the school. */
export function SignOn() {
  const { t } = useTranslation();
  return (
    <SettingsList
      title={t("signOn.title")}
      text={t("signOn.text")}
      found={useQuery(signOnQuery)}
      none={t("signOn.none")}
      add={t("signOn.add")}
      row={(provider, onEdit) => <ProviderItem provider={provider} onEdit={onEdit} />}
      dialog={(provider, onClose) => <SignOnDialog provider={provider} onClose={onClose} />}
    />
  );
}

function ProviderItem({ provider, onEdit }: { provider: SignOnProvider; onEdit: () => void }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const { test, remove } = useSignOn();
  const [isLinking, setLinking] = useState(false);
  const { id, name, preset } = provider;
  return (
    <>
      <p className="flex flex-wrap items-center gap-2">
        <strong className="font-medium wrap-anywhere">{name}</strong>
        <span className="text-soft text-sm">{t(`signOn.presets.${preset}`)}</span>
        {provider.isEnabled ? null : <Badge tone="warn">{t("signOn.off")}</Badge>}
      </p>
      <dl className="bg-faint grid gap-x-4 gap-y-1 rounded p-2 text-sm sm:grid-cols-[auto_1fr]">
        <dt className="text-soft">{t("signOn.issuer")}</dt>
        <dd className="font-mono wrap-anywhere">{provider.issuer}</dd>
        <dt className="text-soft">{t("signOn.redirectUri")}</dt>
        <dd className="font-mono wrap-anywhere">{provider.redirectUri}</dd>
        <dt className="text-soft">{t("signOn.logoutUri")}</dt>
        <dd className="font-mono wrap-anywhere">{provider.backchannelLogoutUri}</dd>
      </dl>
      {test.isError ? (
        <p role="alert" className="text-bad">
          {errorText(test.error)}
        </p>
      ) : null}
      <p className="flex flex-wrap gap-2">
        <Button
          isPending={test.isPending}
          onPress={() => test.mutate(id, { onSuccess: () => toast(t("signOn.works")) })}
          aria-label={t("signOn.testOf", { name })}
        >
          {t("signOn.test")}
        </Button>
        <Button aria-haspopup="dialog" onPress={() => setLinking(true)} aria-label={t("signOn.peopleOf", { name })}>
          {t("signOn.people")}
        </Button>
        <Link
          to="/admin/sign-on/$preset"
          params={{ preset }}
          className="inline-flex min-h-11 items-center underline"
          aria-label={t("signOn.instructionsFor", { product: t(`signOn.presets.${preset}`) })}
        >
          {t("signOn.instructions")}
        </Link>
        <Button onPress={onEdit} aria-label={t("signOn.editOf", { name })}>
          {t("signOn.edit")}
        </Button>
        <ConfirmButton
          open={t("signOn.remove")}
          title={t("signOn.removeTitle", { name })}
          text={t("signOn.removeText")}
          confirmLabel={t("signOn.removeYes")}
          onConfirm={() => remove.mutate(id, { onError: (refused) => toast(errorText(refused)) })}
        />
      </p>
      {isLinking ? <SignOnIdentities provider={provider} onClose={() => setLinking(false)} /> : null}
    </>
  );
}
