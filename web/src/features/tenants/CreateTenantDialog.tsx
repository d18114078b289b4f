import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { client, unwrap, type Schemas } from "../../api/client";
import { fieldError, useErrorText } from "../../i18n/useErrorText";
import { invalidate } from "../../api/queryKeys";
import { language, TAGS } from "../../i18n";
import { TimeZoneField } from "../../forms/TimeZoneField";
import { Button } from "../../components/Button";
import { TextField } from "../../forms/TextField";
import { Dialog } from "../../components/Dialog";
import { OneTimeSecret } from "../../components/OneTimeSecret";
import { suggestSlug } from "./tenants";

/** Creates a school with its first owner. */
export function CreateTenantDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const [created, setCreated] = useState<Schemas["FoundedTenant"]>();
  return (
    <Dialog
      title={created ? t("tenants.founded", { name: created.tenant.name }) : t("tenants.new")}
      isOpen
      onOpenChange={(isOpen) => isOpen || onClose()}
    >
      {(close) =>
        created ? (
          <TenantCreated created={created} close={close} />
        ) : (
          <CreateTenantForm close={close} onCreated={setCreated} />
        )
      }
    </Dialog>
  );
}

function TenantCreated({ created, close }: { created: Schemas["FoundedTenant"]; close: () => void }) {
  const { t } = useTranslation();
  const password = created.temporaryPassword ?? undefined;
  return (
    <>
      <p>
        {created.invitation
          ? t("tenants.ownerInvited", { email: created.invitation.email })
          : t("tenants.ownerNew", { email: created.owner?.email })}
      </p>
      {password === undefined ? null : <OneTimeSecret secret={password} />}
      <Button kind="main" className="self-end" onPress={close}>
        {t("app.close")}
      </Button>
    </>
  );
}

function CreateTenantForm({
  close,
  onCreated,
}: {
  close: () => void;
  onCreated: (founded: Schemas["FoundedTenant"]) => void;
}) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const errorText = useErrorText();
  const [name, setName] = useState("");
  const [typed, setTyped] = useState<string>();
  const [zone, setZone] = useState<string | null>(null);
  const slug = typed ?? suggestSlug(name);
  const creating = useMutation({
    mutationFn: (owner: { ownerName: string; ownerEmail: string }) =>
      unwrap(
        client.POST("/tenants", {
          body: {
            name,
            slug,
            ...owner,
            metadata: { locale: TAGS[language()], ...(zone === null ? {} : { timezone: zone }) },
          },
        }),
      ),
    onSuccess: (founded) => {
      onCreated(founded);
      return invalidate(cache, "tenants", "schools");
    },
  });
  const at = (path: string) => {
    const problem = fieldError(creating.error, path);
    return problem === undefined ? {} : { problem };
  };
  const isShownAtField = ["name", "slug", "ownerName", "ownerEmail"].some((path) => "problem" in at(path));
  return (
    <Form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget);
        creating.mutate({
          ownerName: String(form.get("ownerName")),
          ownerEmail: String(form.get("ownerEmail")).trim(),
        });
      }}
    >
      {creating.isError && !isShownAtField ? (
        <p role="alert" className="text-bad">
          {errorText(creating.error)}
        </p>
      ) : null}
      <TextField
        autoFocus
        label={t("tenants.name")}
        value={name}
        onChange={setName}
        maxLength={120}
        isRequired
        {...at("name")}
      />
      <TextField
        label={t("tenants.slug")}
        hint={t("tenants.slugHint")}
        value={slug}
        onChange={setTyped}
        minLength={2}
        maxLength={63}
        pattern="[a-z0-9\-]+"
        isRequired
        {...at("slug")}
      />
      <TextField label={t("tenants.ownerName")} name="ownerName" maxLength={120} isRequired {...at("ownerName")} />
      <TextField
        label={t("tenants.ownerEmail")}
        hint={t("tenants.ownerHint")}
        name="ownerEmail"
        type="email"
        isRequired
        {...at("ownerEmail")}
      />
      <TimeZoneField label={t("organisation.zone")} value={zone} onChange={setZone} none={t("organisation.zoneNone")} />
      <p className="flex flex-wrap justify-end gap-2">
        <Button onPress={close}>{t("ask.cancel")}</Button>
        <Button kind="main" type="submit" isPending={creating.isPending}>
          {t("tenants.found")}
        </Button>
      </p>
    </Form>
  );
}
