import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";

import { FormBody } from "../../forms/FormDialog";
import { useForm } from "../../forms/useForm";
import { useErrorText } from "../../i18n/useErrorText";
import { ConfirmButton } from "../../components/base/ConfirmButton";
import { Button } from "../../components/Button";
import { Badge } from "../../components/base/Badge";
import { TextField } from "../../forms/TextField";
import { toast } from "../../components/base/toast";
import { ErrorMessage } from "../../components/ErrorMessage";
import { ListSkeleton } from "../../components/ListSkeleton";
import { Time } from "../../components/base/Time";
import { type MailDomain, mailDomainsQuery, useMailDomains } from "./useMailDomains";
import { SettingsSection } from "../../components/SettingsSection";

/** The mail domains of the school, with the DNS records that prove ownership. */
export function MailDomains() {
  const { t } = useTranslation();
  return (
    <SettingsSection title={t("domains.title")} text={t("domains.text")}>
      <MailDomainList />
    </SettingsSection>
  );
}

/** The list with the form to add one. With `tenant`, a SUPER_ADMIN decides and no record is needed. */
export function MailDomainList({ tenant }: { tenant?: string }) {
  const { t } = useTranslation();
  const found = useQuery(mailDomainsQuery(tenant));
  const actions = useMailDomains(tenant);
  return (
    <>
      {found.isPending ? <ListSkeleton count={2} /> : null}
      {found.isError && !found.data ? (
        <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} />
      ) : null}
      {found.data?.length === 0 ? <p className="text-soft">{t("domains.none")}</p> : null}
      {found.data && found.data.length > 0 ? (
        <ul className="flex flex-col gap-4">
          {found.data.map((domain) => (
            <li key={domain.id} className="border-line flex flex-col gap-2 border-b pb-4">
              <MailDomainItem domain={domain} isOfTenant={tenant !== undefined} actions={actions} />
            </li>
          ))}
        </ul>
      ) : null}
      <AddMailDomain actions={actions} isOfTenant={tenant !== undefined} />
    </>
  );
}

type MailDomainActions = ReturnType<typeof useMailDomains>;

function MailDomainItem({
  domain,
  isOfTenant,
  actions,
}: {
  domain: MailDomain;
  isOfTenant: boolean;
  actions: MailDomainActions;
}) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const isByRecord = domain.method === "DNS";
  const [problem, setProblem] = useState<unknown>(null);
  const check = () => {
    setProblem(null);
    actions.check.mutate(domain.id, {
      onSuccess: (now) => toast(t(now.failingSince === null ? "domains.found" : "domains.notFound")),
      onError: setProblem,
    });
  };
  return (
    <>
      <p className="flex flex-wrap items-center gap-2">
        <strong className="font-medium wrap-anywhere">{domain.domain}</strong>
        <DomainStatus domain={domain} />
      </p>
      {domain.failingSince !== null && domain.lostAt !== null ? (
        <Hint>
          {t("domains.failing")} <Time at={domain.lostAt} />
        </Hint>
      ) : null}
      {isByRecord && domain.checkedAt !== null ? (
        <Hint>
          {t("domains.checked")} <Time at={domain.checkedAt} />
        </Hint>
      ) : null}
      {isByRecord ? null : <Hint>{t("domains.bySuper")}</Hint>}
      {isByRecord && !isOfTenant ? <DnsRecord domain={domain} /> : null}
      {problem === null ? null : (
        <p role="alert" className="text-bad">
          {errorText(problem)}
        </p>
      )}
      <p className="flex flex-wrap gap-2">
        {isByRecord && !isOfTenant ? (
          <Button
            isPending={actions.check.isPending}
            onPress={check}
            aria-label={t("domains.checkOf", { domain: domain.domain })}
          >
            {t("domains.check")}
          </Button>
        ) : null}
        <ConfirmButton
          open={t("domains.remove")}
          title={t("domains.removeTitle", { domain: domain.domain })}
          text={t("domains.removeText")}
          confirmLabel={t("domains.removeYes")}
          onConfirm={() => actions.remove.mutate(domain.id, { onError: (refused) => toast(errorText(refused)) })}
        />
      </p>
    </>
  );
}

const Hint = ({ children }: { children: ReactNode }) => <p className="text-soft text-sm">{children}</p>;

function DomainStatus({ domain }: { domain: MailDomain }) {
  const { t } = useTranslation();
  if (domain.status === "VERIFIED" && domain.failingSince !== null)
    return <Badge tone="warn">{t("domains.is.FAILING")}</Badge>;
  const tone = domain.status === "VERIFIED" ? "good" : domain.status === "LOST" ? "bad" : "plain";
  return <Badge tone={tone}>{t(`domains.is.${domain.status}`)}</Badge>;
}

/** The TXT record as entered at the DNS provider. */
function DnsRecord({ domain }: { domain: MailDomain }) {
  const { t } = useTranslation();
  return (
    <dl className="bg-faint grid gap-x-4 gap-y-1 rounded p-2 text-sm sm:grid-cols-[auto_1fr]">
      <dt className="text-soft">{t("domains.recordType")}</dt>
      <dd className="font-mono">TXT</dd>
      <dt className="text-soft">{t("domains.recordName")}</dt>
      <dd className="font-mono wrap-anywhere">{domain.recordName}</dd>
      <dt className="text-soft">{t("domains.recordValue")}</dt>
      <dd className="font-mono wrap-anywhere">{domain.recordValue}</dd>
    </dl>
  );
}

function AddMailDomain({ actions, isOfTenant }: { actions: MailDomainActions; isOfTenant: boolean }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const form = useForm({
    initial: { domain: "" },
    send: ({ domain }) => actions.add.mutateAsync(domain),
    onSent: () => clear(),
  });
  const clear = (): void => form.set({ domain: "" });
  const { problem = form.problem === null ? undefined : errorText(form.problem), ...field } = form.field("domain");
  return (
    <FormBody
      form={{ ...form, unshownProblem: () => null }}
      submitLabel={t(isOfTenant ? "domains.set" : "domains.add")}
      kind="plain"
      className="gap-3"
    >
      <TextField
        label={t("domains.name")}
        hint={t(isOfTenant ? "domains.setHint" : "domains.nameHint")}
        maxLength={260}
        isRequired
        problem={problem}
        {...field}
        onChange={(domain) => {
          form.set({ domain });
          form.reset();
        }}
      />
    </FormBody>
  );
}
