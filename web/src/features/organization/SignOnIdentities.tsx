import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { useErrorText } from "../../i18n/useErrorText";
import { ConfirmButton } from "../../components/base/ConfirmButton";
import { Time } from "../../components/base/Time";
import { toast } from "../../components/base/toast";
import { LoadMore } from "../../components/LoadMore";
import { Dialog } from "../../components/Dialog";
import { ErrorMessage } from "../../components/ErrorMessage";
import { ListSkeleton } from "../../components/ListSkeleton";
import { FormBody } from "../../forms/FormDialog";
import { TextField } from "../../forms/TextField";
import { useForm } from "../../forms/useForm";
import { UserComboBox } from "../users/UserComboBox";
import { type ExternalIdentity, identitiesQuery, type SignOnProvider } from "./useSignOn";

/** The people who are linked to identities of a provider: linking by hand, and unlinking. */
export function SignOnIdentities({ provider, onClose }: { provider: SignOnProvider; onClose: () => void }) {
  const { t } = useTranslation();
  const found = useInfiniteQuery(identitiesQuery(provider.id));
  const list = found.data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <Dialog
      title={t("signOn.peopleTitle", { name: provider.name })}
      isOpen
      onOpenChange={(isOpen) => isOpen || onClose()}
    >
      {() => (
        <>
          <LinkForm provider={provider} />
          {found.isPending ? <ListSkeleton count={2} /> : null}
          {found.isError ? <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} /> : null}
          {found.data && list.length === 0 ? <p className="text-soft">{t("signOn.nobody")}</p> : null}
          <ul aria-label={t("signOn.people")} className="divide-faint divide-y">
            {list.map((one) => (
              <li key={one.id} className="flex flex-wrap items-center gap-x-4 gap-y-1 py-2">
                <Identity identity={one} provider={provider} />
              </li>
            ))}
          </ul>
          <LoadMore pages={found} className="self-start" />
        </>
      )}
    </Dialog>
  );
}

function LinkForm({ provider }: { provider: SignOnProvider }) {
  const { t } = useTranslation();
  const empty = { userId: null as string | null, subject: "" };
  const form = useForm({
    initial: empty,
    send: ({ userId, subject }) =>
      unwrap(
        client.POST("/admin/sign-on/{id}/identities", {
          params: { path: { id: provider.id } },
          body: { userId: userId ?? "", subject: subject.trim() },
        }),
      ),
    refreshes: ["admin"],
    onSent: ({ user }) => {
      toast(t("signOn.linked", { name: user.name }));
      form.set(empty);
    },
    codes: { DUPLICATE_IDENTITY: "subject" },
  });
  const { values } = form;
  return (
    <FormBody
      form={form}
      submitLabel={t("signOn.link")}
      kind="plain"
      isIncomplete={values.userId === null || values.subject.trim() === ""}
    >
      <p>{t("signOn.linkText")}</p>
      <UserComboBox label={t("signOn.person")} value={values.userId} onChange={(userId) => form.set({ userId })} />
      <TextField
        label={t("signOn.subject")}
        hint={t("signOn.subjectHint")}
        maxLength={255}
        {...form.field("subject")}
      />
    </FormBody>
  );
}

function Identity({ identity, provider }: { identity: ExternalIdentity; provider: SignOnProvider }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const errorText = useErrorText();
  const { name } = identity.user;
  const unlinking = useMutation({
    mutationFn: () =>
      client.DELETE("/admin/sign-on/{id}/identities/{identityId}", {
        params: { path: { id: provider.id, identityId: identity.id } },
      }),
    onSuccess: () => cache.invalidateQueries({ queryKey: identitiesQuery(provider.id).queryKey }),
    onError: (problem) => toast(errorText(problem)),
  });
  return (
    <>
      <div className="min-w-0 grow">
        <p className="font-medium wrap-anywhere">{name}</p>
        <p className="text-soft font-mono text-sm wrap-anywhere">{identity.subject}</p>
        <p className="text-soft text-sm">
          {t(`signOn.linkedBy.${identity.linkedBy}`)}
          {" · "}
          {identity.lastSignInAt === null ? (
            t("signOn.neverSignedIn")
          ) : (
            <>
              {t("signOn.lastSignIn")} <Time at={identity.lastSignInAt} />
            </>
          )}
        </p>
      </div>
      <ConfirmButton
        open={t("signOn.unlink")}
        title={t("signOn.unlinkTitle", { name })}
        text={t("signOn.unlinkText")}
        confirmLabel={t("signOn.unlinkYes")}
        onConfirm={() => unlinking.mutate()}
      />
    </>
  );
}
